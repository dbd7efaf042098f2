"""Numbers as people read them, and values for other programs."""

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from freshstack_datasets.report import (
    bibtex,
    csv_text,
    interval_text,
    p_text,
    plain,
    rank_text,
    score_text,
    share_text,
    signed_text,
    size_text,
    tau_text,
    time_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.3651, "0.365"), (0.7, "0.700"), (1.0, "1.000"), (0.0, "0.000"), (None, "n/a"), (-0.0001, "0.000")],
)
def test_scores_have_three_decimals_and_a_missing_one_is_not_zero(value, text):
    assert score_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.012, "+0.012"), (-0.012, "\u22120.012"), (0.0, "0.000"), (-0.0002, "0.000"), (0.0002, "0.000"), (None, "n/a")],
)
def test_differences_carry_their_sign_but_not_at_zero(value, text):
    assert signed_text(value) == text


def test_intervals_ranks_and_shares():
    assert interval_text(0.351, 0.38) == "0.351 to 0.380"
    assert interval_text(None, None) == "n/a"
    assert rank_text(2, 7) == "2 to 7"
    assert rank_text(3, 3) == "3"
    assert share_text(0.934) == "93 %"
    assert share_text(None) == "n/a"
    assert tau_text(0.859) == "0.86"
    assert tau_text(-0.5) == "\u22120.50"
    assert tau_text(None) == "n/a"


@pytest.mark.parametrize(("p", "text"), [(0.0311, "0.031"), (0.0001, "< 0.001"), (1.0, "1.000"), (None, "n/a")])
def test_p_values_are_never_zero(p, text):
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        (8_000_000_000, "8B"),
        (109_000_000, "109M"),
        (22_713_216, "22.7M"),
        (7_567_000_000, "7.57B"),
        (999_900_000, "1B"),
        (1_500, "1.5K"),
        (12, "12"),
        (0, "-"),
        (None, "-"),
    ],
)
def test_sizes_are_short(parameters, text):
    assert size_text(parameters) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0.8, "0.8 ms"), (12.34, "12.3 ms"), (1250, "1.25 s"), (999.9, "1 s"), (None, "n/a")]
)
def test_times_have_the_unit_that_suits_them(milliseconds, text):
    assert time_text(milliseconds) == text


@pytest.mark.parametrize("write", [score_text, signed_text, size_text, time_text, p_text, share_text, tau_text])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300])
def test_what_is_no_number_is_refused(write, value):
    with pytest.raises(InputError, match="expected a finite number"):
        write(value)


@given(st.lists(st.tuples(st.text(st.characters(), max_size=20), st.floats(allow_nan=False) | st.none())))
def test_csv_reads_back_and_holds_no_formula(rows):
    read = list(csv.reader(io.StringIO(csv_text(["name", "value"], rows), newline="")))
    assert read[0] == ["name", "value"]
    for (name, value), (cell, number) in zip(rows, read[1:], strict=True):
        assert cell.removeprefix("'") == plain(name).removeprefix("'")
        assert len(cell) < 2 or cell.lstrip()[:1] not in ("=", "+", "-", "@")
        assert number == "" if value is None else float(number) == value


def test_csv_keeps_commas_quotes_and_a_lone_hyphen_and_writes_numbers_in_full():
    assert csv_text(["a", "b", "c"], [['x, "y"', 0.1 + 0.2, "-"]]) == 'a,b,c\n"x, ""y""",0.30000000000000004,-\n'


def test_bibtex_escapes_what_tex_would_obey_and_leaves_out_what_is_missing():
    entry = bibtex(
        "misc", "freshstack-2024-10", {"title": r"100% {of} \input{x} $a_b$ #1 & ~^", "url": None, "year": "2026"}
    )
    assert entry == (
        "@misc{freshstack-2024-10,\n"
        r"  title = {100\% \textbraceleft{}of\textbraceright{} \textbackslash{}input\textbraceleft{}x\textbraceright{} \$a\_b\$ \#1 \& \textasciitilde{}\textasciicircum{}},"
        "\n  year = {2026}\n}\n"
    )


@pytest.mark.parametrize("title", ["{", "}", "} }, evil = {x}", "\\{", "a \\}"])
def test_a_lone_brace_ends_no_field(title):
    entry = bibtex("misc", "x", {"title": title, "year": "2026"})
    depth = [entry[: place + 1].count("{") - entry[: place + 1].count("}") for place in range(len(entry))]  # as BibTeX
    inside = entry[entry.index("title = {") + len("title = {") : entry.index("},\n  year")]
    assert min(depth) == 0
    assert depth[-1] == 0
    assert inside.count("{") == inside.count("}")


def test_a_key_that_would_break_the_entry_is_refused():
    with pytest.raises(InputError, match="is no BibTeX key"):
        bibtex("misc", "a,b}", {})
