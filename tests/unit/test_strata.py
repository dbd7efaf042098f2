"""Means over several datasets: cases that can be counted out, and sums without any rounding."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.evaluation import evaluate, macro_mean
from freshstack_datasets.evaluation.statistics import bootstrap_intervals
from freshstack_datasets.evaluation.strata import flipped_means, macro_means, resampled_means, stratified_intervals
from freshstack_datasets.loading import Dataset


def test_datasets_count_the_same_however_many_queries_they_have() -> None:
    # means 1/4 and 1/2; their mean is 3/8, where all six queries together would have 1/3
    strata = [np.array([[0.0, 0.0, 0.0, 1.0]]), np.array([[0.0, 1.0]])]
    assert macro_means(strata).tolist() == [0.375]


def test_the_macro_mean_is_to_the_last_bit_that_of_results() -> None:
    generator = np.random.default_rng(5)
    results, rows = [], []
    for name in ("one", "two", "three"):
        judged = [(f"q{q}", f"q{q}n{n}", f"d{d}", 1) for q in range(23) for n in range(3) for d in (n, n + 3)]
        run = {f"q{q}": {f"d{d}": float(generator.random()) for d in range(9)} for q in range(23)}
        result = evaluate(run, Dataset.from_nugget_qrels(judged, name=name), "alpha_nDCG@3 Recall@3", intervals=False)
        results.append(result)
        rows.append(result.values)
    assert macro_means(rows).tolist() == list(macro_mean(results).values())


def test_a_small_sample_has_the_interval_that_can_be_counted_out() -> None:
    # the mean of a resample of 0, 0, 0, 1 is B / 4 with B binomial(4, 1/4): P(B = 0) = 0.316 and
    # P(B <= 2) = 0.949 < 0.975 < P(B <= 3) = 0.996, so its ends are 0 and 3/4; the other dataset is always 1/2
    strata = [np.array([[0.0, 0.0, 0.0, 1.0]]), np.array([[0.5]])]
    assert stratified_intervals(strata).tolist() == [[0.25, 0.625]]


def test_each_dataset_is_resampled_for_itself() -> None:
    # a resample of 0, 1 has the mean 0 once in four. Three datasets drawn independently are all 0 once in 64, which
    # is below 2.5 %, so the low end is the next mean, 1/6; drawn together, they would all be 0 once in four
    strata = [np.array([[0.0, 1.0]])] * 3
    assert stratified_intervals(strata)[0] == pytest.approx([1 / 6, 5 / 6], abs=1e-12)


def test_one_dataset_has_the_interval_of_its_own_evaluation() -> None:
    values = np.random.default_rng(1).random((3, 57))
    assert stratified_intervals([values], 500, 9).tolist() == bootstrap_intervals(values, 500, 9).tolist()


def test_a_row_has_the_same_interval_to_the_last_bit_whatever_rows_stand_beside_it() -> None:
    generator = np.random.default_rng(2)
    strata = [generator.random((40, queries)) * 30 ** generator.random((40, 1)) for queries in (203, 57, 99)]
    together = stratified_intervals(strata, 300, 4)
    alone = [
        stratified_intervals([values[row : row + 1] for values in strata], 300, 4)[0].tolist() for row in range(40)
    ]
    assert together.tolist() == alone


@pytest.mark.parametrize("sizes", [(7,), (5, 11, 3)])
def test_flips_turn_the_signs_of_queries_the_same_for_all_rows(sizes: tuple[int, ...]) -> None:
    # where a row is 1 for one query alone, its flipped mean is the sign of that query times its weight in the mean;
    # from these signs, the flipped mean of any other row can be made without rounding
    generator = np.random.default_rng(3)
    strata = [np.concatenate([np.zeros((sum(sizes), size)), generator.random((1, size))]) for size in sizes]
    before = np.cumsum(sizes) - sizes
    for values, at, size in zip(strata, before, sizes, strict=True):
        values[at : at + size, :] = np.eye(size)
    flipped = flipped_means(strata, 50, 8)
    weights = [Fraction(1, size * len(sizes)) for size in sizes for _ in range(size)]
    signs = np.sign(flipped[:-1])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(flipped[:-1]) == pytest.approx(np.array(weights, np.float64)[:, None].repeat(50, axis=1))
    last = np.concatenate([values[-1] for values in strata])
    exact = [
        float(sum(Fraction(v) * w * int(s) for v, w, s in zip(last, weights, signs[:, flip], strict=True)))
        for flip in range(50)
    ]
    assert flipped[-1] == pytest.approx(exact, abs=1e-14)


def test_signs_are_fair_and_independent_between_queries_and_datasets() -> None:
    flipped = np.sign(flipped_means([np.pad(np.eye(4), ((0, 4), (0, 0))), np.pad(np.eye(4), ((4, 0), (0, 0)))], 10_000))
    # a mean of 10,000 independent signs has a standard error of 0.01: 5 of them
    assert np.abs(flipped.mean(axis=1)).max() < 0.05
    assert np.abs(flipped @ flipped.T / 10_000 - np.eye(8)).max() < 0.05


CHECKSUM = """
import hashlib, numpy as np
from freshstack_datasets.evaluation.pairs import compare_pairs
from freshstack_datasets.evaluation.strata import flipped_means, resampled_means
generator = np.random.default_rng(1)
strata = [generator.beta(0.5, 0.8, (17, queries)) for queries in (203, 57, 129)]
drawn, flipped = resampled_means(strata, 400), flipped_means(strata, 400)
pairs = compare_pairs(strata, drawn, flipped)
parts = [drawn, flipped, pairs.p, pairs.p_max_t, pairs.low, pairs.high]
print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest())
"""


def test_the_numbers_are_the_same_to_the_last_bit_whatever_multiplies_matrices() -> None:
    # OpenBLAS takes other kernels, which add in another order, for another processor and number of threads
    settings = [{}, {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Prescott"}]
    found = {
        subprocess.run(
            [sys.executable, "-c", CHECKSUM], env={**os.environ, **setting}, capture_output=True, text=True, check=True
        ).stdout
        for setting in settings
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("strata", "got"),
    [
        ([], "no dataset"),
        ([np.zeros((2, 3)), np.zeros((1, 3))], "2 x 3, 1 x 3"),
        ([np.zeros((2, 3)), np.zeros((2, 0))], "2 x 3, 2 x 0"),
    ],
)
def test_datasets_that_cannot_be_averaged_are_refused(strata: list[np.ndarray], got: str) -> None:
    for use in (macro_means, stratified_intervals, resampled_means, flipped_means):
        with pytest.raises(InputError, match=rf"expected the same rows of each, and a query in each, got {got}"):
            use(strata)


@pytest.mark.parametrize(("number", "seed"), [(0, 1), (2.5, 1), (True, 1), (10, -1), (10, "x")])
def test_a_number_of_resamples_or_a_seed_that_is_none_is_refused(number: object, seed: object) -> None:
    for use in (stratified_intervals, flipped_means):
        with pytest.raises(InputError, match="expected a whole number from"):
            use([np.zeros((1, 2))], number, seed)  # type: ignore[arg-type]  # what the test is about
