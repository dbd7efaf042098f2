"""Fusion of runs, held against that of ranx."""

import random

import pytest

from freshstack_datasets.retrieval import fuse

pytestmark = [
    pytest.mark.slow,  # ranx compiles itself, once in an environment: minutes on a small machine
    pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64"),  # ranx numbers documents by their hash
]


@pytest.mark.parametrize("seed", range(5))
def test_the_values_are_those_of_ranx(seed):
    import ranx

    dice = random.Random(seed)
    runs = [
        {f"q{q}": {f"d{d}": dice.gauss(0, 30) for d in dice.sample(range(40), dice.randint(2, 30))} for q in range(20)}
        for _ in range(dice.randint(2, 5))
    ]  # at least two documents in each list, as ranx gives 0 to one that is alone
    theirs = ranx.fuse([ranx.Run(run) for run in runs], norm="min-max", method="sum").to_dict()
    ours = fuse(runs, k=1000).to_dict()
    assert ours.keys() == theirs.keys()
    for query_id, documents in theirs.items():
        assert ours[query_id] == pytest.approx(documents, abs=1e-9)
