"""Foreign text in reports: shown as text, cut to its room, and harmless wherever it stands."""

import re
from datetime import date
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from freshstack_datasets.report import (
    NARROW,
    SIZE,
    WIDE,
    Bar,
    Column,
    Line,
    Link,
    Part,
    Point,
    Ranked,
    Row,
    bars,
    escaped,
    figure,
    heat_map,
    history,
    link,
    nugget_grid,
    plain,
    points_table,
    ranking,
    scatter,
    table,
    tau_matrix,
)
from freshstack_datasets.report.text import shortened, width_of

TITLE = "{http://www.w3.org/2000/svg}title"
ANY = st.text(st.characters(), max_size=40)  # lone surrogates and control characters too
HOSTILE = [
    "</script><script>alert(1)</script>",
    "</title></svg><img src=x onerror=alert(2)>",
    "\"'><a href='javascript:alert(3)'>x</a>",
    "]]> &amp; <!-- <![CDATA[",
    "x" * 500,
    "\ud800\x00\x1b[31m\u202egnp.exe\ufffe",
]


def charts(text, width):
    """Every kind of chart, with the text wherever foreign text can be."""
    points = [
        Point(text, 0.4, "f", 0.3, 0.5, text, 1e9, date(2026, 1, 1), text),
        Point("b", 0.2, "f", group="dense", day=date(2026, 5, 1)),
    ]
    words = {"title": text, "about": text, "width": width}
    lines = [Line(text, 0.6)]
    yield scatter(points, SIZE, text, lines=lines, **words)
    yield history(points, text, lines=lines, **words)
    yield ranking(points, text, lines=lines, **words)
    yield heat_map([Row(text, (0.1, None), "f")], [text, "b"], text, **words)
    yield tau_matrix([text, "b"], [[1.0, 0.5], [0.5, None]], **words)
    yield bars([Bar(text, (Part(text, 1.0, text),))], **words)
    yield nugget_grid([text], [Ranked(text, True, frozenset({0})), Ranked("b", False)], **words)


@given(ANY, st.sampled_from([WIDE, NARROW]))
def test_any_text_in_any_chart_is_text(text, width):
    for svg in charts(text, width):
        root = ElementTree.fromstring(svg)
        seen = [element.text or "" for element in root.iter()]
        assert seen.count(plain(text)) >= 2  # the title and the description, whole
        names = {element.tag.split("}")[1] for element in root.iter()}
        assert names <= {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}
        attributes = {name for element in root.iter() for name in element.attrib}
        assert attributes <= {
            "class",
            "role",
            "viewBox",
            "width",
            "height",
            "d",
            "x",
            "y",
            "r",
            "cx",
            "cy",
            "transform",
            "text-anchor",
        }


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_adds_an_element_to_a_chart(text):
    for hostile, harmless in zip(charts(text, WIDE), charts("harmless", WIDE), strict=True):
        tags = [
            sorted(e.tag for e in ElementTree.fromstring(svg).iter() if e.tag != TITLE) for svg in (hostile, harmless)
        ]
        assert tags[0] == tags[1]


class _Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


@given(ANY, ANY)
def test_any_text_in_a_table_is_text(text, other):
    html = table(text, [Column(other), Column("b")], [[text, Link(other, "https://example.org/?a=1&b='2'")]])
    seen = _Tags(html)
    order = ["div", "table", "caption", "thead", "tr", "th", "th", "tbody", "tr", "th", "td", "a"]
    assert [tag for tag, _ in seen.tags] == order
    assert "".join(seen.words).replace("\n", "") == "".join(map(plain, (text, other, "b", text, other)))
    assert seen.tags[-1][1] == {"href": "https://example.org/?a=1&b='2'"}
    assert seen.tags[0][1]["aria-label"] == plain(text)


def test_a_row_that_does_not_fit_its_table_is_refused():
    with pytest.raises(InputError, match="a row of a table does not fit, expected 2 cells, got 1"):
        table("t", [Column("a"), Column("b")], [["x"]])


def test_plain_keeps_every_printable_letter_and_unmakes_those_that_do_harm():
    assert plain("naïve 漢字 <b> & 🙂") == "naïve 漢字 <b> & 🙂"
    assert plain("a\tb\nc\r\u2028d") == "a b c  d"
    assert plain("\x00\x1b\ud800\ufffe\U0001ffff") == "\ufffd" * 5
    assert plain("abc\u202edef\u2066") == "abc\ufffddef\ufffd"  # nothing runs from right to left unasked
    assert plain("👩\u200d🔬") == "👩\u200d🔬"  # joined letters stay joined


def test_what_ends_an_attribute_or_an_element_is_escaped():
    assert not set("<>\"'") & set(escaped("<a href=\"x\" b='y'>"))
    assert escaped("a & b") == "a &amp; b"


@given(ANY, st.floats(0, 400))
def test_a_shortened_text_fits_and_is_a_beginning(text, room):
    short = shortened(text, room, 12)
    if short != plain(text):
        assert short.endswith("…")
        assert plain(text).startswith(short[:-1])
        assert width_of(short, 12) <= room or short == "…"
        assert width_of(plain(text), 12) > room


def test_wide_letters_take_more_room_than_narrow_ones_and_marks_none():
    assert width_of("漢字", 10) == 20
    assert width_of("e\u0301", 10) == width_of("e", 10)
    assert width_of("iii", 10) < width_of("eee", 10) < width_of("MMM", 10)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example/x",
        "/\\evil.example",
        "http:evil",
        "file:///etc/passwd",
        "http://[::1",
        None,
    ],
)
def test_only_addresses_that_are_safe_to_follow_become_links(url):
    assert link("<x>", url) == "&lt;x&gt;"


@pytest.mark.parametrize("url", ["https://example.org/a", "http://example.org", "../q/one.html#x", "page.html?a=1"])
def test_web_addresses_and_relative_ones_become_links(url):
    assert link("x", url) == f'<a href="{url}">x</a>'


def test_a_figure_draws_for_both_widths_and_keeps_the_numbers_as_a_table():
    points = [Point("A <b>", 0.5, "f", 0.4, 0.6)]
    html = figure(
        lambda width: ranking(points, "Recall@50", title="t", about="a", width=width),
        caption="95 % & more",
        twin=points_table("numbers", points, "Recall@50"),
    )
    assert re.findall(r'viewBox="0 0 (\d+) ', html) == [str(WIDE), str(NARROW)]
    assert "<figcaption>95 % &amp; more</figcaption>" in html
    cells = '<th scope="row">A &lt;b&gt;</th><td>not stated</td><td class="fs-number">0.500</td>'
    assert cells + '<td class="fs-number">0.400 to 0.600</td>' in html
