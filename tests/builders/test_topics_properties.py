"""Topic files, whatever is in them: a topic or an error of ours."""

import datetime
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from builders.topics import Topic
from builders.topics.new import Answers, documents_of, repository_of, topic_text
from builders.topics.reading import parse_topic
from freshstack_datasets.errors import InputError

PLACE = Path("topics") / "x.yaml"

TEXTS = st.text(max_size=20) | st.sampled_from(
    [
        "acme/docs",
        "https://example.org/acme/docs",
        "git@example.org:a/b",
        "../a",
        "2024-10-24",
        "v1.0",
        "docs/",
        "a" * 40,
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)


def some_of(*names):
    """Mappings of some of the keys to anything, and sometimes another key."""
    known = dict.fromkeys(names, VALUES)
    return st.fixed_dictionaries({}, optional={**known, "other": VALUES})


REPOSITORIES = some_of("url", "name", "commit", "tag", "date", "license", "alias", "include", "exclude")
TOPICS = st.fixed_dictionaries(
    {"name": st.just("x") | VALUES, "domain": st.just("x") | VALUES, "tags": st.just([]) | VALUES},
    optional={
        "repositories": st.lists(REPOSITORIES, max_size=3) | VALUES,
        "documents": st.lists(some_of("path", "name", "include"), max_size=3) | VALUES,
        **dict.fromkeys(("from", "to", "questions", "models", "pool", "digest"), VALUES),
    },
)


def outcome(content: bytes) -> Topic | InputError:
    """Read a topic; anything but a topic and an error of ours, on one line, is an error of the test."""
    try:
        return parse_topic(content, PLACE)
    except InputError as error:
        found = error
    assert str(found).isprintable()
    assert len(str(found)) < 1_000
    return found


@given(TOPICS | VALUES)
def test_any_mapping_is_a_topic_or_refused(value):
    outcome(yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass"))


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
    | st.text("abc:-?[]{}&*!|>'\"%@`#,<=~.0123456789xeE_+\\\n\t ", max_size=60).map(str.encode)
)
def test_any_bytes_are_a_topic_or_refused(content):
    outcome(content)


@given(
    st.from_regex(r"(https://|ssh://|file://|[a-z]*@|)[^\0]{0,30}", fullmatch=True), st.sampled_from(["url", "path"])
)
def test_any_address_is_taken_or_refused_and_one_with_a_secret_never_shown(text, key):
    secret = "hunter2hunter2"
    entry = {"name": "a/b", "tag": "v1"} if key == "url" else {"name": "b"}
    for address in (text, f"https://{text}:{secret}@example.org/a", f"{secret}@{text}"):
        told = {
            "name": "x",
            "domain": "x",
            "tags": [],
            "repositories" if key == "url" else "documents": [{**entry, key: address}],
        }
        found = outcome(yaml.safe_dump(told, allow_unicode=True).encode("utf-8", "surrogatepass"))
        if address.startswith("https://") and key == "url" and secret in address:
            assert isinstance(found, InputError)
            assert secret not in str(found)


LINES = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=30).filter(str.strip)
PARTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,10}", fullmatch=True)
ADDRESSES = st.builds(
    "{}{}/{}#{}".format,
    st.sampled_from(["https://example.org/", "git@example.org:", "ssh://git@example.org/", "/srv/"]),
    PARTS.filter(lambda part: not part.endswith(".git")),
    PARTS.filter(lambda part: not part.endswith(".git")),
    st.dates().map(str) | st.just("v1.0") | st.from_regex("[0-9a-f]{40}", fullmatch=True),
)


@given(
    PARTS,
    LINES,
    st.lists(LINES, max_size=4, unique_by=str.lower),
    ADDRESSES,
    st.sampled_from(["", "2023", "2023-02", "2023-02-03"]),
)
def test_what_is_written_is_what_is_read(name, domain, tags, address, first):
    today = datetime.date(2026, 11, 30)
    repository = repository_of(address, today, "x")
    documents = documents_of("/srv/handbook.jsonl", "x")
    answers = Answers(f"{name}/x", domain, tuple(tags), first, "2023", (repository,), (documents,))
    read = parse_topic(topic_text(answers, PLACE.parent).encode(), PLACE)
    assert (read.name, read.domain, read.tags) == (f"{name}/x", domain, tuple(tags))
    assert read.repositories == (repository,)
    assert (read.documents[0].path, read.documents[0].prefix) == ("/srv/handbook.jsonl", "handbook")
    assert str(read.first) == ({"": "None", "2023": "2023-01-01", "2023-02": "2023-02-01"}.get(first, first))
    assert str(read.last) == "2023-12-31"
