"""How long scoring takes and how much memory, against freshstack, ir_measures and pyndeval.

python -m benchmarks.evaluation [--scales 1,10,100] [--rounds 7]

At scale 1: 672 queries with 1,000 documents each, times of all tools interleaved in one process. Memory, and the
larger scales, each in a process of its own. Every tool must give the same values.
"""

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

QUERIES, DEPTH = 672, 1_000
POOL, JUDGED, RELEVANT = 60, 20, 6  # documents pooled for a query, judged for each nugget, and supporting it
CORPUS = 100_003  # a prime, so that steps of any length visit every document
NAMES = ("alpha_nDCG@10", "Coverage@20", "Recall@50")
OURS = ("ours, mapping", "ours, arrays")
STRANGE = "  with new ids"  # arrays, and no id of the run was ever looked up, nor even hashed
PEERS = ("freshstack", "ir_measures", "pyndeval")
AGREE = {"freshstack": 5.1e-5}  # it rounds to four decimals, and Coverage to five per query before that
Values = tuple[float | None, ...]
Rows = list[tuple[str, str, str, int]]


@dataclass(frozen=True)
class Input:
    """The same judgments and rankings for every tool; ids and scores are shared objects."""

    rows: Rows
    query_ids: list[str]
    doc_ids: list[str]
    codes: np.ndarray
    scores: np.ndarray
    pool: list[float]
    places: np.ndarray

    def mapping(self) -> dict[str, dict[str, float]]:
        """Return the rankings as dictionaries, best first."""
        return {
            query_id: dict(zip(self.ids_of(i), map(self.pool.__getitem__, self.places[i].tolist()), strict=True))
            for i, query_id in enumerate(self.query_ids)
        }

    def ids_of(self, i: int) -> Iterator[str]:
        """Return the ids of a ranking, best first."""
        return map(self.doc_ids.__getitem__, self.codes[i].tolist())

    def run(self) -> Run:
        """Return the rankings as arrays."""
        offsets = np.arange(len(self.query_ids) + 1) * DEPTH
        return Run.from_codes(self.query_ids, offsets, self.doc_ids, self.codes.ravel(), self.scores.ravel())


def make(scale: int, *, arrays: bool = True) -> Input:
    """Make judgments and rankings of ``scale`` times 672 queries; judged documents stand high, some are not found."""
    generator = np.random.default_rng(7)
    queries = QUERIES * scale
    doc_ids = sorted(f"langchain/docs/docs/integrations/page_{i}.mdx_{i * 31}_{i * 31 + 2048}" for i in range(CORPUS))
    pool = np.linspace(1.0, 0.0, 100 * DEPTH).tolist()
    query_ids = [str(70_000_000 + 13 * i) for i in range(queries)]
    codes = np.empty((queries, DEPTH), np.int32)
    places = np.empty((queries, DEPTH), np.int32)
    rows: Rows = []
    for i, query_id in enumerate(query_ids):
        start, step = generator.integers(1, CORPUS, 2)
        found = (start + step * np.arange(2 * DEPTH)) % CORPUS  # the first half is retrieved
        codes[i] = found[:DEPTH]
        places[i] = np.cumsum(generator.integers(1, 100, DEPTH))
        judged = np.unique((generator.random(POOL) ** 3 * len(found)).astype(np.int64))
        pooled = [doc_ids[code] for code in found[judged].tolist()]
        for nugget in range(max(1, int(generator.poisson(3.2)))):
            order = generator.permutation(len(pooled))[:JUDGED].tolist()
            at = f"{query_id}_{nugget}"
            rows += [(query_id, at, pooled[place], int(n < RELEVANT)) for n, place in enumerate(order)]
    scores = np.array(pool)[places] if arrays else np.empty(0)
    return Input(rows, query_ids, doc_ids, codes, scores, pool, places)


def ours(data: Input, *, arrays: bool, strange: int = 0) -> Callable[[], Values]:
    """Return a call that scores with this package; the first ``strange`` times each with ids of its own."""
    dataset = Dataset.from_nugget_qrels(data.rows, name="benchmark")
    run: Any = data.run() if arrays else data.mapping()
    copies = (tuple(doc_id[:1] + doc_id[1:] for doc_id in data.doc_ids) for _ in range(strange))  # other objects
    runs = cycle([replace(run, doc_ids=doc_ids) for doc_ids in copies] if strange else [run])

    def call() -> Values:
        result = evaluate(next(runs), dataset, NAMES, intervals=False)
        return tuple(result.mean[name] for name in NAMES)

    return call


def freshstack(data: Input) -> Callable[[], Values]:
    """Return a call that scores with freshstack, each measure at its one cutoff."""
    from freshstack.retrieval.metrics import alpha_ndcg, coverage, recall
    from freshstack.retrieval.util import round_and_log

    nuggets: dict[str, dict[str, int]] = {}
    of_query: dict[str, dict[str, None]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for query_id, nugget_id, doc_id, score in data.rows:
        nuggets.setdefault(nugget_id, {})[doc_id] = score
        of_query.setdefault(query_id, {})[nugget_id] = None
        documents = qrels.setdefault(query_id, {})
        documents[doc_id] = documents.get(doc_id, 0) + score
    query_nuggets = {query_id: list(ids) for query_id, ids in of_query.items()}
    run = data.mapping()

    def call() -> Values:
        found = alpha_ndcg(nuggets, query_nuggets, run, [10]), coverage(nuggets, query_nuggets, run, [20])
        return tuple(float(v) for m in (*found, recall(qrels, run, [50])) for v in round_and_log(m).values())

    return call


def ir_measures(data: Input) -> Callable[[], Values]:
    """Return a call that scores with ir_measures."""
    import ir_measures as irm

    by_score = sorted(data.rows, key=lambda row: row[3])  # of two rows on a document, it takes the last for R
    qrels = [irm.Qrel(query_id, doc_id, score, nugget_id) for query_id, nugget_id, doc_id, score in by_score]
    run = data.mapping()
    measures = [irm.alpha_nDCG @ 10, irm.StRecall @ 20, irm.R @ 50]

    def call() -> Values:
        found = irm.calc_aggregate(measures, qrels, run)
        return tuple(found[measure] for measure in measures)

    return call


def pyndeval(data: Input) -> Callable[[], Values]:
    """Return a call that scores with pyndeval, which has no Recall; nuggets by number, which keeps it linear."""
    import pyndeval as nd

    qrels = [
        (query_id, nugget_id.rpartition("_")[2], doc_id, score) for query_id, nugget_id, doc_id, score in data.rows
    ]
    run = data.mapping()

    def call() -> Values:
        evaluator = nd.RelevanceEvaluator(qrels, ["alpha-nDCG@10", "strec@20"])
        triples = ((query_id, doc_id, score) for query_id, found in run.items() for doc_id, score in found.items())
        found = evaluator.evaluate(triples).values()
        return *(sum(one[name] for one in found) / len(run) for name in ("alpha-nDCG@10", "strec@20")), None

    return call


def prepared(tool: str, data: Input) -> Callable[[], Values]:
    """Return the call of a tool."""
    if tool in OURS:
        return ours(data, arrays=tool == OURS[1])
    return {"freshstack": freshstack, "ir_measures": ir_measures, "pyndeval": pyndeval}[tool](data)


def check(tool: str, values: Values, expected: Values) -> None:
    """Stop when a tool gives other values."""
    for name, value, right in zip(NAMES, values, expected, strict=True):
        if value is not None and right is not None and abs(value - right) > AGREE.get(tool, 1e-9):
            raise SystemExit(f"{tool} gives {name} {value}, expected {right}")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it gave."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def interleaved(rounds: int) -> None:
    """Time all tools in turn on the same input, and print ratios."""
    data = make(1)
    calls = {tool: prepared(tool, data) for tool in (*OURS, *PEERS)}
    calls[STRANGE] = ours(data, arrays=True, strange=rounds + 1)  # one each for the cold call and every round
    cold = {tool: timed(calls[tool])[0] for tool in (*OURS, STRANGE)}
    expected = calls[OURS[0]]()
    seconds: dict[str, list[float]] = {tool: [] for tool in calls}
    for _ in range(rounds):
        for tool, call in calls.items():
            spent, values = timed(call)
            check(tool, values, expected)
            seconds[tool].append(spent)
    peer = statistics.median(seconds["freshstack"])
    each = [slow / quick for slow, quick in zip(seconds["freshstack"], seconds[STRANGE], strict=True)]
    print(f"{QUERIES} queries x {DEPTH} documents, {len(data.rows)} judgments, median of {rounds} rounds")
    print("  " + ", ".join(f"{name} {value:.6f}" for name, value in zip(NAMES, expected, strict=True)))
    print(f"  with new ids, round by round, {min(each):.0f} to {max(each):.0f} x as fast as freshstack")
    for tool, spent in seconds.items():
        middle = statistics.median(spent)
        line = f"  {tool:<14} {middle * 1e3:9.1f} ms   {peer / middle:7.2f} x as fast as freshstack"
        print(line + (f"   (first call {cold[tool] * 1e3:.0f} ms: it prepares the judgments)" if tool in cold else ""))


def resident(field: str) -> float:
    """Return a size of this process in MB: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def child(tool: str, scale: int) -> None:
    """Measure one tool at one scale in this process, and print it as JSON."""
    call = prepared(tool, make(scale, arrays=tool == OURS[1]))
    before = resident("VmRSS:")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the input
    first, values = timed(call)
    peak = resident("VmHWM:")
    warm = [timed(call)[0] for _ in range(3)] if tool in OURS else [first]
    found = {"first": first, "seconds": statistics.median(warm), "data": before, "above": peak - before}
    print(json.dumps(found | {"values": values}))


def apart(tool: str, scale: int) -> dict[str, Any] | None:
    """Measure one tool in a process of its own; None when there is not enough memory for it."""
    need = 300 + 100 * scale  # MB, more than any of them took with its input
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    if need > free:
        print(f"  {tool:<14} x{scale:<4} left out: it needs about {need} MB and {free:.0f} are free")
        return None
    command = [sys.executable, "-m", "benchmarks.evaluation", "--child", tool, str(scale)]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    print(
        f"  {tool:<14} x{scale:<4} {found['seconds'] * 1e3:10.1f} ms (first {found['first'] * 1e3:.0f})"
        f"   {found['above']:8.1f} MB above {found['data']:.0f} MB of input"
        f"   per 672 queries {found['seconds'] * 1e3 / scale:.1f} ms, {found['above'] / scale:.1f} MB"
    )
    return found


def growth(scales: list[int]) -> None:
    """Measure memory at scale 1 and times and memory at the larger ones."""
    print("each in a process of its own: time, and peak memory above the input")
    for scale in scales:
        expected = None
        for tool in (*OURS, *PEERS) if scale == 1 else (*OURS, "pyndeval"):
            found = apart(tool, scale)
            if found:
                expected = expected or found["values"]
                check(tool, found["values"], expected)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", default="1,10,100", help="how many times 672 queries")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--child", nargs=2, metavar=("TOOL", "SCALE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # those of the peers
    logging.disable(logging.WARNING)
    if chosen.child:
        child(chosen.child[0], int(chosen.child[1]))
        return
    interleaved(chosen.rounds)
    growth([int(scale) for scale in chosen.scales.split(",")])


if __name__ == "__main__":
    main()
