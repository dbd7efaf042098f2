"""Runs in memory: the one ranking, what is refused, and what a run can be turned into."""

import pickle

import numpy as np
import pytest

from freshstack_datasets.errors import RunError, UnknownNameError
from freshstack_datasets.ranking import Run, as_run


def codes(query_ids=("q1", "q2"), offsets=(0, 2, 3), doc_ids=("a", "b"), entries=(0, 1, 1), scores=(2.0, 1.0, 3.0)):
    return Run.from_codes(query_ids, np.array(offsets), doc_ids, np.array(entries, np.int32), np.array(scores))


def test_documents_stand_by_falling_score_and_then_by_falling_id():
    run = Run.from_dict({"q": {"a": 1.0, "c": 2.0, "b": 2.0, "é": 2.0, "d": 0.5}})
    # code points: b < c < é, so of the three at 2.0 the order is é, c, b
    assert list(run["q"]) == ["é", "c", "b", "a", "d"]


def test_minus_zero_and_zero_are_one_score():
    assert list(Run.from_dict({"q": {"a": 0.0, "b": -0.0}})["q"]) == ["b", "a"]


def test_scores_one_bit_apart_are_no_tie():
    # as 32-bit floats, the two would be equal and b would come first
    assert list(Run.from_dict({"q": {"a": 1.0 + 1e-9, "b": 1.0}})["q"]) == ["a", "b"]


def test_the_three_ways_make_the_same_run():
    wanted = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 3.0}}
    mixed = Run.from_columns(["q1", "q2", "q1"], ["b", "b", "a"], [1, 3, 2])
    assert Run.from_dict(wanted) == mixed == codes() == codes(entries=(1, 0, 1), scores=(1.0, 2.0, 3.0))
    assert mixed.to_dict() == wanted
    assert mixed.query_ids == ("q1", "q2")


def test_a_vocabulary_may_hold_ids_that_no_query_uses():
    assert codes(doc_ids=("a", "b", "c", "d")).to_dict() == codes().to_dict()


def test_equality_leaves_out_name_order_and_empty_queries():
    one = Run.from_dict({"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {}}, name="one")
    assert one == Run.from_dict({"q2": {"b": 1.0}, "q1": {"a": 1.0}}, name="two")
    assert one != Run.from_dict({"q1": {"a": 1.0}, "q2": {"b": 1.5}})
    assert one != {"q1": {"a": 1.0}}


def test_numbers_of_any_kind_are_scores():
    run = Run.from_dict({"q": {"a": np.float32(0.5), "b": 3, "c": np.int64(2), "d": True}})
    assert run["q"] == {"b": 3.0, "c": 2.0, "d": 1.0, "a": 0.5}


@pytest.mark.parametrize(
    "score, shown",
    [
        (float("nan"), "nan (float)"),
        (float("-inf"), "-inf (float)"),
        ("1.5", "'1.5' (str)"),
        (None, "None (NoneType)"),
        ([1], "[1] (list)"),
        (1j, "1j (complex)"),
    ],
)
def test_the_first_bad_score_is_named(score, shown):
    with pytest.raises(RunError) as caught:
        Run.from_dict({"q1": {"a": 1.0}, "q2": {"b": 1.0, "c": score, "d": float("nan")}})
    assert str(caught.value) == f"query 'q2', document 'c': score, expected a finite number, got {shown}"


@pytest.mark.parametrize(
    "run, message",
    [
        ({1: {"a": 1.0}}, "query id, expected a non-empty string without tab or line break, got 1 (int)"),
        ({"q": {2: 1.0}}, "query 'q': document id, expected a non-empty string without tab or line break, got 2 (int)"),
        ({"q": {"": 1.0}}, "query 'q': document id, expected a non-empty string"),
        ({"q": {"a": 1.0, "b\tc": 1.0}}, r"query 'q': document id, expected .*, got 'b\\tc' \(str\)"),
        ({"q": {"a\nb": 1.0}}, "query 'q': document id, expected"),
        ({"q\r": {"a": 1.0}}, "query id, expected"),
        ({"p": {"a": 1.0}, "q": {"\ud800": 1.0}}, r"query 'q': document id '\\ud800', expected valid Unicode"),
        ({"q": ["a", "b"]}, r"query 'q', expected a mapping from document id to score, got \['a', 'b'\] \(list\)"),
    ],
)
def test_what_is_no_run_is_refused(run, message):
    with pytest.raises(RunError) as caught:
        Run.from_dict(run)
    assert caught.match(message if "\\" in message else message.replace("(", r"\(").replace(")", r"\)"))


def test_a_document_that_comes_twice_is_refused():
    with pytest.raises(RunError, match=r"^query 'q2', document 'a', expected it once, got it twice$"):
        Run.from_columns(["q1", "q2", "q1", "q2"], ["a", "a", "b", "a"], [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("bad", [["q"], {}, bytearray(b"q")])
def test_a_query_id_in_a_column_that_has_no_hash_is_refused(bad):
    with pytest.raises(RunError, match=r"^query id, expected a non-empty string without tab or line break, got "):
        Run.from_columns(["q", bad], ["a", "b"], [1.0, 2.0])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"offsets": (0, 2)}, "do not fit together"),
        ({"offsets": (1, 2, 3)}, "do not fit together"),
        ({"offsets": (0, 4, 3)}, "do not fit together"),
        ({"entries": (0, 1)}, "do not fit together"),
        ({"entries": (0, 1, 2)}, "do not fit together"),
        ({"entries": (0, -1, 1)}, "do not fit together"),
        ({"doc_ids": ("b", "a")}, "expected ids in ascending order, each once"),
        ({"doc_ids": ("a", "a")}, "expected ids in ascending order, each once"),
        ({"query_ids": ("q1", "q1")}, "query 'q1', expected each query once, got it twice"),
        ({"scores": (2.0, 1.0, float("inf"))}, "query 'q2', document 'b': score, expected a finite number, got inf"),
        ({"entries": (1, 1, 1)}, "query 'q1', document 'b', expected it once, got it twice"),
    ],
)
def test_arrays_that_are_no_run_are_refused(change, message):
    with pytest.raises(RunError, match=message):
        codes(**change)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(RunError, match="expected one length, got 2 query ids, 1 document ids, 2 scores"):
        Run.from_columns(["q", "q"], ["a"], [1.0, 2.0])


def test_an_unknown_query_is_named_with_its_neighbours():
    with pytest.raises(UnknownNameError, match="unknown query 'q3'; did you mean 'q2' or 'q1'"):
        codes()["q3"]


def test_collapsing_keeps_the_best_score_of_a_unit():
    run = Run.from_dict({"q": {"f_1": 1.0, "f_2": 3.0, "g_1": 2.0}, "p": {}}, name="chunks")
    files = run.collapse(lambda doc_id: doc_id.split("_")[0])
    assert files.to_dict() == {"q": {"f": 3.0, "g": 2.0}, "p": {}}
    assert files.name == "chunks"
    assert run.collapse({"f_1": "f", "f_2": "f", "g_1": "g"}) == files


def test_collapsing_a_document_without_a_unit_is_refused():
    with pytest.raises(RunError, match="document 'b', expected a unit in the mapping, got none"):
        codes().collapse({"a": "x"})


def test_a_run_is_frozen():
    run = codes()
    with pytest.raises(AttributeError):
        run.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 9.0
    with pytest.raises(TypeError, match="unhashable"):
        hash(run)


def test_a_run_can_be_asked_like_a_mapping():
    run = codes().named("mine")
    assert (len(run), list(run), "q1" in run, "q3" in run) == (2, ["q1", "q2"], True, False)
    assert repr(run) == "<Run 'mine': 2 queries, 3 documents>"


def test_what_is_neither_run_nor_mapping_is_refused():
    assert as_run(codes()) is not None
    assert as_run({"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 3.0}}) == codes()
    with pytest.raises(RunError, match="expected a Run or a mapping of mappings, got list"):
        as_run([("q", "a", 1.0)])


def test_arrays_of_something_else_are_no_run():
    with pytest.raises(RunError, match="the arrays of a run, expected whole numbers, and scores in double precision"):
        Run.from_codes(["q"], [0, 1], ["d"], [0], ["high"])


def test_a_query_that_comes_twice_is_found_among_many_at_once():
    many = [str(i) for i in range(100_000)]  # a look at all earlier ones for each would take minutes
    with pytest.raises(RunError, match="query '99999', expected each query once, got it twice"):
        Run.from_codes([*many, "99999"], np.zeros(100_002, np.int64), [], [], [])


def test_of_several_repeats_the_first_row_is_named():
    # rows 2 and 4 repeat rows 1 and 3
    with pytest.raises(RunError, match="query 'q', document 'b', expected it once"):
        Run.from_columns(["q"] * 4, ["b", "b", "a", "a"], [1.0, 2.0, 3.0, 4.0])


def test_a_run_of_arrays_is_a_copy_of_them():
    scores = np.array([2.0, 1.0, 3.0])
    run = codes(scores=scores)
    scores[0] = -5.0
    assert run["q1"] == {"a": 2.0, "b": 1.0}


@pytest.mark.parametrize("doc_id", ["", "a\tb", "\ud800"])
def test_a_vocabulary_holds_ids_only(doc_id):
    with pytest.raises(RunError, match="document id"):
        codes(doc_ids=tuple(sorted(["x", doc_id])))


def test_of_several_repeated_queries_the_first_is_named():
    # "a" is repeated at the third place, "b" only at the fourth, though more often
    with pytest.raises(RunError, match="query 'a', expected each query once"):
        codes(
            query_ids=("b", "a", "a", "b", "b"), offsets=(0, 1, 2, 3, 3, 3), entries=(0, 0, 0), scores=(1.0, 1.0, 1.0)
        )


@pytest.mark.parametrize(
    "change, message",
    [
        ({"doc_ids": ("a", 3)}, "document id, expected a non-empty string without tab or line break, got 3"),
        ({"query_ids": ("q1", None)}, "query id, expected a non-empty string without tab or line break, got None"),
        ({"offsets": (0.0, 2.5, 3.0)}, "expected whole numbers, .*float64"),
    ],
)
def test_arrays_of_other_types_are_refused(change, message):
    with pytest.raises(RunError, match=message):
        codes(**change)


def test_codes_are_whole_numbers():
    with pytest.raises(RunError, match="expected whole numbers"):
        Run.from_codes(["q"], np.array([0, 2]), ["a", "b"], [0.5, 1], [1.0, 2.0])


def test_a_run_that_was_pickled_is_the_same_and_frozen():
    run = pickle.loads(pickle.dumps(codes().named("mine")))
    assert (run, run.name) == (codes(), "mine")
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 9.0
