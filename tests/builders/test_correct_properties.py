"""The rows that lead from any dataset to any other make the other of the one, and those that lead back the one again."""

import json
import tempfile
from dataclasses import fields, replace
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from builders.correcting.apply import correct
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.verification import verify
from tests.builders.correcting import row, write_table

# A table cannot hold a NUL. An empty cell is no value, so a value that may be missing is not empty here.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\x01")
TEXTS = st.text(CHARACTERS, min_size=1, max_size=12)
IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n "), min_size=1, max_size=6)
MAYBE = st.none() | TEXTS
DOCUMENTS = [Document(f"d{i}", "", f"text {i}") for i in range(4)]
FIELDS = [field.name for field in fields(Query) if field.name not in ("query_id", "text", "tags", "score")]


@st.composite
def questions(draw, query_id, follows):
    """A question whose text is its title and body, or one of its own."""
    query = Query(
        query_id,
        "\x01" + draw(TEXTS),
        **{field: draw(MAYBE) for field in FIELDS},
        tags=draw(st.none() | st.lists(st.text(CHARACTERS, max_size=5), max_size=3).map(tuple)),
        score=draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
    )
    if follows:
        query = replace(query, title=query.title or "t")
        query = replace(query, text=query.title if query.body is None else f"{query.title} {query.body}")
    return query


@st.composite
def datasets(draw, query_ids):
    """Records by their ids; the ids of two datasets are often the same."""
    found = {}
    for query_id in draw(st.lists(st.sampled_from(query_ids), min_size=1, unique=True)):
        found[query_id,] = draw(questions(query_id, follows=len(query_id) % 2))
        for i in draw(st.lists(st.integers(0, 2), min_size=1, unique=True)):
            nugget_id = f"{query_id}/{i}"
            importance = draw(st.sampled_from([None, "vital", "okay"]))
            position = draw(st.integers(0, 2**31 - 1))
            found[query_id, nugget_id] = Nugget(nugget_id, query_id, position, draw(TEXTS), importance)
            judged = draw(
                st.dictionaries(st.sampled_from([d.doc_id for d in DOCUMENTS]), st.integers(0, 1), min_size=1)
            )
            for doc_id, score in judged.items():
                ids = query_id, nugget_id, doc_id
                found[ids] = Judgment(*ids, score)
    return found


@st.composite
def pairs(draw):
    query_ids = draw(st.lists(IDS, min_size=1, max_size=3, unique=True))
    return draw(datasets(query_ids)), draw(datasets(query_ids))


def write(folder, records, snapshot="2024-10"):
    kinds = {"queries": Query, "nuggets": Nugget, "judgments": Judgment}
    parts = {name: [r for r in records.values() if isinstance(r, kind)] for name, kind in kinds.items()}
    return write_snapshot(folder, dataset="a/b", snapshot=snapshot, license="MIT", documents=DOCUMENTS, **parts)


def cell(value):
    return "" if value is None else json.dumps(value) if isinstance(value, tuple) else str(value)


def values_of(record):
    """The values that a row can be about."""
    own = {field.name: getattr(record, field.name) for field in fields(record)}
    if isinstance(record, Judgment):
        return {"score": record.score}
    if isinstance(record, Nugget):
        return {name: own[name] for name in ("text", "position", "importance")}
    del own["query_id"]
    if not record.text.startswith("\x01"):
        del own["text"]
    return own


def rows_between(before, after):
    """The rows that lead from one dataset to another."""
    for ids, record in before.items():
        kind = ("question", "nugget", "judgment")[len(ids) - 1]
        named = dict(zip(("query_id", "nugget_id", "doc_id"), ids, strict=False))
        values = values_of(record)
        if ids in after:
            for field, new in values_of(after[ids]).items():
                if new != values[field]:
                    yield row(kind, "change", "", field, cell(values[field]), cell(new)) | named
        elif all(ids[:length] in after for length in range(1, len(ids))):  # else it goes with what it hangs on
            field, old = next((field, old) for field, old in values.items() if cell(old))
            yield row(kind, "remove", "", field, cell(old)) | named
    for ids, record in after.items():
        if ids not in before:
            kind = ("question", "nugget", "judgment")[len(ids) - 1]
            named = dict(zip(("query_id", "nugget_id", "doc_id"), ids, strict=False))
            for field, new in values_of(record).items():
                if new is not None:
                    yield row(kind, "add", "", field, "", cell(new)) | named


def digests(manifest):
    return {name: table.digest for name, table in manifest.tables.items()}


@settings(max_examples=25)
@given(pairs(), st.randoms(use_true_random=False))
def test_corrections_make_what_they_say_and_their_inverse_takes_it_back(pair, shuffler):
    one, other = pair
    there, back = list(rows_between(one, other)), list(rows_between(other, one))
    assume(there)
    shuffler.shuffle(there)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, second = write(folder / "one", one), write(folder / "other", other)
        made = correct(folder / "one", write_table(folder / "there.csv", *there), folder / "made")
        again = correct(folder / "made", write_table(folder / "back.csv", *back), folder / "again")
        assert digests(made.manifest) == digests(second)
        assert digests(again.manifest) == digests(first)
        assert verify(folder / "again") == []
        assert again.manifest.snapshot == "2024-10.2"
        log = (folder / "again" / "provenance" / "corrections.jsonl").read_text(encoding="utf-8")
        assert log.count("\n") == len(there) + len(back)
