"""Small helpers for arrays whose rows differ in length."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return ``start, start + 1, …`` for each start, as many as its length says, one after the other."""
    before = np.cumsum(lengths) - lengths
    within: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return within


def places(groups: Ints) -> Ints:
    """Return for each entry how many entries before it have its value, where equal values stand together."""
    here = np.arange(len(groups))
    new = np.ones(len(groups), bool)
    new[1:] = groups[1:] != groups[:-1]
    before: Ints = here - np.maximum.accumulate(np.where(new, here, 0))
    return before


def sums(groups: Ints, weights: Floats, size: int) -> Floats:
    """Return the sum of the weights of each group, float64 of shape (size,)."""
    return np.asarray(np.bincount(groups, weights=weights, minlength=size), np.float64)
