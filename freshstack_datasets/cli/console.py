"""The one place where commands meet the terminal: output, messages, errors and exit codes.

Standard output holds what was asked for and nothing else; messages, warnings and errors go to standard error.
Whatever goes wrong ends as one line, ``error: what, expected, got; next step``, and as one of these exit codes:

    0    fine (also when whoever reads the output stops reading)
    1    a check ran and found something
    2    bad input or usage, or the command could not do its work: disk, memory, a defect of ours
    3    two things that must not be compared
    130  interrupted
"""

import contextlib
import errno
import io
import json
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from freshstack_datasets.errors import FreshStackError, InputError

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show the traceback when something goes wrong.")]

LONGEST = 2_000
"""Characters of a line of error; a message is never longer by what somebody typed."""

# typer keeps the classes of its usage errors in a private module; this one's base is their common root.
_UsageError: type[Exception] = typer.BadParameter.__base__ or typer.BadParameter

# What a terminal would obey or hide: C0 and C1 controls, line separators, marks that turn the direction of the text,
# and halves of surrogate pairs, which no encoding can write.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_STEPS = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EACCES: "check who may read and write there",
    errno.EPERM: "check who may read and write there",
    errno.EROFS: "choose another place",
    errno.ENOENT: "check the path",
}


def command_line(name: str) -> typer.Typer:
    """Return a command line without commands, whose help looks as that of all others.

    Args:
        name: What is typed to run it.
    """
    return typer.Typer(
        name=name,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
        pretty_exceptions_enable=False,
    )


def run(app: typer.Typer, arguments: Sequence[str] | None = None, *, name: str) -> int:
    """Run a command line to its end, whatever happens, and return its exit code.

    Args:
        app: The commands.
        arguments: What was typed after the program's name; the process's own when not given.
        name: The program's name, for help and messages.
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    # A stream is None when whoever started the program closed it: then nobody reads, as after a pipe that broke.
    for closed in (stream for stream in ("stdout", "stderr") if getattr(sys, stream) is None):
        setattr(sys, closed, Path(os.devnull).open("w"))  # noqa: SIM115  # open until the program ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot write a letter gets its number
    try:
        with warnings.catch_warnings(), _logged():
            warnings.showwarning = lambda text, *_: warn(str(text))
            code = get_command(app)(typed, prog_name=name, standalone_mode=False)
    except Exception as error:
        cause = error.__cause__ if isinstance(error, typer.Abort) and error.__cause__ else error
        if "--verbose" in typed:
            traceback.print_exception(cause, file=sys.stderr)
        message(f"error: {_line_of(cause, name)}")
        return cause.exit_code if isinstance(cause, FreshStackError) else 2
    if code == 130:  # typer made an exit of the keyboard's interrupt
        message("error: interrupted")
    return code if isinstance(code, int) else 0


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """Show what the package logs as lines of warning."""
    log, lines = logging.getLogger("freshstack_datasets"), _Lines(logging.WARNING)
    log.addHandler(lines)
    try:
        yield
    finally:
        log.removeHandler(lines)


def _line_of(error: BaseException, name: str) -> str:
    if isinstance(error, FreshStackError):
        return str(error)
    if isinstance(error, _UsageError):
        return _usage(error, name)
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename is not None else ""
        step = _STEPS.get(error.errno or 0, "run again with --verbose to see where")
        return f"cannot use{where or ' a file'}: {error.strerror or error}; {step}"
    if isinstance(error, MemoryError):
        return "out of memory; free some, or take less data at a time"
    return f"unexpected {type(error).__name__}: {error}; run again with --verbose and report it"


def _usage(error: Any, name: str) -> str:
    """Word an error of typer's as ours: no capital, no full stop, and where to read on."""
    text = " ".join(error.format_message().split()).rstrip(".") or "missing command"
    text = text.replace("Value error, ", "")  # a library's word, not for people
    context = getattr(error, "ctx", None)
    program = context.command_path if context else name
    return f"{text[:1].lower()}{text[1:][:400]}; see {program} --help"


def message(text: str) -> None:
    """Print one line on standard error, for people; nothing in it can move a terminal's cursor."""
    line = one_line(text)
    with contextlib.suppress(OSError):  # nobody reads it, and there is nowhere else to say so
        sys.stderr.write(line[:LONGEST] + ("…" if len(line) > LONGEST else "") + "\n")
        sys.stderr.flush()


def warn(text: str) -> None:
    """Print a warning, one line on standard error."""
    message(f"warning: {text}")


def say(text: str) -> None:
    """Print text on standard output, a line or several, with what a terminal would obey escaped."""
    _write(printable(text) + "\n")


def say_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output.

    It is plain ASCII, so that every terminal can write it, and never holds NaN, which is no JSON.
    """
    _write(json.dumps(_json(value), indent=2, allow_nan=False) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()) -> None:
    """Print a table on standard output: with a rule on a terminal, else columns separated by spaces.

    Args:
        columns: The headings.
        rows: The cells; text from anywhere, shown as it is and never read as markup.
        right: The headings of the columns that are set to the right, as numbers are.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, padding=(0, 1))
    flush_right = set(right)
    for column in columns:
        table.add_column(
            Text(one_line(column)), justify="right" if column in flush_right else "left", no_wrap=not terminal
        )
    for row in rows:
        table.add_row(*(Text(one_line(str(cell))) for cell in row))
    page = io.StringIO()
    width = None if terminal else 10_000  # a file has no edge
    Console(file=page, width=width, force_terminal=terminal, highlight=False).print(table)
    _write("\n".join(line.rstrip() for line in page.getvalue().splitlines()).strip("\n") + "\n")


def printable(text: str) -> str:
    """Return the text with every character that a terminal would obey written as its number."""
    if text.isprintable():  # as nearly all texts are, and said at once
        return text
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def counted(number: int, names: str) -> str:
    """Return a number with what it counts, in the singular where it is 1: "1 question without an answer".

    Args:
        number: How many.
        names: What they are, in the plural; of several words, the first that ends with a single "s" is the noun.
    """
    if number == 1:
        noun = re.search(r"\w*[^\Ws]s\b", names)
        if noun is not None:
            plural = noun[0]
            singular = plural[:-3] + "y" if plural.endswith("ies") and plural != "ties" else plural[:-1]
            names = names[: noun.start()] + singular + names[noun.end() :]
    return f"{number:,} {names}"


def one_line(text: str, longest: int | None = None) -> str:
    """Return the text on one line, printable, and cut where it is longer than asked.

    Args:
        text: Any text.
        longest: Characters to keep; all when not given.
    """
    line = printable(" ".join(text.split()))
    return line if longest is None or len(line) <= longest else line[: longest - 1] + "…"


def _json(value: Any) -> Any:
    """Return the value with numbers that JSON does not know as null."""
    if isinstance(value, Mapping):
        return {str(key): _json(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_json(member) for member in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _silence()
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"cannot write to the standard output: {error.strerror}") from error


def nobody_reads() -> bool:
    """Tell whether who read the standard output has gone, as ``head`` does; what is written from then on is dropped."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return True
    return False


def _silence() -> None:
    """Let the rest of standard output go nowhere, or Python would complain about it once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
