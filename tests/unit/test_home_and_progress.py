"""The folder for what can be made again, and the bar for long work."""

import io
import sys
from pathlib import Path

import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.home import home
from freshstack_datasets.progress import track


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("FRESHSTACK_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_freshstack_home_is_taken_and_not_made(monkeypatch, tmp_path):
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "here"))
    assert home() == tmp_path / "here"
    assert not (tmp_path / "here").exists()
    monkeypatch.setenv("FRESHSTACK_HOME", "~/there")
    assert home() == tmp_path / "there"
    monkeypatch.setenv("FRESHSTACK_HOME", "relative")
    assert home() == Path.cwd() / "relative"


@pytest.mark.parametrize(
    "platform, folder",
    [("linux", ".cache"), ("freebsd14", ".cache"), ("darwin", "Library/Caches"), ("win32", "AppData/Local")],
)
def test_else_it_is_in_the_cache_folder_of_the_platform(monkeypatch, tmp_path, platform, folder):
    monkeypatch.setattr(sys, "platform", platform)
    assert home() == tmp_path / folder / "freshstack"


@pytest.mark.parametrize("platform, variable", [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")])
def test_the_platforms_variable_counts_when_it_is_absolute(monkeypatch, tmp_path, platform, variable):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path / "cache"))
    assert home() == tmp_path / "cache" / "freshstack"
    monkeypatch.setenv(variable, "relative")
    assert home().is_relative_to(tmp_path)
    assert home().parent.name != "relative"


def test_a_user_without_home_is_told_what_to_set(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    with pytest.raises(InputError, match="set FRESHSTACK_HOME"):
        home()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_with_what_is_done(monkeypatch, capsys):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(track(iter("abc"), 3, "counting letters")) == ["a", "b", "c"]
    assert "counting letters" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_a_bar_shows_how_many_are_done_in_a_second_where_it_is_told_what_they_are(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr("rich.progress.Task.speed", 2.54)
    list(track("abc", 3, "counting", "letters"))
    assert "2.5 letters/s" in terminal.getvalue()


@pytest.mark.parametrize("columns", ["88", "100", "200"])
def test_what_was_spent_stands_in_one_line_with_the_bar(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr("rich.progress.Task.speed", 5.94)
    list(track("abc", 3, "taking nuggets", "questions", lambda: "8 answered, 8,547 tokens, $0.008547"))
    assert "8 answered, 8,547 tokens, $0.008547" in terminal.getvalue()
    assert ("5.9 questions/s" in terminal.getvalue()) == (columns == "200")


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_anything_but_a_terminal_gets_nothing(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(track([1, 2], 2, "counting")) == [1, 2]
    assert stream is None or stream.getvalue() == ""


def test_a_bar_needs_no_total(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(track((n for n in range(3)), None, "counting")) == [0, 1, 2]
