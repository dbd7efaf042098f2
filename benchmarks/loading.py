"""Opening a large snapshot, against reading the same Parquet into the peer's dictionary of dictionaries.

    python -m benchmarks.loading [--documents N] [--rounds N]

Makes a snapshot of 120,000 documents of some 1,300 tokens in a temporary folder, then measures, each time in a
process of its own and one way after the other in every round:

- ``ours``: ``load``, then the first document, then 1,000 random ones;
- ``freshstack, first time`` and ``freshstack, again``: the corpus loader of freshstack 0.0.6 itself, on the same
  file, without and with what it left in its cache the time before;
- ``leanest``: the same dictionary made by pyarrow alone, as quickly as it can be.

Time counts from after the imports. Memory is the process's peak, and the peak less what it was after the imports.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from freshstack_datasets.records import Document, Judgment, Nugget, Query

RANDOM_DOCUMENTS = 1_000
WAYS = ("ours", "freshstack, first time", "freshstack, again", "leanest")


def documents(count: int) -> Iterator[Document]:
    """Yield documents that look like code and prose, by no order of their ids."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz_", k=rng.randint(2, 10))) for _ in range(20_000)]
    pieces = [word + rng.choice([" "] * 8 + ["\n", "(", ").", ", "]) for word in words]
    for i in rng.sample(range(count), count):
        text = "".join(rng.choices(pieces, k=620))
        path = f"packages/module_{i % 613}/file_{i}.py"
        metadata = {"url": f"https://example.org/acme/code/blob/main/{path}", "start_byte": 0, "end_byte": len(text)}
        yield Document(f"code/{path}_0_{len(text)}", "", text, metadata)


def make(folder: Path, count: int) -> None:
    """Write the snapshot, and beside it the same corpus file where the peer's loader looks for it."""
    from freshstack_datasets.snapshot import write_snapshot
    from freshstack_datasets.tables.schema import CORPUS

    first = next(documents(count)).doc_id
    write_snapshot(
        folder / "ours",
        dataset="acme/code",
        snapshot="2026-10",
        license="MIT",
        documents=documents(count),
        queries=[Query("q", "what?")],
        nuggets=[Nugget("n", "q", 0, "that")],
        judgments=[Judgment("q", "n", first, 1)],
    )
    peer = folder / "peer" / "topic"
    peer.mkdir(parents=True)
    os.link(folder / "ours" / CORPUS.file(), peer / "train-00000-of-00001.parquet")
    config = "configs:\n- config_name: topic\n  data_files:\n  - split: train\n    path: topic/train-*.parquet\n"
    (peer.parent / "README.md").write_text(f"---\n{config}---\n", encoding="utf-8")


def memory(name: str) -> float:
    """Return a figure of this process's memory in megabytes; VmHWM, unlike ru_maxrss, does not count the parent."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


def ours(folder: Path) -> Iterator[object]:
    """Open the snapshot, then take documents out of it."""
    from freshstack_datasets.loading import load

    yield None
    corpus = load(folder / "ours").corpus
    yield next(iter(corpus))
    yield corpus.get_many(random.Random(2).sample(corpus.ids, RANDOM_DOCUMENTS))


def freshstack(folder: Path) -> Iterator[object]:
    """Let the peer load its corpus, then take documents out of it."""
    from freshstack.datasets import DataLoader

    yield None
    loader = DataLoader(corpus_repo=str(folder / "peer"), topic="topic")
    loader._load_corpus()
    yield from _from_dictionary(loader.corpus)


def leanest(folder: Path) -> Iterator[object]:
    """Make the peer's dictionary with nothing but pyarrow, then take documents out of it."""
    import pyarrow.parquet as pq

    yield None
    file = next((folder / "peer" / "topic").glob("*.parquet"))
    corpus = {}
    for batch in pq.ParquetFile(file).iter_batches(batch_size=1_000, columns=["_id", "title", "text"]):
        columns = (batch.column(name).to_pylist() for name in ("_id", "title", "text"))
        corpus.update({i: {"text": text, "title": title} for i, title, text in zip(*columns, strict=True)})
    yield from _from_dictionary(corpus)


def _from_dictionary(corpus: dict[str, dict[str, str]]) -> Iterator[object]:
    yield corpus[next(iter(corpus))]
    yield [corpus[doc_id] for doc_id in random.Random(2).sample(sorted(corpus), RANDOM_DOCUMENTS)]


def measure(way: str, folder: Path) -> dict[str, float]:
    """Run one way in this process: seconds to the first document and to the random ones, megabytes."""
    steps = {"ours": ours, "leanest": leanest}.get(way, freshstack)(folder)
    next(steps)
    before = memory("VmRSS")
    start = time.perf_counter()
    next(steps)
    first = time.perf_counter() - start
    next(steps)
    found = time.perf_counter() - start
    peak = memory("VmHWM")
    return {"first": first, "random": found, "peak": peak, "grown": peak - before}


def in_a_process(way: str, folder: Path, cache: Path) -> dict[str, float]:
    """Run one way in a process of its own."""
    environment = os.environ | {"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-m", "benchmarks.loading", "--way", way, "--folder", str(folder)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def rounds(count: int, folder: Path, say: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Return the medians of every figure of every way."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for number in range(count):
        cache = folder / f"cache-{number}"  # new in every round: its first load is a first load
        for way in WAYS:
            found[way].append(in_a_process(way, folder, cache))
            say(f"round {number + 1}, {way}: {found[way][-1]}")
    return {way: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for way, runs in found.items()}


def report(figures: dict[str, dict[str, float]]) -> None:
    """Print the figures, and how many times those of ours the others are."""
    print(f"{'':24}{'first document':>24}{'1,000 random':>22}{'peak memory':>22}{'less imports':>22}")
    mine = figures["ours"]
    for way, run in figures.items():
        cells = [f"{run[key]:,.3f} s ({run[key] / mine[key]:,.1f} x)" for key in ("first", "random")] + [
            f"{run[key]:,.0f} MB ({run[key] / mine[key]:,.1f} x)" for key in ("peak", "grown")
        ]
        print(f"{way:24}{cells[0]:>24}{cells[1]:>22}{cells[2]:>22}{cells[3]:>22}")


def main() -> None:
    """Measure all ways, or one in this process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=120_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.way, given.folder)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        start = time.perf_counter()
        make(Path(temporary), given.documents)
        size = sum(path.stat().st_size for path in Path(temporary, "ours").rglob("*") if path.is_file()) / 1e6
        print(f"{given.documents:,} documents written in {time.perf_counter() - start:.0f} s, {size:,.0f} MB\n")
        figures = rounds(given.rounds, Path(temporary), lambda line: print(line, file=sys.stderr))
        report(figures)


if __name__ == "__main__":
    main()
