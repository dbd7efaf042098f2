"""What the scores of a submission are, worked out by hand, and what they are tied to."""

import datetime
import hashlib
import json
from math import log2

import pytest
import yaml
from pydantic import ValidationError

from freshstack_datasets.errors import HubError, InputError, NotComparableError, RunError
from freshstack_datasets.evaluation import evaluate, macro_mean
from freshstack_datasets.loading import load
from freshstack_datasets.recipe import Recipe
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import read_run, write_run
from freshstack_datasets.snapshot import write_snapshot
from leaderboard.boards.definition import read_definition
from leaderboard.scoring import faults_of_scores, per_query_of, read_scores, score, write_scores
from leaderboard.scoring.cutoffs import cutoff_of
from leaderboard.scoring.pools import in_pool, pooled
from leaderboard.scoring.records import ScoresFile
from leaderboard.submission.reading import read_submission
from tests.leaderboard import made

ENTRY = "20261101-acme-bm25"
RUN = {"q1": {"d5": 3.0, "d1": 2.0, "d2": 1.0}, "q2": {"d3": 2.0, "d1": 1.0}, "q3": {"d5": 1.0}}
MODEL = {
    "id": "acme/tiny-embed",
    "revision": "0123456789abcdef0123456789abcdef01234567",
    "parameters": 10,
    "license": "MIT",
    "training_cutoff": datetime.date(2025, 1, 1),
}


def toy(folder, **changes):
    """Write a dataset of three questions that can be scored by hand."""
    queries = [
        Query("q1", "one", date="2025-01-01T23:59:59Z"),
        Query("q2", "two", date="2025-01-02"),
        Query("q3", "three"),
    ]
    told = {
        "dataset": "acme/toy",
        "snapshot": made.SNAPSHOT,
        "license": "MIT",
        "documents": [Document(f"d{number}", "", "text") for number in range(1, 6)],
        "queries": queries,
        "nuggets": [
            Nugget("a", "q1", 0, "a"),
            Nugget("b", "q1", 1, "b"),
            Nugget("c", "q2", 0, "c"),
            Nugget("e", "q3", 0, "e"),
        ],
        "judgments": [
            Judgment("q1", "a", "d1", 1),
            Judgment("q1", "a", "d2", 0),
            Judgment("q1", "b", "d2", 1),
            Judgment("q2", "c", "d3", 1),
            Judgment("q2", "c", "d1", 0),
            Judgment("q3", "e", "d4", 1),
        ],
    }
    write_snapshot(folder, **(told | changes))
    return folder


def board(root, datasets, measures=("alpha_nDCG@10", "Coverage@2", "Recall@2"), fingerprints=None):
    """Write a board of some datasets and return its folder."""
    folder = root / "submissions" / "made" / made.SNAPSHOT
    folder.mkdir(parents=True)
    topics = [
        {"name": name, "title": name, "dataset": str(path), "fingerprint": (fingerprints or {}).get(name)}
        for name, path in datasets.items()
    ]
    told = {"title": "Toys", "about": "Toys.", "measures": list(measures), "baseline": None, "topics": topics}
    (folder / "board.yaml").write_text(yaml.safe_dump(told))
    return folder


@pytest.fixture
def one(tmp_path):
    """A board of one topic, and a submission to it."""
    folder = board(tmp_path, {"toy": toy(tmp_path / "toy")})
    return made.made_submission(folder.parents[1], "made", made.SNAPSHOT, ENTRY, {"toy": RUN}, models=[MODEL])


def test_the_scores_of_a_topic_are_those_worked_out_by_hand(one):
    scores = score(one, read_definition(one.parent))
    topic = scores.topics["toy"]
    # q1 ranks d5 (not judged), d1 (nugget a), d2 (nugget b); q2 ranks d3 (its nugget) and d1; q3 only d5, not judged.
    q1 = (1 / log2(3) + 1 / log2(4)) / (1 / log2(2) + 1 / log2(3))
    assert topic.measures["alpha_nDCG@10"].value == pytest.approx((q1 + 1 + 0) / 3, abs=1e-15)
    assert topic.measures["Coverage@2"].value == pytest.approx((0.5 + 1 + 0) / 3, abs=1e-15)
    assert topic.measures["Recall@2"].value == pytest.approx((0.5 + 1 + 0) / 3, abs=1e-15)
    # Without d5, q1 and q2 are perfect and q3 has nothing left.
    assert topic.condensed == {name: pytest.approx(2 / 3, abs=1e-15) for name in topic.measures}
    assert topic.judged == {f"Judged@{k}": pytest.approx((2 / 3 + 1 + 0) / 3, abs=1e-15) for k in (10, 20, 50)}
    # Of three drawn queries, all are the worst in 1 of 27 samples, and the best in as many: more than 2.5 %.
    assert (topic.measures["Recall@2"].low, topic.measures["Recall@2"].high) == (0, 1)
    assert (topic.lengths.least, topic.lengths.median, topic.lengths.most) == (1, 2, 3)
    assert (topic.queries, topic.ties, topic.warnings) == (3, 0, ())
    assert (topic.dataset, topic.snapshot) == ("acme/toy", made.SNAPSHOT)
    assert topic.measures["Recall@2"].signature.startswith(
        f"Recall@2 | acme/toy@2026-10#{topic.fingerprint} | queries 3 |"
    )
    content = (one / "toy.trec").read_bytes()
    assert (topic.run.file, topic.run.bytes) == ("toy.trec", len(content))
    assert topic.run.sha256 == hashlib.sha256(content).hexdigest()
    assert scores.submission_sha256 == hashlib.sha256((one / "submission.yaml").read_bytes()).hexdigest()
    assert (scores.board, scores.snapshot, scores.submission) == ("made", made.SNAPSHOT, ENTRY)


def test_queries_of_the_last_day_of_training_are_before_the_cutoff(one):
    found = score(one, read_definition(one.parent)).topics["toy"].cutoff
    # q1 was asked on that day, q2 on the next one, q3 nobody knows when
    assert (found.date, found.before.queries, found.after.queries, found.undated) == (MODEL["training_cutoff"], 1, 1, 1)
    assert (found.before.measures["Recall@2"].value, found.after.measures["Recall@2"].value) == (0.5, 1)
    assert found.before.measures["Recall@2"].low is None
    assert found.before.measures["Recall@2"].high is None


def test_a_part_without_a_query_has_no_score(one):
    told = yaml.safe_load((one / "submission.yaml").read_text())
    told["models"][0]["training_cutoff"] = datetime.date(2026, 1, 1)
    (one / "submission.yaml").write_text(yaml.safe_dump(told))
    found = score(one, read_definition(one.parent)).topics["toy"].cutoff
    assert (found.before.queries, found.after.queries, found.after.measures) == (2, 0, {})
    # Of two drawn queries, both are the worse one in a quarter of the samples: the interval spans both values.
    recall = found.before.measures["Recall@2"]
    assert (recall.value, recall.low, recall.high) == (0.75, 0.5, 1)


def models(one, *cutoffs):
    told = yaml.safe_load((one / "submission.yaml").read_text())
    told["models"] = [MODEL | {"id": f"acme/{place}", "training_cutoff": day} for place, day in enumerate(cutoffs)]
    (one / "submission.yaml").write_text(yaml.safe_dump(told))
    return read_submission(one / "submission.yaml").models


def test_the_cutoff_is_the_latest_and_not_known_where_that_of_a_model_is_not(one):
    early, late = datetime.date(2024, 1, 1), datetime.date(2025, 6, 30)
    assert cutoff_of(models(one, late, early)) == late
    assert cutoff_of(models(one, late, None)) is None
    assert cutoff_of(()) is None


def test_values_per_query_are_lines_in_the_order_of_the_dataset(one):
    scores = write_scores(one, read_definition(one.parent))
    rows = [json.loads(line) for line in (one / "per_query.jsonl").read_text().splitlines()]
    assert [(row["topic"], row["query"]) for row in rows] == [("toy", "q1"), ("toy", "q2"), ("toy", "q3")]
    names = ["alpha_nDCG@10", "Coverage@2", "Recall@2", "Judged@10", "Judged@20", "Judged@50"]
    assert [list(row) for row in rows] == [["topic", "query", *names]] * 3
    assert [row["Recall@2"] for row in rows] == [0.5, 1.0, 0.0]
    assert [row["Judged@10"] for row in rows] == [2 / 3, 1.0, 0.0]
    found = per_query_of(one, scores)["toy"]
    assert (found.query_ids, found.measures) == (("q1", "q2", "q3"), tuple(names))
    assert found.values.tolist() == [[row[name] for row in rows] for name in names]


def test_the_mean_over_topics_counts_each_topic_the_same(tmp_path):
    root = made.made_board(tmp_path, systems=2, topics=3)
    folder = root / made.BOARD / made.SNAPSHOT / made.entry_of(1)
    scores = read_scores(folder)
    results = [
        evaluate(read_run(folder / f"{name}.trec"), load(tmp_path / "datasets" / name), [*made.MEASURES, "Judged@10"])
        for name in made.TOPICS[:3]
    ]
    means = macro_mean(results)
    assert {name: one.value for name, one in scores.macro.measures.items()} == {n: means[n] for n in made.MEASURES}
    assert scores.macro.judged["Judged@10"] == means["Judged@10"]
    for name in made.MEASURES:  # each topic's interval is that of an evaluation on its own
        for topic, result in zip(made.TOPICS, results, strict=False):
            told = scores.topics[topic].measures[name]
            assert (told.low, told.high) == result.interval(name)
        widths = [result.interval(name).high - result.interval(name).low for result in results]
        macro = scores.macro.measures[name]
        # Independent topics: the variance of their mean is a ninth of the sum of theirs.
        assert macro.high - macro.low == pytest.approx(sum(width**2 for width in widths) ** 0.5 / 3, rel=0.1)


def test_a_topic_without_a_run_is_named_and_there_is_no_mean_over_topics(tmp_path):
    root = made.made_board(tmp_path, systems=1, topics=2, scored=False)
    folder = root / made.BOARD / made.SNAPSHOT / made.entry_of(0)
    (folder / "beta.trec").unlink()
    scores = write_scores(folder, read_definition(folder.parent))
    assert (scores.macro, scores.missing, list(scores.topics)) == (None, ("beta",), ["alpha"])
    assert read_scores(folder) == scores


def test_scoring_again_gives_the_same_bytes_and_says_neither_when_nor_where(tmp_path):
    root = made.made_board(tmp_path, systems=2, topics=2)
    folder = root / made.BOARD / made.SNAPSHOT / made.entry_of(1)
    before = {name: (folder / name).read_bytes() for name in ("scores.json", "per_query.jsonl")}
    for name in before:
        (folder / name).unlink()
    scores = write_scores(folder, read_definition(folder.parent))
    assert before == {name: (folder / name).read_bytes() for name in before}
    assert str(tmp_path).encode() not in b"".join(before.values())
    assert score(folder, read_definition(folder.parent)) == scores
    plain = json.loads(before["scores.json"])
    assert json.dumps(plain, indent=1, sort_keys=True) + "\n" == before["scores.json"].decode()


@pytest.mark.parametrize("suffix", [".run", ".txt.gz", ".json", ".jsonl", ".jsonl.gz", ".parquet"])
def test_the_format_of_a_run_changes_nothing_but_its_digest(one, suffix):
    first = score(one, read_definition(one.parent)).topics["toy"]
    write_run(read_run(one / "toy.trec"), one / f"toy{suffix}")
    (one / "toy.trec").unlink()
    other = score(one, read_definition(one.parent)).topics["toy"]
    assert other.run.file == f"toy{suffix}"
    assert other.model_dump(exclude={"run"}) == first.model_dump(exclude={"run"})


def test_a_query_that_the_run_lacks_scores_0_and_is_told(one):
    write_run({"q2": RUN["q2"], "q9": {"d1": 1.0}}, one / "toy.trec")
    topic = score(one, read_definition(one.parent)).topics["toy"]
    assert topic.measures["Recall@2"].value == pytest.approx(1 / 3)
    assert (topic.lengths.least, topic.lengths.most) == (0, 2)
    assert topic.warnings == (
        "left out, because the dataset does not have them: 1 of the run's queries ('q9')",
        "scored 0, because the run does not have them: 2 of 3 queries",
    )


def test_a_measure_of_judged_documents_on_the_board_is_computed_once(tmp_path):
    folder = board(tmp_path, {"toy": toy(tmp_path / "toy")}, measures=("Judged@10", "Recall@2"))
    one = made.made_submission(folder.parents[1], "made", made.SNAPSHOT, ENTRY, {"toy": RUN})
    scores = write_scores(one, read_definition(folder))
    found = per_query_of(one, scores)["toy"]
    assert found.measures == ("Judged@10", "Recall@2", "Judged@20", "Judged@50")
    assert found.values[0].tolist() == [2 / 3, 1.0, 0.0]


def test_data_of_another_fingerprint_is_not_comparable_and_both_are_named(tmp_path):
    folder = board(tmp_path, {"toy": toy(tmp_path / "toy")}, fingerprints={"toy": "a" * 64})
    one = made.made_submission(folder.parents[1], "made", made.SNAPSHOT, ENTRY, {"toy": RUN})
    with pytest.raises(NotComparableError) as caught:
        score(one, read_definition(folder))
    assert "a" * 64 in caught.value.expected
    assert caught.value.got == load(tmp_path / "toy").fingerprint


def test_two_runs_of_a_topic_or_none_at_all_are_refused(one):
    write_run(RUN, one / "toy.jsonl")
    with pytest.raises(InputError, match=r"topic toy, expected one run file, got toy\.jsonl and toy\.trec"):
        score(one, read_definition(one.parent))
    (one / "toy.jsonl").unlink()
    (one / "toy.trec").unlink()
    with pytest.raises(InputError, match=r"expected a run file a topic, such as toy\.trec, got none"):
        score(one, read_definition(one.parent))


def test_a_run_that_is_a_link_is_refused(one, tmp_path):
    (one / "toy.trec").rename(tmp_path / "elsewhere.trec")
    (one / "toy.trec").symlink_to(tmp_path / "elsewhere.trec")
    with pytest.raises(InputError, match="expected a file with a run, got a link"):
        score(one, read_definition(one.parent))


def test_a_run_of_another_dataset_is_refused(one):
    write_run({"q9": {"d1": 1.0}}, one / "toy.trec")
    with pytest.raises(RunError, match="shares no query"):
        score(one, read_definition(one.parent))


def test_a_snapshot_that_is_not_at_hand_is_named_with_how_to_get_it(one):
    def offline(name, snapshot):
        raise HubError(f"{name}@{snapshot} cannot be downloaded", got="the Hub does not answer")

    with pytest.raises(InputError) as caught:
        score(one, read_definition(one.parent), datasets=offline)
    place = one.parents[3] / "toy"
    assert caught.value.what == "the topic toy of made cannot be scored"
    assert caught.value.got == f"{place}@2026-10 cannot be downloaded: the Hub does not answer"
    assert caught.value.hint == f"freshstack download {place}@2026-10"


def submission(one, components=(), *ids):
    told = yaml.safe_load((one / "submission.yaml").read_text())
    told["system"]["components"] = list(components)
    told["models"] = [MODEL | {"id": name} for name in ids]
    (one / "submission.yaml").write_text(yaml.safe_dump(told))
    return read_submission(one / "submission.yaml")


POOL = frozenset({"bm25", "dense:acme/tiny-embed", "dense:all-MiniLM-L6-v2", "dense:closed@https://host.dev/v1"})


@pytest.mark.parametrize(
    ("components", "ids", "expected"),
    [
        (["bm25"], [], True),
        (["BM25"], [], True),
        (["python:mine:bm25"], [], False),
        (["dense:acme/tiny-embed"], [], True),
        ([], ["acme/Tiny-Embed"], True),
        ([], ["other/tiny-embed"], False),
        ([], ["sentence-transformers/all-MiniLM-L6-v2"], True),
        (["dense:closed@https://other.dev/v1"], [], True),
        (["bm25", "dense:acme/large"], ["acme/large"], True),
        ([], [], False),
    ],
)
def test_a_system_is_in_the_pool_when_a_part_of_it_chose_what_was_judged(one, components, ids, expected):
    assert in_pool(submission(one, components, *ids), POOL) is expected


def test_where_nobody_says_who_chose_it_is_not_known(one):
    assert in_pool(submission(one, ["bm25"]), frozenset()) is None


def test_who_chose_is_read_from_the_recipe_and_from_the_pool(tmp_path):
    assert pooled(load(toy(tmp_path / "none"))) == frozenset()
    told = Recipe(pool={"retriever": "bm25", "depth": 10})
    assert pooled(load(toy(tmp_path / "one", recipe=told))) == {"bm25"}
    told = Recipe(pool={"retrievers": ["bm25", "dense:acme/large"], "depth": 10})
    assert pooled(load(toy(tmp_path / "two", recipe=told))) == {"bm25", "dense:acme/large"}
    assert pooled(load(made.made_dataset(tmp_path))) == {"bm25", "dense:acme/tiny-embed"}


def test_scores_that_no_longer_belong_to_the_folder_are_told(one):
    definition = read_definition(one.parent)
    scores = write_scores(one, definition)
    assert faults_of_scores(one, scores, definition) == ()
    told = (one / "submission.yaml").read_text()
    (one / "submission.yaml").write_text(told + "\n")
    write_run({"q1": RUN["q1"]}, one / "toy.trec")
    assert faults_of_scores(one, scores, definition) == (
        "submission.yaml was changed since it was scored",
        "toy.trec was changed since it was scored",
    )
    (one / "submission.yaml").write_text(told)
    write_run(RUN, one / "toy.json")
    assert faults_of_scores(one, scores, definition) == (
        "of the topic toy, toy.trec was scored, and there is toy.json, toy.trec",
    )
    (one / "toy.json").unlink()
    (one / "toy.trec").unlink()
    assert faults_of_scores(one, scores, definition) == (
        "of the topic toy, toy.trec was scored, and there is no run file",
    )


def test_a_run_that_came_after_the_scores_is_told(tmp_path):
    root = made.made_board(tmp_path, systems=1, topics=2, scored=False)
    folder = root / made.BOARD / made.SNAPSHOT / made.entry_of(0)
    run = (folder / "beta.trec").read_bytes()
    (folder / "beta.trec").unlink()
    definition = read_definition(folder.parent)
    scores = write_scores(folder, definition)
    (folder / "beta.trec").write_bytes(run)
    assert faults_of_scores(folder, scores, definition) == ("beta.trec was not scored",)
    other = definition.model_copy(
        update={"topics": (definition.topics[0].model_copy(update={"fingerprint": "b" * 64}), definition.topics[1])}
    )
    assert f"on #{scores.topics['alpha'].fingerprint[:12]}, not on the board's data" in " ".join(
        faults_of_scores(folder, scores, other)
    )


def test_scores_must_fit_together(one):
    plain = write_scores(one, read_definition(one.parent)).model_dump(mode="json")
    for place, value, complaint in (
        (("topics", "toy", "judged"), {"Judged@10": 1.0}, "expected Judged@10, Judged@20, Judged@50"),
        (("topics", "toy", "condensed"), {}, "expected Coverage@2, Recall@2, alpha_nDCG@10, got none"),
        (("macro",), None, "null where a topic is missing"),
        (("macro", "measures"), {}, r"macro\.measures: expected Coverage@2"),
        (("topics",), {}, "at least 1 item"),
    ):
        changed = json.loads(json.dumps(plain))
        above = changed
        for key in place[:-1]:
            above = above[key]
        above[place[-1]] = value
        with pytest.raises(ValidationError, match=complaint):
            ScoresFile.model_validate_json(json.dumps(changed))
