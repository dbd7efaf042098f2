"""Input that was made to take the square of its size in time: each of these tests would take hours."""

import pytest

from builders.forums.fields import BadEntryError
from builders.forums.values import parsed
from builders.questions.dump import DumpDoor
from builders.questions.rules import Rules
from builders.stackexchange.dump import Dump
from builders.stackexchange.site import Site
from freshstack_datasets.errors import InputError

MANY = 400_000


def entries(folder, content):
    (folder / "Posts.xml").write_bytes(content)
    return list(DumpDoor(folder / "Posts.xml", Site("example.org"), Rules(), folder / "work").entries())


def test_a_row_with_many_places_that_look_like_tags_is_told_at_once(tmp_path):
    row = b"<row Id='2' PostTypeId='1' Body='" + b' Tags="a"' * MANY + b"' Title='t' Tags='|b|'"
    usual = row.replace(b"Id='2' PostTypeId='1'", b'Id="2" PostTypeId="1"')
    (question,) = entries(tmp_path, b"<posts>\n" + usual + b" />\n</posts>\n")
    assert question.tags == ("b",)
    (skipped,) = entries(tmp_path, b"<posts>\n" + usual + b">\n<\n</posts>\n")
    assert skipped.reason == "malformed rows: a row without /> before the next <"


def test_a_file_that_begins_with_many_open_comments_is_refused_at_once(tmp_path):
    (tmp_path / "Posts.xml").write_bytes(b"<!--" * MANY)
    with pytest.raises(InputError, match="is no posts dump"):
        next(Dump(tmp_path / "Posts.xml").rows())


def test_a_key_that_is_there_twice_is_found_among_many():
    keys = ",".join(f'"{number}":0' for number in range(MANY))
    with pytest.raises(BadEntryError) as caught:
        parsed(f'{{{keys},"{MANY - 1}":1}}'.encode())
    assert (caught.value.reason, caught.value.detail) == ("a key twice", f"'{MANY - 1}'")
