"""Commands that make, score and compare runs: retrieve, evaluate, compare."""

from pathlib import Path
from typing import Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.inputs import (
    DEPTH,
    DatasetName,
    Depth,
    MeasureNames,
    RetrieverName,
    SearchText,
    heading,
    open_dataset,
    read_runs,
    searched_run,
)
from freshstack_datasets.errors import InputError

ORACLE = "an oracle run: it searched for what nobody who asks knows"


def retrieve(
    dataset: DatasetName,
    retriever: Annotated[str, typer.Option("--retriever", metavar="NAME", help="A retriever: bm25.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The run: .trec, .json, .jsonl or .parquet.")],
    k: Depth = DEPTH,
    query: SearchText = "text",
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Search for all queries and write the run."""
    from freshstack_datasets.runs import write_run

    data = open_dataset(dataset)
    run, oracle = searched_run(data, retriever, query, k)
    write_run(run, out)
    if as_json:
        facts = {"dataset": data.name, "snapshot": data.snapshot, "fingerprint": data.fingerprint}
        counts = {"system": run.name, "queries": len(run), "documents": len(run.codes)}
        console.say_json({**facts, **counts, "query": query, "oracle": oracle, "out": str(out)})
        return
    console.say(f"{heading(data)}\n{run.name}: {len(run):,} queries, {len(run.codes):,} documents, written to {out}")
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
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Score run files or a retriever.

    Prints means with 95 % bootstrap intervals, and how many documents in the top 10 are unjudged. A retriever finds
    as many documents as the largest cutoff asks for, at least 100.
    """
    from freshstack_datasets import evaluation
    from freshstack_datasets.cli import scores

    if not run and retriever is None:
        raise InputError("nothing to score", expected="--run FILE or --retriever NAME", got="neither")
    if retriever is None and query != "text":
        raise InputError("--query", expected="a --retriever that searches", got="run files, whose search is over")
    if per_query is not None:
        scores.check_suffix(per_query)
    wanted = evaluation.parse_measures(measures) if measures else evaluation.DEFAULT_MEASURES
    data = open_dataset(dataset)
    runs = read_runs(run or [])
    if retriever is not None:
        found, oracle = searched_run(data, retriever, query, max(DEPTH, *(measure.cutoff for measure in wanted)))
        runs.append(found)
        if oracle:
            console.warn(f"{found.name}: {ORACLE}")
    results = [evaluation.evaluate(one, data, wanted) for one in runs]
    for result in results:
        for warning in result.warnings:
            console.warn(f"{result.system}: {warning}")
    if per_query is not None:
        scores.write_per_query(results, per_query)
    if as_json:
        console.say_json({"results": [result.to_json() for result in results]})
        return
    console.say(f"{heading(data)}, {len(data.queries):,} queries\n")
    console.say_table(scores.COLUMNS, scores.rows(results), right=scores.COLUMNS[2:])
    console.say("")
    for one in runs:
        console.say(scores.unjudged(one, data))


def compare(
    dataset: DatasetName,
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="A run file.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The run file that it is compared with.")],
    measures: MeasureNames = None,
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
    first, second = read_runs([run_a, run_b])
    comparison = evaluation.compare(first, second, data, wanted)
    for warning in comparison.warnings:
        console.warn(warning)
    if as_json:
        console.say_json(comparison.to_json())
        return
    console.say(f"{heading(data)}, {comparison.queries:,} queries\n{first.name} minus {second.name}\n")
    console.say_table(differences.COLUMNS, differences.rows(comparison), right=differences.COLUMNS[1:])
    console.say("\n" + "\n".join(differences.words(comparison)))
