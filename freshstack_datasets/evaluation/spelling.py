"""How measures are written: the house's spelling, and those of other libraries and of the papers."""

import difflib
import re
from collections.abc import Mapping

from freshstack_datasets.errors import MeasureError, shown

Parameters = tuple[tuple[str, float | str], ...]

DEFAULTS: Mapping[str, Mapping[str, float | str]] = {
    "alpha_nDCG": {"alpha": 0.5},
    "Coverage": {},
    "Recall": {},
    "nDCG": {"gain": "graded"},
    "RR": {},
    "Success": {},
    "P": {},
    "AP": {},
    "Judged": {},
}
"""Every measure by name, with its parameters and what they are when not said."""

OTHER_NAMES = {
    "αndcg": "alpha_nDCG",
    "cov": "Coverage",
    "r": "Recall",
    "mrr": "RR",
    "reciprank": "RR",
    "reciprocalrank": "RR",
    "hit": "Success",
    "hits": "Success",
    "hitrate": "Success",
    "precision": "P",
    "map": "AP",
}
"""Names of measures elsewhere, in lower case and without ``-`` and ``_``, to the names here."""

_NAMES = {re.sub(r"[-_ ]", "", name).lower(): name for name in DEFAULTS} | OTHER_NAMES
_UNTIL_CUTOFF = re.compile(r"(.*?)(?:_at_|_cut_|_cut\.|_|\.)(-?[0-9]+)", re.DOTALL)  # recall_at_5, map_cut.5, P_5
_HEAD = re.compile(r"\s*([^()]+?)\s*(?:\(([^()]*)\))?\s*", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]+(?![^()]*\))")  # not within parentheses

LONGEST = 10_000
"""Characters that measures may have when they are written out; to take apart much more would take for ever."""


def split(text: str) -> list[str]:
    """Split a list of measures at spaces and commas, but not within parentheses or around an ``@``.

    Raises:
        MeasureError: The text is too long to be one.
    """
    _check_length(text)
    return [part for part in _BETWEEN.split(re.sub(r"\s*@\s*", "@", text)) if part]


def read(text: object) -> tuple[str, int, Parameters]:
    """Return name, cutoff and parameters of a measure that was written out.

    ``ndcg`` all in lower case means the binary gain that the libraries which spell it so compute;
    ``nDCG`` means gains by the number of nuggets supported.

    Raises:
        MeasureError: The text names no measure.
    """
    if not isinstance(text, str):
        raise MeasureError("a measure", expected="text such as nDCG@10", got=f"{shown(text)} ({type(text).__name__})")
    _check_length(text)
    head, cutoff = _without_cutoff(text)
    match = _HEAD.fullmatch(head)
    if match is None:
        raise MeasureError(f"measure {shown(text)}", expected="a form such as nDCG(gain=binary)@10")
    written = match[1]
    name = _NAMES.get(re.sub(r"[-_ ]", "", written).lower())
    if name is None:
        raise _unknown(text, written)
    said = _parameters(text, match[2] or "")
    if name == "nDCG" and written.islower() and "gain" not in said:
        said["gain"] = "binary"
    return name, _cutoff(text, name, cutoff), tuple(said.items())


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise MeasureError(f"measures {shown(text)}", expected=f"at most {LONGEST} characters", got=f"{len(text)}")


def _without_cutoff(text: str) -> tuple[str, str]:
    if "@" in text:
        head, _, cutoff = text.rpartition("@")
        return head, cutoff.strip()
    match = _UNTIL_CUTOFF.fullmatch(text.strip())
    return (match[1], match[2]) if match else (text, "")


def _cutoff(text: str, name: str, cutoff: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", cutoff):
        raise MeasureError(
            f"the cutoff of {shown(text)}",
            expected=f"a whole number, as in {name}@10",
            got=shown(cutoff) if cutoff else "none",
        )
    return int(cutoff)


def _parameters(text: str, inside: str) -> dict[str, float | str]:
    said: dict[str, float | str] = {}
    for part in filter(None, (part.strip() for part in inside.split(","))):
        parameter, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or parameter in said:
            raise MeasureError(
                f"the parameters of {shown(text)}", expected="name=value, each name once", got=shown(part)
            )
        said[parameter] = value.strip("'\"")
    return said


def _unknown(text: str, written: str) -> MeasureError:
    key = re.sub(r"[-_ ]", "", written[:40]).lower()
    near = dict.fromkeys(_NAMES[name] for name in difflib.get_close_matches(key, _NAMES, n=3, cutoff=0.5))
    hint = f"did you mean {' or '.join(near)}?" if near else ""
    return MeasureError(f"unknown measure {shown(text)}", expected=f"one of {', '.join(DEFAULTS)}", hint=hint)
