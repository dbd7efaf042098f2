"""snapshot.json: what is read, what is refused, how it is written."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import SnapshotError
from freshstack_datasets.manifest import Manifest, parse_manifest, read_manifest
from freshstack_datasets.tables.schema import TABLES

SHA = "0123456789abcdef" * 4


def plain():
    return {
        "format_version": 1,
        "dataset": "acme/toy",
        "snapshot": "2026-10.2",
        "created": "2026-10-31",
        "license": "CC-BY-SA-4.0",
        "generator": {"name": "tool", "version": "1.0"},
        "fingerprint": SHA,
        "tables": {
            name: {
                "rows": 3,
                "digest": SHA,
                "files": [{"path": f"{name}/{t.split}-00000-of-00001.parquet", "size": 7, "sha256": SHA}],
            }
            for name, t in TABLES.items()
        },
        "sources": [{"url": "https://x", "commit": "abc", "license": "MIT", "counts": {"documents": 3}}],
        "recipe": {
            "topic_sha256": SHA,
            "chunker": {"name": "lines", "version": "2", "parameters": {"tokens": 2048}},
            "prompts": {"nuggets": SHA},
            "models": {"nuggets": "m-1"},
            "pool": {"depth": 50, "retrievers": ["bm25"]},
            "filters": [{"name": "empty", "dropped": 4, "reason": "no text"}],
        },
        "provenance": [{"path": "provenance/pool.parquet", "size": 1, "sha256": SHA}],
    }


def parsed(told):
    return parse_manifest(json.dumps(told).encode())


def altered(place, value):
    """The plain manifest with one member changed; a place is a path of keys."""
    told = plain()
    target = told
    *way, last = place
    for key in way:
        target = target[key]
    target[last] = value
    return told


def test_everything_that_is_written_is_read_again():
    manifest = parsed(plain())
    assert manifest.created == date(2026, 10, 31)
    assert manifest.recipe.filters[0].dropped == 4
    assert manifest.recipe.pool == {"depth": 50, "retrievers": ["bm25"]}
    assert parse_manifest(manifest.to_json().encode()) == manifest


def test_numbers_of_64_bits_are_kept_to_the_last_digit():
    settings = {"most": 2**63 - 1, "least": -(2**63), "whole": 2.0, "yes": True}
    told = plain()
    told["recipe"]["pool"] = settings
    again = json.loads(parsed(told).to_json())["recipe"]["pool"]
    assert (again, *map(type, again.values())) == (settings, int, int, float, bool)


def test_missing_documents_are_a_member_only_where_there_are_some():
    assert "missing" not in json.loads(parsed(plain()).to_json())
    assert (
        json.loads(parsed(plain() | {"missing": []}).to_json()).keys() == json.loads(parsed(plain()).to_json()).keys()
    )
    told = plain() | {"missing": ["a b", "a/b.py_0_10", "\u00e4", "\uffff", "\U0001f600"]}  # in code-point order
    assert json.loads(parsed(told).to_json())["missing"] == told["missing"]
    assert parse_manifest(parsed(told).to_json().encode()).missing == tuple(told["missing"])


def test_as_many_missing_documents_as_are_allowed_are_read_again_whatever_their_ids():
    # 2,000,000 characters that JSON writes in six bytes each, and 100,000 ids: 12.0 MB and 0.9 MB around them.
    ids = sorted(f"{i:05}" + "\x01" * 15 for i in range(100_000))
    content = parsed(plain() | {"missing": ids}).to_json().encode()
    assert len(content) < 16_000_000  # which is what is read of a file
    assert parse_manifest(content).missing == tuple(ids)


def test_the_text_of_a_manifest_has_sorted_keys_and_does_not_change():
    text = parsed(plain()).to_json()
    told = json.loads(text)
    assert text == json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert parse_manifest(text.encode()).to_json() == text


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (["format_version"], 2, "format_version, expected 1, got 2; install a newer freshstack-datasets"),
        (["format_version"], 0, "format_version, expected 1, got 0"),
        (["format_version"], "1", "format_version, expected a valid integer, got '1'"),
        (["surprise"], 1, "surprise, expected Extra inputs"),
        (["snapshot"], "2026-00", "snapshot"),
        (["snapshot"], "2026-10.0", "snapshot"),
        (["snapshot"], "2026-10\n", "snapshot"),
        (["snapshot"], "２０２６-10", "snapshot"),
        (["dataset"], "a/b/c", "dataset"),
        (["dataset"], "a/..", "dataset"),
        (["dataset"], "", "dataset"),
        (["license"], "", "license"),
        (["created"], "yesterday", "created"),
        (["fingerprint"], SHA.upper(), "fingerprint"),
        (["fingerprint"], SHA + "\n", "fingerprint"),
        (["tables", "corpus", "rows"], -1, "tables.corpus.rows"),
        (["tables", "corpus", "rows"], 10**30, "tables.corpus.rows"),
        (["tables", "corpus", "rows"], 3.0, "tables.corpus.rows"),
        (["tables", "corpus", "rows"], True, "tables.corpus.rows"),
        (["tables", "corpus", "rows"], "3", "tables.corpus.rows"),
        (["tables", "corpus", "files"], [], "tables.corpus.files"),
        (["tables", "corpus", "files", 0, "size"], 10**20, "size"),
        (["tables", "corpus", "files", 0, "path"], "corpus/../x.parquet", "path"),
        (["tables", "corpus", "files", 0, "path"], "/etc/passwd", "path"),
        (["tables", "corpus", "files", 0, "path"], "../corpus/x.parquet", "path"),
        (["tables", "corpus", "files", 0, "path"], "corpus\\x.parquet", "path"),
        (["tables", "corpus", "files", 0, "path"], "corpus/x\0.parquet", "path"),
        (["tables", "corpus", "files", 0, "path"], "qrels/test-0.parquet", r"expected files corpus/corpus-\*.parquet"),
        (["tables", "corpus", "files", 0, "path"], "corpus/test-0.parquet", r"expected files corpus/corpus-\*.parquet"),
        (["tables", "corpus", "files"], [plain()["tables"]["corpus"]["files"][0]] * 2, "each path once"),
        (["tables", "extra"], plain()["tables"]["corpus"], "tables: expected qrels"),
        (["provenance", 0, "path"], "corpus/x.json", "expected files in provenance/"),
        (["missing"], "a", "missing, expected a valid array, got 'a'"),
        (["missing"], [1], "missing.0, expected a valid string"),
        (["missing"], [""], "missing.0"),
        (["missing"], ["a\tb"], "missing.0"),
        (["missing"], ["a\r"], "missing.0"),
        (["missing"], ["a\n"], "missing.0"),
        (["missing"], ["b", "a"], "missing: expected ascending ids, each once, got 'b' before 'a'"),
        (["missing"], ["a", "a"], "missing: expected ascending ids, each once, got 'a' before 'a'"),
        (["missing"], [f"{i:06}" for i in range(100_001)], "missing, expected .*100000"),
        (["missing"], ["a" * 1_000_000, "b" * 1_000_001], "missing: expected at most 2000000 characters in all"),
        (
            ["recipe", "chunker", "parameters"],
            {"seed": 2**63},  # as a float it were another one
            "recipe.chunker.parameters, expected whole numbers of at most 64 bits, .*, got 9223372036854775808 for 'seed'",
        ),
        (["recipe", "pool"], {"seed": -(2**63) - 1}, "recipe.pool, expected whole numbers of at most 64 bits"),
        (["recipe", "parameters"], {"seed": 10**40}, "recipe.parameters, expected whole numbers of at most 64 bits"),
        (["sources", 0, "counts"], {"documents": -1}, "sources.0.counts.documents"),
        (["sources", 0, "url"], "a\x1b[31mb", "sources.0.url"),
        (["recipe", "oven"], 1, "recipe.oven"),
        (["generator"], {"name": "x"}, "generator.version"),
    ],
)
def test_what_is_not_allowed_is_named(place, value, says):
    with pytest.raises(SnapshotError, match=says):
        parsed(altered(place, value))


@pytest.mark.parametrize("key", ["format_version", "dataset", "snapshot", "license", "tables", "fingerprint"])
def test_what_is_missing_is_named(key):
    told = plain()
    del told[key]
    with pytest.raises(SnapshotError, match=f"{key}, expected Field required"):
        parsed(told)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_must_be_there(name):
    told = plain()
    del told["tables"][name]
    with pytest.raises(SnapshotError, match="tables: expected qrels, corpus, queries, nuggets, nugget_qrels"):
        parsed(told)


def test_a_newer_format_is_said_to_be_newer_though_its_members_are_unknown():
    with pytest.raises(SnapshotError, match="install a newer"):
        parsed({"format_version": 9, "everything": "is different"})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe{}",
        b'{"format_version": 1e400}',
        b'{"format_version": NaN}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format_version": 1, "dataset": "\\ud800"}',
        b'{"format_version": ' + b"9" * 10_000 + b"}",
    ],
    ids=range(11),
)
def test_what_is_no_json_object_is_an_error_of_ours_in_one_line(content):
    with pytest.raises(SnapshotError) as caught:
        parse_manifest(content)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


json_values = st.recursive(
    st.none() | st.text(max_size=5),
    lambda inner: st.dictionaries(st.sampled_from(["format_version", "tables", "x"]), inner, max_size=3),
    max_leaves=5,
)


@given(st.binary(max_size=50) | json_values.map(lambda value: json.dumps(value).encode()))
def test_nothing_but_an_error_of_ours_comes_of_any_bytes(content):
    with pytest.raises(SnapshotError):
        parse_manifest(content)


def test_a_manifest_is_read_from_a_regular_file_of_reasonable_size(tmp_path):
    with pytest.raises(SnapshotError, match="is no snapshot"):
        read_manifest(tmp_path)
    (tmp_path / "snapshot.json").mkdir()
    with pytest.raises(SnapshotError, match="is no snapshot"):
        read_manifest(tmp_path)
    (tmp_path / "snapshot.json").rmdir()
    (tmp_path / "elsewhere.json").write_text(json.dumps(plain()))
    (tmp_path / "snapshot.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(SnapshotError, match="is no snapshot"):
        read_manifest(tmp_path)
    (tmp_path / "snapshot.json").unlink()
    with (tmp_path / "snapshot.json").open("wb") as stream:
        stream.truncate(10**9)  # a hole: no byte of it is on the disk
    with pytest.raises(SnapshotError, match="at most 16000000 bytes"):
        read_manifest(tmp_path)


def test_a_manifest_cannot_be_changed():
    manifest = parsed(plain())
    with pytest.raises(ValueError, match="frozen"):
        manifest.dataset = "other"
    assert isinstance(manifest, Manifest)
