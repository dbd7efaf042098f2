"""Means over several datasets, each counting the same, under resampling and under flipped signs.

Every dataset is a stratum: its queries are drawn, or flipped, among themselves, and the means of the datasets are
averaged. With one stratum, all of it is what ``statistics`` does with the same seed.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from freshstack_datasets.errors import InputError
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.statistics import (
    RESAMPLES,
    SEED,
    middle,
    random_numbers,
    random_signs,
    resampled,
    summable,
    weighted_means,
)

Strata: TypeAlias = Sequence[Floats]
"""For each dataset, float64 of shape (rows, queries): the same rows everywhere, queries of its own, at least one."""


def macro_means(strata: Strata) -> Floats:
    """Return the mean of each row over the strata, each counting the same.

    It is the same to the last bit as the mean that ``macro_mean`` makes of results.

    Args:
        strata: The values of each dataset.

    Returns:
        float64 of shape (rows,).

    Raises:
        InputError: There is no stratum, one has no query, or they differ in their rows.
    """
    rows = _rows(strata)
    means = [[float(values[row].mean()) for values in strata] for row in range(rows)]
    return np.array([float(np.mean(one)) for one in means], np.float64)


def stratified_intervals(strata: Strata, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Return the 95 % percentile interval of each macro mean by the stratified bootstrap.

    Queries are drawn with replacement within each stratum, the same ones for all rows, and the means of the strata
    are averaged (Davison and Hinkley, 1997, section 3.2). The interval of a row is the same to the last bit whatever
    rows stand beside it; with one stratum, it is that of ``bootstrap_intervals``.

    Args:
        strata: The values of each dataset, such as one row a measure.
        resamples: How often queries are drawn.
        seed: Where the random numbers start.

    Returns:
        float64 of shape (rows, 2), the low and the high end.

    Raises:
        InputError: There is no stratum, one has no query, they differ in their rows, ``resamples`` is not a positive
            number, or ``seed`` a negative one.
    """
    return middle(resampled_means(strata, resamples, seed))


def resampled_means(strata: Strata, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Return the macro means of resampled queries, which the stratified bootstrap is made of.

    Args:
        strata: The values of each dataset.
        resamples: How often queries are drawn.
        seed: Where the random numbers start.

    Returns:
        float64 of shape (rows, resamples).

    Raises:
        InputError: As of ``stratified_intervals``.
    """
    _rows(strata)
    uses = [_use("bootstrap", number) for number in range(len(strata))]
    return _average(resampled(values, resamples, seed, use) for values, use in zip(strata, uses, strict=True))


def flipped_means(strata: Strata, permutations: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Return the macro means of values whose signs are flipped at random, query by query, the same for all rows.

    The difference of two rows is what the paired sign-flip test of the two needs: the mean of their differences with
    flipped signs. It is exact to the last bits of a double, whatever adds it up.

    Args:
        strata: The values of each dataset.
        permutations: How often signs are flipped.
        seed: Where the random numbers start.

    Returns:
        float64 of shape (rows, permutations).

    Raises:
        InputError: As of ``stratified_intervals``.
    """
    _rows(strata)
    streams = [random_numbers(seed, permutations, _use("permutation", number)) for number in range(len(strata))]
    return _average(_flipped(values, stream, permutations) for values, stream in zip(strata, streams, strict=True))


def _flipped(values: Floats, generator: np.random.Generator, permutations: int) -> Floats:
    signs = random_signs(generator, permutations, values.shape[1])
    return weighted_means(comparable(values), signs, permutations)


def _average(means: Iterable[Floats]) -> Floats:
    """Return the mean of arrays of one shape, added in their order, with two of them held at a time."""
    held = iter(means)
    total, number = next(held), 1
    for one in held:
        total += one
        number += 1
    total /= number
    return total


def comparable(values: Floats) -> Floats:
    """Cut the last bits off, so that sums, and differences of the sums of two rows, are exact in double precision."""
    return summable(values, 2 * float(np.abs(values).max()))


def _use(use: str, stratum: int) -> str:
    """Name the random numbers of a stratum: no two share any, and the first has those of a dataset alone."""
    return f"{use} {stratum}" if stratum else use


def _rows(strata: Strata) -> int:
    """Return how many rows the strata have, once they are what they should be."""
    rows = [len(values) for values in strata]
    queries = [values.shape[1] for values in strata]
    if not rows or len(set(rows)) > 1 or min(queries) < 1:
        shapes = ", ".join(f"{one} x {other}" for one, other in zip(rows, queries, strict=True))
        raise InputError(
            "values of several datasets (rows x queries)",
            expected="the same rows of each, and a query in each",
            got=shapes or "no dataset",
        )
    return rows[0]
