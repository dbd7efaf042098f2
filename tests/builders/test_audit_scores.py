"""What sheets say, worked out by hand; the questions of an audit of the paper's size have its shares of documents."""

from pathlib import Path

import pytest
from scipy import stats

from builders.auditing.agreeing import agreements
from builders.auditing.reading import read_sheets
from builders.auditing.scores import scores
from builders.auditing.writing import write_sheets
from freshstack_datasets import load
from tests.builders.audited import all_good, but, fill_csv, save_json, write


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """60 questions, 30 with two nuggets and 30 with four, 180 in all; what one person says of them.

    12 questions of two nuggets have a minor one, 6 the first, 6 the last; 5 questions of four lack one; 4 others of four
    have two hallucinated ones, the third and the fourth. 43 documents are relevant, 7 partially, 10 not.
    """
    folder = tmp_path_factory.mktemp("paper")
    dataset = write(folder / "data", {f"q{i}": ["one", "two", "three", "four"][: 2 + 2 * (i % 2)] for i in range(60)})
    sample = write_sheets(folder / "data", folder / "sheets", questions=60, seed=7)
    twos = [f"Q{item.number}" for item in sample.items if len(item.nuggets) == 2]
    fours = [f"Q{item.number}" for item in sample.items if len(item.nuggets) == 4]
    said = {f"{q} nugget {1 + i % 2}: minor": "yes" for i, q in enumerate(twos[:12])}
    said |= {f"{q} nuggets: missing": "1" for q in fours[:5]}
    said |= {f"{q} nugget {n}: hallucinated": "yes" for q in fours[5:9] for n in (3, 4)}
    grades = ["partially"] * 7 + ["not"] * 10
    said |= {f"Q{number} document: relevance": grade for number, grade in enumerate(grades, start=1)}
    return scores(read_sheets(dataset, [fill_csv(folder / "sheets", folder / "ada.csv", but(said))]))


def test_measures_by_question_are_the_mean_of_the_papers_formulas(paper):
    values = {name: found.by_question.value for name, found in paper.quality.items()}
    assert values == {
        "precision": pytest.approx((48 + 12 * 1 / 2) / 60),  # 0.9
        "recall": pytest.approx((55 + 5 * 4 / 5) / 60),  # 0.983
        "groundedness": pytest.approx((56 + 4 * 2 / 4) / 60),  # 0.967
    }


def test_measures_over_all_put_the_sums_into_the_formulas(paper):
    values = {name: found.over_all.value for name, found in paper.quality.items()}
    assert values == {
        "precision": pytest.approx((180 - 12) / 180),
        "recall": pytest.approx((180 - 12) / (180 - 12 + 5)),
        "groundedness": pytest.approx((180 - 8) / 180),
    }
    assert paper.quality["precision"].over_all.of == 180
    assert paper.quality["precision"].by_question.of == 60


def test_shares_of_documents_are_those_of_the_paper(paper):
    shares = {grade: round(100 * share.value, 1) for grade, share in paper.relevance.items()}
    assert shares == {
        "relevant": 71.7,
        "partially": 11.7,
        "not": 16.7,
    }  # the paper has 16.6, so that they sum up to 100


def test_the_interval_of_a_share_is_that_of_counts_of_questions(paper):
    # a resample has a binomial number of relevant documents; an end's own error is far below one document of 60
    ends = [stats.binom.ppf(q, 60, 43 / 60) / 60 for q in (0.025, 0.975)]
    assert paper.relevance["relevant"].interval == pytest.approx(ends, abs=1 / 60 + 1e-9)


def test_errors_are_told_by_position(paper):
    found = {
        one.position: {name: (share.value, share.of) for name, share in one.errors.items()} for one in paper.positions
    }
    assert found == {
        1: {"hallucinated": (0.0, 60), "minor": (6 / 60, 60)},
        2: {"hallucinated": (0.0, 60), "minor": (6 / 60, 60)},
        3: {"hallucinated": (4 / 30, 30), "minor": (0.0, 30)},
        4: {"hallucinated": (4 / 30, 30), "minor": (0.0, 30)},
    }


def test_of_the_questions_with_an_error_the_shares_of_where_it_stands_are_told(paper):
    where = {error: {place: share.value for place, share in places.items()} for error, places in paper.where.items()}
    # the second of two nuggets is the last one; where third and last are wrong, the last is
    assert where == {
        "minor": {"last": 0.5, "first or second": 0.5, "other": 0.0},
        "hallucinated": {"last": 1.0, "first or second": 0.0, "other": 0.0},
    }
    assert paper.where["minor"]["last"].of == 12


@pytest.fixture
def small(tmp_path):
    """Two questions of three and one nuggets, and their sheets; Q1 is the one of three."""
    seed = next(s for s in range(20) if write_small(tmp_path / f"try{s}", s) == 3)
    return tmp_path / f"try{seed}"


def write_small(folder: Path, seed: int) -> int:
    write(folder / "data", {"a": ["one", "two", "three"], "b": ["four"]})
    sample = write_sheets(folder / "data", folder / "sheets", questions=2, seed=seed)
    return len(sample.items[0].nuggets)


def read(small, *saying):
    paths = [save_json(small / "sheets", small / f"{i}.json", f"p{i}", answers) for i, answers in enumerate(saying)]
    return read_sheets(load(small / "data"), paths)


def test_a_question_whose_nuggets_are_all_minor_and_that_lacks_none_has_no_recall(small):
    found = scores(read(small, but({"Q2 nugget 1: minor": "yes"}))).quality
    assert (found["recall"].by_question.value, found["recall"].by_question.of) == (1.0, 1)
    assert (found["precision"].by_question.value, found["precision"].by_question.of) == (0.5, 2)
    # 4 nuggets, 1 minor, none missing
    assert found["recall"].over_all.value == 1.0
    only = but({f"Q{q} nugget {n}: minor": "yes" for q, n in ((1, 1), (1, 2), (1, 3), (2, 1))})
    assert scores(read(small, only)).quality["recall"].over_all.value is None


def test_a_nugget_before_the_last_and_after_the_second_stands_elsewhere(tmp_path):
    write(tmp_path / "data", {"a": ["1", "2", "3", "4"]})
    write_sheets(tmp_path / "data", tmp_path / "sheets", questions=1, seed=0)
    found = scores(read(tmp_path, but({"Q1 nugget 3: minor": "yes"})))
    assert found.where["minor"]["other"].value == 1.0
    assert found.where["minor"]["other"].interval is None  # one question: nothing to draw from


def test_each_sheet_of_several_people_counts(small):
    found = scores(read(small, all_good, but({"Q1 nugget 3: minor": "yes", "Q2 document: relevance": "not"})))
    # precision: 1, 1 and 2/3, 1
    assert found.quality["precision"].by_question.value == pytest.approx((3 + 2 / 3) / 4)
    assert found.quality["precision"].over_all.value == pytest.approx(7 / 8)
    assert found.relevance["relevant"].value == 3 / 4


def test_agreement_of_two_people_is_counted_by_hand(small):
    first = but({"Q1 nugget 1: minor": "yes", "Q1 nugget 2: minor": "yes"})
    second = but({"Q1 nugget 1: minor": "yes", "Q1 nuggets: missing": "2"})
    found = agreements(read(small, first, second))
    (pair,) = found["minor"].pairs
    assert pair.annotators == ("p0", "p1")
    assert pair.same.value == 3 / 4
    # yes is 2/4 of the first and 1/4 of the second: p_e = 1/8 + 3/8, kappa = (3/4 - 1/2) / (1/2)
    assert pair.kappa.value == pytest.approx(0.5)
    # 8 values, 3 of them yes; one unit of four with two values: 1 - 7 * 2 / (64 - 9 - 25)
    assert found["minor"].alpha.value == pytest.approx(1 - 14 / 30)
    # all say no: there is nothing to agree about
    assert found["hallucinated"].alpha.value is None
    # 0 and 0, 0 and 2: the first always says 0, so kappa is 0
    assert found["missing"].pairs[0].kappa.value == 0.0
    assert found["relevance"].alpha.of == 2


def test_of_one_person_there_is_no_agreement(small):
    assert agreements(read(small, all_good)) == {}


def test_people_with_sheets_of_other_questions_agree_on_what_both_saw(tmp_path):
    dataset = write(tmp_path / "data", {f"q{i}": ["one"] for i in range(8)})
    samples = {s: write_sheets(tmp_path / "data", tmp_path / f"s{s}", questions=6, seed=s) for s in (1, 2)}
    shared = set.intersection(*({item.query.query_id for item in sample.items} for sample in samples.values()))
    paths = [save_json(tmp_path / f"s{s}", tmp_path / f"{s}.json", f"p{s}", all_good) for s in samples]
    annotations = read_sheets(dataset, paths)
    assert 4 <= len(shared) < 6  # 6 + 6 of 8 share at least 4; these two seeds do not draw the same
    assert agreements(annotations)["minor"].alpha.of == len(shared)
    assert scores(annotations).quality["precision"].by_question.of == 12
