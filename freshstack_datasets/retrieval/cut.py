"""The cut at k that every retriever makes, with the ties of the one ranking."""

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import InputError, shown


def check_k(k: int) -> int:
    """Return the number of documents to find, when it is one.

    Raises:
        InputError: It is no whole number or below 1.
    """
    try:
        if (value := operator.index(k)) >= 1:
            return value
    except TypeError:
        pass
    raise InputError("the number of documents to find, k", expected="a whole number, at least 1", got=shown(k))


def best(scores: NDArray[Any], k: int) -> NDArray[np.intp]:
    """Return the places of the ``k`` largest scores other than zero, in ascending order of place.

    Of equal scores at the cut the later places are taken: with documents in ascending order of their ids, those are
    the larger ids, as the one ranking has it.

    Args:
        scores: Finite, of shape (documents,).
        k: At least 1.
    """
    places = np.flatnonzero(scores)
    if len(places) <= k:
        return places
    found = scores[places]
    least = np.partition(found, -k)[-k]
    above, tied = places[found > least], places[found == least]
    return np.sort(np.concatenate([above, tied[len(tied) - (k - len(above)) :]]))
