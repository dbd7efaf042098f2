"""Commands that make, score and compare runs: retrieve, evaluate, compare."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.inputs import (
    DEPTH,
    ORACLE,
    RETRIEVERS,
    DatasetName,
    Depth,
    MeasureNames,
    OverlayFolder,
    RetrieverName,
    SearchText,
    heading,
    identity,
    is_oracle,
    open_dataset,
    read_runs,
    searched_run,
)
from freshstack_datasets.errors import InputError

if TYPE_CHECKING:
    from freshstack_datasets.evaluation import Result
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run


def retrieve(
    dataset: DatasetName,
    retriever: Annotated[str, typer.Option("--retriever", metavar="NAME", help=RETRIEVERS)],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The run: .trec, .run, .txt, .json or .jsonl, each also with .gz, or .parquet.",
        ),
    ],
    k: Depth = DEPTH,
    query: SearchText = "text",
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Search for all queries and write the run."""
    from freshstack_datasets.runs import write_run

    data = open_dataset(dataset)
    run = searched_run(data, retriever, query, k)
    write_run(run, out)
    oracle = is_oracle(run)
    if oracle and out.name.lower().removesuffix(".gz").endswith(".json") and "oracle" not in out.name.lower():
        console.warn(
            f"{out}: nothing in the file says that this is an oracle run; "
            f"call it {run.name}.json, or take a format that keeps the run's name (.trec, .jsonl, .parquet)"
        )
    if as_json:
        counts = {"system": run.name, "queries": len(run), "documents": len(run.codes)}
        console.say_json({**identity(data), **counts, "query": query, "oracle": oracle, "out": str(out)})
        return
    counts_in_words = f"{console.counted(len(run), 'queries')}, {console.counted(len(run.codes), 'ranked documents')}"
    console.say(f"{heading(data)}\n{run.name}: {counts_in_words}, written to {out}")
    if oracle:
        console.say(f"{run.name}: {ORACLE}")


def evaluate(
    dataset: DatasetName,
    run: Annotated[list[Path] | None, typer.Option("--run", metavar="FILE", help="A run file, or several.")] = None,
    retriever: RetrieverName = None,
    measures: MeasureNames = None,
    query: SearchText = "text",
    per_query: Annotated[
        Path | None, typer.Option("--per-query", metavar="FILE", help="Write all values: .csv or .jsonl.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Score slices of the queries too: by type, or any other column of theirs (language, tags …), "
            "or by nuggets, their number.",
        ),
    ] = None,
    overlay: OverlayFolder = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Score run files or a retriever.

    Prints means with 95 % bootstrap intervals, and how many documents in the top 10 are unjudged. A retriever finds
    as many documents as the largest cutoff asks for, at least 100.

    With --by, also prints every measure for the queries of each value; slices of fewer than 20 queries are marked.
    """
    from freshstack_datasets import evaluation
    from freshstack_datasets.cli import scores, slices

    _check_evaluate(run, retriever, query, per_query, by)
    wanted = evaluation.parse_measures(measures) if measures else evaluation.DEFAULT_MEASURES
    bare = open_dataset(dataset)
    data = bare if overlay is None else bare.with_overlay(overlay)
    depth = max(DEPTH, *(measure.cutoff for measure in wanted))
    search = None if retriever is None else partial(searched_run, bare, retriever, query, depth)
    runs = read_runs(run or [], search)
    results = [evaluation.evaluate(one, data, wanted) for one in runs]
    for one, result in zip(runs, results, strict=True):
        for warning in (*result.warnings, *_doubts(one, data)):
            console.warn(f"{one.name}: {warning}")
    if per_query is not None:
        scores.write_per_query(results, per_query)
    parts = [] if by is None else [evaluation.slices(result, data, by) for result in results]
    if by is not None and (doubt := slices.doubt(data, by, parts[0])):
        console.warn(doubt)
    if as_json:
        entries = [result.to_json() for result in results]
        console.say_json({"results": entries if by is None else slices.entries(entries, by, parts)})
        return
    console.say(f"{heading(data)}, {console.counted(len(data.queries), 'queries')}\n")
    if by is None:
        console.say_table(scores.COLUMNS, scores.rows(results), right=scores.COLUMNS[2:])
    else:
        slices.say(results, by, parts)
    console.say("")
    for one, result in zip(runs, results, strict=True):
        _say_notes(one, result, data)


def compare(
    dataset: DatasetName,
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run file.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The run file that it is compared with.")],
    measures: MeasureNames = None,
    overlay: OverlayFolder = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Compare two runs, query by query.

    Prints the difference RUN_A minus RUN_B with a 95 % interval, the chance of one so large between equal systems
    (with Holm's correction over the measures), the queries won, tied and lost, and the smallest difference that so
    many queries could show.
    """
    from freshstack_datasets import evaluation
    from freshstack_datasets.cli import differences

    wanted = evaluation.parse_measures(measures) if measures else evaluation.DEFAULT_MEASURES
    data = open_dataset(dataset)
    data = data if overlay is None else data.with_overlay(overlay)
    first, second = read_runs([run_a, run_b])
    comparison = evaluation.compare(first, second, data, wanted)
    doubts = [f"{one.name}: {doubt}" for one in (first, second) for doubt in _doubts(one, data)]
    for warning in (*comparison.warnings, *doubts):
        console.warn(warning)
    if as_json:
        console.say_json(comparison.to_json())
        return
    console.say(
        f"{heading(data)}, {console.counted(comparison.queries, 'queries')}\n{first.name} minus {second.name}\n"
    )
    console.say_table(differences.COLUMNS, differences.rows(comparison), right=differences.COLUMNS[1:])
    console.say("\n" + "\n".join(differences.words(comparison)))


def _check_evaluate(
    run: list[Path] | None, retriever: str | None, query: str, per_query: Path | None, by: str | None
) -> None:
    """Refuse what evaluate cannot do, before it opens anything."""
    from freshstack_datasets.cli import scores
    from freshstack_datasets.evaluation.slicing import check_column

    if not run and retriever is None:
        raise InputError("nothing to score", expected="--run FILE or --retriever NAME", got="neither")
    if retriever is None and query != "text":
        raise InputError("--query", expected="a --retriever that searches", got="run files, whose search is over")
    if per_query is not None:
        scores.check_suffix(per_query)
    if by is not None:
        check_column(by)


def _doubts(run: "Run", data: "Dataset") -> list[str]:
    """Return what a reader should know of a run that no measure tells."""
    from freshstack_datasets.cli import scores

    return [doubt for doubt in (ORACLE if is_oracle(run) else "", scores.foreign(run, data)) if doubt]


def _say_notes(run: "Run", result: "Result", data: "Dataset") -> None:
    """Print what stands below the table: how much of a run nobody judged, and how much of its order ids decided."""
    from freshstack_datasets.cli import scores

    console.say(scores.unjudged(run, data))
    if result.ties:
        console.say(f"{run.name}: {console.counted(result.ties, 'ties')} in score, settled by document id")
