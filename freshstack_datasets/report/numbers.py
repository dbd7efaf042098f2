"""How numbers are written for people. A value that is not there is ``n/a``, never 0."""

import math

from freshstack_datasets.errors import InputError, shown

MISSING = "n/a"

_LARGEST = 1e15
_MINUS = "\u2212"
_UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))


def checked(value: float, what: str) -> float:
    """Return a number that can be drawn.

    Raises:
        InputError: It is NaN, infinite or absurdly large.
    """
    if not math.isfinite(value) or abs(value) > _LARGEST:
        raise InputError(f"{what} cannot be drawn", expected="a finite number", got=shown(value))
    return float(value)


def score_text(value: float | None) -> str:
    """Return a mean to three decimals."""
    return MISSING if value is None else _minus(f"{checked(value, 'a score'):.3f}")


def signed_text(value: float | None) -> str:
    """Return a difference to three decimals, with its sign."""
    if value is None:
        return MISSING
    text = f"{checked(value, 'a difference'):+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else _minus(text)


def interval_text(low: float | None, high: float | None) -> str:
    """Return an interval, such as ``0.351 to 0.380``."""
    return MISSING if low is None or high is None else f"{score_text(low)} to {score_text(high)}"


def rank_text(low: int, high: int) -> str:
    """Return an interval of ranks: ``2 to 7``, or ``3`` when there is but one."""
    return str(low) if low == high else f"{low} to {high}"


def p_text(p: float | None) -> str:
    """Return a p-value to three decimals; one below 0.001 says only that."""
    if p is None:
        return MISSING
    return "< 0.001" if checked(p, "a p-value") < 0.001 else f"{p:.3f}"


def tau_text(value: float | None) -> str:
    """Return a correlation to two decimals."""
    return MISSING if value is None else _minus(f"{checked(value, 'a correlation'):.2f}")


def share_text(value: float | None) -> str:
    """Return a share of 1 in percent."""
    return MISSING if value is None else f"{checked(value, 'a share') * 100:.0f} %"


def size_text(parameters: float | None) -> str:
    """Return a number of parameters to three digits at most: ``8B``, ``109M``, ``7.57B``; ``-`` for none or unknown."""
    if not parameters:
        return "-"
    value = float(f"{checked(parameters, 'a size'):.3g}")
    for unit, letter in _UNITS:
        if value >= unit:
            return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}"


def time_text(milliseconds: float | None) -> str:
    """Return a time to three digits, in the unit that suits it: ``0.8 ms``, ``12 ms``, ``1.25 s``."""
    if milliseconds is None:
        return MISSING
    value = float(f"{checked(milliseconds, 'a time'):.3g}")
    return f"{value / 1000:,.10g} s" if value >= 1000 else f"{value:.10g} ms"


def _minus(text: str) -> str:
    if text.startswith("-"):
        return text.lstrip("-") if float(text) == 0 else text.replace("-", _MINUS)
    return text
