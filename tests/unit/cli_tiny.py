"""A benchmark of two queries whose every value can be worked out by hand, and how tests run commands on it.

q1 has the nuggets n1 (supported by d1) and n2 (supported by d2; d1 was judged and does not support it),
q2 has the nugget n3 (supported by d3; "d 4" was judged and does not support it).

a.trec ranks d2, d1 for q1 and "d 4", d3 for q2; b.trec ranks d1, x9, d2 for q1 and lacks q2.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from freshstack_datasets.cli import app, console
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import write_run
from freshstack_datasets.snapshot import write_snapshot

EVIL = "Pressure \x1b]0;owned\x07[bold]matters[/bold]\n\u202ehere"
CREDIT = {"url": "https://example.org/d2", "author": "grace", "date": "2024-10-02", "license": "CC-BY-SA-4.0"}
RUN_A = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d 4": 3.0, "d3": 1.0}}
RUN_B = {"q1": {"d1": 5.0, "x9": 4.0, "d2": 3.0}}


def write_tiny(folder: Path, only: str = "q", answer: str = "a1", **about: Any) -> None:
    """Write the benchmark as a snapshot, or only the queries whose id begins as given; q1's answer has the given id."""
    queries = [
        Query(
            "q1",
            "How do I grind evenly? Mine is \x1b[2Jcoarse.",
            title="How do I grind evenly?",
            body="Mine is \x1b[2Jcoarse.",
            answer_id=answer,
            answer_text="Buy burr grinders.",
            url="https://example.org/q1",
            author="ada",
            date="2024-10-01",
            license="CC-BY-SA-4.0",
            language="en",
        ),
        Query("q2", "Which pressure? For espresso.", title="Which pressure?", body="For espresso.", answer_text="foam"),
    ]
    nuggets = [
        Nugget("n1", "q1", 0, "burrs grind evenly", "vital"),
        Nugget("n2", "q1", 1, "water matters"),
        Nugget("n3", "q2", 0, "nine bar"),
    ]
    judgments = [
        Judgment("q1", "n1", "d1", 1),
        Judgment("q1", "n2", "d1", 0),
        Judgment("q1", "n2", "d2", 1),
        Judgment("q2", "n3", "d3", 1),
        Judgment("q2", "n3", "d 4", 0),
    ]
    write_snapshot(
        folder,
        dataset="tests/tiny",
        snapshot="2024-10",
        license="CC-BY-SA-4.0",
        created=date(2024, 10, 31),
        **about,
        documents=[
            Document("d1", "Burrs", "burr grinders grind evenly", {"url": "https://example.org/d1"}),
            Document("d2", "", "water temperature decides", CREDIT),
            Document("d3", EVIL, "espresso needs nine bar"),
            Document("d 4", "Milk", "foam for the cup"),
        ],
        queries=[query for query in queries if query.query_id.startswith(only)],
        nuggets=[nugget for nugget in nuggets if nugget.query_id.startswith(only)],
        judgments=[judgment for judgment in judgments if judgment.query_id.startswith(only)],
    )


def write_runs(folder: Path) -> tuple[Path, Path]:
    """Write the two runs, named alpha and beta, and return their paths."""
    write_run(Run.from_dict(RUN_A, "alpha"), folder / "a.trec")
    write_run(Run.from_dict(RUN_B, "beta"), folder / "b.trec")
    return folder / "a.trec", folder / "b.trec"


class Terminal:
    """Runs commands in this process and tells what they printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> tuple[int, str, str]:
        """Return exit code, standard output and standard error."""
        self._capsys.readouterr()
        code = console.run(app, [str(word) for word in words], name="freshstack")
        out, err = self._capsys.readouterr()
        return code, out, err

    def json(self, *words: object, code: int = 0) -> Any:
        """Return the one JSON object that a command printed, with nothing but warnings beside it."""
        got, out, err = self(*words, "--json")
        assert got == code, err
        assert all(line.startswith("warning: ") for line in err.splitlines()), err
        assert out.isascii()
        value = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert isinstance(value, dict)
        return value
