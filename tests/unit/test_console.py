"""What commands print, and how they end."""

import errno
import json
import logging
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Annotated

import pytest
import typer

from freshstack_datasets.cli import console
from freshstack_datasets.errors import FreshStackError, InputError, NotComparableError

ERRORS = {
    "input": InputError("the file a.run", expected="six fields", got="five", hint="write it again"),
    "comparable": NotComparableError("two snapshots", hint="score both on one"),
    "root": FreshStackError("it"),
    "space": OSError(errno.ENOSPC, "No space left on device", "out/corpus.parquet"),
    "bare": OSError("short"),
    "memory": MemoryError(),
    "defect": ZeroDivisionError("by zero\nand more"),
    "escape": InputError("a title \x1b[2J\x07 that \u202eclears", got="\r\n\t more"),
    "interrupt": KeyboardInterrupt(),
    "eof": EOFError("cut short"),
    "aborted": typer.Abort(),
}


def make_app() -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    def fail(kind: str, verbose: Annotated[bool, typer.Option("--verbose")] = False) -> None:
        raise ERRORS[kind]

    @app.command()
    def count(number: Annotated[int, typer.Option(help="A number.")] = 1) -> None:
        console.say(str(number))

    @app.command()
    def grumble() -> None:
        warnings.warn("an old file,\nread anyway", stacklevel=1)
        logging.getLogger("freshstack_datasets.retrieval").warning("no place for %s", "an index")
        console.warn("another \x1b[31mred\x1b[0m one")

    @app.command()
    def stop(code: int) -> None:
        raise typer.Exit(code)

    return app


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = console.run(make_app(), arguments, name="prog")
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    "kind, code, line",
    [
        ("input", 2, "error: the file a.run, expected six fields, got five; write it again"),
        ("comparable", 3, "error: two snapshots; score both on one"),
        ("root", 2, "error: it"),
        ("space", 2, "error: cannot use out/corpus.parquet: No space left on device; free some space and run it again"),
        ("bare", 2, "error: cannot use a file: short; run again with --verbose to see where"),
        ("memory", 2, "error: out of memory; free some, or take less data at a time"),
        ("defect", 2, "error: unexpected ZeroDivisionError: by zero and more; run again with --verbose and report it"),
        ("escape", 2, r"error: a title \x1b[2J\x07 that \u202eclears, got more"),
        ("interrupt", 130, "error: interrupted"),
        ("aborted", 2, "error: unexpected Abort: ; run again with --verbose and report it"),
    ],
)
def test_an_error_is_one_line_on_standard_error_with_its_exit_code(capsys, kind, code, line):
    assert ran(capsys, "fail", kind) == (code, "", line + "\n")


def test_an_early_end_of_a_file_is_named_though_typer_takes_it_for_an_abort(capsys):
    code, out, err = ran(capsys, "fail", "eof")
    assert (code, out) == (2, "")
    assert err.strip() == "error: unexpected EOFError: cut short; run again with --verbose and report it"


def test_a_traceback_comes_only_with_verbose(capsys):
    code, out, err = ran(capsys, "fail", "defect", "--verbose")
    assert (code, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("and report it\n")


@pytest.mark.parametrize(
    "arguments, named, where",
    [
        ([], "missing command", "prog"),
        (["cuont"], "cuont", "prog"),
        (["count", "--numbr", "3"], "--numbr", "prog count"),
        (["count", "--number"], "--number", "prog"),
        (["count", "--number", "x"], "--number", "prog count"),
        (["fail"], "missing argument 'kind'", "prog fail"),
        (["fail", "a", "b\x1b]0;x\x07"], r"b\x1b]0;x\x07", "prog fail"),
    ],
)
def test_a_usage_error_is_one_line_too(capsys, arguments, named, where):
    code, out, err = ran(capsys, *arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"error: (?![A-Z]).*{re.escape(named)}.*(?<![.]); see {where} --help\n", err)


def test_what_somebody_typed_does_not_make_a_message_long(capsys):
    code, out, err = ran(capsys, "fail", "a", "x" * 100_000)
    assert (code, out) == (2, "")
    assert len(err) < 600


def test_warnings_are_lines_on_standard_error(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, out, err = ran(capsys, "grumble")
    assert (code, out) == (0, "")
    assert (
        err
        == "warning: an old file, read anyway\nwarning: no place for an index\nwarning: another \\x1b[31mred\\x1b[0m one\n"
    )


def test_a_command_may_choose_its_exit_code(capsys):
    assert ran(capsys, "stop", "1") == (1, "", "")
    assert ran(capsys, "count") == (0, "1\n", "")


def test_json_is_one_plain_object_without_nan(capsys):
    console.say_json({"a": [1, 0.5, None], "b": float("nan"), "c": (float("inf"), "é\x1b"), 3: {"d": True}})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out) == {"a": [1, 0.5, None], "b": None, "c": [None, "é\x1b"], "3": {"d": True}}


def test_a_table_that_goes_to_a_file_is_plain_and_aligned(capsys):
    rows = [("bm25", 0.5), ("a long name [red]x[/red] :smile: \x1b[31m", 10), ("two\nlines", "")]
    console.say_table(("system", "value"), rows, right=("value",))
    assert capsys.readouterr().out == (
        f"{'system':<41}  value\n"
        f"{'bm25':<41}    0.5\n"
        "a long name [red]x[/red] :smile: \\x1b[31m     10\n"  # 12 + 12 + 9 + 8 = 41 characters
        "two lines\n"
    )


def test_a_wide_table_is_not_cut(capsys):
    console.say_table(("a", "b"), [("x" * 500, "y" * 500)])
    assert capsys.readouterr().out.splitlines()[1] == "x" * 500 + "  " + "y" * 500


def test_text_keeps_its_lines_and_letters_but_moves_no_cursor(capsys):
    console.say("naïve  漢字\n\tcode \x1b[1A\x9b2K\r\x00\u2028 end \ud800")
    assert capsys.readouterr().out == "naïve  漢字\n\tcode \\x1b[1A\\x9b2K\\r\\x00\\u2028 end \\ud800\n"


def test_one_line_is_cut_where_asked():
    assert console.one_line("a\n b   c", 4) == "a b…"
    assert console.one_line("a\n b", 3) == "a b"


SCRIPT = """
import sys, typer
from freshstack_datasets.cli import console
app = typer.Typer()
@app.command()
def talk():
    for i in range(20_000):
        console.say(f"line {i}")
@app.command()
def write():
    console.say("naïve")
sys.exit(console.run(app, name="prog"))
"""


def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    line = f'"{sys.executable}" "{script}" talk | head -n 1; echo "exit ${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("line 0\nexit 0\n", "")


@pytest.mark.parametrize(
    ("closed", "arguments", "code"), [(">&-", "write", 0), ("2>&-", "bogus", 2), (">&- 2>&-", "bogus", 2)]
)
def test_streams_that_were_closed_change_no_exit_code(tmp_path: Path, closed, arguments, code):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    line = f'"{sys.executable}" "{script}" {arguments} {closed}'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is always full")
def test_output_to_a_full_disk_is_one_line(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, script, "write"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to the standard output: No space left on device\n"


def test_a_terminal_without_the_letter_gets_its_number(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    env = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, script, "write"], capture_output=True, env=env, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"na\\xefve\n", b"")


def test_a_table_on_a_terminal_fits_it_and_foreign_text_stays_harmless(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    console.say_table(("system", "value"), [("[red]x[/red]\x1b]0;owned\x07" * 3, 0.5)], right=("value",))
    out = capsys.readouterr().out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)  # what rich itself wrote: bold headings
    assert "\x1b" not in plain
    assert "\x07" not in plain
    assert "[red]x[/red]" in plain
    assert all(len(line) <= 40 for line in plain.splitlines())
    assert set(plain.splitlines()[1].strip()) == {"─"}


@pytest.mark.parametrize(
    "number, names, words",
    [
        (0, "queries", "0 queries"),
        (1, "queries", "1 query"),
        (2, "queries", "2 queries"),
        (1234, "bytes", "1,234 bytes"),
        (1, "bytes", "1 byte"),
        (1, "tag wiki excerpts", "1 tag wiki excerpt"),
        (1, "questions whose accepted answer is missing", "1 question whose accepted answer is missing"),
        (1, "ties", "1 tie"),
        (1, "malformed rows: Id is no number", "1 malformed row: Id is no number"),
        (1, "class labels", "1 class label"),
        (1, "text", "1 text"),
    ],
)
def test_one_of_a_thing_is_told_in_the_singular(number, names, words):
    assert console.counted(number, names) == words
