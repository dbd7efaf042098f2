"""How far values over a sample of queries can be trusted: intervals, p-values, detectable differences.

Everything is computed from the values per query, with one set of random numbers for all measures, in blocks of
bounded size.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.evaluation.arrays import Floats

RESAMPLES = 10_000
"""Resamples of a bootstrap, and sign flips of a permutation test."""

SEED = 13128
"""Where the random numbers start when nobody says where."""

LEVEL = 0.95
"""The share of all samples whose interval holds the true mean."""

BLOCK = 1 << 16
"""Random numbers that are made at once: few enough to stay in a processor's cache."""

PIECE = 16 * BLOCK
"""Numbers that are multiplied at once, where there are many rows."""

KEPT_NUMBERS, KEPT_SAMPLES = 1 << 22, 12
"""Numbers of a sample that is kept for the next rows, of two bytes each, and how many samples are kept."""


def bootstrap_intervals(values: Floats, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Return the percentile bootstrap interval of each mean (Efron and Tibshirani, 1993, chapter 13).

    Queries are drawn with replacement, the same ones for all rows, and the interval holds the middle 95 % of the
    means. The interval of a row is the same to the last bit whatever rows stand beside it.

    Args:
        values: float64 of shape (rows, queries), at least one query.
        resamples: How often queries are drawn.
        seed: Where the random numbers start.

    Returns:
        float64 of shape (rows, 2), the low and the high end.

    Raises:
        InputError: ``resamples`` is not a positive number, or ``seed`` a negative one.
    """
    return middle(resampled(values, resamples, seed))


def resampled(values: Floats, resamples: int, seed: int, use: str = "bootstrap") -> Floats:
    """Return the mean of each row over queries drawn with replacement, the same ones for all rows.

    Args:
        values: float64 of shape (rows, queries), at least one query.
        resamples: How often queries are drawn.
        seed: Where the random numbers start.
        use: What they are for; samples of different uses share none.

    Returns:
        float64 of shape (rows, resamples).

    Raises:
        InputError: ``resamples`` is not a positive number, or ``seed`` a negative one.
    """
    queries, generator = values.shape[1], random_numbers(seed, resamples, use)
    few = resamples * queries <= KEPT_NUMBERS
    counts = _again(resamples, queries, seed, use) if few else _counts(generator, resamples, queries)
    return weighted_means(summable(values), counts, resamples)


def _again(resamples: int, queries: int, seed: int, use: str) -> Iterator[Floats]:
    """Yield the same as ``_counts``, which is drawn once for all systems that are scored on the same queries."""
    kept = _drawn(resamples, queries, seed, use)
    size = max(1, PIECE // queries)
    for at in range(0, resamples, size):
        yield kept[at : at + size].astype(np.float64)


@lru_cache(KEPT_SAMPLES)
def _drawn(resamples: int, queries: int, seed: int, use: str) -> NDArray[np.uint16]:
    generator = random_numbers(seed, resamples, use)
    return np.concatenate([block.astype(np.uint16) for block in _counts(generator, resamples, queries)])


def _counts(generator: np.random.Generator, resamples: int, queries: int) -> Iterator[Floats]:
    """Yield how often each query was drawn, float64 of shape (some resamples, queries)."""
    for size in _blocks(resamples, queries):
        drawn = generator.integers(0, queries, (size, queries))
        drawn += np.arange(size)[:, None] * queries
        yield np.bincount(drawn.ravel(), minlength=size * queries).reshape(size, queries).astype(np.float64)


def weighted_means(exact: Floats, weights: Iterable[Floats], columns: int) -> Floats:
    """Return the mean of each row under each of many weightings of its queries.

    A library that shares every matrix product among threads waits for all of them each time, so blocks are multiplied
    several at once.

    Args:
        exact: What ``summable`` made of values; float64 of shape (rows, queries).
        weights: Blocks of whole weights, float64 of shape (some weightings, queries).
        columns: How many weightings there are in all.

    Returns:
        float64 of shape (rows, columns).
    """
    rows, queries = exact.shape
    means = np.empty((rows, columns))
    held, at = [], 0
    for block in weights:
        held.append(block)
        size = sum(map(len, held))
        if size * queries >= PIECE or at + size == columns:
            np.matmul(exact, np.concatenate(held).T, out=means[:, at : at + size])
            held, at = [], at + size
    means /= queries
    return means


def middle(means: Floats) -> Floats:
    """Return the two ends of what holds the middle 95 % of each row: float64 of shape (rows, 2)."""
    outside = (1 - LEVEL) / 2
    return np.stack([_quantile(means, outside), _quantile(means, 1 - outside)], axis=1)


def _quantile(means: Floats, share: float) -> Floats:
    """Return what ``np.quantile`` does of each row, to the last bit.

    To part a row at one place takes a fifth of the time that it takes to part it at the four of two quantiles.
    """
    last = means.shape[1] - 1
    place = share * last
    below, above = int(place), min(int(place) + 1, last)
    parted = np.partition(means, above, axis=1)
    high = parted[:, above]
    low = parted[:, :above].max(axis=1) if below < above else high
    weight, step = place - below, high - low
    found: Floats = low + step * weight if weight < 0.5 else high - step * (1 - weight)
    return found


def sign_flip_p(differences: Floats, permutations: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Return the two-sided p-value of each mean difference by the paired randomisation test.

    When two systems are alike, each query's difference could as well have the other sign (Fisher; Smucker et al.,
    CIKM 2007). Signs are flipped at random, the same ones for all rows, and

        p = (1 + flips with a mean at least as far from 0 as the observed one) / (permutations + 1)

    Sums that are equal but for the rounding of double precision count as equal.

    Args:
        differences: float64 of shape (rows, queries), one system's values minus the other's.
        permutations: How often signs are flipped.
        seed: Where the random numbers start.

    Returns:
        float64 of shape (rows,).

    Raises:
        InputError: ``permutations`` is not a positive number, or ``seed`` a negative one.
    """
    _, queries = differences.shape
    generator = random_numbers(seed, permutations, "permutation")
    rounding = queries * np.finfo(np.float64).eps * np.abs(differences).sum(axis=1)
    observed = np.abs(differences.sum(axis=1)) - rounding
    as_far = np.zeros(len(differences), np.int64)
    for signs in random_signs(generator, permutations, queries):
        as_far += (np.abs(signs @ differences.T) >= observed).sum(axis=0)
    return (1 + as_far) / (permutations + 1)


def random_signs(generator: np.random.Generator, permutations: int, queries: int) -> Iterator[Floats]:
    """Yield 1 or -1 for each query, float64 of shape (some permutations, queries)."""
    for size in _blocks(permutations, queries):
        bits = np.frombuffer(generator.bytes(-(-size * queries // 8)), np.uint8)
        signs = np.unpackbits(bits, count=size * queries).reshape(size, queries).astype(np.float64)
        signs *= 2
        signs -= 1
        yield signs


def holm(p: Floats) -> Floats:
    """Return p-values adjusted for having tested all of them (Holm, 1979).

    The smallest of m is multiplied by m, the next by m - 1 and so on; none is smaller than one before it, nor
    larger than 1.

    Args:
        p: float64 of shape (tests,).
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def detectable_difference(differences: Floats, power: float = 0.8) -> Floats:
    """Return the smallest true difference that so many queries would show with a power of 80 %.

    See ``detectable``, for which the spread is that of the differences.

    Args:
        differences: float64 of shape (rows, queries), at least two queries.
        power: The chance to find it.

    Returns:
        float64 of shape (rows,).
    """
    return detectable(differences.std(axis=1, ddof=1), differences.shape[1], power)


def detectable(spread: Floats, queries: int, power: float = 0.8) -> Floats:
    """Return the smallest true difference that so many queries would show, from how it varies over queries.

    That is (z(0.975) + z(0.8)) * s / sqrt(n), with s the standard deviation of the differences of n queries: a
    paired test at the two-sided 5 % level finds a difference of that size four times in five.

    Args:
        spread: The standard deviation of the difference of two systems from query to query; float64 of any shape.
        queries: How many queries there are, at least one.
        power: The chance to find it.

    Returns:
        float64 of the same shape.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2) + NormalDist().inv_cdf(power)
    smallest: Floats = z * spread / np.sqrt(queries)
    return smallest


def summable(values: Floats, largest: float | None = None) -> Floats:
    """Cut the last bits off, so that any sum of as many values of a row as it has is exact in double precision.

    A matrix product adds in an order that depends on the other rows, the processor and the library; of these values
    every order gives the same. With unit 2^(e - 53), where queries * largest < 2^e, a sum is a whole number of units
    below 2^53. A value, and so a mean, loses less than a unit: 2e-13 for a thousand values up to 1.

    Args:
        values: float64 of shape (rows, queries).
        largest: What no value is beyond, for one unit of all rows; that of each row when not given.
    """
    bound = np.abs(values).max(axis=1, keepdims=True) if largest is None else np.float64(largest)
    _, exponent = np.frexp(bound * values.shape[1])
    unit = np.ldexp(1.0, exponent - 53)
    cut: Floats = np.trunc(values / unit) * unit
    return cut


def random_numbers(seed: object, resamples: object, use: str) -> np.random.Generator:
    """Return random numbers of one use; a bootstrap and a permutation test with one seed share none."""
    for what, number, least in (("the number of resamples", resamples, 1), ("the seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise InputError(what, expected=f"a whole number from {least}", got=shown(number))
    return np.random.default_rng([seed, *use.encode()])


def _blocks(resamples: int, queries: int) -> Iterator[int]:
    """Yield the number of resamples of each block."""
    size = max(1, BLOCK // queries)
    for at in range(0, resamples, size):
        yield min(size, resamples - at)
