"""The JSON Schema of ``submission.yaml``: it is that of the model, and agrees with it."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator, FormatChecker

from leaderboard.submission import schema
from leaderboard.submission.reading import faults_of

SCHEMA = json.loads(schema.FILE.read_text(encoding="utf-8"))

GOOD = """\
schema_version: 1
date: '2026-11-30'
team: {name: Acme, contact: ir@acme.io}
system: {name: Acme Search, kind: dense, setting: inference}
models: [{id: acme/embedder, revision: '7', parameters: null, license: null, release_date: '2026-05-01'}]
training: {on_benchmark: 'no', on_its_questions_site: unknown}
reproduce: {repository: 'https://acme.io/runs', commit: 0123456789abcdef0123456789abcdef01234567, command: make}
hardware: null
latency: null
license: CC0-1.0
"""


def is_valid(text: str) -> bool:
    found = Draft202012Validator(SCHEMA, format_checker=FormatChecker()).is_valid(yaml.safe_load(text))
    assert isinstance(found, bool)
    return found


def test_the_schema_in_the_repository_is_that_of_the_model():
    hint = "run python -m leaderboard.submission.schema"
    assert schema.FILE.read_text(encoding="utf-8") == schema.schema(), hint


def test_it_is_a_schema_whose_members_are_all_described():
    Draft202012Validator.check_schema(SCHEMA)
    for part in (SCHEMA, *SCHEMA["$defs"].values()):
        assert part["description"]
        assert part["additionalProperties"] is False
        assert all(member["description"] for member in part["properties"].values())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema_version: 1", "schema_version: 2"),
        ("'2026-11-30'", "'2026-11-31'"),
        ("name: Acme,", "name: '',"),
        ("contact: ir@acme.io", "contact: nobody"),
        ("kind: dense", "kind: magic"),
        ("setting: inference", "setting: both"),
        ("id: acme/embedder", "id: 'acme embedder'"),
        ("parameters: null", "parameters: -1"),
        ("parameters: null", "parameters: 22M"),
        ("parameters: null, ", ""),
        ("on_its_questions_site: unknown", "on_its_questions_site: perhaps"),
        ("https://acme.io/runs", "ftp://acme.io/runs"),
        ("0123456789abcdef0123456789abcdef01234567", "'0123456'"),
        ("latency: null", "latency: {query_ms_p50: -1}"),
        ("license: CC0-1.0", "licence: CC0-1.0"),
    ],
)
def test_schema_and_reader_refuse_the_same(old, new):
    assert is_valid(GOOD)
    assert faults_of(GOOD.encode()) == []
    assert GOOD.count(old) == 1
    assert not is_valid(GOOD.replace(old, new))
    assert faults_of(GOOD.replace(old, new).encode())
