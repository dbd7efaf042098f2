"""What was found for a query, and bars: which sign stands where."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.report import (
    NARROW,
    WIDE,
    Bar,
    Part,
    Ranked,
    bars,
    bars_table,
    grid_key,
    grid_table,
    nugget_grid,
    stylesheet,
)

SVG = "{http://www.w3.org/2000/svg}"
WORDS = {"title": "A title", "about": "What it shows"}
NUGGETS = ["Drop the foreign key first", "Use one transaction", "Restart the worker"]
RANKED = [
    Ranked("a", False),
    Ranked("b", True, frozenset({0})),
    Ranked("c", True),
    Ranked("d", True, frozenset({0, 2})),
]


BEGINS = {"fs-relevant": 4.5, "fs-irrelevant": 4, "fs-unjudged": 5}  # how far left of its middle a sign begins


def statuses(svg):
    """The middles of the signs of each status, which are one path."""
    paths = {e.get("class"): e.get("d") for e in ElementTree.fromstring(svg).iter(f"{SVG}path")}
    return {
        status: [float(start) + shift for start in re.findall(r"M(\S+) ", paths[status])]
        for status, shift in BEGINS.items()
        if status in paths
    }


def after_key(svg):
    """The chart without its key, which has the same signs."""
    return '<svg xmlns="http://www.w3.org/2000/svg">' + svg.split(">rank</text>")[1]


def discs(svg):
    """The class and the place across of each disc, by the text below the pointer."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        title, disc = group.find(f"{SVG}title"), group.find(f"{SVG}circle")
        if title is not None and disc is not None:
            found[title.text] = (disc.get("class"), float(disc.get("cx")))
    return found


def words(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_grid_shows_what_was_judged_and_which_document_is_a_nuggets_first():
    # Names take 330, cells 24: the middles of the ranks are 342, 366, 390 and 414.
    svg = nugget_grid(NUGGETS, RANKED, **WORDS)
    assert discs(svg) == {
        "rank 2 supports nugget 1: b": ("fs-first", 366),
        "rank 4 supports nugget 1: d": ("fs-again", 414),
        "rank 4 supports nugget 3: d": ("fs-first", 414),
    }
    assert statuses(after_key(svg)) == {
        "fs-relevant": [366, 414],
        "fs-irrelevant": [390],
        "fs-unjudged": [342],
    }


def test_a_grid_says_at_which_rank_each_nugget_is_found():
    written = words(nugget_grid(NUGGETS, RANKED, **WORDS))
    assert [word for word in written if re.match(r"rank \d|not found", word)] == ["rank 2", "not found", "rank 4"]
    assert [word for word in written if word[1:2] == " "] == [f"{n} {text}" for n, text in enumerate(NUGGETS, 1)]


def test_on_a_phone_nuggets_are_named_below_and_fifty_ranks_fit():
    ranked = [*RANKED, *(Ranked(str(n), False) for n in range(46))]
    svg = nugget_grid(NUGGETS, ranked, width=NARROW, **WORDS)
    # 22 for the numbers of nuggets and 70 for ranks leave 266, 5.32 for each of 50.
    places = sorted(place for middles in statuses(after_key(svg)).values() for place in middles)
    assert places == pytest.approx([22 + 5.32 * (n + 0.5) for n in range(50)], abs=0.01)
    assert words(svg)[-6:] == ["1", NUGGETS[0], "2", NUGGETS[1], "3", NUGGETS[2]]
    numbered = [word for word in words(svg) if word.isdigit()]
    assert numbered == [*["1", "5", "10", "15", "20", "25", "30", "35", "40", "45", "50"], *"123", *"123"]


def test_a_grid_of_nothing_is_a_chart():
    assert "not found" in words(nugget_grid(NUGGETS, [], **WORDS))
    lone = nugget_grid([], [Ranked("a", True)], key=False, **WORDS)
    assert statuses(lone) == {"fs-irrelevant": [22 + 12]}


def test_where_a_page_has_many_grids_their_key_stands_once():
    grid, key = nugget_grid(NUGGETS, RANKED, key=False, **WORDS), grid_key()
    assert words(key) == ["judged relevant", "judged not relevant", "not judged", "supports the nugget first", "again"]
    assert not set(words(key)) & set(words(grid))
    assert not any(nugget in word for nugget in NUGGETS for word in words(grid))
    assert len(nugget_grid(["x" * 200] * 4, [Ranked("y" * 60, False)] * 20, key=False, **WORDS)) < 4000


@pytest.mark.parametrize("nugget", [-1, 3])
def test_a_nugget_that_there_is_not_is_refused(nugget):
    for draw in (lambda r: nugget_grid(NUGGETS, r, **WORDS), lambda r: grid_table("t", NUGGETS, r)):
        with pytest.raises(InputError, match=f"supports a nugget that there is not, expected 0 to 2, got {nugget}"):
            draw([Ranked("d", True, frozenset({nugget}))])


def test_the_table_of_a_grid_holds_the_same():
    rows = [re.sub("<[^>]+>", "|", row) for row in re.findall("<tr>(.*?)</tr>", grid_table("t", NUGGETS, RANKED))]
    assert rows[1:] == [
        "|1||a||not judged||none|",
        "|2||b||relevant||1|",
        "|3||c||not relevant||none|",
        "|4||d||relevant||1, 3|",
    ]


def bar(name, wins, ties, losses):
    return Bar(
        name, (Part("wins", wins, str(wins)), Part("ties", ties, str(ties)), Part("losses", losses, str(losses)))
    )


def blocks(svg):
    """Where each part begins and how wide it is, by the text below the pointer."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        title, block = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        if title is not None and block is not None:
            found[title.text] = (float(block.get("x")), float(block.get("width")))
    return found


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_bars_begin_at_zero_on_one_scale_with_their_parts_in_turn(width):
    svg = bars([bar("a", 60, 20, 20), bar("b", 0, 50, 0)], width=width, **WORDS)
    found = blocks(svg)
    assert list(found) == ["a, wins: 60", "a, ties: 20", "a, losses: 20", "b, ties: 50"]
    (left, wins), (second, ties), (third, losses), (other, half) = found.values()
    assert left == other
    assert second == pytest.approx(left + wins, abs=0.02)
    assert third == pytest.approx(second + ties, abs=0.02)
    assert wins == pytest.approx(3 * ties, abs=0.05) == pytest.approx(3 * losses, abs=0.05)
    assert half == pytest.approx((wins + ties + losses) / 2, abs=0.05)
    assert {"60 / 20 / 20", "0 / 50 / 0", "wins", "ties", "losses"} <= set(words(svg))


def test_bars_of_nothing_are_charts():
    assert "nothing to show" in words(bars([], **WORDS))
    assert blocks(bars([bar("a", 0, 0, 0)], **WORDS)) == {}


def test_bars_refuse_what_has_no_length_and_parts_that_differ():
    with pytest.raises(InputError, match="expected 0 or more"):
        Part("wins", -1, "-1")
    with pytest.raises(InputError, match="expected a finite number"):
        Part("wins", float("nan"), "")
    with pytest.raises(InputError, match="different parts"):
        bars([bar("a", 1, 1, 1), Bar("b", (Part("judged", 1, "1"),))], **WORDS)


def test_the_table_of_bars_holds_the_same():
    rows = [re.sub("<[^>]+>", "|", row) for row in re.findall("<tr>(.*?)</tr>", bars_table("t", [bar("a", 1, 2, 3)]))]
    assert rows == ["|Name||wins||ties||losses|", "|a||1||2||3|"]


def timed(name, half, most):
    return Bar(name, (Part("p50", half, f"{half} ms"),), None if most is None else Part("p95", most, f"{most} ms"))


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_whisker_leads_from_the_end_of_its_bar_to_its_own_value_on_the_same_scale(width):
    svg = bars([timed("a", 20, 50), timed("b", 10, None), timed("c", 0, 25)], width=width, **WORDS)
    found = blocks(svg)
    assert list(found) == ["a, p50: 20 ms", "b, p50: 10 ms"]
    left, length = found["a, p50: 20 ms"]
    paths = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        title, path = group.find(f"{SVG}title"), group.find(f"{SVG}path")
        if title is not None and path is not None:
            start, end = re.match(r"M([\d.]+) [\d.]+H([\d.]+)M", path.get("d")).groups()
            paths[title.text] = (float(start), float(end))
    # 20 ms are as long as the bar: 50 ms are 2.5 times as long, and 25 ms begin at 0 where there is no bar
    assert paths["a, p95: 50 ms"] == pytest.approx((left + length, left + 2.5 * length), abs=0.05)
    assert paths["c, p95: 25 ms"] == pytest.approx((left, left + 1.25 * length), abs=0.05)
    assert len(paths) == 2
    assert {"20 ms / 50 ms", "10 ms / n/a", "p50", "p95"} <= set(words(svg))


def test_whiskers_are_in_the_table_and_are_all_of_one_kind():
    rows = re.findall("<tr>(.*?)</tr>", bars_table("t", [timed("a", 20, 50), timed("b", 10, None)]))
    assert [re.sub("<[^>]+>", "|", row) for row in rows] == ["|Name||p50||p95|", "|a||20 ms||50 ms|", "|b||10 ms||n/a|"]
    with pytest.raises(InputError, match="different whiskers"):
        bars([timed("a", 20, 50), Bar("b", (Part("p50", 1, "1"),), Part("p99", 2, "2"))], **WORDS)


def test_every_class_of_grids_and_bars_has_a_style():
    svgs = nugget_grid(NUGGETS, RANKED, **WORDS) + bars(
        [bar("a", 1, 2, 3), replace(bar("b", 1, 2, 3), whisker=Part("most", 9, "9"))], **WORDS
    )
    used = {name for found in re.findall(r'class="([^"]+)"', svgs) for name in found.split()}
    assert {name for name in used if f".{name}" not in stylesheet()} == set()
