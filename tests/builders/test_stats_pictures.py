"""The pictures of statistics: the right bars, numbers for those who do not see them, and no other bytes the next time."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.statistics.lengths import Lengths
from builders.statistics.pictures import lengths_picture, pictures, quarters_picture
from builders.statistics.quarters import MOST

SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture):
    """The bars of a picture from left to right: what each says, and its height."""
    root = ElementTree.fromstring(picture.svg)
    found = []
    for bar in root.iter(f"{SVG}rect"):
        if bar.get("class") == "bar":
            found.append((bar.find(f"{SVG}title").text, float(bar.get("height"))))
    return found


def texts(picture, kind):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(picture.svg).iter(f"{SVG}{kind}")]


def test_each_quarter_from_the_first_to_the_last_has_a_bar():
    picture = quarters_picture("acme/toy@2026-10", {(2023, 4): 2, (2024, 2): 8})
    # the plot is 150 high: 8 is all of it, 2 a quarter of it
    assert drawn(picture) == [("2023 Q4: 2", 37.5), ("2024 Q1: 0", 0.0), ("2024 Q2: 8", 150.0)]
    shown = texts(picture, "text")
    assert shown[0] == "Questions by quarter: 10"
    assert [label for label in shown if " Q" in label] == ["2023 Q4", "2024 Q1", "2024 Q2"]
    assert [label for label in shown if label.isdigit()] == ["2", "0", "8"]


def test_who_does_not_see_a_picture_is_told_its_numbers():
    picture = quarters_picture("acme/toy@2026-10", {(2023, 4): 2, (2024, 1): 1_000})
    root = ElementTree.fromstring(picture.svg)
    assert root.get("role") == "img"
    named = {element.get("id"): element.text for element in root if element.get("id")}
    assert root.get("aria-labelledby").split() == list(named)
    assert named == {
        "title": "acme/toy@2026-10: questions by quarter",
        "desc": "Questions by quarter: 1,002. 2023 Q4: 2, 2024 Q1: 1,000",
    }
    assert picture.alternative == named["desc"]


def test_many_quarters_are_labelled_by_year_and_their_highest_bar_in_words():
    quarters = {(year, quarter): year for year in range(2001, 2026) for quarter in (1, 2, 3, 4)}
    picture = quarters_picture("x", quarters)
    assert len(drawn(picture)) == 100
    shown = texts(picture, "text")
    years = [label for label in shown if label.isdigit()]
    assert years == [str(year) for year in range(2001, 2026, 2)]  # every other one has room
    assert shown[-1] == "quarter asked; the highest bar is 2,025"


def test_there_are_pictures_of_what_there_is():
    assert pictures("x", {}, {"Questions": None}) == {}
    lengths = Lengths({1: 1})
    assert list(pictures("x", {}, {"Questions": lengths, "Answers": None})) == ["token-lengths.svg"]
    assert list(pictures("x", {(2024, 1): 1}, {"Questions": None})) == ["questions-per-quarter.svg"]


def test_quarters_too_far_apart_are_counted_in_words():
    assert MOST == 120
    whole = quarters_picture("x", {(2000, 1): 1, (2029, 4): 1})  # 30 years
    assert len(drawn(whole)) == 120
    assert texts(whole, "text")[0] == "Questions by quarter: 2"
    picture = quarters_picture("x", {(1, 1): 2, (1969, 4): 1, (2023, 1): 4, (2023, 3): 1, (9999, 4): 3})
    assert [name for name, _ in drawn(picture)] == ["2023 Q1: 4", "2023 Q2: 0", "2023 Q3: 1"]
    assert texts(picture, "text")[0] == "Questions by quarter: 11 (not shown: 3 before 2023 Q1, 3 after 2023 Q3)"
    assert picture.alternative.startswith(
        "Questions by quarter: 11 (not shown: 3 before 2023 Q1, 3 after 2023 Q3). 2023"
    )


def test_of_as_many_questions_the_later_are_shown():
    picture = quarters_picture("x", {(1990, 1): 1, (2020, 1): 1})  # 121 quarters
    assert drawn(picture) == [("2020 Q1: 1", 150.0)]


@given(st.dictionaries(st.tuples(st.integers(0, 9999), st.integers(1, 4)), st.integers(1, 50), min_size=1, max_size=30))
def test_no_question_is_lost_and_no_picture_has_too_many_bars(quarters):
    picture = quarters_picture("x", quarters)
    bars = [int(name.partition(": ")[2]) for name, _ in drawn(picture)]
    assert len(bars) <= 120
    heading = texts(picture, "text")[0]
    total = sum(quarters.values())
    assert heading.startswith(f"Questions by quarter: {total:,}")
    assert sum(bars) + sum(map(int, re.findall("([0-9]+) (?:before|after)", heading))) == total
    assert bars[0]
    assert bars[-1]


def test_lengths_are_drawn_one_kind_below_the_other():
    picture = lengths_picture("x", {"Questions": Lengths.of((5, 6, 7, 13)), "Answers": Lengths.of([0])})
    # bars begin at 4, 6, 8 and 12; 150 is the height of two questions
    assert drawn(picture) == [
        ("4–5 tokens: 1", 75.0),
        ("6–7 tokens: 2", 150.0),
        ("8–11 tokens: 0", 0.0),
        ("12–15 tokens: 1", 75.0),
        ("0 tokens: 1", 150.0),
    ]
    assert "Questions: 4, mean 7.8, median 6.5 tokens" in texts(picture, "text")  # 31 / 4 = 7.75
    assert picture.alternative == ("Questions: 4, mean 7.8, median 6.5 tokens; Answers: 1, mean 0.0, median 0.0 tokens")
    tops = [float(bar.get("y")) for bar in ElementTree.fromstring(picture.svg).iter(f"{SVG}rect")][1:]
    assert max(tops[:4]) < tops[4]


def test_bars_of_lengths_begin_at_powers_of_two_and_in_the_middle_between():
    found = Lengths.of(range(32)).bins()
    lows = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24]
    assert [low for low, _, _ in found] == lows
    assert [high for _, high, _ in found] == [low - 1 for low in [*lows[1:], 32]]
    assert [count for _, _, count in found] == [1, 1, 1, 1, 2, 2, 4, 4, 8, 8]


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=30))
def test_every_length_is_in_the_one_bar_that_spans_it(lengths):
    found = Lengths.of(lengths).bins()
    for low, high, count in found:
        assert count == sum(low <= length <= high for length in lengths)
    assert sum(count for _, _, count in found) == len(lengths)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(found))
    assert found[0][2]
    assert found[-1][2]


@given(st.text())
def test_any_name_is_shown_and_none_is_read_as_markup(name):
    picture = quarters_picture(name + "<&>]]>", {(2024, 1): 1})
    title = ElementTree.fromstring(picture.svg)[0].text
    assert title.endswith("<&>]]>: questions by quarter")
    tags = [element.tag.removeprefix(SVG) for element in ElementTree.fromstring(picture.svg)]
    assert tags == ["title", "desc", "style", "rect", "text", "rect", "text", "text", "line", "text"]


def test_a_picture_has_the_same_bytes_each_time_and_asks_nothing_of_others():
    kinds = {"Documents": Lengths.of(range(1, 100))}
    picture = lengths_picture("x", kinds)
    assert picture == lengths_picture("x", kinds)
    text = picture.svg.decode()
    assert "prefers-color-scheme:dark" in text
    assert text.count("http") == 1  # the name of the namespace
    assert "<script" not in text
    assert "url(" not in text


def luminance(colour):
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_bars_stand_out_from_the_background(dark):
    style = texts(quarters_picture("x", {(2024, 1): 1}), "style")[0]
    light_rules, _, dark_rules = style.partition("@media")
    rules = dark_rules if dark else light_rules
    colours = dict(re.findall(r"([.\w]+)\{[^{}]*fill:(#[0-9a-f]{6})", rules))
    page = luminance(colours[".page"])
    for what, least in (("text", 4.5), (".small", 4.5), (".bar", 3)):  # WCAG 2.2, 1.4.3 and 1.4.11
        other = luminance(colours[what])
        assert (max(page, other) + 0.05) / (min(page, other) + 0.05) >= least, what
