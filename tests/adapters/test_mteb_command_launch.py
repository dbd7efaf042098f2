"""``freshstack mteb`` where MTEB is missing, or is not as it was."""

import sys

import pytest

from freshstack_datasets.adapters.mteb.internals import MTEB
from freshstack_datasets.adapters.mteb.launcher import launch
from freshstack_datasets.cli import app, console
from freshstack_datasets.errors import InputError

MISSING = "the package mteb is not installed; pip install 'freshstack-datasets[mteb]'"


@pytest.mark.parametrize(
    "words", [["run", "-t", "FreshStackNimbusRetrieval"], ["available-tasks"], ["statistics", "-t", "a", "--out", "b"]]
)
def test_a_missing_mteb_is_told_in_a_line_with_what_to_type(monkeypatch, capsys, words):
    monkeypatch.setitem(sys.modules, "mteb", None)
    assert console.run(app, ["mteb", *words], name="freshstack") == 2
    assert capsys.readouterr() == ("", f"error: {MISSING}\n")


def test_help_comes_without_mteb_too(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mteb", None)
    assert console.run(app, ["mteb"], name="freshstack") == 2
    out, err = capsys.readouterr()
    assert "--max-seq-length" in out
    assert err == f"error: {MISSING}\n"


def test_a_command_that_evaluates_in_another_way_is_refused_with_the_versions_that_work(monkeypatch):
    monkeypatch.setattr(MTEB.load("mteb.cli.build_cli"), "run", lambda words: None)
    with pytest.raises(
        InputError, match=r"lacks .*\(\'a command run that calls mteb\.evaluate\'\), expected mteb>=.*, got 2\."
    ):
        launch(["run", "-t", "FreshStackNimbusRetrieval", "-m", "mteb/baseline-bm25s"])
