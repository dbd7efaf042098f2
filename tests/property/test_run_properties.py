"""What holds of every run in memory."""

from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.ranking import Run

IDS = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=5)
SCORES = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False))
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, max_size=8), max_size=4)


def ranked(documents):
    """The rule, word for word: score descending, then document id descending."""
    return sorted(documents.items(), key=lambda entry: (entry[1], entry[0]), reverse=True)


@given(RUNS)
def test_a_run_holds_what_it_was_made_of_in_the_one_ranking(given_run):
    run = Run.from_dict(given_run)
    assert run.to_dict() == given_run
    for query_id, documents in given_run.items():
        assert [(d, s) for d, s in run[query_id].items()] == ranked(documents)


@given(RUNS, st.randoms(use_true_random=False))
def test_rows_in_any_order_make_the_same_run(given_run, random):
    rows = [(q, d, s) for q, documents in given_run.items() for d, s in documents.items()]
    random.shuffle(rows)
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    assert Run.from_columns(*columns) == Run.from_dict(given_run)


@given(RUNS)
def test_a_collapsed_run_has_the_maximum_of_every_unit(given_run):
    collapsed = Run.from_dict(given_run).collapse(lambda doc_id: doc_id[0]).to_dict()
    for query_id, documents in given_run.items():
        for unit, score in collapsed[query_id].items():
            assert score == max(s for d, s in documents.items() if d[0] == unit)
        assert set(collapsed[query_id]) == {d[0] for d in documents}
