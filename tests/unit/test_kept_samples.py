"""Samples that are kept for the next rows: they change how long it takes, and nothing else."""

import numpy as np
import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.evaluation import statistics
from freshstack_datasets.evaluation.statistics import bootstrap_intervals
from freshstack_datasets.evaluation.strata import stratified_intervals

VALUES = [np.random.default_rng(queries).random((2, queries)) for queries in (57, 203)]


def test_intervals_are_the_same_whether_samples_are_kept_or_drawn_again(monkeypatch):
    def all_of_them():
        return [
            *map(bootstrap_intervals, VALUES),
            bootstrap_intervals(VALUES[0], 1_000, 7),
            stratified_intervals(VALUES),
        ]

    kept = all_of_them(), all_of_them()
    monkeypatch.setattr(statistics, "KEPT_NUMBERS", 0)
    drawn = all_of_them()
    for found in kept:
        assert all(np.array_equal(one, other) for one, other in zip(found, drawn, strict=True))


def test_numbers_of_another_seed_or_another_use_are_others():
    first, second = (bootstrap_intervals(VALUES[0], seed=seed) for seed in (1, 2))
    assert not np.array_equal(first, second)
    own, other = (statistics.resampled(VALUES[0], 100, 1, use) for use in ("bootstrap", "bootstrap 1"))
    assert not np.array_equal(own, other)


def test_what_is_no_seed_is_refused_also_after_a_like_one_was_used():
    bootstrap_intervals(VALUES[0], 100, 1)
    with pytest.raises(InputError, match="the seed"):
        bootstrap_intervals(VALUES[0], 100, True)  # which equals 1
