"""The ids of a run file, each kept once and numbered by where it came first."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ids: TypeAlias = Sequence[str] | pa.Array
"""A column of ids, in Python or in Arrow."""

_AT_ONCE = 1 << 16
"""Ids in Python that are put into Arrow at once."""

_ID_BYTES, _LOOSE_BYTES = 200, 100
"""What an id takes beside its text, in Python and in what is made of it; and one that waits to be put into Arrow."""


class Vocabulary:
    """Ids and their numbers, which are worked out when somebody asks for them.

    Millions of ids are told apart in Arrow, without a look at each in Python.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Let all ids go."""
        self._known = pa.array([], pa.large_string())
        self._codes: list[NDArray[np.int32]] = []
        self._waiting: list[pa.DictionaryArray] = []
        self._loose: list[str] = []

    def add(self, ids: Ids) -> None:
        """Take more ids in, known or not."""
        if isinstance(ids, pa.Array):
            self._put()
            self._waiting.append(_encoded(ids))
        else:
            self._loose += ids
            if len(self._loose) >= _AT_ONCE:
                self._put()

    def _put(self) -> None:
        if self._loose:
            self._waiting.append(_encoded(pa.array(self._loose, pa.large_string())))
            self._loose = []

    @property
    def size(self) -> int:
        """About how many bytes the ids take; until they are told apart, an id counts once in each part it came in."""
        parts = [self._known, *(part.dictionary for part in self._waiting)]
        texts = int(sum(part.nbytes for part in parts))
        return texts + _ID_BYTES * len(self._known) + _LOOSE_BYTES * len(self._loose)

    def ids(self) -> pa.Array:
        """Return the ids, each once, in the order they came."""
        self._put()
        if self._waiting:
            known = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), self._known)
            unified = pa.chunked_array([known, *self._waiting]).unify_dictionaries()
            self._codes += [part.indices.to_numpy() for part in unified.chunks[1:]]
            self._known, self._waiting = unified.chunk(0).dictionary, []
        return self._known

    def codes(self) -> NDArray[np.int32]:
        """Return the number of every id that was added, int32 of shape (added,)."""
        self.ids()
        self._codes = [np.concatenate([np.zeros(0, np.int32), *self._codes])]
        return self._codes[0]

    def in_order(self) -> tuple[list[str], NDArray[np.int32]]:
        """Return the ids in ascending order, and for each number its place in it."""
        ids = self.ids()
        order = pc.sort_indices(ids).to_numpy()  # UTF-8 sorts as Python's texts do
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return ids.take(pa.array(order)).to_pylist(), places


def _encoded(ids: pa.Array) -> pa.DictionaryArray:
    encoded = ids.dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(pa.large_string()))
