"""Typed files: what is read, and that all that is wrong is told, each with its line and in our words."""

import datetime
import re
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BeforeValidator, Field, model_validator

from freshstack_datasets.errors import InputError
from freshstack_datasets.recipe import Model, as_tuple
from freshstack_datasets.typed_files import (
    Fault,
    RefusedError,
    UnreadableError,
    bytes_of,
    checked,
    content_of,
    faults_in,
    in_one_line,
    read_content,
    unknown_key,
    unreadable,
    validated,
)
from freshstack_datasets.typed_files.limits import number, text
from freshstack_datasets.typed_files.reading import MOST_BYTES
from freshstack_datasets.typed_files.refused import without_secrets


class Oven(Model):
    degrees: Annotated[int, Field(ge=0, le=300)]
    kind: Literal["gas", "wood"] = "wood"


class Loaf(Model):
    name: Annotated[str, text(10)]
    grams: Annotated[float, number(1, 5_000)] = 500.0
    ovens: Annotated[tuple[Oven, ...], BeforeValidator(as_tuple)]

    @model_validator(mode="after")
    def _fits(self):
        if self.name == "stone":
            raise RefusedError("bread", "a stone", "bake it", ("ovens", 0, "degrees"))
        return self


GOOD = b"name: rye\novens:\n  - degrees: 250\n    kind: gas\n"


def told(content: bytes) -> list[tuple]:
    return [
        (fault.kind, fault.line, fault.place, fault.expected, fault.got)
        for fault in faults_in(Loaf, read_content(content))
    ]


def test_a_file_is_read():
    assert validated(Loaf, content_of(GOOD, "loaf.yaml"), "loaf.yaml") == Loaf(
        name="rye", ovens=(Oven(degrees=250, kind="gas"),)
    )
    assert told(GOOD) == []


def test_all_that_is_wrong_is_told_by_line():
    content = b"""\
grams: 9000
name: much too long a name
ovens:
  - degrees: 301
    knd: gas
  - kind: coal
  - degrees: hot
    kind: [gas]
"""
    assert told(content) == [
        ("value", 1, "grams", "a number from 1 to 5,000", "9,000.0"),
        ("value", 2, "name", "a line of at most 10 characters", "'much too long a name'"),
        ("value", 4, "ovens[0].degrees", "a number of at most 300", "301"),
        ("unknown key", 5, "ovens[0]", "", "'knd'"),
        ("missing", 6, "ovens[1].degrees", "a value", "none"),
        ("value", 6, "ovens[1].kind", "gas or wood", "'coal'"),
        ("value", 7, "ovens[2].degrees", "a whole number", "'hot'"),
        ("value", 8, "ovens[2].kind", "gas or wood", "a list"),
    ]


def test_the_first_error_is_a_key_that_is_not_known_since_others_may_come_from_it():
    content = b"name: rye\novens:\n  - degres: 250\n"
    wanted = "loaf.yaml:3, ovens[0]: unknown key 'degres'; did you mean 'degrees'?"
    with pytest.raises(InputError, match=re.escape(wanted)):
        validated(Loaf, content_of(content, "loaf.yaml"), "loaf.yaml")


def test_what_a_validator_refuses_has_its_place_and_the_next_step():
    content = b"name: stone\novens:\n  - degrees: 250\n"
    wanted = "loaf.yaml:3, ovens[0].degrees, expected bread, got a stone; bake it"
    with pytest.raises(InputError) as caught:
        validated(Loaf, content_of(content, "loaf.yaml"), "loaf.yaml")
    assert str(caught.value) == wanted


def test_hints_and_keys_that_are_not_for_people_are_those_of_the_file():
    with pytest.raises(InputError, match=re.escape("ovens, expected a value, got none; [] takes none")):
        validated(Loaf, content_of(b"name: rye", "loaf"), "loaf", hints={"ovens": "[] takes none"})
    fault = unknown_key(Loaf, content_of(b"ovns: 1", "loaf"), ("ovns",), hidden=("ovens",))
    assert (fault.kind, fault.line, fault.hint) == ("unknown key", 1, "known: 'grams', 'name'")


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", "loaf, expected keys and their values, got nothing; bake"),
        (b"- rye", "loaf, expected keys and their values, got a list; bake"),
        (b"name: r\xff", "loaf:1, expected UTF-8, got the byte 0xff"),
        (b"name: rye\nname: oat", "loaf:2, expected each key once, got 'name' again, after line 1"),
        (b"a: &x [1]\nb: *x", "loaf:1, expected values that are written out, got an anchor or an alias"),
        (b"a: !!python/object/apply:os.system [x]", "loaf:1, expected a plain value, got one with a tag"),
        (b"a: " + b"[" * 50, "loaf:1, expected at most 20 lists and mappings in each other, got more"),
        (b" " * (MOST_BYTES + 1), "loaf, expected a file of at most 2,000,000 bytes, got more"),
    ],
)
def test_what_cannot_be_read_is_one_line(content, wanted):
    with pytest.raises(InputError, match=re.escape(wanted)):
        content_of(content, "loaf", "bake")


def test_no_more_than_may_be_in_a_file_is_read(tmp_path):
    path = tmp_path / "loaf.yaml"
    path.write_bytes(b"x" * 100)
    assert bytes_of(path, "a loaf", most=10) == b"x" * 11
    with pytest.raises(InputError, match=r"cannot read '.*none', expected a loaf, got no such file or directory; bake"):
        bytes_of(tmp_path / "none", "a loaf", "bake")


def test_a_part_of_a_model_is_made_of_what_was_typed():
    assert checked(Oven, {"degrees": 20}, "--oven") == Oven(degrees=20)
    with pytest.raises(InputError, match=re.escape("--oven, degrees, expected a number of at least 0, got -1")):
        checked(Oven, {"degrees": -1}, "--oven")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("https://host/a?token=1#b", "https://host/a?…"),
        ("https://me:word@host/a#b?c", "…@host/a#…"),
        ("one@two@three\nfour", "…@three\nfour"),
        ("?", "?…"),
        ("plain", "plain"),
        ("a" * 1_000_000, "a" * 1_000_000),  # in no time
    ],
)
def test_what_may_be_secret_in_an_address_is_not_shown(text, safe):
    assert without_secrets(text) == safe


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.dates()
    | st.text(st.characters(codec="utf-8"), max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(plain)
def test_a_value_in_one_line_is_one_and_is_read_again(value):
    line = in_one_line({"key": value})
    assert "\n" not in line
    assert read_content(line.encode()).value == {"key": value}


def read_or_fault(content: bytes) -> list[Fault]:
    try:
        return faults_in(Loaf, read_content(content))
    except UnreadableError as error:
        return [unreadable(error)]


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_in_our_words_on_a_line_that_there_is(content):
    faults = read_or_fault(content)
    assert faults
    for fault in faults:
        assert fault.expected or fault.kind == "unknown key"
        assert fault.got.isprintable()
        assert fault.line <= len(re.split("\r\n|[\n\r\x85\u2028\u2029]", content.decode("utf-8-sig", "replace")))


def test_days_are_days():
    assert read_content(b"day: 2024-10-24").value == {"day": datetime.date(2024, 10, 24)}
