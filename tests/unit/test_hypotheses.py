"""Hypotheses: what is written down, and what two results say of it."""

import numpy as np
import pytest

from freshstack_datasets.errors import InputError, NotComparableError, UnknownNameError
from freshstack_datasets.evaluation import Measure, Result, hypotheses_of, weigh

TYPES = ["exact"] * 4 + ["noise"] * 3 + ["paraphrase"]


class Data:
    """A dataset of eight queries."""

    def __init__(self, fingerprint="f" * 64):
        self.fingerprint = fingerprint
        self.queries = self

    def columns(self, *fields):
        assert fields == ("query_id", "type")
        return tuple(f"q{i}" for i in range(8)), tuple(TYPES)


def result(values, system="a", dataset="freshstack/nimbus", measure="alpha_nDCG@10"):
    return Result(
        dataset=dataset,
        snapshot="2026-11",
        fingerprint="f" * 64,
        system=system,
        ties=0,
        measures=(Measure.parse(measure),),
        warnings=(),
        query_ids=tuple(f"q{i}" for i in range(8)),
        values=np.array([values], float),
        bounds=None,
        resamples=1000,
        seed=1,
    )


def hypothesis(of_type):
    [found] = [h for h in hypotheses_of("nimbus") if h.type == of_type]
    return found


def test_there_is_one_hypothesis_for_each_type_of_question_of_nimbus():
    found = {h.type: (h.better, h.than) for h in hypotheses_of("nimbus")}
    assert found == {
        "exact": ("hybrid", ("bm25", "dense")),
        "paraphrase": ("rewriting", ("without",)),
        "distractor": ("reranker", ("without",)),
        "noise": ("reranker", ("without",)),
    }
    assert all(h.claim.endswith(".") and str(h.measure) == "alpha_nDCG@10" for h in hypotheses_of("nimbus"))


def test_the_full_name_gives_the_same_and_other_datasets_have_none():
    assert hypotheses_of("freshstack/nimbus") == hypotheses_of("nimbus@2026-11") == hypotheses_of("nimbus")
    assert hypotheses_of("freshstack/langchain") == ()


def test_a_difference_on_the_queries_of_the_type_alone_confirms_it():
    # exact: 0.4, 0.5, 0.6, 0.5, all above 0, so that every resample's mean is; the other types say the opposite
    with_it = result([0.9, 0.8, 0.7, 0.6, 0, 0, 0, 0], "hybrid")
    finding = weigh(hypothesis("exact"), with_it, result([0.5, 0.3, 0.1, 0.1] + [1] * 4, "bm25"), Data())
    assert (finding.verdict, finding.queries, finding.systems) == ("confirmed", 4, ("hybrid", "bm25"))
    assert finding.difference == pytest.approx((0.4 + 0.5 + 0.6 + 0.5) / 4)
    assert 0.4 <= finding.low <= finding.high <= 0.6 + 1e-12
    # s of (0.4, 0.5, 0.6, 0.5) is sqrt(0.02 / 3); z(0.975) + z(0.8) = 1.95996 + 0.84162
    assert finding.detectable == pytest.approx((1.95996 + 0.84162) * (0.02 / 3) ** 0.5 / 4**0.5, abs=1e-5)


def test_a_loss_on_every_query_refutes_it():
    finding = weigh(
        hypothesis("noise"), result([1, 1, 1, 1, 0.1, 0.2, 0.3, 1]), result([0, 0, 0, 0, 0.5, 0.5, 0.5, 0]), Data()
    )
    assert (finding.verdict, finding.queries) == ("refuted", 3)
    assert finding.difference == pytest.approx(-0.3)
    assert str(finding).startswith("noise, reranker: refuted: a minus a -0.3000 [")


def test_a_difference_of_both_signs_leaves_it_open():
    # one of 3 resamples or so has a mean of the other sign: far more than 2.5 % on both sides
    finding = weigh(hypothesis("noise"), result([0] * 4 + [1, 0, 0.5, 0]), result([0] * 4 + [0, 1, 0.5, 0]), Data())
    assert finding.verdict == "open"
    assert finding.low < 0 < finding.high


@pytest.mark.parametrize(
    ("of_type", "better", "baseline", "data"),
    [
        ("exact", {"dataset": "freshstack/yolo"}, {}, Data()),
        ("exact", {}, {}, Data("0" * 64)),
        ("paraphrase", {}, {}, Data()),
        ("distractor", {}, {}, Data()),
    ],
    ids=["another dataset", "another snapshot", "one query", "no query"],
)
def test_what_cannot_be_compared_is_refused(of_type, better, baseline, data):
    with pytest.raises(NotComparableError, match="a finding on"):
        weigh(hypothesis(of_type), result([0] * 8, **better), result([0] * 8, **baseline), data)


def test_a_result_without_the_measure_is_refused():
    with pytest.raises(UnknownNameError, match="alpha_nDCG@10"):
        weigh(hypothesis("exact"), result([0] * 8, measure="RR@10"), result([0] * 8), Data())


@pytest.mark.parametrize("given", [{"q0": {"d": 1.0}}, None])
def test_a_run_is_no_result(given):
    for pair in ((given, result([0] * 8)), (result([0] * 8), given)):
        with pytest.raises(InputError, match="a result, expected what evaluate returns, got "):
            weigh(hypothesis("exact"), *pair, Data())
