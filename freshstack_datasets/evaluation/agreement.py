"""How far people, or models, who judged the same things agree beyond chance, and how far such a figure can be trusted.

Judgments are values of any kind that can be told apart, such as ``True``, "partially" or 2: no value is nearer to one
than to another. ``None`` stands for what somebody did not judge.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain

import numpy as np

from freshstack_datasets.errors import InputError
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.result import Interval
from freshstack_datasets.evaluation.statistics import BLOCK, LEVEL, RESAMPLES, SEED, random_numbers

UNDEFINED = 0.05
"""The share of resamples without a value above which there is no interval."""


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return Cohen's kappa of two raters (Cohen, A Coefficient of Agreement for Nominal Scales, 1960).

        kappa = (p_o - p_e) / (1 - p_e)

    p_o is the share of units on which they agree, p_e the share on which they would by chance: the sum over values of
    the product of both raters' shares of that value. It is 1 for full agreement, 0 for that of chance, and at least -1.

    Units that one of them did not judge do not count. Where only one rater always gives the same value, kappa is 0,
    however often they agree: that rater tells nothing apart.

    Args:
        first: The first rater's value of each unit, None where there is none.
        second: The second one's, of the same units.

    Returns:
        None where it is not defined: they judged no unit in common, or both gave one and the same value throughout.

    Raises:
        InputError: They have not the same number of units.
    """
    return _value(_kappa_parts(first, second), _kappas)


def cohen_kappa_interval(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    groups: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval | None:
    """Return the 95 % percentile bootstrap interval of Cohen's kappa, see ``interval_of_sums``.

    Args:
        first: The first rater's value of each unit, None where there is none.
        second: The second one's, of the same units.
        groups: What each unit belongs to, such as its question: units of a group are drawn together, since they are
            alike. Each unit is drawn for itself when not given.
        resamples: How often they are drawn.
        seed: Where the random numbers start.

    Returns:
        None where there is no such interval.

    Raises:
        InputError: The sequences differ in length, ``resamples`` is not a positive number, or ``seed`` a negative one.
    """
    return interval_of_sums(_grouped(_kappa_parts(first, second), groups), _kappas, resamples, seed)


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Return Krippendorff's alpha of any number of raters, for nominal values.

    The formula is that of Computing Krippendorff's Alpha-Reliability, 2011, section C:

        alpha = 1 - D_o / D_e = 1 - (n - 1) * sum_u sum_c n_uc * (n_u - n_uc) / (n_u - 1) / (n^2 - sum_c n_c^2)

    n_uc raters gave unit u the value c, n_u = sum_c n_uc gave it any, n_c = sum_u n_uc, and n = sum_c n_c; units that
    fewer than two raters judged do not count anywhere. It is 1 for full agreement and 0 for that of chance.

    Args:
        units: For each unit the raters' values, None where somebody gave none. Who gave which does not matter, so
            units need not have the same number.

    Returns:
        None where it is not defined: no unit has two values, or all values are one and the same.
    """
    return _value(_alpha_parts(units), _alphas)


def krippendorff_alpha_interval(
    units: Sequence[Sequence[Hashable]],
    groups: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval | None:
    """Return the 95 % percentile bootstrap interval of Krippendorff's alpha, see ``interval_of_sums``.

    Args:
        units: For each unit the raters' values, None where somebody gave none.
        groups: What each unit belongs to; units of a group are drawn together. Each for itself when not given.
        resamples: How often they are drawn.
        seed: Where the random numbers start.

    Returns:
        None where there is no such interval.

    Raises:
        InputError: The sequences differ in length, ``resamples`` is not a positive number, or ``seed`` a negative one.
    """
    return interval_of_sums(_grouped(_alpha_parts(units), groups), _alphas, resamples, seed)


def interval_of_sums(
    parts: Floats, statistic: Callable[[Floats], Floats], resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """Return the percentile bootstrap interval of a value that sums over units decide, such as a ratio of two sums.

    Units are drawn with replacement, as many as there are, and the interval holds the middle 95 % of the values (Efron
    and Tibshirani, 1993, chapter 13). How often each of several units that are alike is drawn does not matter, so what
    is drawn is how often any of them is, which has a multinomial distribution. The order of the units makes no
    difference.

    Resamples in which the value is not defined are left out. Where all units are alike, both ends are the value: that
    shows nothing but that the sample had no exception.

    Args:
        parts: What each unit adds to the sums; float64 of shape (units, sums).
        statistic: From sums, of shape (resamples, sums), to values, of shape (resamples,); NaN where it is not defined.
        resamples: How often units are drawn.
        seed: Where the random numbers start.

    Returns:
        None where there are fewer than two units, the value itself is not defined, or it is not in more than a
        twentieth of the resamples.

    Raises:
        InputError: ``resamples`` is not a positive number, or ``seed`` a negative one.
    """
    generator = random_numbers(seed, resamples, "agreement")
    units = len(parts)
    if units < 2 or _value(parts, statistic) is None:
        return None
    different, times = np.unique(parts, axis=0, return_counts=True)
    values = np.empty(resamples)
    size = max(1, BLOCK // len(different))
    for at in range(0, resamples, size):
        drawn = generator.multinomial(units, times / units, min(size, resamples - at))
        values[at : at + size] = statistic(drawn.astype(np.float64) @ different)
    values = values[~np.isnan(values)]
    if len(values) < (1 - UNDEFINED) * resamples:
        return None
    outside = (1 - LEVEL) / 2
    return Interval(*np.quantile(values, [outside, 1 - outside]).tolist())


def _value(parts: Floats, statistic: Callable[[Floats], Floats]) -> float | None:
    """Return the value over all units, None where it is not defined."""
    value = float(statistic(parts.sum(axis=0, keepdims=True))[0])
    return None if np.isnan(value) else value


def _grouped(parts: Floats, groups: Sequence[Hashable] | None) -> Floats:
    """Return what each group adds to the sums; groups and units that add nothing are none that could be drawn."""
    if groups is not None:
        _same_length(len(parts), len(groups), "groups")
        places = _places(groups)
        sums = np.zeros((len(places), parts.shape[1]))
        np.add.at(sums, [places[group] for group in groups], parts)
        parts = sums
    return parts[parts.any(axis=1)]


def _kappa_parts(first: Sequence[Hashable], second: Sequence[Hashable]) -> Floats:
    """Return for each unit whether both agree, then each rater's value as a 1 in its column; zeros where one is None."""
    _same_length(len(first), len(second), "units of the second rater")
    places = _places(value for value in chain(first, second) if value is not None)
    parts = np.zeros((len(first), 1 + 2 * len(places)))
    for row, one, other in zip(parts, first, second, strict=True):
        if one is not None and other is not None:
            row[0] = one == other
            row[1 + places[one]] = row[1 + len(places) + places[other]] = 1
    return parts


def _kappas(sums: Floats) -> Floats:
    """Return kappa for sums of parts, NaN where it is not defined."""
    agreed, both = sums[:, 0], sums[:, 1:].reshape(len(sums), 2, -1)
    units = both[:, 0].sum(axis=1)
    by_chance = (both[:, 0] * both[:, 1]).sum(axis=1)  # units^2 * p_e, a whole number
    return _divided(units * agreed - by_chance, units**2 - by_chance)


def _alpha_parts(units: Sequence[Sequence[Hashable]]) -> Floats:
    """Return for each unit how much its raters disagree, then how many gave it each value; zeros where one did."""
    rated = [[value for value in unit if value is not None] for unit in units]
    places = _places(chain.from_iterable(rated))
    parts = np.zeros((len(rated), 1 + len(places)))
    for row, values in zip(parts, rated, strict=True):
        if len(values) > 1:
            np.add.at(row, [1 + places[value] for value in values], 1)
            row[0] = (row[1:] * (len(values) - row[1:])).sum() / (len(values) - 1)
    return parts


def _alphas(sums: Floats) -> Floats:
    """Return alpha for sums of parts, NaN where it is not defined."""
    disagreed, values = sums[:, 0], sums[:, 1:]
    number = values.sum(axis=1)
    return 1 - _divided((number - 1) * disagreed, number**2 - (values**2).sum(axis=1))


def _divided(above: Floats, below: Floats) -> Floats:
    """Return quotients, NaN where the divisor is 0."""
    quotients: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below != 0)
    return quotients


def _places(values: Iterable[Hashable]) -> dict[Hashable, int]:
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _same_length(units: int, others: int, what: str) -> None:
    if units != others:
        raise InputError(what, expected=f"{units:,}, as many as units", got=f"{others:,}")
