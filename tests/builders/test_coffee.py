"""The builder on a real dump, where it lies beside the checkout: coffee.stackexchange.com in March 2015."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from builders.stackexchange.accepted_answers import build
from builders.stackexchange.filters import Filters
from freshstack_datasets import BM25, evaluate, load, verify

ROOT = Path(__file__).parents[2]
DUMP = ROOT.parent / "shared" / "data" / "coffee.stackexchange.com-Posts.xml"
OPTIONS = {"site": "coffee.stackexchange.com", "snapshot": "2015-03"}

pytestmark = pytest.mark.skipif(not DUMP.is_file(), reason="the real dump is not beside the checkout: shared/data")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(DUMP, tmp_path_factory.mktemp("coffee") / "snapshot", **OPTIONS)


def test_it_is_whole_and_counts_what_is_known_of_the_dump(built):
    """592 rows, 225 questions and 105 present accepted answers are known; the rest was counted with another parser."""
    assert verify(built.path) == []
    assert dict(built.counts) == {
        "rows": 592,
        "questions": 225,
        "answers": 327,
        "tag wikis": 20,
        "tag wiki excerpts": 20,
    }
    assert dict(built.dropped) == {"questions without an accepted answer": 120}
    rows = {name: table.rows for name, table in built.manifest.tables.items()}
    assert rows == {"corpus": 327, "queries": 105, "nuggets": 105, "nugget_qrels": 105, "qrels": 105}
    assert built.manifest.license == "CC-BY-SA-3.0"


def test_real_posts_read_as_their_pages_do(built):
    """Values read by eye in the dump."""
    data = load(built.path)
    query = data.queries["1"]
    assert query.title == "How should I store whole bean coffee?"
    assert query.body == (
        "I just got a pound of microroasted, local coffee and am curious what the optimal way to store it is "
        "(what temperature, humidity, etc)"
    )
    assert (query.answer_id, query.score, query.date) == ("24", 20, "2015-01-27T20:09:32.720")
    assert query.tags == ("storage", "whole-bean")
    assert query.author == "https://coffee.stackexchange.com/users/4"
    assert "2" not in data.queries  # its asker accepted none
    # a drawing in a code block, its first line indented by four spaces
    assert (
        "A crude diagram:\n\n```\n"
        "    ||||||     < Tamper\n"
        "| [||||||||] | < Tamper 'head' flush with portafilter edge (note, it's flush)\n"
        "| .......... | < Tamped coffee\n"
        "| .......... |\n"
        "+------------+\n"
        "    /    \\     < Goodness pours out here\n"
        "```\n\nBut how much coffee"
    ) in data.corpus["142"].text
    with_images = data.corpus["1500"].text
    assert "![Boxplot of Sour & Acidity by brewing method](http://i.stack.imgur.com/bvYFi.png)" in with_images
    assert "\n\n---\n\n# Distribution of Acidity by Brewing Method\n\n" in with_images
    assert "[My company](http://Gastrograph.com)" in with_images
    assert data.corpus["1500"].metadata["url"] == "https://coffee.stackexchange.com/a/1500"


def test_the_same_build_twice_has_one_fingerprint(built, tmp_path):
    assert build(DUMP, tmp_path / "again", **OPTIONS).manifest.fingerprint == built.manifest.fingerprint


def test_filters_narrow_it(tmp_path):
    rules = Filters.parsed("espresso", "2015-02", "2015-02", 5)
    data = load(build(DUMP, tmp_path / "some", **OPTIONS, filters=rules).path)
    assert 0 < len(data.queries) < 105
    for query in data.queries:
        assert "espresso" in query.tags
        assert query.date.startswith("2015-02")
        assert query.score >= 5


def test_a_retriever_scores_on_it_as_on_a_benchmark(built):
    """Words alone find most accepted answers of a small site, but not all, and not always first."""
    data = load(built.path)
    result = evaluate(BM25().index(data.corpus).search(data.queries, k=100), data, intervals=False)
    assert 0.4 < result.mean["alpha_nDCG@10"] < 0.8
    assert result.mean["alpha_nDCG@10"] < result.mean["Coverage@20"] < result.mean["Recall@50"] < 1


def command(*typed: object) -> str:
    """Run one of the project's commands and return what it printed."""
    done = subprocess.run([sys.executable, "-W", "error", "-m", *map(str, typed)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_from_the_dump_to_scores_by_commands_alone(tmp_path, monkeypatch):
    """A query has one nugget and one relevant document, so both measures are the share of accepted answers found."""
    monkeypatch.chdir(ROOT)
    folder, run = tmp_path / "coffee", tmp_path / "bm25.trec"
    options = ["--site", OPTIONS["site"], "--snapshot", OPTIONS["snapshot"], "--out", folder]
    command("builders", "accepted-answers", DUMP, *options)
    assert json.loads(command("freshstack_datasets", "verify", folder, "--json")) == {"ok": True, "problems": []}
    command("freshstack_datasets", "retrieve", folder, "--retriever", "bm25", "--out", run)
    measured = ["--measures", "Coverage@20", "Recall@20", "Recall@50", "--json"]
    (scored,) = json.loads(command("freshstack_datasets", "evaluate", folder, "--run", run, *measured))["results"]
    (direct,) = json.loads(command("freshstack_datasets", "evaluate", folder, "--retriever", "bm25", *measured))[
        "results"
    ]

    accepted = dict(re.findall(r'<row Id="(\d+)" PostTypeId="1" AcceptedAnswerId="(\d+)"', DUMP.read_text("utf-8")))
    assert len(accepted) == scored["queries"] == 105
    ranked: dict[str, list[tuple[float, str]]] = {}
    for line in run.read_text("utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split("\t")
        ranked.setdefault(query_id, []).append((float(score), doc_id))

    def found(depth: int) -> float:
        tops = {query_id: sorted(rows, reverse=True)[:depth] for query_id, rows in ranked.items()}
        hits = [answer in {doc_id for _, doc_id in tops.get(query, [])} for query, answer in accepted.items()]
        return sum(hits) / 105

    assert 0 < found(20) < found(50) < 1
    for results in (scored, direct):
        values = {name: entry["value"] for name, entry in results["measures"].items()}
        assert values == pytest.approx({"Coverage@20": found(20), "Recall@20": found(20), "Recall@50": found(50)})
