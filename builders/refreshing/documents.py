"""What became of the documents between two snapshots, told by their texts and not by their ids.

An id of a chunk holds its place in its file, so that a line more above it gives it another id; its text is the same, and
whoever judges sees the same.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from builders.judging.packing import shown_text
from freshstack_datasets.records import Document

KEPT, MOVED, EDITED, GONE, NEW = FATES = ("kept", "moved", "edited", "gone", "new")
"""The text is there under the same id, or under another one; its file, or its id, is there and the text is not; neither
is; and a text that was not there before."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What became of documents.

    Args:
        places: From the id of each document whose text is still there to its id now; each of these once.
        counts: How many of each fate there are.
        texts: By the id of each document now, the digest of its text, as far as the earlier snapshot has that text.
        before: By the id of each document of the earlier snapshot, the digest of its text.
    """

    places: Mapping[str, str]
    counts: Mapping[str, int]
    texts: Mapping[str, bytes]
    before: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is kept of a document."""

    text: bytes
    file: tuple[str, str] | None


def moves_of(before: Iterable[Document], now: Iterable[Document]) -> Moves:
    """Return what became of documents.

    Of several documents with one text, those with the same id belong together first, then those of the same file, then
    as their ids ascend.

    Args:
        before: The documents of the earlier snapshot.
        now: Those of the newer one.
    """
    old, new = ({one.doc_id: _seen(one) for one in documents} for documents in (before, now))
    kept = {doc_id for doc_id, seen in old.items() if doc_id in new and new[doc_id].text == seen.text}
    moved = dict(_paired(old, new, kept))
    there = {seen.file for seen in new.values() if seen.file}
    counts: Counter[str] = Counter(dict.fromkeys(FATES, 0))
    counts[KEPT], counts[MOVED] = len(kept), len(moved)
    for doc_id, seen in old.items():
        if doc_id not in kept and doc_id not in moved:
            counts[EDITED if doc_id in new or seen.file in there else GONE] += 1
    counts[NEW] = len(new) - len(kept) - len(moved)
    known = {seen.text for seen in old.values()}
    return Moves(
        {**{doc_id: doc_id for doc_id in sorted(kept)}, **moved},
        dict(counts),
        {doc_id: seen.text for doc_id, seen in new.items() if seen.text in known},
        {doc_id: seen.text for doc_id, seen in old.items()},
    )


def _paired(old: Mapping[str, _Seen], new: Mapping[str, _Seen], kept: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the ids, before and now, of texts that are under another id."""
    free: dict[bytes, list[str]] = defaultdict(list)
    for doc_id in sorted(new.keys() - kept):
        free[new[doc_id].text].append(doc_id)
    left = [doc_id for doc_id in sorted(old.keys() - kept) if old[doc_id].text in free]
    for same_file in (True, False):
        rest = []
        for doc_id in left:
            places, file = free[old[doc_id].text], old[doc_id].file
            fits = (one for one in places if not same_file or new[one].file == file is not None)
            if (place := next(fits, None)) is None:
                rest.append(doc_id)
                continue
            places.remove(place)
            yield doc_id, place
        left = rest


def _seen(document: Document) -> _Seen:
    repository, path = (document.metadata.get(name) for name in ("repository", "path"))
    file = (str(repository or ""), str(path)) if path else None
    return _Seen(hashlib.sha256(shown_text(document).encode("utf-8", "replace")).digest(), file)
