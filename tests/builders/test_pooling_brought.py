"""What each retriever brought to the pools, and how good each list was."""

import json
import random

import pytest

import freshstack_datasets as fsd
from builders.pipeline.records import Label
from builders.pipeline.settings import Settings
from builders.pipeline.step import run
from builders.pipeline.work import LABELS, write_lines
from builders.pooling import Contribution, Pooling, contribution, table2
from freshstack_datasets.errors import InputError
from tests.builders.pipeline_made import made_topic, made_work, scripted
from tests.builders.test_pooling import own, ranks, topic_with


def pooled(folder, monkeypatch, lists, **pool):
    """The folder of a build whose pool was made of lists by retriever and question, the same for every technique."""
    names = [own(folder, monkeypatch, f"{name}_{folder.name}", found) for name, found in lists.items()]
    told = ", ".join(
        f'{{python: "{place.removeprefix("python:")}", name: {name}}}' for place, name in zip(names, lists, strict=True)
    )
    topic = topic_with(folder, told, techniques="[question, answer]", **pool)
    work = made_work(folder, until="queries")
    run(Pooling(topic, scripted(Settings.of(topic), folder)), work)
    return work


def judge(work, supports):
    """Write labels as the stage support does."""
    (work.path / "support").mkdir()
    (work.path / "support" / "stage.json").write_text("{}")
    labels = [Label(query_id, doc_id, of, "c") for (query_id, doc_id), of in supports.items()]
    write_lines(work.path / "support" / LABELS, labels)


def test_what_a_retriever_found_alone_and_what_would_not_be_judged_without_it(tmp_path, monkeypatch):
    # Summed, A and B and C: d1 1+1+0 = 2, d5 1 + 0, d2 .5+0+.5 = 1, d3 0, d6 0 + .5 and so on; the top 2 are judged.
    lists = {
        "A": {"q1": ranks(["docs/d01", "docs/d02", "docs/d03"])},  # 1, .5, 0
        "B": {"q1": ranks(["docs/d01", "docs/d06", "docs/d02"])},  # 1, .5, 0
        "C": {"q1": ranks(["docs/d05", "docs/d02", "docs/d01"])},  # 1, .5, 0
    }
    # all: d01 2, d05 1, d02 1, d06 .5, d03 0: the pool is d01, d05 (a tie goes to the larger id)
    work = pooled(tmp_path, monkeypatch, lists, top=2)
    judge(
        work, {("q1", "docs/d01"): (0,), ("q1", "docs/d05"): (0, 1), ("q1", "docs/d06"): (), ("q1", "docs/d02"): (1,)}
    )
    assert contribution(work) == [
        # without A: d05 1, d01 1, ...: the same pool
        Contribution("A", found=2, alone=0, lost=0),
        # without B: d02 1, d05 1, d01 1 + 0 = 1: d05 and d02, so that d01 is lost
        Contribution("B", found=2, alone=0, lost=1),
        # without C: d01 2, d06 .5, d02 .5: d01 and d06; d05 is lost, which C alone found
        Contribution("C", found=3, alone=1, lost=1),
    ]


def test_without_the_only_retriever_nothing_would_be_judged(tmp_path, monkeypatch):
    work = pooled(tmp_path, monkeypatch, {"A": {"q1": ranks(["docs/d01", "docs/d02"]), "q2": {"docs/d05": 1.0}}}, top=5)
    judge(work, {("q1", "docs/d02"): (0,), ("q2", "docs/d05"): (1,), ("q1", "docs/d01"): ()})
    assert contribution(work) == [Contribution("A", found=2, alone=2, lost=2)]


@pytest.mark.parametrize("seed", range(4))
def test_what_only_one_found_and_is_judged_is_lost_without_it(tmp_path, monkeypatch, seed):
    dice = random.Random(seed)
    documents = [f"docs/d{n:02}" for n in range(1, 13)]
    lists = {name: {q: ranks(dice.sample(documents, dice.randint(0, 6))) for q in ("q1", "q2", "q3")} for name in "ABC"}
    work = pooled(tmp_path, monkeypatch, lists, top=3)
    supports = {(q, doc_id): dice.choice([(), (0,)]) for q in ("q1", "q2", "q3") for doc_id in documents}
    judge(work, supports)
    relevant = {pair for pair, of in supports.items() if of}
    found = {name: {(q, d) for q, of in by.items() for d in of} & relevant for name, by in lists.items()}
    judged = {
        (q, d)
        for q in ("q1", "q2", "q3")
        for d in list(fsd.read_run(work.path / "pool/runs/answer/fusion.parquet").to_dict().get(q, {}))[:3]
    }
    for one in contribution(work):
        others = set().union(*(found[name] for name in "ABC" if name != one.retriever))
        assert one.found == len(found[one.retriever])
        assert one.alone == len(found[one.retriever] - others)
        assert len((found[one.retriever] - others) & judged) <= one.lost <= len(judged & relevant)


def dataset(folder, supports):
    """A dataset of q1 and q2 with two nuggets each."""
    queries = ("q1", "q2")
    judgments = [
        fsd.Judgment(q, f"{q}_{n}", doc_id, int(n in of)) for (q, doc_id), of in supports.items() for n in (0, 1)
    ]
    fsd.write_snapshot(
        folder,
        dataset="acme/tidepool",
        snapshot="2026-10",
        license="MIT",
        documents=[fsd.Document(f"docs/d{n:02}", "", "text") for n in range(1, 13)],
        queries=[fsd.Query(q, "text") for q in queries],
        nuggets=[fsd.Nugget(f"{q}_{n}", q, n, "fact") for q in queries for n in (0, 1)],
        judgments=judgments,
    )
    return fsd.load(folder)


def test_the_second_table_has_a_row_for_each_technique_and_retriever(tmp_path, monkeypatch):
    lists = {
        "A": {"q1": ranks(["docs/d01", "docs/d02"]), "q2": ranks(["docs/d05"]), "q3": ranks(["docs/d04"])},
        "B": {"q1": ranks(["docs/d02"])},
    }
    work = pooled(tmp_path, monkeypatch, lists, top=5)
    supports = {("q1", "docs/d01"): (0,), ("q1", "docs/d02"): (), ("q2", "docs/d05"): (0, 1), ("q2", "docs/d06"): (1,)}
    told = table2(work, dataset(tmp_path / "data", supports))
    assert [(row["technique"], row["retriever"]) for row in told] == [
        (technique, who) for technique in ("question", "answer") for who in ("A", "B", "fusion")
    ]
    by = {(row["technique"], row["retriever"]): row["measures"] for row in told}
    # A: q1 covers 1 of 2 nuggets, q2 both; it finds 1 of 1 and 1 of 2 relevant documents; q3 is not in the dataset
    assert by["question", "A"]["Coverage@20"] == pytest.approx((0.5 + 1) / 2)
    assert by["question", "A"]["Recall@50"] == pytest.approx((1 + 0.5) / 2)
    # B finds nothing relevant; together, q1 has d02 before d01: 1 / log2(3) of an ideal of 1, and q2 2 of 2 + .5/log2(3)
    assert set(by["question", "B"].values()) == {0.0}
    alpha = (0.6309297535714575 + 2 / (2 + 0.5 * 0.6309297535714575)) / 2
    assert by["answer", "fusion"]["alpha_nDCG@10"] == pytest.approx(alpha)
    assert by["answer", "A"] == by["question", "A"]


def test_a_retriever_that_finds_nothing_for_the_questions_that_are_left_scores_0(tmp_path, monkeypatch):
    work = pooled(tmp_path, monkeypatch, {"A": {"q1": ranks(["docs/d01"])}, "B": {"q3": ranks(["docs/d04"])}}, top=5)
    told = table2(work, dataset(tmp_path / "data", {("q1", "docs/d01"): (0, 1), ("q2", "docs/d05"): (0, 1)}))
    assert [row["measures"]["Coverage@20"] for row in told] == [0.5, 0.0, 0.5] * 2


def test_a_pool_that_says_nothing_of_itself_is_refused(tmp_path):
    made_topic(tmp_path)
    work = made_work(tmp_path)
    assert [one.retriever for one in contribution(work)] == ["bm25"]
    about = work.path / "pool" / "stage.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "settings": {}}))
    with pytest.raises(InputError, match=r"says of itself is damaged; run the stage again"):
        contribution(work)
