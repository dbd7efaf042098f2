"""From nothing on this machine to the first score, over one Hub: ours, freshstack's loader, and ``load_dataset``.

    python -m benchmarks.hub [--documents N] [--rounds N] [--xet]

Starts the Hub of the tests on loopback and puts a topic of 50,000 documents there, as the originals of October 2024
and as a snapshot of this package. Then each way, in a process of its own and one after the other in every round, scores
a prepared run twice: ``first`` with nothing on this machine, ``again`` with what it left there. All give the same
values, or the benchmark stops.

- ``ours``: ``load`` of a snapshot by name, ``evaluate``; the corpus is not needed, so it is not downloaded.
- ``ours, all texts``: the same, and every document is read.
- ``ours, originals``: ``load`` of what October 2024 published, which is converted at the first time.
- ``freshstack``: its ``DataLoader`` and its evaluator; the loader gives no judgments without the corpus.
- ``load_dataset``: the judgments of the snapshot by ``datasets``, scored by ours.
- ``load_dataset, all texts``: the same, and every document is read.

Requests are those that the Hub answered. Time is that of the whole process, and that from after the imports; memory is
the process's peak, files that it maps included, what it was after the imports, and the difference. No way can do with
less than a process that imports NumPy, pyarrow and its reader of Parquet files and does nothing.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.hub.clients import Client

# The names that the inputs have too; what makes them is not imported here, since it would count as memory.
TOPIC, SNAPSHOT = "langchain", "2026-10"
DATASET, RUN = f"freshstack/{TOPIC}", "run.json"
NAMES = ("alpha_nDCG@10", "Coverage@20", "Recall@50")
Values = dict[str, float]
Figures = dict[str, float]
ROUNDED = 5.1e-5  # freshstack rounds to four decimals, and Coverage to five per query before that


def ours(run: Path, snapshot: str = SNAPSHOT, *, texts: bool = False) -> Iterator[Values]:
    """Load a snapshot by name and score."""
    from freshstack_datasets import evaluate, load

    yield {}
    data = load(DATASET, snapshot)
    if texts:
        sum(len(document.text) for document in data.corpus)
    yield dict(evaluate(_read(run), data, NAMES, intervals=False).mean)


def freshstack(run: Path) -> Iterator[Values]:
    """Load with the peer and score with it."""
    from freshstack.datasets import DataLoader
    from freshstack.retrieval.evaluation import EvaluateRetrieval

    yield {}
    loader = DataLoader(topic=TOPIC)
    loader.load()
    nuggets, qrels, query_nuggets = loader.load_qrels()
    found: Values = {}
    for measured in EvaluateRetrieval([10, 20, 50]).evaluate(nuggets, query_nuggets, qrels, _read(run)):
        found.update(measured)
    yield {name: found[name.replace("_", "-")] for name in NAMES}


def load_dataset(run: Path, *, texts: bool = False) -> Iterator[Values]:
    """Load the tables that are needed with ``datasets``, and score with ours."""
    import datasets

    from freshstack_datasets import Dataset, evaluate

    yield {}
    if texts:
        corpus = datasets.load_dataset(DATASET, "corpus", revision=SNAPSHOT, split="corpus")
        sum(len(row["text"]) for row in corpus)
    rows = datasets.load_dataset(DATASET, "nugget_qrels", revision=SNAPSHOT, split="test")
    columns = (rows[name] for name in ("query-id", "nugget-id", "corpus-id", "score"))
    data = Dataset.from_nugget_qrels(zip(*columns, strict=True))
    yield dict(evaluate(_read(run), data, NAMES, intervals=False).mean)


def _read(run: Path) -> dict[str, dict[str, float]]:
    return dict(json.loads(run.read_bytes()))


WAYS = {
    "ours": ours,
    "ours, all texts": lambda run: ours(run, texts=True),
    "ours, originals": lambda run: ours(run, "2024-10"),
    "freshstack": freshstack,
    "load_dataset": load_dataset,
    "load_dataset, all texts": lambda run: load_dataset(run, texts=True),
}


PAIRS = (
    ("ours", "freshstack"),
    ("ours, all texts", "freshstack"),
    ("ours, originals", "freshstack"),
    ("ours", "load_dataset"),
    ("ours, all texts", "load_dataset, all texts"),
)
"""Whose figures are set against whose."""


def memory(name: str) -> float:
    """Return a figure of this process's memory in megabytes; VmHWM, unlike ru_maxrss, does not count the parent."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


def measure(way: str, run: Path) -> dict[str, Any]:
    """Run one way in this process: seconds from after the imports, megabytes, and the values."""
    steps = WAYS[way](run)
    next(steps)
    before = memory("VmRSS")
    start = time.perf_counter()
    values = next(steps)
    seconds = time.perf_counter() - start
    peak = memory("VmHWM")
    return {"inside": seconds, "peak": peak, "imports": before, "grown": peak - before, "values": values}


def least() -> float:
    """Return the peak in megabytes of a process that imports what reads Parquet files, and reads none."""
    code = "import numpy, pyarrow.parquet; from benchmarks.hub import memory; print(memory('VmHWM'))"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def in_a_process(way: str, folder: Path, client: "Client", home: Path, *, xet: bool) -> tuple[Figures, Values]:
    """Run one way in a process of its own, and count what it asked the Hub."""
    asked = len(client.hub.log)
    command = [sys.executable, "-m", "benchmarks.hub", "--way", way, "--folder", str(folder)]
    home.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    done = subprocess.run(command, env=client.environment(home, xet), capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{way} failed:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    values = found.pop("values")
    return {"requests": len(client.hub.log) - asked, "seconds": seconds, **found}, values


def rounds(count: int, folder: Path, client: "Client", *, xet: bool) -> dict[str, dict[str, Figures]]:
    """Return the medians of every figure of every way, the first time and again."""
    found: dict[str, dict[str, list[Figures]]] = {way: {"first": [], "again": []} for way in WAYS}
    expected: Values = {}
    for number in range(count):
        for way, times in found.items():
            with tempfile.TemporaryDirectory(dir=folder) as home:
                for when, runs in times.items():
                    figures, values = in_a_process(way, folder, client, Path(home), xet=xet)
                    expected = expected or values
                    check(way, values, expected)
                    runs.append(figures)
                    print(f"round {number + 1}, {way}, {when}: {_in_words(figures)}", file=sys.stderr)
    print(", ".join(f"{name} {value:.4f}" for name, value in expected.items()) + " by every way\n")
    return {
        way: {
            when: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for when, runs in times.items()
        }
        for way, times in found.items()
    }


def check(way: str, values: Values, expected: Values) -> None:
    """Stop when a way gives other values."""
    for name in NAMES:
        if abs(values[name] - expected[name]) > (ROUNDED if way == "freshstack" else 1e-9):
            raise SystemExit(f"{way} gives {name} {values[name]}, expected {expected[name]}")


def _in_words(figures: Figures) -> str:
    return ", ".join(f"{key} {value:,.2f}" for key, value in figures.items())


def report(figures: dict[str, dict[str, Figures]]) -> None:
    """Print the figures, how many times those of ours the others are, and the targets."""
    heads = ("seconds", "after imports", "peak memory", "less imports", "imports")
    for when in ("first", "again"):
        print(f"{when:24}{'requests':>10}" + "".join(f"{head:>20}" for head in heads))
        base = figures["ours"][when]
        for way, times in figures.items():
            run = times[when]
            cells = [f"{run[key]:,.2f} s ({run[key] / base[key]:,.1f} x)" for key in ("seconds", "inside")]
            cells += [f"{run[key]:,.0f} MB ({run[key] / base[key]:,.1f} x)" for key in ("peak", "grown", "imports")]
            print(f"{way:24}{run['requests']:>10,.0f}" + "".join(f"{cell:>20}" for cell in cells))
        print()
    print(f"Python with NumPy, pyarrow and its reader of Parquet files, doing nothing: {least():,.0f} MB\n")
    for mine, peer in PAIRS:
        targets(mine, figures[mine], peer, figures[peer])


def targets(mine: str, of_mine: dict[str, Figures], peer: str, of_peer: dict[str, Figures]) -> None:
    """Print the targets of one way against another, and beside each what was found."""

    def shares(key: str) -> str:
        return ", ".join(f"{when} {of_mine[when][key] / of_peer[when][key]:.2f}" for when in of_mine)

    asked = ", ".join(f"{when} {of_mine[when]['requests']:.0f} to {of_peer[when]['requests']:.0f}" for when in of_mine)
    print(f"{mine} against {peer}")
    print(f"  requests, target fewer:   {asked}")
    print(f"  time, target 0.50 again:  {shares('seconds')}; after imports {shares('inside')}")
    alone = ", ".join(f"{when} {of_mine[when]['imports'] / of_peer[when]['peak']:.2f}" for when in of_mine)
    print(f"  peak memory, target 0.33: {shares('peak')}; less imports {shares('grown')}; our imports alone {alone}")


def main() -> None:
    """Measure all ways, or one in this process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--xet", action="store_true", help="let large files travel by xet, which the Hub does not count"
    )
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.way, given.folder / RUN)))
        return
    compare(given.documents, given.rounds, xet=given.xet)


def compare(documents: int, count: int, *, xet: bool) -> None:
    """Fill a Hub, measure all ways, and print what was found."""
    from benchmarks import hub_inputs as inputs
    from tests.hub.clients import Client
    from tests.hub.released import release
    from tests.hub.server import TestHub

    with tempfile.TemporaryDirectory() as temporary, TestHub() as hub:
        folder = Path(temporary)
        inputs.make(folder, documents)
        hub.put(inputs.DATASET, folder / inputs.OURS, tag=inputs.SNAPSHOT, xet=xet)
        release(hub, {inputs.TOPIC: folder / inputs.CORPUS}, {inputs.TOPIC: folder / inputs.QUERIES}, xet)
        sizes = [
            (folder / name).stat().st_size / 1e6
            for name in (inputs.CORPUS, "ours/corpus/corpus-00000-of-00001.parquet")
        ]
        print(f"{documents:,} documents; the corpus {sizes[0]:,.0f} MB as the original, {sizes[1]:,.0f} MB as ours")
        report(rounds(count, folder, Client(hub, folder), xet=xet))


if __name__ == "__main__":
    main()
