"""Rankings without the documents that were not judged for their query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import RunError
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.evaluation.condensed import condensed
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

ROWS = [
    ("q1", "a", "d1", 1),
    ("q1", "a", "d2", 0),
    ("q1", "b", "d2", 1),
    ("q2", "c", "d3", 1),
    ("q2", "c", "d1", 0),
]


def test_only_documents_judged_for_that_very_query_stay_in_their_order():
    data = Dataset.from_nugget_qrels(ROWS)
    # d3 was judged for q2 alone, d9 for nobody; q7 is no query of the dataset
    run = Run.from_dict(
        {"q1": {"d9": 4.0, "d2": 3.0, "d3": 2.0, "d1": 1.0}, "q2": {"d9": 2.0}, "q7": {"d1": 1.0}}, name="mine"
    )
    found = condensed(run, data)
    assert found.to_dict() == {"q1": {"d2": 3.0, "d1": 1.0}, "q2": {}, "q7": {}}
    assert list(found["q1"]) == ["d2", "d1"]
    assert found.name == "mine"


def test_scores_of_condensed_lists_are_those_worked_out_by_hand():
    data = Dataset.from_nugget_qrels(ROWS)
    run = {"q1": {"d9": 3.0, "d1": 2.0, "d2": 1.0}, "q2": {"d9": 3.0, "d8": 2.0, "d3": 1.0}}
    # Within the first two ranks: q1 has d1 of two relevant documents, q2 none of one. Without d9 and d8, all.
    assert dict(evaluate(run, data, "Recall@2", intervals=False).per_query["Recall@2"]) == {"q1": 0.5, "q2": 0.0}
    found = evaluate(condensed(run, data), data, "Recall@2 Judged@2", intervals=False)
    assert dict(found.per_query["Recall@2"]) == {"q1": 1.0, "q2": 1.0}
    assert dict(found.per_query["Judged@2"]) == {"q1": 1.0, "q2": 1.0}


def test_the_arrays_of_a_condensed_run_cannot_be_written_to():
    found = condensed({"q1": {"d1": 1.0}}, Dataset.from_nugget_qrels(ROWS))
    for array in (found.offsets, found.codes, found.scores):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_what_is_no_run_is_refused():
    with pytest.raises(RunError, match="expected a Run or a mapping"):
        condensed(["q1"], Dataset.from_nugget_qrels(ROWS))


IDS = st.sampled_from([f"d{number}" for number in range(8)])
RUNS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "other"]), st.dictionaries(IDS, st.floats(-1e6, 1e6), max_size=8), max_size=4
)


@given(RUNS, st.integers(1, 3))
def test_it_is_what_leaving_them_out_of_the_mapping_gives(found, block):
    rows = [*ROWS, ("q3", "d", "d5", 1)]
    judged = {(query_id, doc_id) for query_id, _, doc_id, _ in rows}
    expected = {q: {d: s for d, s in documents.items() if (q, d) in judged} for q, documents in found.items()}
    with pytest.MonkeyPatch.context() as patch:  # as if these were many queries
        patch.setattr("freshstack_datasets.evaluation.condensed.BLOCK", block)
        run = condensed(found, Dataset.from_nugget_qrels(rows))
    assert run.to_dict() == expected
    assert run == Run.from_dict(expected)
    assert np.array_equal(run.offsets, np.cumsum([0, *map(len, expected.values())]))
