"""Where charts put things: every place below is derived by hand from the width, the values and the round numbers."""

import math
import re
from datetime import date
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from freshstack_datasets.errors import InputError, NotComparableError
from freshstack_datasets.report import (
    LATENCY,
    NARROW,
    SIZE,
    WIDE,
    Axis,
    Line,
    Point,
    Row,
    heat_map,
    heat_table,
    history,
    pareto,
    points_table,
    ranking,
    scatter,
    stylesheet,
    tau_matrix,
)
from freshstack_datasets.report.history import running_best

SVG = "{http://www.w3.org/2000/svg}"
WORDS = {"title": "A title", "about": "What it shows"}


class Drawn:
    """A chart, parsed."""

    def __init__(self, svg):
        self.root = ElementTree.fromstring(svg)

    def points(self):
        """The text below the pointer of each point, and the place of its sign."""
        found = {}
        for group in self.root.iter(f"{SVG}g"):
            if group.get("class") == "fs-point":
                sign = group.find(f"{SVG}g[@transform]")
                found[group.find(f"{SVG}title").text] = place_of(sign.get("transform"))
        return found

    def paths(self, class_):
        return [e.get("d") for e in self.root.iter(f"{SVG}path") if class_ in e.get("class").split()]

    def texts(self):
        return [
            (float(e.get("x")), float(e.get("y")), e[0].tail if len(e) else e.text)
            for e in self.root.iter(f"{SVG}text")
        ]

    def words(self):
        return [text for _, _, text in self.texts()]


def place_of(transform):
    return tuple(map(float, re.fullmatch(r"translate\((\S+) (\S+)\)", transform).groups()))


# A legend of one line is 18 high, what the values are takes 34 more: points begin at 52 and end at 472 (420 high).
# The axis runs from 0.2 to 0.6, since 0.4 / 8 = 0.05 is a round step.
POINTS = [
    Point("small", 0.2, "f", 0.2, 0.25, "dense", 1e8),
    Point("large", 0.6, "f", 0.5, 0.6, "dense", 1e10),
    Point("middle", 0.4, "f", 0.35, 0.45, "sparse", 1e9),
]


def test_a_scatter_puts_points_where_value_and_logarithm_say():
    drawn = Drawn(scatter(POINTS, SIZE, "Recall@50", **WORDS))
    places = drawn.points()
    # Logarithms 8 to 10 with 0.15 room at both ends, from 46 to 948: 0.15 / 2.3 * 902 = 58.83 from each end.
    assert places["small: 0.200 (0.200 to 0.250), 100M"] == (104.83, 472)
    assert places["large: 0.600 (0.500 to 0.600), 10B"] == (889.17, 52)
    assert places["middle: 0.400 (0.350 to 0.450), 1B"] == (497, 262)


def test_whiskers_reach_from_the_low_end_to_the_high_one():
    drawn = Drawn(scatter(POINTS, SIZE, "Recall@50", **WORDS))
    # 0.05 is 420 / 8 = 52.5 high: from 262 to 209.5 and to 314.5, with caps of 3 to each side of 497.
    assert "M494 209.5H500M497 209.5V314.5M494 314.5H500" in drawn.paths("fs-whisker")


def test_the_front_goes_in_steps_from_the_smallest_to_the_largest_and_on():
    drawn = Drawn(scatter([*POINTS, Point("beaten", 0.3, "f", x=2e9)], SIZE, "Recall@50", **WORDS))
    assert drawn.paths("fs-front") == ["M-9 0L9 0", "M104.83 472H497V262H889.17V52H948"]  # the legend's, and the front


def test_the_front_holds_what_nothing_smaller_or_as_small_beats():
    points = [
        Point("a", 0.2, "f", x=0),
        Point("no better and larger", 0.2, "f", x=1),
        Point("b", 0.5, "f", x=2),
        Point("worse and as large", 0.4, "f", x=2),
        Point("as good and as large", 0.5, "f", x=2),
        Point("unknown", 0.9, "f"),
        Point("c", 0.6, "f", x=100),
        Point("worse and larger", 0.1, "f", x=1000),
    ]
    assert [point.name for point in pareto(points)] == ["a", "as good and as large", "b", "c"]
    assert pareto([]) == []


def test_systems_of_no_size_and_of_unknown_size_stand_in_strips_at_the_sides():
    points = [Point("none", 0.2, "f", x=0), Point("known", 0.6, "f", x=1e9), Point("unknown", 0.4, "f")]
    drawn = Drawn(scatter(points, SIZE, "Recall@50", **WORDS))
    places = drawn.points()
    # Strips are 84 wide, from 46 on and up to 948; the scale between them leaves 11 on each side: its middle is 497.
    assert [place[0] for place in places.values()] == [88, 906, 497]  # drawn from the worst to the best
    assert {"none", "not known"} <= set(drawn.words())
    latency = Drawn(scatter(points, LATENCY, "Recall@50", **WORDS))
    assert {"0 ms", "not measured"} <= set(latency.words())


def test_systems_of_the_same_value_in_a_strip_stand_side_by_side():
    points = [Point(name, 0.4, "f") for name in "abc"]
    places = Drawn(scatter(points, SIZE, "Recall@50", **WORDS)).points().values()
    assert sorted(place[0] for place in places) == [893, 906, 919]


def test_lines_of_reference_lie_at_their_value_and_are_named_at_the_side():
    lines = [Line("Oracle", 0.6), Line("Second oracle", 0.595)]
    drawn = Drawn(scatter(POINTS, SIZE, "Recall@50", lines=lines, **WORDS))
    # 0.005 is 5.25 high; the names are moved 14 apart.
    assert [path.split("L")[0] for path in drawn.paths("fs-reference")] == ["M46 52", "M46 57.25"]
    at = {text: y for _, y, text in drawn.texts()}
    assert at["0.595 Second oracle"] - at["0.600 Oracle"] == pytest.approx(14)


def test_on_a_phone_lines_have_letters_and_a_key_below():
    drawn = Drawn(scatter(POINTS, SIZE, "Recall@50", lines=[Line("b", 0.3), Line("a", 0.6)], width=NARROW, **WORDS))
    assert drawn.words().count("A") == drawn.words().count("B") == 2
    assert {"a, 0.600", "b, 0.300"} <= set(drawn.words())


def test_a_history_puts_days_in_proportion_and_steps_up_with_the_best_so_far():
    points = [
        Point("first", 0.4, "f", day=date(2024, 1, 1)),
        Point("worse", 0.2, "f", day=date(2024, 7, 19)),
        Point("best", 0.6, "f", day=date(2025, 2, 4)),
        Point("without a day", 0.6, "f"),
    ]
    drawn = Drawn(history(points, "Recall@50", **WORDS))
    # 400 days with 16 (4 %) at both ends are 432, from 46 to 948: 16 / 432 * 902 = 33.41; 200 days are at the middle.
    assert drawn.points() == {
        "worse: 0.200, 2024-07-19": (497, 472),
        "first: 0.400, 2024-01-01": (79.41, 262),
        "best: 0.600, 2025-02-04": (914.59, 52),
    }
    assert drawn.paths("fs-front")[1] == "M79.41 262H914.59V52H948"
    assert {"2024-01", "2024-07", "2025-01"} <= set(drawn.words())


def test_systems_of_the_same_day_stand_beside_it_and_a_short_time_is_marked_with_days():
    day = date(2026, 11, 30)
    points = [Point("best", 0.4, "f", 0.3, 0.5, day=day), Point("as wide", 0.35, "f", 0.25, 0.45, day=day)]
    points.append(Point("apart", 0.1, "f", 0.05, 0.15, day=day))
    drawn = Drawn(history(points, "Recall@50", **WORDS))
    # 7 days to each side of the day, which is at the middle, 497; where intervals meet, the lesser one stands 13 aside.
    assert {text.split(":")[0]: x for text, (x, _) in drawn.points().items()} == {
        "best": 497,
        "as wide": 510,
        "apart": 497,
    }
    assert [word for word in drawn.words() if word.startswith("2026")] == ["2026-11-30"]
    week = [Point("a", 0.1, "f", day=date(2026, 11, 24)), Point("b", 0.1, "f", day=day)]
    marked = [word for word in Drawn(history(week, "R", **WORDS)).words() if word.startswith("2026")]
    assert marked == ["2026-11-24", "2026-11-26", "2026-11-28", "2026-11-30"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize(
    "days", [(date.min, date.max), (date.min,), (date.max,), (date(2026, 1, 31), date(2026, 4, 1))]
)
def test_any_day_has_a_place_and_marks_are_few(days, width):
    points = [Point(f"system {n}", 0.5, "f", day=day) for n, day in enumerate(days)]
    drawn = Drawn(history(points, "R", width=width, **WORDS))
    assert len(drawn.points()) == len(days)
    marks = [word for word in drawn.words() if re.fullmatch(r"\d{4}(-\d\d)*", word)]
    assert 1 <= len(marks) <= 10


def test_the_running_best_takes_only_the_best_of_a_day():
    day, later = date(2026, 1, 1), date(2026, 1, 2)
    points = [Point("a", 0.1, "f", day=day), Point("b", 0.3, "f", day=day), Point("c", 0.3, "f", day=later)]
    assert [point.name for point in running_best(points)] == ["b"]


def test_a_ranking_has_a_row_for_each_system_by_falling_value():
    drawn = Drawn(ranking([*POINTS, Point("as good", 0.4, "f", note="rank 2 to 3")], "Recall@50", **WORDS))
    rows = [text for x, _, text in drawn.texts() if x == 4]
    assert rows == ["large", "as good", "middle", "small"]
    places = [place for _, place in sorted(drawn.points().items(), key=lambda item: item[1][1])]
    assert [b[1] - a[1] for a, b in pairwise(places)] == [22, 22, 22]
    # 0.2 to 0.6 in steps of 0.1 (at most 6): from 280 to 960 - 50 - the note's room; the middle is at 0.4.
    left, right = places[3][0], places[0][0]
    assert left == 280
    assert places[1][0] == places[2][0] == pytest.approx((left + right) / 2, abs=0.01)
    assert "rank 2 to 3" in drawn.words()


def test_a_ranking_on_a_phone_has_names_above_their_intervals():
    drawn = Drawn(ranking(POINTS, "Recall@50", width=NARROW, **WORDS))
    names = {text: y for x, y, text in drawn.texts() if x == 4}
    values = {text: y for _, y, text in drawn.texts() if re.fullmatch(r"0\.\d{3}", text or "")}
    assert names["large"] < values["0.600"] < names["middle"] < values["0.400"] < names["small"] < values["0.200"]


def heat_cells(svg):
    """The colour and the number of each cell, by the text below the pointer."""
    root = ElementTree.fromstring(svg)
    groups = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}rect") is not None]
    return {
        group.find(f"{SVG}title").text: (group.find(f"{SVG}rect").get("class"), group.find(f"{SVG}text").get("class"))
        for group in groups
        if group.find(f"{SVG}title") is not None
    }


def test_a_heat_map_colours_values_in_ten_equal_classes_and_marks_the_best_of_a_column():
    rows = [Row("a", (0.1, 0.6), "f"), Row("b", (0.349, 0.351), "f"), Row("c", (None, 0.11), "f")]
    cells = heat_cells(heat_map(rows, ["x", "y"], "Recall@50", **WORDS))
    # From 0.1 to 0.6 a class is 0.05 wide: 0.349 is in the fifth (4), 0.351 in the sixth (5).
    assert [cell[0] for cell in cells.values()] == ["fs-h0", "fs-h9", "fs-h4", "fs-h5", "fs-missing", "fs-h0"]
    assert [key for key, cell in cells.items() if "fs-strong" in cell[1]] == ["a, y: 0.600", "b, x: 0.349"]
    assert "c, x: n/a" in cells


def test_a_reference_is_not_the_best_of_a_column_of_a_heat_map():
    drawn = heat_map([Row("a", (0.9,), "f", True), Row("b", (0.4,), "f"), Row("c", (0.3,), "f")], ["x"], "R", **WORDS)
    assert [key for key, cell in heat_cells(drawn).items() if "fs-strong" in cell[1]] == ["b, x: 0.400"]
    assert "the best beside references" in drawn


def test_a_heat_map_of_one_value_has_the_middle_colour():
    cells = heat_cells(heat_map([Row("a", (0.5,), "f")], ["x"], "R", **WORDS))
    assert cells["a, x: 0.500"][0] == "fs-h5"


def test_tau_is_coloured_from_one_end_to_the_other_with_nothing_in_the_middle():
    cells = heat_cells(tau_matrix(["a", "b"], [[1.0, 0.0], [-1.0, None]], **WORDS))
    assert [cell[0] for cell in cells.values()] == ["fs-d8", "fs-d4", "fs-d0", "fs-missing"]


def test_tables_hold_what_charts_show():
    html = points_table("n", [*POINTS, Point("x", 0.1, "f")], "Recall@50", SIZE, [Line("Oracle", 0.7)])
    rows = [re.sub("<[^>]+>", "|", row) for row in re.findall("<tr>(.*?)</tr>", html)]
    assert rows[1] == "|large||dense||0.600||0.500 to 0.600||10B|"
    assert rows[4:] == ["|x||not stated||0.100||n/a||not known|", "|Oracle||line of reference||0.700||n/a||n/a|"]
    assert '<td class="fs-number">n/a</td>' in heat_table("h", [Row("a", (None,), "f")], ["x"])


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("draw", [lambda p, **w: scatter(p, SIZE, "R", **w), lambda p, **w: history(p, "R", **w)])
def test_a_chart_of_nothing_says_so_and_one_point_stands_in_the_middle(draw, width):
    assert "no system has a value here" in Drawn(draw([], width=width, **WORDS)).words()
    single = Drawn(draw([Point("a", 0.5, "f", x=1e9, day=date(2026, 1, 1))], width=width, **WORDS))
    ((x, y),) = single.points().values()
    assert x == pytest.approx((46 + width - 12) / 2, abs=0.01)
    # The axis goes 0.05 to each side of the value, and on to round numbers, 0.44 and 0.56: the value is in its middle.
    across = [path[1:].replace("L", " ").split() for path in single.paths("fs-grid")]
    heights = [float(ends[1]) for ends in across if ends[1] == ends[3]]
    assert {"0.44", "0.50", "0.56"} <= set(single.words())
    assert y == pytest.approx((min(heights) + max(heights)) / 2, abs=0.01)
    assert "no system has a value here" not in single.words()


def test_an_empty_ranking_and_an_empty_map_say_so():
    assert "no system has a value here" in Drawn(ranking([], "R", **WORDS)).words()
    assert "no system has a value here" in Drawn(heat_map([], ["x"], "R", **WORDS)).words()


@pytest.mark.parametrize(
    "draw",
    [lambda p: scatter(p, SIZE, "R", **WORDS), lambda p: history(p, "R", **WORDS), lambda p: ranking(p, "R", **WORDS)],
)
def test_systems_of_different_data_are_not_drawn_together(draw):
    with pytest.raises(NotComparableError, match="fingerprint 'one' for all, got 'two'"):
        draw([Point("a", 0.1, "one"), Point("b", 0.1, "two")])


def test_a_map_refuses_different_data_and_rows_that_do_not_fit():
    with pytest.raises(NotComparableError, match="different data"):
        heat_map([Row("a", (0.1,), "one"), Row("b", (0.1,), "two")], ["x"], "R", **WORDS)
    with pytest.raises(InputError, match="do not fit the columns, expected 2, got 1"):
        heat_map([Row("a", (0.1,), "one")], ["x", "y"], "R", **WORDS)
    with pytest.raises(InputError, match="no square"):
        tau_matrix(["a", "b"], [[1.0]], **WORDS)
    with pytest.raises(InputError, match="out of range"):
        tau_matrix(["a"], [[math.nan]], **WORDS)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Point("a", math.nan, "f"),
        lambda: Point("a", math.inf, "f"),
        lambda: Point("a", 0.1, "f", 0.0, math.nan),
        lambda: Point("a", 0.1, "f", 0.2, 0.1),
        lambda: Point("a", 0.1, "f", 0.2),
        lambda: Point("a", 0.1, "f", x=-1.0),
        lambda: Point("a", 0.1, "f", x=math.nan),
        lambda: Line("a", math.nan),
        lambda: Row("a", (math.nan,), "f"),
    ],
)
def test_what_no_axis_holds_is_refused(made):
    with pytest.raises(InputError, match="'a'"):
        made()


def test_a_chart_has_a_title_and_a_description_and_is_the_same_bytes_each_time():
    first, second = (scatter(POINTS, SIZE, "Recall@50", **WORDS) for _ in range(2))
    root = ElementTree.fromstring(first)
    assert first == second
    assert root.get("role") == "img"
    assert [(child.tag, child.text) for child in root[:2]] == [
        (f"{SVG}title", "A title"),
        (f"{SVG}desc", "What it shows"),
    ]


def test_groups_keep_their_colour_and_shape_in_every_chart():
    known = ["sparse", "dense"]
    signs = [
        {
            c
            for e in ElementTree.fromstring(svg).iter(f"{SVG}path")
            for c in [(e.get("class"), e.get("d"))]
            if "fs-mark" in c[0]
        }
        for svg in (
            scatter([POINTS[0]], SIZE, "R", groups=known, **WORDS),
            ranking([POINTS[1]], "R", groups=known, **WORDS),
        )
    ]
    assert signs[0] == signs[1]
    assert {class_ for class_, _ in signs[0]} == {"fs-mark fs-c1"}


def test_beyond_eight_groups_signs_are_grey_and_eight_differ_in_shape():
    points = [Point(str(n), n / 10, "f", group=f"g{n}") for n in range(10)]
    root = ElementTree.fromstring(ranking(points, "R", **WORDS))
    signs = {(e.get("class"), e.get("d")) for e in root.iter(f"{SVG}path") if "fs-mark" in e.get("class")}
    assert len(signs) == 9
    assert len({shape for _, shape in signs}) == 9


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_five_hundred_systems_with_long_names_are_drawn_within_the_chart(width):
    points = [
        Point(f"{n} " + "x" * 500, n / 500, "f", 0.0, 1.0, "g", 10 ** (6 + n % 7), date(2020, 1, 1)) for n in range(500)
    ]
    lines = [Line(f"line {n}", n / 40) for n in range(40)]
    for svg in (
        scatter(points, SIZE, "R", lines=lines, width=width, **WORDS),
        history(points, "R", lines=lines, width=width, **WORDS),
        ranking(points, "R", lines=lines, width=width, **WORDS),
    ):
        drawn = Drawn(svg)
        assert len(drawn.points()) == 500
        height = float(drawn.root.get("height"))
        assert all(-1 <= x <= width and 0 <= y <= height for x, y in drawn.points().values())


@pytest.mark.parametrize(
    ("sizes", "most", "marks"),
    [
        ([1e8, 1e10], 9, ["100M", "200M", "500M", "1B", "2B", "5B", "10B"]),
        ([1e6, 1e12], 9, ["1M", "10M", "100M", "1B", "10B", "100B", "1T"]),
        ([3e8, 4e8], 9, ["300M", "500M"]),
    ],
)
def test_a_logarithmic_axis_is_marked_with_round_numbers(sizes, most, marks):
    points = [Point(str(size), 0.5, "f", x=size) for size in sizes]
    words = Drawn(scatter(points, SIZE, "R", **WORDS)).words()
    assert [word for word in words if re.fullmatch(r"\d+[KMBT]", word or "")] == marks


def test_an_axis_of_ones_own_says_what_it_is():
    axis = Axis("Dollars a query", lambda value: f"${value:g}", "free", "unpriced")
    words = Drawn(scatter([Point("a", 0.5, "f", x=1.0), Point("b", 0.5, "f")], axis, "R", **WORDS)).words()
    assert {"Dollars a query", "$1", "unpriced"} <= set(words)


def luminance(colour):
    """Relative luminance as WCAG 2 defines it."""
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_letters_on_colours_and_on_paper_are_easy_to_read():
    css = stylesheet()
    for prefix, dark in (("h", {0, 1, 2, 3}), ("d", {0, 8})):
        colours = re.findall(rf"\.fs-{prefix}(\d) {{ fill: #(\w+)", css)
        assert len(colours) == {"h": 10, "d": 9}[prefix]
        for place, colour in colours:
            assert contrast(colour, "fff" if int(place) in dark else "000") >= 4.5, (prefix, place)
    for block in re.findall(r"{[^{}]*--fs-ink: #[^{}]*}", css):
        named = dict(re.findall(r"--fs-(\w+): #(\w+)", block))
        for letters in ("ink", "soft"):
            for ground in ("paper", "band"):
                assert contrast(named[letters], named[ground]) >= 4.5
        assert contrast(named["edge"], named["paper"]) >= 3
        assert contrast(named["rest"], named["paper"]) >= 3


def test_every_class_in_a_chart_has_a_style():
    svgs = [
        scatter(POINTS, SIZE, "R", lines=[Line("l", 0.5)], **WORDS),
        heat_map([Row("a", (0.1, None), "f")], ["x", "y"], "R", **WORDS),
        ranking(POINTS, "R", **WORDS),
    ]
    used = {name for svg in svgs for found in re.findall(r'class="([^"]+)"', svg) for name in found.split()}
    assert {name for name in used if f".{name}" not in stylesheet()} == set()
