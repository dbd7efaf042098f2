"""What several commands take: a dataset, runs, a retriever, and the text that is searched for."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli.console import counted
from freshstack_datasets.cli.query_file import ORACLES, SEARCHED, SUFFIXES, texts_for
from freshstack_datasets.errors import InputError, shown

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run
    from freshstack_datasets.retrieval import Retriever

DEPTH = 100
"""Documents that a retriever finds for a query unless more are asked for."""
ORACLE = "an oracle run: it searched with something other than the question"
_MARK = "-oracle"


def whole_number(text: Any) -> int:
    """Return a number of documents that somebody typed.

    Raises:
        InputError: It is no whole number, or below 1.
    """
    try:
        if (number := int(text)) >= 1:
            return number
    except ValueError:
        pass
    raise InputError("-k", expected="a whole number of documents, at least 1", got=shown(text))


DatasetName = Annotated[
    str,
    typer.Argument(metavar="DATASET", help="A name, name@snapshot, or a folder that holds a snapshot."),
]
RETRIEVERS = (
    "A retriever: bm25; dense:MODEL, a model of sentence-transformers by its name or folder; dense:MODEL@URL, one of a "
    "server, whose key is in OPENAI_API_KEY; or python:MODULE:FACTORY, what FACTORY() of a module of yours returns."
)
RetrieverName = Annotated[str | None, typer.Option("--retriever", metavar="NAME", help=RETRIEVERS)]
SearchText = Annotated[
    str,
    typer.Option(
        "--query",
        metavar="TEXT",
        help=f"What is searched for: {', '.join((*SEARCHED, *ORACLES))}, or a file of query id and text "
        f"({', '.join(SUFFIXES)}). Anything but {', '.join(SEARCHED[:-1])} and {SEARCHED[-1]} "
        "makes an oracle run, which is marked so.",
    ),
]
Depth = Annotated[int, typer.Option("-k", "--k", metavar="N", parser=whole_number, help="Documents to find.")]
OverlayFolder = Annotated[
    Path | None,
    typer.Option(
        "--overlay",
        metavar="DIR",
        help="More judgments of this very snapshot, as python -m builders judge-holes makes them. Scores have the "
        "overlay's fingerprint.",
    ),
]
MeasureNames = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        metavar="MEASURES",
        help="One or several, separated by spaces or commas. By default alpha_nDCG@10 Coverage@20 Recall@50.",
    ),
]


def open_dataset(name: str) -> "Dataset":
    """Return the dataset that somebody typed: a name, a name with a snapshot, or a folder."""
    from freshstack_datasets.loading import load

    return load(name)


def heading(data: "Dataset") -> str:
    """Return which data was used, in one line."""
    rows = f", with {counted(data.overlay.table.rows, 'judgments')} of an overlay" if data.overlay else ""
    return f"{data.name}@{data.snapshot}{rows}, fingerprint {data.fingerprint[:12]}"


def identity(data: "Dataset") -> dict[str, str]:
    """Return which data was used, as every JSON object begins."""
    return {"dataset": data.name, "snapshot": data.snapshot, "fingerprint": data.fingerprint}


def read_runs(paths: Sequence[Path], search: "Callable[[], Run] | None" = None) -> "list[Run]":
    """Read run files, and tell runs of one name apart by where they come from.

    Args:
        paths: The files.
        search: Gives one more run, that of a retriever; called when the files are known to be good.
    """
    from freshstack_datasets.runs import read_run

    runs = [(str(path), read_run(path)) for path in paths]
    if search is not None:
        runs.append(("retriever", search()))
    times = Counter(run.name for _, run in runs)
    return [run if times[run.name] == 1 else run.named(f"{run.name} ({origin})") for origin, run in runs]


def is_oracle(run: "Run") -> bool:
    """Tell whether a run's name says that it is an oracle run."""
    return re.search(rf"{_MARK}( \(.*\))?\Z", run.name, re.DOTALL) is not None  # read_runs may add where it is from


def retriever_for(name: str, data: "Dataset") -> "Retriever":
    """Return a retriever with the dataset indexed, from the cache where it is there.

    Raises:
        UnknownNameError: No retriever has that name.
        InputError: It cannot be loaded.
    """
    from freshstack_datasets.retrieval import indexed, retriever
    from freshstack_datasets.retrieval.own import blamed

    with blamed(name):
        return indexed(retriever(name), data)


def searched_run(data: "Dataset", retriever: str, query: str, k: int) -> "Run":
    """Search for every query of a dataset.

    Args:
        data: The dataset.
        retriever: The retriever's name.
        query: What is searched for, as ``--query`` takes it.
        k: The most documents a query gets.

    Returns:
        The run, whose name says what was searched for, and whether it is an oracle run: see ``is_oracle``.
    """
    from freshstack_datasets.retrieval.own import searched

    oracle = query not in SEARCHED
    queries: Any = data.queries
    label = retriever
    if query in (*SEARCHED[1:], *ORACLES):
        queries = data.queries_with(query)
        label += f"-{query}"
    elif oracle:
        queries = data.queries_with(texts_for(Path(query), data.queries.columns("query_id")[0]))
        label += "-" + "".join(letter if letter.isalnum() else "_" for letter in Path(query).stem)
    run = searched(retriever_for(retriever, data), retriever, queries, k)
    return run.named(label + _MARK if oracle else label)
