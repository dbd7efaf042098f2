"""The builder on a real dump, where it lies beside the checkout: coffee.stackexchange.com in March 2015."""

from pathlib import Path

import pytest

from builders.stackexchange.accepted_answers import build
from builders.stackexchange.filters import Filters
from freshstack_datasets import BM25, evaluate, load, verify

DUMP = Path(__file__).parents[3] / "shared" / "data" / "coffee.stackexchange.com-Posts.xml"
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
