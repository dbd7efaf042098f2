"""Dense search over vectors that a test knows."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from freshstack_datasets.errors import InputError, RecordError, RunError
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import Dense, Encoded, vectors


class Known:
    """An encoder whose vectors are said beforehand, and which remembers what it was asked."""

    at_once, shows_progress = 4, False

    def __init__(self, known, name="known", fails_at=None):
        self.known, self.name, self.fails_at = known, name, fails_at
        self.asked = []

    @property
    def told(self):
        return {}

    @property
    def identity(self):
        return {"name": self.name}

    def encode(self, texts, role, prefix):
        if self.fails_at is not None and len(self.asked) >= self.fails_at:
            raise KeyboardInterrupt
        self.asked.append((role, prefix, list(texts)))
        return Encoded(np.array([self.known[text] for text in texts], np.float32), sum(len(t) > 5 for t in texts))


def corpus(known):
    return [Document(name, "", name) for name in known]


def found(dense, text, k=100):
    return dense.search([Query("q", text)], k)["q"]


def test_scores_are_cosines():
    known = {"a": [3, 4], "b": [0, 2], "c": [-1, 0], "d": [1, 0], "ask": [0, 5]}
    dense = Dense(Known(known)).index(corpus("abcd"))
    # cosines with (0, 1): a 4/5, b 1, c 0, d 0; those of 0 are not found
    assert found(dense, "ask") == {"b": 1, "a": pytest.approx(0.8, abs=1e-7)}
    assert list(found(dense, "c")) == ["c", "a", "d"]  # 1, -0.6, -1


def test_scores_are_dot_products_where_they_are_asked_for():
    known = {"a": [3, 4], "b": [0, 2], "c": [-1, 7], "ask": [0.5, 5]}
    # a 1.5 + 20, b 10, c -0.5 + 35
    run = found(Dense(Known(known), similarity="dot").index(corpus("abc")), "ask")
    assert run == {"c": 34.5, "a": 21.5, "b": 10}


def test_ties_are_in_the_one_ranking_also_at_the_cut_and_in_a_corpus_of_any_order():
    known = {**{name: [1, 2] for name in "cabed"}, "x": [2, 1], "ask": [1, 2]}
    dense = Dense(Known(known)).index(corpus(["c", "a", "x", "b", "e", "d"]))
    assert list(found(dense, "ask")) == ["e", "d", "c", "b", "a", "x"]
    assert list(found(dense, "ask", k=2)) == ["e", "d"]


def test_what_says_nothing_is_not_encoded_not_found_and_finds_nothing():
    encoder = Known({"a": [1, 2], "ask": [1, 1]})
    dense = Dense(encoder).index([Document("a", "", "a"), Document("empty", "", "  \n")])
    run = dense.search([Query("q1", " "), Query("q2", "ask"), Query("q3", "")])
    assert (run.query_ids, list(run["q2"]), run["q1"], run["q3"]) == (("q1", "q2", "q3"), ["a"], {}, {})
    assert encoder.asked == [("document", None, ["a"]), ("query", None, ["ask"])]


def test_a_corpus_that_says_nothing_and_one_without_documents_are_searched(tmp_path):
    for documents in ([], [Document("a", "", ""), Document("b", "", " ")]):
        dense = Dense(Known({"ask": [1, 1]})).index(documents)
        assert found(dense, "ask") == {}
        dense.save(tmp_path / str(len(documents)))
        assert found(Dense.load(tmp_path / str(len(documents)), Known({})), "ask") == {}


def test_prefixes_are_handed_on_and_cut_texts_are_counted():
    encoder = Known({"short": [1, 2], "too long": [2, 1], "long question": [1, 1]})
    dense = Dense(encoder, query_prefix="query: ", document_prefix="passage: ").index(corpus(["short", "too long"]))
    dense.search([Query("q", "long question")])
    assert (dense.cut_documents, dense.cut_queries) == (1, 1)
    assert encoder.asked == [
        ("document", "passage: ", ["short", "too long"]),
        ("query", "query: ", ["long question"]),
    ]
    assert Dense(encoder, document_prefix="passage: ").index(corpus(["short", "too long"])).cut_documents == 1  # kept


def many(number, dimensions=8):
    rows = np.random.default_rng(7).normal(size=(number, dimensions)).astype(np.float32)
    return {f"d{i:03}": row for i, row in enumerate(rows)}


def test_an_index_that_was_interrupted_goes_on_where_it_was():
    known = many(60)
    first = Known(known, fails_at=5)
    with pytest.raises(KeyboardInterrupt):
        Dense(first).index(corpus(known))
    second = Known(known)
    dense = Dense(second).index(corpus(known))
    done = [text for _, _, texts in first.asked + second.asked for text in texts]
    assert done == list(known)
    third = Known(known)
    again = Dense(third).index(corpus(known))
    assert third.asked == []
    queries = [Query(name, name) for name in list(known)[:7]]
    assert again.search(queries).to_dict() == dense.search(queries).to_dict()


def test_of_a_corpus_that_changed_in_one_place_little_is_encoded_again():
    known = {**many(400), "new": [1.0] * 8}
    names = [name for name in known if name != "new"]
    Dense(Known(known)).index(corpus(names))
    encoder = Known(known)
    Dense(encoder).index(corpus([*names[:50], "new", *names[50:]]))
    [(_, _, texts)] = encoder.asked[:1]
    assert "new" in texts
    assert sum(len(texts) for _, _, texts in encoder.asked) <= 2 * vectors._LARGEST * 4


def test_vectors_of_another_model_prefix_or_similarity_are_not_taken():
    known = many(10)
    Dense(Known(known)).index(corpus(known))
    for other in (
        Dense(Known(known, "other")),
        Dense(Known(known), document_prefix=""),
        Dense(Known(known), similarity="dot"),
    ):
        other.index(corpus(known))
        assert other.encoder.asked
    same = Dense(Known(known), query_prefix="query: ", name="x").index(corpus(known))
    assert not same.encoder.asked


def test_a_damaged_block_is_made_anew(own_home):
    known = many(30)
    whole = found(Dense(Known(known)).index(corpus(known)), "d001")
    files = sorted((own_home / "embeddings").rglob("*.npy"))
    assert len(files) > 3
    files[0].write_bytes(files[0].read_bytes()[:-4])
    flipped = bytearray(files[1].read_bytes())
    flipped[-2] ^= 1
    files[1].write_bytes(flipped)
    files[2].write_bytes(b"no array")
    encoder = Known(known)
    assert found(Dense(encoder).index(corpus(known)), "d001") == whole
    assert len(encoder.asked) == 3 + 1  # and the query
    assert sorted((own_home / "embeddings").rglob("*.npy")) == files


def test_nothing_is_kept_where_that_is_not_wanted_or_not_possible(own_home, tmp_path, caplog):
    known = many(30)
    expected = found(Dense(Known(known), keep=False).index(corpus(known)), "d001")
    assert not list(own_home.iterdir())
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        dense = Dense(Known(known), keep=tmp_path / "file" / "below").index(corpus(known))
    assert [record.message[:20] for record in caplog.records] == ["vectors are not kept"]
    assert found(dense, "d001") == expected
    assert found(Dense(Known(known), keep=tmp_path / "own").index(corpus(known)), "d001") == expected
    assert list((tmp_path / "own").rglob("*.npy"))


def test_vectors_stay_in_memory_where_there_is_no_room_for_all_of_them(monkeypatch, caplog):
    known = many(30)
    expected = found(Dense(Known(known)).index(corpus(known)), "d001")

    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vectors, "TemporaryFile", full)
    assert found(Dense(Known(known)).index(corpus(known)), "d001") == expected
    assert "vectors stay in memory" in caplog.text


def test_a_block_that_is_gone_when_it_is_needed_is_an_error(monkeypatch):
    monkeypatch.setattr(vectors, "mapped", lambda path: None)
    with pytest.raises(InputError, match="has changed; index the documents again"):
        Dense(Known(many(3))).index(corpus(many(3)))


def test_it_says_how_it_is_set():
    assert repr(Dense(Known({}), similarity="dot")) == "Dense({}, similarity='dot')"


def test_ids_in_another_order_than_was_written_are_refused(tmp_path):
    from freshstack_datasets.retrieval.index_folder import _file

    Dense(Known(many(3))).index(corpus(many(3))).save(tmp_path / "index")
    note = json.loads((tmp_path / "index" / "index.json").read_text())
    for content in ('["d002", "d001", "d000"]', "[1, 2, 3]", "{", '["d000"]'):
        (tmp_path / "index" / "doc_ids.json").write_text(content)
        note["files"]["doc_ids.json"] = _file(tmp_path / "index" / "doc_ids.json")
        (tmp_path / "index" / "index.json").write_text(json.dumps(note))
        with pytest.raises(InputError, match="is damaged"):
            Dense.load(tmp_path / "index", Known({}))


def test_what_was_saved_finds_the_same(tmp_path):
    known = many(50)
    dense = Dense(Known(known), similarity="dot", query_prefix="q: ", document_prefix="d: ", name="mine")
    dense.index(corpus(known)).save(tmp_path / "index")
    loaded = Dense.load(tmp_path / "index", Known(known))
    assert (loaded.similarity, loaded.query_prefix, loaded.document_prefix, loaded.name, loaded.cut_documents) == (
        "dot",
        "q: ",
        "d: ",
        "mine",
        0,
    )
    queries = [Query(name, name) for name in known]
    one, two = dense.search(queries, 10), loaded.search(queries, 10)
    assert one.to_dict() == two.to_dict()
    assert one.name == two.name == "mine"
    with pytest.raises(InputError, match="one that can be made again"):
        Dense.load(tmp_path / "index")


@pytest.mark.parametrize("name, content", [("doc_ids.json", b"[1]"), ("vectors.npy", b"x"), ("index.json", b"{}")])
def test_a_damaged_folder_is_refused(tmp_path, name, content):
    Dense(Known(many(5))).index(corpus(many(5))).save(tmp_path / "index")
    (tmp_path / "index" / name).write_bytes(content)
    with pytest.raises(InputError, match="index"):
        Dense.load(tmp_path / "index", Known({}))


@pytest.mark.parametrize("rows", [[[1, float("nan")]], [[1, 2], [3, 4]], [[]], [1, 2], [[float("inf"), 0]]])
def test_vectors_that_are_none_are_refused(rows):
    encoder = Known({})
    encoder.encode = lambda texts, role, prefix: Encoded(np.array(rows, np.float32))
    with pytest.raises(InputError, match="an encoder's vectors"):
        Dense(encoder).index([Document("a", "", "a")])


def test_vectors_of_several_lengths_are_refused():
    known = {**{f"d{i}": [1, 2] for i in range(20)}, "longer": [1, 2, 3]}
    encoder = Known(known)
    encoder.at_once = 1
    with pytest.raises(InputError, match="2 and 3 dimensions"):
        Dense(encoder).index([*corpus([f"d{i}" for i in range(20)]), Document("x", "", "longer")])
    dense = Dense(encoder).index(corpus([f"d{i}" for i in range(20)]))
    with pytest.raises(InputError, match="expected 2 dimensions as the documents have, got 3 of the query"):
        found(dense, "longer")


def test_what_cannot_be_searched_is_refused():
    encoder = Known({"a": [1, 2]})
    with pytest.raises(InputError, match="Dense has no index; call index"):
        Dense(encoder).search([])
    with pytest.raises(InputError, match="expected documents"):
        Dense(encoder).index(["a"])
    with pytest.raises(RecordError, match="'a', expected each id once"):
        Dense(encoder).index(corpus("aa"))
    dense = Dense(encoder).index(corpus("a"))
    with pytest.raises(InputError, match="at least 1"):
        dense.search([], k=0)
    with pytest.raises(InputError, match="expected queries with a text"):
        dense.search(["a"])
    with pytest.raises(RunError, match="each query once"):
        dense.search([Query("q", "a"), Query("q", "a")])
    for wrong in ("", 7, None):
        with pytest.raises(InputError, match="an encoder"):
            Dense(wrong)
    with pytest.raises(InputError, match="expected cosine or dot, got 'euclid'"):
        Dense(encoder, similarity="euclid")


ROWS = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 40), st.integers(1, 6)),
    elements=st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-4, 4, width=32).filter(lambda x: x == 0 or abs(x) > 2.0**-60),  # a product of less may be 0
    ),
)


@given(ROWS, st.integers(1, 12), st.sampled_from(["cosine", "dot"]), st.integers(1, 50), st.randoms())
def test_what_is_found_is_what_comparing_everything_in_double_precision_finds(rows, k, similarity, at_once, random):
    names = [f"d{i}" for i in range(len(rows))]
    known = dict(zip(names, rows, strict=True))
    order = random.sample(names, len(names))
    dense = Dense(Known(known), similarity=similarity, keep=False).index(corpus(order))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("freshstack_datasets.retrieval.dense._AT_ONCE", at_once)
        run = dense.search([Query(name, name) for name in names], k)
    ready = {name: row.astype(np.float64) for name, row in known.items()}
    if similarity == "cosine":
        ready = {name: (row / (np.sqrt((row * row).sum()) or 1)).astype(np.float32) for name, row in ready.items()}
    for name in names:
        products = {
            other: sum(float(a) * float(b) for a, b in zip(ready[name], ready[other], strict=True)) for other in names
        }
        expected = sorted((score for score in products.values() if abs(score) > 1e-13), reverse=True)
        scores = [score for score in run[name].values() if abs(score) > 1e-13]
        assert scores == pytest.approx(expected[: len(scores)], rel=1e-9, abs=1e-12)
        # What is nearly 0 may stand before what is less.
        above, nearly = sum(score > 0 for score in expected), len(products) - len(expected)
        assert len(scores) >= min(len(expected), max(min(above, k), k - nearly))
        assert list(run[name].items()) == sorted(run[name].items(), key=lambda one: (one[1], one[0]), reverse=True)
        for other, score in run[name].items():
            assert score == pytest.approx(products[other], rel=1e-9, abs=1e-12)


@given(ROWS, st.integers(1, 12), st.randoms())
def test_equal_vectors_tie_and_a_shorter_list_begins_the_longer(rows, k, random):
    known = {f"{twin}{i}": row for twin in "ab" for i, row in enumerate(rows)}
    dense = Dense(Known(known), keep=False).index(corpus(known))
    queries = [Query(name, name) for name in known]
    whole, cut = dense.search(queries, 1000), dense.search(queries, k)
    alone = random.choice(queries)
    assert dense.search([alone], k)[alone.query_id] == cut[alone.query_id]
    for name in known:
        assert list(cut[name].items()) == list(whole[name].items())[:k]
        for other, score in whole[name].items():
            assert whole[name]["ab".replace(other[0], "") + other[1:]] == score


def test_scores_too_large_for_single_precision_are_found(tmp_path):
    known = {"a": [3e38, 3e38], "b": [1e38, 0], "ask": [3e38, 1e38], "c": [1, 1]}
    dense = Dense(Known(known), similarity="dot").index(corpus("abc"))
    assert list(found(dense, "ask", k=2)) == ["a", "b"]


def test_nothing_in_a_saved_folder_is_unpickled(tmp_path):
    Dense(Known(many(5))).index(corpus(many(5))).save(tmp_path / "index")
    with (tmp_path / "index" / "vectors.npy").open("wb") as stream:
        np.save(stream, np.array([Path("x"), {}], object), allow_pickle=True)
    note = json.loads((tmp_path / "index" / "index.json").read_text())
    from freshstack_datasets.retrieval.index_folder import _file

    note["files"]["vectors.npy"] = _file(tmp_path / "index" / "vectors.npy")
    (tmp_path / "index" / "index.json").write_text(json.dumps(note))
    with pytest.raises(InputError, match="damaged"):
        Dense.load(tmp_path / "index", Known({}))
