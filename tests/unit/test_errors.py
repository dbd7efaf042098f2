"""Messages: what, expected, got; next step, on one line whatever they are about."""

import pytest

from freshstack_datasets.errors import FreshStackError, MissingExtraError, UnknownNameError, shown, shown_path


@pytest.mark.parametrize(
    "value, text",
    [
        ("a'b", '"a\'b"'),
        ("x" * 90, "'" + "x" * 79 + "…"),  # 80 characters of its representation, whose first is the quote
        ("line\nbreak\x1b[31m", r"'line\nbreak\x1b[31m'"),
        ("\ud800", r"'\ud800'"),
        ("naïve", "'naïve'"),
        (b"\xff" * 100, "b'" + r"\xff" * 19 + r"\x" + "…"),  # 2 + 19 * 4 + 2 = 80
    ],
)
def test_a_foreign_value_is_short_printable_and_on_one_line(value, text):
    found = shown(value)
    assert text in found
    assert len(found) <= 81
    assert found.isprintable()


def test_a_value_that_cannot_be_printed_still_has_a_message():
    # Python refuses to write an integer of more than 4,300 digits
    assert shown(10**5000) == "something that cannot be shown (ValueError)"


def test_a_path_is_shown_whole():
    path = "/a/" + "long/" * 100 + "end.txt"
    assert shown_path(path) == f"'{path}'"
    assert shown_path("a\nb") == r"'a\nb'"


def test_a_message_has_its_parts_in_order():
    error = FreshStackError("the file a", expected="six fields", got="five", hint="write it again")
    assert str(error) == "the file a, expected six fields, got five; write it again"
    assert str(FreshStackError("it")) == "it"


def test_an_unknown_name_is_told_with_near_ones_else_with_some():
    assert str(UnknownNameError("dataset", "coffe", ["coffee", "tea"])) == (
        "unknown dataset 'coffe'; did you mean 'coffee'?"
    )
    assert str(UnknownNameError("query", "zzz", map(str, range(9)))) == (
        "unknown query 'zzz'; known: '0', '1', '2', '3', '4' and 4 more"
    )
    # Common letters, twice, of all letters of both: 6/7 and 6/7; 5/7 is within 0.15 of them, and 4/7 is not.
    assert str(UnknownNameError("snapshot", "2026-08", ["2026-07", "2026-10", "2024-10", "2025-11"])) == (
        "unknown snapshot '2026-08'; did you mean '2026-10' or '2026-07' or '2024-10'?"
    )
    assert str(UnknownNameError("query", "zzz")) == "unknown query 'zzz'"


def test_capitals_make_no_name_another_one():
    for typed in ("BREAD", "Bread"):
        assert str(UnknownNameError("dataset", typed, ["bread", "tea"])) == (
            f"unknown dataset '{typed}'; did you mean 'bread'?"
        )


def test_what_stands_before_the_last_slash_makes_no_name_a_near_one():
    known = ["acme/angular", "acme/langchain", "acme/langchain-unfiltered"]
    for typed in ("langchin", "acme/langchin"):
        assert str(UnknownNameError("dataset", typed, known)).endswith("; did you mean 'acme/langchain'?")
    assert str(UnknownNameError("dataset", "acme/zzz", known)).endswith(
        "; known: 'acme/angular', 'acme/langchain', 'acme/langchain-unfiltered'"
    )


def test_a_missing_extra_comes_with_its_command():
    assert str(MissingExtraError("selectolax", "build")) == (
        "the package selectolax is not installed; pip install 'freshstack-datasets[build]'"
    )
