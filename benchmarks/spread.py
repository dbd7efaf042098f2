"""How unlike real systems are from question to question, which decides how small a difference questions can show.

    python -m benchmarks.spread [DATASET …]

Prints the standard deviation of the difference per default measure: of BM25 beside its fusion with a small embedding
model, and beside that model alone; on Nimbus, or on other datasets or folders of snapshots. It needs what
``benchmarks.nimbus`` needs. ``python -m builders stats`` takes these figures where there are no runs yet.
"""

import argparse

import freshstack_datasets as fsd
from benchmarks.nimbus import dense, fused


def main() -> None:
    """Print both comparisons on each dataset."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", nargs="*", metavar="DATASET", default=["nimbus"])
    for name in parser.parse_args().datasets:
        data = fsd.load(name)
        bm25 = fsd.BM25().index(data.corpus).search(data.queries)
        model = dense(data)
        first = fsd.evaluate(bm25, data, intervals=False)
        for run in (fused(bm25, model), model):
            spreads = (first.values - fsd.evaluate(run, data, intervals=False).values).std(axis=1, ddof=1)
            told = "  ".join(f"{m} {spread:.2f}" for m, spread in zip(first.measures, spreads, strict=True))
            print(f"{data.name}, {first.queries} questions, bm25 and {run.name}: {told}")


if __name__ == "__main__":
    main()
