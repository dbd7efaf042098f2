"""Verdicts: who is ahead, and whether it is real."""

import dataclasses
import datetime
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from freshstack_datasets.errors import InputError, NotComparableError
from freshstack_datasets.evaluation import compare, evaluate, parse_measures
from freshstack_datasets.evaluation.statistics import bootstrap_intervals
from freshstack_datasets.evaluation.strata import stratified_intervals
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.boards.reading import boards_of, read_board
from leaderboard.boards.records import MACRO, Board, Entry, PerQuery, Score, Scores, Topic
from leaderboard.verdicts.deciding import across, decide
from leaderboard.verdicts.records import Concordance
from tests.leaderboard import made

MEASURES = parse_measures("alpha_nDCG@10 Recall@50")
NAMES = tuple(map(str, MEASURES))

Values = Mapping[str, Sequence[Sequence[float]]]
"""By topic, a row of values a measure."""


def entry(entry_id: str, values: Values, *, judged: Mapping[str, float] | None = None, **changes: object) -> Entry:
    """Make a scored entry from its values per query; it has no macro unless it has values on two topics."""
    arrays = {topic: np.array(rows, np.float64) for topic, rows in values.items()}
    topics = {topic: scores(array.mean(axis=1), judged) for topic, array in arrays.items()}
    macro = [array.mean(axis=1) for array in arrays.values()]
    made = Entry(
        entry_id=entry_id,
        tier="scored",
        name=entry_id,
        team="acme",
        kind="dense",
        setting="inference",
        parameters=None,
        size="-",
        license=None,
        openness="",
        trained_on_benchmark="no",
        date=datetime.date(2026, 11, 30),
        url=None,
        latency_ms=None,
        in_pool=None,
        topics=topics,
        macro=scores(np.mean(macro, axis=0), judged) if len(macro) > 1 else None,
        per_query={
            topic: PerQuery(tuple(f"q{place}" for place in range(array.shape[1])), NAMES, array)
            for topic, array in arrays.items()
        },
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]  # any field of it


def scores(means: Sequence[float] | np.ndarray, judged: Mapping[str, float] | None = None) -> Scores:
    return Scores({name: Score(float(mean)) for name, mean in zip(NAMES, means, strict=True)}, judged or {})


def board(entries: Sequence[Entry], *, topics: Sequence[str] = ("alpha", "beta"), **changes: object) -> Board:
    made = Board(
        name="made",
        snapshot="2026-10",
        title="Made",
        about="",
        folder=Path("made/2026-10"),
        topics=tuple(Topic(name, name, f"freshstack/{name}", None) for name in topics),
        measures=MEASURES,
        baseline=None,
        entries=tuple(entries),
        updated=datetime.date(2026, 11, 30),
    )
    return dataclasses.replace(made, **changes)  # type: ignore[arg-type]  # any field of it


def noisy(seed: int, shifts: Sequence[float], sizes: Mapping[str, int], noise: float = 0.15) -> list[Entry]:
    """Make systems ``a``, ``b``, … that share what is hard about a query and differ by a shift and by noise."""
    generator = np.random.default_rng(seed)
    hard = {topic: generator.random((2, size)) for topic, size in sizes.items()}
    return [
        entry(
            chr(ord("a") + place),
            {topic: base + shift + generator.normal(0, noise, base.shape) for topic, base in hard.items()},
        )
        for place, shift in enumerate(shifts)
    ]


def test_a_planted_lead_is_found_and_an_equal_system_is_not_set_apart() -> None:
    # b is better than a by 0.1 with a standard deviation of differences of 0.15 * sqrt(2) = 0.21 over 180 queries,
    # which is 6 standard errors; c is as good as b
    found = decide(board(noisy(1, [0.0, 0.1, 0.1], {"alpha": 120, "beta": 60})))
    for name in NAMES:
        verdict = found.verdicts[MACRO, name]
        tiers = {standing.entry_id: standing.tier for standing in verdict.standings}
        assert tiers == {"a": 2, "b": 1, "c": 1}
        assert verdict.standings[-1].entry_id == "a"
        assert (verdict.standings[-1].rank_low, verdict.standings[-1].rank_high) == (3, 3)
        assert verdict.pair("b", "a").p_max_t < 0.001
        assert verdict.pair("b", "a").low > 0
        assert verdict.pair("b", "c").p_max_t > 0.05
        assert verdict.queries == 180


def test_two_equal_systems_are_called_different_in_at_most_7_percent_of_1000_simulations() -> None:
    # 100 boards of 10 couples, each couple alike on queries of its own: the p-value of two systems is that of the two
    # alone, see below. Recall of three relevant documents: four values, often tied. The test promises 5 %; of 1,000
    # that is 50 with a standard deviation of 6.9. It promises no less either: below 3 % it would be blind
    called = {MACRO: 0, "alpha": 0}
    generator = np.random.default_rng(2026)
    for seed in range(100):
        systems = []
        for couple in range(10):
            chance = {"alpha": generator.random((2, 60)), "beta": generator.random((2, 25))}
            systems += [
                entry(f"{couple}{name}", {topic: generator.binomial(3, p) / 3 for topic, p in chance.items()})
                for name in "ab"
            ]
        found = decide(board(systems, measures=MEASURES[1:]), resamples=399, seed=seed)
        for scope in called:
            verdict = found.verdicts[scope, "Recall@50"]
            called[scope] += sum(verdict.pair(f"{couple}a", f"{couple}b").p < 0.05 for couple in range(10))
    assert all(30 <= number <= 70 for number in called.values()), called


def test_standings_run_by_falling_mean_and_equal_systems_share_a_rank() -> None:
    low, high = [[0.1, 0.3, 0.2, 0.0], [0.1, 0.3, 0.2, 0.0]], [[0.5, 0.3, 0.2, 0.4], [0.5, 0.3, 0.2, 0.4]]
    twins = [entry("z", {"alpha": high}), entry("low", {"alpha": low}), entry("a", {"alpha": high})]
    verdict = decide(board(twins, topics=("alpha",)), resamples=200).verdicts["alpha", NAMES[0]]
    assert [(standing.entry_id, standing.rank) for standing in verdict.standings] == [("a", 1), ("z", 1), ("low", 3)]
    assert [standing.value for standing in verdict.standings] == pytest.approx([0.35, 0.35, 0.15])
    # the twins are first together in every resample in which they are not level with the other
    assert verdict.standings[0].first == verdict.standings[1].first > 0.9
    assert [standing.top3 for standing in verdict.standings] == [1, 1, 1]
    assert verdict.standing("low") == verdict.standings[2]
    assert verdict.standing("nobody") is None
    twin = verdict.pair("z", "a")
    assert (twin.difference, twin.p, twin.p_max_t, twin.effect, twin.ties) == (0, 1, 1, 0, 4)
    assert (twin.low, twin.high, twin.detectable) == (0, 0, 0)


def test_each_pair_is_there_once_with_the_better_system_first_and_can_be_turned() -> None:
    systems = noisy(3, [0.2, 0.0, 0.3, 0.1], {"alpha": 40, "beta": 20})
    verdict = decide(board(systems), resamples=300).verdicts[MACRO, NAMES[1]]
    assert len(verdict.pairs) == 6
    for (first, second), pair in verdict.pairs.items():
        assert pair.difference >= 0
        assert pair.difference == pytest.approx(verdict.standing(first).value - verdict.standing(second).value)
        assert pair.low <= pair.difference <= pair.high
        turned = verdict.pair(second, first)
        assert (turned.first, turned.difference, turned.low, turned.wins) == (
            second,
            -pair.difference,
            -pair.high,
            pair.losses,
        )
        assert pair.wins + pair.ties + pair.losses == 60
    with pytest.raises(KeyError):
        verdict.pair("a", "nobody")


def test_a_topic_says_what_evaluate_and_compare_say_of_its_runs() -> None:
    generator = np.random.default_rng(6)
    judged = [
        (f"q{q}", f"q{q}n{n}", f"d{d}", 1) for q in range(31) for n in range(3) for d in generator.integers(0, 30, 3)
    ]
    data = Dataset.from_nugget_qrels(dict.fromkeys(judged), name="freshstack/alpha")
    runs = [
        Run.from_dict({f"q{q}": {f"d{d}": float(generator.random()) for d in range(30)} for q in range(31)})
        for _ in range(2)
    ]
    results = [evaluate(run, data, MEASURES, resamples=500, seed=7) for run in runs]
    compared = compare(*runs, data, MEASURES, resamples=500, seed=7)
    systems = [entry(name, {"alpha": result.values}) for name, result in zip("ab", results, strict=True)]
    found = decide(board(systems, topics=("alpha",)), resamples=500, seed=7)
    for name in NAMES:
        verdict = found.verdicts["alpha", name]
        for system, result in zip("ab", results, strict=True):
            standing = verdict.standing(system)
            assert (standing.value, standing.low, standing.high) == (result.mean[name], *result.interval(name))
        pair, theirs = verdict.pair("a", "b"), compared.measures[name]
        assert pair.p == pair.p_max_t == theirs.p  # of one pair, there is nothing to adjust for
        assert (pair.wins, pair.ties, pair.losses) == (theirs.wins, theirs.ties, theirs.losses)
        assert [pair.difference, pair.low, pair.high, pair.detectable] == pytest.approx(
            [theirs.difference, theirs.low, theirs.high, theirs.detectable]
        )


def test_topics_count_the_same_in_the_macro_verdict() -> None:
    systems = noisy(4, [0.0, 0.1], {"alpha": 90, "beta": 10})
    found = decide(board(systems), resamples=400, seed=5)
    verdict = found.verdicts[MACRO, NAMES[0]]
    for system in systems:
        rows = [system.per_query[topic].values[:1] for topic in ("alpha", "beta")]
        standing = verdict.standing(system.entry_id)
        assert standing.value == pytest.approx((rows[0].mean() + rows[1].mean()) / 2)
        assert [standing.low, standing.high] == stratified_intervals(rows, 400, 5)[0].tolist()
        one = found.verdicts["beta", NAMES[0]].standing(system.entry_id)
        assert [one.low, one.high] == bootstrap_intervals(rows[1], 400, 5)[0].tolist()


def test_holm_against_the_baseline_is_that_of_statsmodels() -> None:
    systems = noisy(8, [0.0, 0.03, 0.05, 0.06, 0.02], {"alpha": 50, "beta": 40})
    verdict = decide(board(systems, baseline="c"), resamples=999).verdicts[MACRO, NAMES[0]]
    assert verdict.baseline == "c"
    others = ["a", "b", "d", "e"]
    plain = [verdict.pair("c", other).p for other in others]
    assert sorted(verdict.holm) == others
    assert [verdict.holm[other] for other in others] == pytest.approx(multipletests(plain, method="holm")[1])


@pytest.mark.parametrize("baseline", [None, "reported-bm25"])
def test_without_a_tested_baseline_nothing_is_held_against_it(baseline: str | None) -> None:
    verdict = decide(board(noisy(8, [0, 0], {"alpha": 9, "beta": 9}), baseline=baseline), resamples=50)
    assert {(one.baseline, len(one.holm)) for one in verdict.verdicts.values()} == {(None, 0)}


def test_oracles_and_reported_rows_take_no_part_in_tests() -> None:
    systems = noisy(2, [0.0, 0.1, 0.5, 0.2], {"alpha": 30, "beta": 30})
    systems[2] = dataclasses.replace(systems[2], setting="oracle")
    systems[3] = dataclasses.replace(systems[3], tier="reported", per_query={})
    for verdict in decide(board(systems), resamples=100).verdicts.values():
        assert {standing.entry_id for standing in verdict.standings} == {"a", "b"}


def test_a_system_that_lacks_a_topic_is_tested_on_the_others_alone() -> None:
    systems = noisy(2, [0.0, 0.1, 0.2], {"alpha": 30, "beta": 30})
    beta = {"beta": systems[2].per_query["beta"].values}
    found = decide(board([*systems[:2], entry("c", beta)]), resamples=100).verdicts
    tested = {scope: len(verdict.standings) for (scope, _), verdict in found.items()}
    assert tested == {MACRO: 2, "alpha": 2, "beta": 3}


def test_a_scope_with_one_system_or_one_query_has_no_verdict() -> None:
    systems = noisy(2, [0.0, 0.1], {"alpha": 30, "beta": 1})
    assert {scope for scope, _ in decide(board(systems), resamples=100).verdicts} == {"alpha"}
    assert decide(board(systems[:1]), resamples=100).verdicts == {}
    assert decide(board([]), resamples=100).verdicts == {}


def test_the_same_seed_gives_the_same_verdicts_and_another_one_gives_others() -> None:
    made = board(noisy(2, [0.0, 0.1, 0.2], {"alpha": 30, "beta": 20}))
    first, again, other = (decide(made, resamples=200, seed=seed) for seed in (1, 1, 2))
    key = (MACRO, NAMES[0])
    assert first.verdicts[key].standings == again.verdicts[key].standings
    assert first.verdicts[key].pairs == again.verdicts[key].pairs
    assert first.verdicts[key].pairs != other.verdicts[key].pairs
    assert (other.resamples, other.seed) == (200, 2)


def test_another_system_changes_nothing_about_two_but_what_is_adjusted_for_it() -> None:
    systems = noisy(2, [0.0, 0.04, 0.02], {"alpha": 30, "beta": 20})
    two, three = (decide(board(part), resamples=400).verdicts[MACRO, NAMES[0]] for part in (systems[:2], systems))
    assert dataclasses.replace(three.pair("b", "a"), p_max_t=0) == dataclasses.replace(two.pair("b", "a"), p_max_t=0)
    assert three.pair("b", "a").p_max_t >= two.pair("b", "a").p_max_t


def test_judged_shares_that_differ_by_more_than_a_tenth_are_warned_of() -> None:
    judged = (
        {"Judged@10": 0.98, "Judged@20": 0.8, "Judged@50": 0.7},
        {"Judged@10": 0.88, "Judged@20": 0.69, "Judged@50": 0.45},  # 0.1, 0.11 and 0.25 less
        {"Judged@10": 0.9, "Judged@20": 0.75, "Judged@50": 0.6},
        {},
    )
    rows = [[0.1, 0.2], [0.1, 0.2]]
    systems = [
        entry(name, {"alpha": rows, "beta": rows}, judged=known) for name, known in zip("abcd", judged, strict=True)
    ]
    for verdict in decide(board(systems), resamples=20).verdicts.values():
        for one, other in (("a", "b"), ("b", "a")):
            warning = verdict.pair(one, other).warning
            assert warning.startswith("Judged@20 differs by 0.11, Judged@50 differs by 0.25:")
        assert verdict.pair("c", "b").warning.startswith("Judged@50 differs by 0.15:")
        assert verdict.pair("a", "c").warning == verdict.pair("a", "d").warning == ""


def test_systems_that_were_scored_on_other_queries_are_not_compared() -> None:
    systems = noisy(2, [0.0, 0.1], {"alpha": 3, "beta": 3})
    other = dataclasses.replace(systems[1].per_query["beta"], query_ids=("q0", "q1", "q9"))
    systems[1] = dataclasses.replace(systems[1], per_query={**systems[1].per_query, "beta": other})
    with pytest.raises(
        NotComparableError, match="topic beta, expected the same queries of all systems, as of 'a', got"
    ):
        decide(board(systems))


def test_a_measure_that_a_system_lacks_is_named() -> None:
    systems = noisy(2, [0.0, 0.1], {"alpha": 3, "beta": 3})
    other = PerQuery(("q0", "q1", "q2"), NAMES[:1], systems[1].per_query["alpha"].values[:1])
    systems[1] = dataclasses.replace(systems[1], per_query={**systems[1].per_query, "alpha": other})
    with pytest.raises(NotComparableError, match="expected Recall@50 of all systems, got none of 'b'"):
        decide(board(systems))


def test_a_number_of_resamples_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="the number of resamples, expected a whole number from 1, got 0"):
        decide(board(noisy(2, [0.0, 0.1], {"alpha": 3, "beta": 3})), resamples=0)


def reported(entry_id: str, alpha: Sequence[float], beta: Sequence[float] | None, **changes: object) -> Entry:
    """Make a reported row from its means by each measure."""
    topics = {"alpha": scores(alpha)} if beta is None else {"alpha": scores(alpha), "beta": scores(beta)}
    macro = None if beta is None else scores(np.mean([alpha, beta], axis=0))
    return entry(entry_id, {}, **{"tier": "reported", "topics": topics, "macro": macro, **changes})  # type: ignore[arg-type]


def test_measures_and_topics_are_compared_over_all_ranked_systems_that_have_every_value() -> None:
    entries = [
        # alpha: alpha-nDCG and recall; beta: the same
        reported("one", (0.5, 0.7), (0.5, 0.1)),
        reported("two", (0.4, 0.8), (0.2, 0.2)),
        reported("three", (0.3, 0.6), (0.4, 0.3)),
        reported("lacking", (0.9, 0.1), None),
        reported("oracle", (0.95, 0.01), (0.95, 0.99), setting="oracle"),
    ]
    found = {(one.what, one.within): one for one in decide(board(entries)).concordances}
    # on alpha, four systems by alpha-nDCG: lacking, one, two, three; by recall: two, one, three, lacking. Of the six
    # pairs, (one, three) and (two, three) agree: (2 - 4) / 6
    assert found["measures", "alpha"] == Concordance(
        "measures", "alpha", NAMES, 4, ((1, pytest.approx(-1 / 3)), (pytest.approx(-1 / 3), 1))
    )
    # by alpha-nDCG, alpha has one, two, three and beta one, three, two: two of three pairs agree
    assert found["topics", NAMES[0]].systems == 3
    assert found["topics", NAMES[0]].tau[0][1] == pytest.approx(1 / 3)
    # macro alpha-nDCG: 0.5, 0.3, 0.35; macro recall: 0.4, 0.5, 0.45, the reverse
    assert found["measures", MACRO].tau[0][1] == pytest.approx(-1)
    assert set(found) == {
        ("measures", MACRO),
        ("measures", "alpha"),
        ("measures", "beta"),
        *(("topics", n) for n in NAMES),
    }


def test_a_board_of_one_topic_compares_no_topics_and_one_system_has_no_tau() -> None:
    (found,) = decide(board([reported("one", (0.5, 0.7), None)], topics=("alpha",))).concordances
    assert found == Concordance("measures", "alpha", NAMES, 1, ((None, None), (None, None)))


def test_snapshots_are_compared_by_the_systems_that_all_of_them_have() -> None:
    def quarter(snapshot: str, day: str, values: Mapping[str, float]) -> Board:
        rows = [reported(f"{day}-acme-{name}", (value, 1 - value), (value, 0.5)) for name, value in values.items()]
        return board(rows, snapshot=snapshot)

    old = quarter("2026-07", "20260801", {"bm25": 0.2, "e5": 0.3, "bge": 0.4, "gone": 0.9})
    new = quarter("2026-10", "20261101", {"bm25": 0.3, "e5": 0.25, "bge": 0.35, "fresh": 0.8})
    alpha, recall = across([old, new])
    # bm25 < e5 < bge and e5 < bm25 < bge: two of three pairs agree
    assert alpha == Concordance(
        "snapshots", NAMES[0], ("2026-07", "2026-10"), 3, ((1, pytest.approx(1 / 3)), (pytest.approx(1 / 3), 1))
    )
    assert (recall.within, recall.tau[0][1]) == (NAMES[1], pytest.approx(1 / 3))
    fewer = dataclasses.replace(new, snapshot="2027-01", measures=MEASURES[:1])
    assert [(one.within, one.names) for one in across([old, new, fewer])] == [
        (NAMES[0], ("2026-07", "2026-10", "2027-01"))
    ]
    assert across([]) == []


def test_of_a_system_handed_in_twice_the_later_one_is_compared_with_other_snapshots() -> None:
    def row(day: str, name: str, value: float) -> Entry:
        date = datetime.date.fromisoformat(day)
        return reported(f"{date:%Y%m%d}-acme-{name}", (value, value), (value, value), date=date)

    old = board([row("2026-08-01", "a", 0.2), row("2026-08-01", "b", 0.3)], snapshot="2026-07")
    twice = [row("2026-11-02", "a", 0.1), row("2026-11-01", "a", 0.9), row("2026-11-01", "b", 0.5)]
    assert [one.tau[0][1] for one in across([old, board(twice)])] == [1, 1]


def test_a_board_that_was_scored_shows_the_same_means_and_intervals_in_scores_and_verdicts(tmp_path: Path) -> None:
    root = made.made_board(tmp_path, systems=6, topics=3)
    (folder,) = boards_of(root)
    held = read_board(folder)
    found = decide(held)
    assert len(found.verdicts) == 4 * len(made.MEASURES)
    for (scope, name), verdict in found.verdicts.items():
        assert len(verdict.standings) == 5  # the sixth is an oracle
        assert verdict.baseline == held.baseline
        assert len(verdict.holm) == 4
        for standing in verdict.standings:
            score = held.entry(standing.entry_id).scores(scope).measures[name]
            assert (standing.value, standing.low, standing.high) == (score.value, score.low, score.high)


def test_the_published_rows_have_the_taus_of_scipy() -> None:
    held = read_board(SUBMISSIONS / "freshstack" / "2024-10")
    rows = json.loads((held.folder / "reported.json").read_text(encoding="utf-8"))["rows"]
    rows = [row["datasets"] for row in rows if row["info"]["type"] != "upper_baseline"]
    keys = {"alpha_nDCG@10": "alpha_ndcg_10", "Coverage@20": "coverage_20", "Recall@50": "recall_50"}
    found = decide(held).concordances
    assert len(found) == 6 + 3
    for one in found:
        assert one.systems == len(rows) == 35
        for (place, first), (other, second) in itertools.product(enumerate(one.names), repeat=2):
            if one.what == "measures":
                topic = "average" if one.within == MACRO else one.within
                orders = [[row[topic][keys[name]] for row in rows] for name in (first, second)]
            else:
                orders = [[row[name][keys[one.within]] for row in rows] for name in (first, second)]
            assert one.tau[place][other] == pytest.approx(stats.kendalltau(*orders).statistic)


def test_systems_that_find_nothing_at_all_share_the_first_place() -> None:
    zeros = {"alpha": [[0.0] * 5] * 2, "beta": [[0.0] * 4] * 2}
    for verdict in decide(board([entry(name, zeros) for name in "abc"]), resamples=50).verdicts.values():
        for standing in verdict.standings:
            assert dataclasses.astuple(standing)[1:] == (0, 0, 0, 1, 1, 1, 1, 1, 1)
        assert {(pair.p, pair.p_max_t, pair.effect, pair.detectable) for pair in verdict.pairs.values()} == {
            (1, 1, 0, 0)
        }
