"""Files that would take minutes to parse or to walk: they are cut by counted work, as text where it is too much."""

from types import SimpleNamespace

import pytest

from builders.chunking import Chunked, Chunker
from builders.chunking.budget import Budget
from builders.chunking.deadline import Deadline
from builders.chunking.nesting import too_deep

HOSTILE = {
    "stars.md": b"*" * 200_000,  # a look ahead to the end of the line at every letter
    "tags.html": b"<div>" * 50_000,  # all that are open are kept at every move
    "tags.xml": b"<a>" * 50_000,
    "errors.py": b".. a::\n" * 20_000,  # each error holds all before it
    "angles.cpp": b"A<" * 100_000,  # six readings at every place
}


@pytest.mark.parametrize("path", HOSTILE)
def test_what_takes_a_parser_too_much_work_is_cut_as_text(path):
    result = Chunker().chunk(path, HOSTILE[path])
    assert isinstance(result, Chunked)
    assert result.how == "text"
    assert "".join(chunk.text for chunk in result.chunks).encode() == HOSTILE[path]


@pytest.mark.parametrize("path, data", [("marks.jl", b"!" * 100_000), ("dots.swift", b". " * 50_000)])
def test_nodes_within_each_other_are_cut_as_text_from_some_depth_on(path, data):
    result = Chunker().chunk(path, data)
    assert result.how == "syntax"
    assert b"".join(chunk.text.encode() for chunk in result.chunks) == data


def test_a_parser_that_reads_the_same_bytes_again_and_again_is_given_no_more():
    # 5,000 reads, and one for every 64 of 6,400 bytes
    budget = Budget(b"x" * 6_400, Deadline(60))
    assert all(budget.read(0, None) for _ in range(5_100))
    assert not budget.spent
    assert budget.read(0, None) == b""
    assert budget.spent


def test_a_parser_that_takes_too_many_steps_is_stopped_wherever_it_is():
    # 5,000 steps, and at byte 320 ten more
    budget, parser = Budget(b"x" * 6_400, Deadline(60)), SimpleNamespace(logger=None)
    assert not any(budget.stops(parser, 0) for _ in range(5_000))
    assert not any(budget.stops(parser, 320) for _ in range(10))
    assert not budget.spent
    assert budget.stops(parser, 320)
    assert budget.spent


def test_tags_that_html_closes_by_itself_are_not_deep():
    # 50 million open tags are kept at most: 10,000 within each other come to 1 + 2 + ... + 10,000, which is a little more
    assert not too_deep(b"<table>" + b"<tr><td>1<td><br><input>2" * 30_000)
    assert not too_deep(b"<ul>" + b"<li>a" * 30_000 + b"</ul>")
    assert not too_deep(b"<div><p>a<b>b</div><img/>" * 30_000)
    assert not too_deep(b"<div>" * 9_900)
    assert too_deep(b"<div>" * 10_000)
    assert too_deep(b"<li><p>" * 5_000)
