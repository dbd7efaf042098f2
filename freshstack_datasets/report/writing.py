"""Values for other programs: CSV and BibTeX that no cell can break out of."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.text import plain

_FORMULA = ("=", "+", "-", "@")
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    **{letter: "\\" + letter for letter in "%#&$_"},
}
"""Letters that mean something to TeX; BibTeX counts braces behind a backslash, too, so that there must be none alone."""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    r"""Return CSV as RFC 4180 has it, with ``\n`` at the end of a line.

    Args:
        columns: The headings.
        rows: The cells: numbers are written in full, None as an empty cell. A text that a spreadsheet would take for a
            formula gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    text = plain(value)
    return f"'{text}" if len(text) > 1 and text.lstrip().startswith(_FORMULA) else text


def bibtex(kind: str, key: str, fields: Mapping[str, str | None]) -> str:
    """Return one entry of a bibliography.

    Args:
        kind: Its kind, such as ``misc``.
        key: What it is cited by: ASCII letters, digits, dots, colons and hyphens.
        fields: Its fields, in their order; foreign text, of which TeX's own letters are escaped. None is left out.

    Raises:
        InputError: The key would break the entry.
    """
    if not re.fullmatch(r"[A-Za-z0-9.:-]+", key):
        raise InputError(f"{shown(key)} is no BibTeX key", expected="ASCII letters, digits, dots, colons and hyphens")
    lines = [f"  {name} = {{{_tex(text)}}}" for name, text in fields.items() if text is not None]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in plain(text))
