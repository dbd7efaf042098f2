"""Any overlay written and laid over its snapshot again is the same, and a damaged one ends in an error of ours."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.loading import load
from freshstack_datasets.overlays import write_overlay
from freshstack_datasets.recipe import Recipe
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8)
names = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)


@st.composite
def pairs_of_datasets(draw):
    """Records of a snapshot, and judgments of documents that it has not judged."""
    doc_ids = draw(st.lists(ids, min_size=2, max_size=6, unique=True))
    query_ids = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    nugget_ids = draw(st.lists(ids, min_size=len(query_ids), max_size=6, unique=True))
    nuggets = [Nugget(one, query_ids[i % len(query_ids)], i, draw(texts)) for i, one in enumerate(nugget_ids)]
    own, more = [], []
    for place, query_id in enumerate(query_ids):
        judged = draw(st.integers(1, len(doc_ids) - (place == 0)))
        new = draw(st.integers(place == 0, len(doc_ids) - judged))
        for i, doc_id in enumerate(doc_ids[: judged + new]):
            rows = [
                Judgment(query_id, nugget.nugget_id, doc_id, draw(st.integers(0, 1)), draw(st.none() | ids))
                for nugget in nuggets
                if nugget.query_id == query_id
            ]
            (own if i < judged else more).extend(rows)
    documents = [Document(doc_id, "", draw(texts)) for doc_id in doc_ids]
    return documents, [Query(query_id, draw(texts)) for query_id in query_ids], nuggets, own, more


def written(folder, records):
    kinds = ("documents", "queries", "nuggets", "judgments")
    told = {"dataset": "a/b", "snapshot": "2026-10", "license": "MIT"}
    write_snapshot(folder, **told, **dict(zip(kinds, records[:4], strict=True)))
    return load(folder)


@settings(max_examples=30, deadline=None)
@given(pairs_of_datasets(), st.randoms(use_true_random=False), st.lists(names, max_size=3), st.integers(0, 1000))
def test_an_overlay_written_and_laid_over_again_is_the_same(records, shuffler, runs, k):
    *_, own, more = records
    with tempfile.TemporaryDirectory() as temporary:
        data = written(Path(temporary) / "base", records)
        recipe = Recipe(builder="judge-holes", models={"support": "m"})
        overlay = write_overlay(Path(temporary) / "one", data, more, runs=runs, k=k, recipe=recipe)
        shuffled = shuffler.sample(more, len(more))
        again = write_overlay(Path(temporary) / "two", data, shuffled, runs=[*runs, *runs], k=k, recipe=recipe)
        assert again == overlay
        both = data.with_overlay(Path(temporary) / "one")
        assert both.overlay == overlay
        key = lambda j: (j.query_id, j.nugget_id, j.doc_id)  # noqa: E731  # used twice here and nowhere else
        assert sorted(both.judgments, key=key) == list(both.judgments) == sorted([*own, *more], key=key)
        assert both.fingerprint == overlay.fingerprint != data.fingerprint


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_overlay_ends_in_an_error_of_ours_or_is_as_it_was(drawn):
    records = (
        [Document("d", "", ""), Document("e", "", "")],
        [Query("q", "")],
        [Nugget("n", "q", 0, "")],
        [Judgment("q", "n", "d", 1)],
        [Judgment("q", "n", "e", 1)],
    )
    with tempfile.TemporaryDirectory() as temporary:
        data = written(Path(temporary) / "base", records)
        folder = Path(temporary) / "overlay"
        overlay = write_overlay(folder, data, records[4], runs=["r"], k=1)
        path = drawn.draw(st.sampled_from(sorted(p for p in folder.rglob("*") if p.is_file())))
        content = bytearray(path.read_bytes())
        start = drawn.draw(st.integers(0, len(content)))
        content[start : start + drawn.draw(st.integers(0, 9))] = drawn.draw(st.binary(max_size=9))
        path.write_bytes(content)
        try:
            found = data.with_overlay(folder)
        except FreshStackError:
            return
        assert list(found.judgments) == [*records[3], *records[4]]
        assert found.fingerprint == overlay.fingerprint


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    records = ([Document("d", "", ""), Document("e", "", "")], [Query("q", "")], [Nugget("n", "q", 0, "")])
    data = written(tmp_path / "base", (*records, [Judgment("q", "n", "d", 1)]))
    write_overlay(tmp_path / "one", data, [Judgment("q", "n", "e", 1)], runs=["r"], k=1)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "overlay.json").symlink_to(tmp_path / "one" / "overlay.json")
    with pytest.raises(FreshStackError, match="is no overlay"):
        data.with_overlay(tmp_path / "two")
