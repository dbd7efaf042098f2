"""MTEB's ``model_meta.json``: its numbers get into a submission as they are, and nothing that it does not say."""

import datetime
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from leaderboard.submission.mteb import MOST_BYTES, read_model_meta

# As MTEB 2.22 writes it, without what is not looked at.
META = {
    "loader_kwargs": {},
    "name": "acme/embedder-8b",
    "revision": "4e423935c619ae4df87b646a3ce949610c66241c",
    "release_date": "2025-06-05",
    "languages": ["eng-Latn"],
    "n_parameters": 7_567_295_488,
    "memory_usage_mb": 14433,
    "max_tokens": 32768.0,
    "embed_dim": 4096,
    "license": "apache-2.0",
    "open_weights": True,
    "framework": ["PyTorch"],
    "use_instructions": False,
    "training_datasets": ["NQ", "MSMARCO"],
}


def imported(tmp_path, **changes):
    path = tmp_path / "model_meta.json"
    path.write_text(json.dumps({**META, **changes}), encoding="utf-8")
    return read_model_meta(path)


def test_a_model_is_imported(tmp_path):
    found = imported(tmp_path)
    assert found.model == {
        "id": "acme/embedder-8b",
        "revision": "4e423935c619ae4df87b646a3ce949610c66241c",
        "parameters": 7_567_295_488,
        "license": "Apache-2.0",
        "open_weights": True,
        "release_date": datetime.date(2025, 6, 5),
        "max_query_tokens": 32768,
        "max_document_tokens": 32768,
        "dimensions": 4096,
    }
    assert found.datasets == ("MSMARCO", "NQ")
    assert not found.on_benchmark


def test_what_mteb_does_not_know_is_null_where_it_may_be_and_waits_where_it_may_not(tmp_path):
    nothing = dict.fromkeys(set(META) - {"loader_kwargs"})
    assert imported(tmp_path, **nothing).model == {
        "id": "ENTER_VALUE_HERE",
        "revision": "ENTER_VALUE_HERE",
        "parameters": None,
        "license": None,
    }
    assert imported(tmp_path, revision="no_revision_available").model["revision"] == "ENTER_VALUE_HERE"


@pytest.mark.parametrize(
    ("told", "spelled"),
    [
        ("mit", "MIT"),
        ("gpl-3.0", "GPL-3.0-only"),
        ("gemma", "LicenseRef-gemma"),
        ("openrail++", "LicenseRef-openrail"),
        ("https://acme.io/terms/v2", "LicenseRef-acme.io-terms-v2"),
        ("not specified", None),
        ("multiple", None),
        ("***", None),
    ],
)
def test_licences_are_those_of_spdx_or_references(tmp_path, told, spelled):
    assert imported(tmp_path, license=told).model["license"] == spelled


def test_prompts_are_imported_and_waited_for_where_a_model_has_some(tmp_path):
    prompts = {"query": "Instruct: find\nQuery: ", "passage": "", "STS": "x"}
    found = imported(tmp_path, loader_kwargs={"model_prompts": prompts}, use_instructions=True).model
    assert (found["query_prompt"], found["document_prompt"]) == ("Instruct: find\nQuery: ", "")
    assert imported(tmp_path, use_instructions=True).model["query_prompt"] == "ENTER_VALUE_HERE"


def test_of_several_lengths_of_vectors_the_longest_is_taken(tmp_path):
    assert imported(tmp_path, embed_dim=[32, 4096, 256]).model["dimensions"] == 4096
    assert "dimensions" not in imported(tmp_path, embed_dim=[]).model


def test_a_length_without_bound_is_none(tmp_path):
    assert "max_query_tokens" not in imported(tmp_path, max_tokens=float("inf")).model


def test_a_model_that_was_trained_on_the_benchmark_is_known(tmp_path):
    assert imported(tmp_path, training_datasets=["NQ", "FreshStackRetrieval"]).on_benchmark


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"name": "../x"}, "model_meta.json, name, expected a model's name"),
        ({"revision": "main"}, "model_meta.json, revision, expected a revision that stays what it is"),
        ({"n_parameters": -5}, "model_meta.json, n_parameters, expected a number from 0"),
        ({"n_parameters": "8B"}, "model_meta.json, n_parameters, expected a whole number, got '8B'"),
        ({"open_weights": "yes"}, "model_meta.json, open_weights, expected true or false"),
        ({"release_date": "soon"}, "model_meta.json, release_date, expected a day"),
        ({"training_datasets": ["a\u202eb"]}, "training_datasets, [0], expected a line of 1 to 200 characters"),
    ],
)
def test_what_no_submission_may_say_is_refused(tmp_path, change, wanted):
    with pytest.raises(InputError, match=re.escape(wanted)):
        imported(tmp_path, **change)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", "expected MTEB's model_meta.json, got no JSON"),
        (b"\xff", "expected MTEB's model_meta.json, got no JSON"),
        (b"[" * 100_000, "expected MTEB's model_meta.json, got no JSON"),
        (b'{"name": ' + b"9" * 10_000 + b"}", "expected MTEB's model_meta.json, got no JSON"),
        (b"[]", "expected MTEB's model_meta.json, with name and revision, got something else"),
        (b'{"name": "x"}', "expected MTEB's model_meta.json, with name and revision, got something else"),
        (b" " * (MOST_BYTES + 1), "expected a file of at most 2,000,000 bytes, got more"),
    ],
)
def test_another_file_is_refused(tmp_path, content, wanted):
    path = tmp_path / "model_meta.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(wanted)):
        read_model_meta(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def told_of(path) -> str:
    try:
        return repr(read_model_meta(path))
    except InputError as error:
        return str(error)


@given(st.sampled_from(sorted(META)), json_values)
def test_whatever_a_member_holds_is_imported_or_refused(tmp_path_factory, key, value):
    path = tmp_path_factory.getbasetemp() / "any_model_meta.json"
    path.write_text(json.dumps({**META, key: value}), encoding="utf-8")
    assert told_of(path).isprintable()
