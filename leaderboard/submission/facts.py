"""What the models of a submission come to: their size, their licence, and what can be had of them."""

from collections.abc import Sequence

from leaderboard.submission.licenses import joined
from leaderboard.submission.model import UsedModel

_UNITS = (("K", 10**3), ("M", 10**6), ("B", 10**9))
_DIGITS = 3
"""Digits that a size is rounded to."""


def parameters_of(models: Sequence[UsedModel]) -> int | None:
    """Return how many parameters models have together, each model counted once.

    Args:
        models: The models; with none, there are 0.

    Returns:
        Their number, None when that of one is not known.
    """
    each = {(model.id, model.revision): model.parameters for model in models}
    known = [number for number in each.values() if number is not None]
    return sum(known) if len(known) == len(each) else None


def size_of(parameters: int | None) -> str:
    """Return a number of parameters as it is shown, to three digits: ``22.7M``, ``8.03B``.

    Args:
        parameters: The number; ``-`` is shown where it is not known, or 0.
    """
    if not parameters:
        return "-"
    rounded = _rounded(parameters)
    unit, one = next((pair for pair in reversed(_UNITS) if rounded >= pair[1]), _UNITS[0])
    whole, rest = divmod(rounded, one)
    decimals = f"{rest:0{len(str(one)) - 1}}".rstrip("0")
    return f"{whole}.{decimals}{unit}" if decimals else f"{whole}{unit}"


def license_of(models: Sequence[UsedModel]) -> str | None:
    """Return the licence of models together, "" with no models, and None when that of one is not known."""
    known = [model.license for model in models if model.license is not None]
    return joined(known) if len(known) == len(models) else None


def openness_of(models: Sequence[UsedModel]) -> str:
    """Return ``open`` when the weights of all models can be had, ``closed`` when one's cannot, "" when nobody said."""
    told = [model.open_weights for model in models]
    if any(weights is False for weights in told):
        return "closed"
    return "open" if all(told) else ""


def _rounded(number: int) -> int:
    """Return a number rounded to three digits, halves up."""
    step = int(10 ** max(0, len(str(number)) - _DIGITS))
    return (number + step // 2) // step * step
