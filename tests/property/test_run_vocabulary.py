"""The ids of a run file, numbered by where they came first: against a dictionary of Python's."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.runs import vocabulary
from freshstack_datasets.runs.vocabulary import Vocabulary

IDS = st.lists(st.sampled_from(["a", "b", "é", "z z", "\U0001f600", "\uffff", "#%", "aa", "B"]), max_size=9)
COLUMNS = st.lists(st.tuples(st.sampled_from(["texts", "arrow", "large"]), IDS, st.booleans()), max_size=6)


def column(kind, ids):
    return ids if kind == "texts" else pa.array(ids, pa.string() if kind == "arrow" else pa.large_string())


@given(COLUMNS, st.integers(1, 4))
def test_numbers_are_those_of_a_dictionary_however_ids_come(columns, at_once):
    known, numbers, ids = {}, [], Vocabulary()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "_AT_ONCE", at_once)
        for kind, some, look in columns:
            ids.add(column(kind, some))
            numbers += [known.setdefault(one, len(known)) for one in some]
            if look:  # what was asked for in between changes nothing
                assert ids.codes().tolist() == numbers
        assert ids.ids().to_pylist() == list(known)
        assert ids.codes().tolist() == numbers
        ordered, places = ids.in_order()
    assert ordered == sorted(known)
    assert [ordered[place] for place in places] == list(known)


def test_ids_count_once_as_soon_as_they_are_told_apart_and_not_at_all_when_they_are_let_go():
    ids, many = Vocabulary(), pa.array([f"document {number:05}" for number in range(1_000)])
    for _ in range(10):
        ids.add(many)
    before = ids.size
    assert len(ids.ids()) == 1_000
    assert before > 10 * 1_000 * len("document 00000")
    assert 1_000 * 200 < ids.size < 1_000 * 300
    ids.add(["document 00000"] * 500)
    assert ids.size > 1_000 * 200 + 500 * 50
    ids.clear()
    assert ids.size < 100
    assert ids.codes().tolist() == []
