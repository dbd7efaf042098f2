"""Judgments that are carried over: those of kept questions and of documents whose text is still there."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from builders.judging import Known, Shown
from builders.pipeline.reading import pool_of
from builders.pipeline.records import Label
from builders.pipeline.work import SUPPORT, Work
from builders.refreshing.documents import Moves
from builders.refreshing.earlier import Earlier
from builders.refreshing.nuggets import carried_nuggets


@dataclass(frozen=True)
class Carrying:
    """What the earlier snapshot knows of the documents to judge.

    Args:
        earlier: The earlier snapshot.
        moves: What became of its documents, asked for when the corpus is there.
    """

    earlier: Earlier
    moves: Callable[[Work], Moves]

    @property
    def digest(self) -> str:
        """What all that is known depends on, beside what the stages made."""
        return self.earlier.digest

    def known(self, work: Work) -> Known:
        """Return the judgments that still hold, with the documents of their calls as they are called now.

        A document that was judged keeps its judgment, whether or not it is in the pool by now, under the id that its
        text has now. So does a further copy of its text, where it is in the pool.

        Args:
            work: The folder of the refresh, with the pool.

        Raises:
            InputError: An earlier stage is not done.
        """
        moves = self.moves(work)
        old = self._labels(work)
        labels = {
            (query_id, moves.places[doc_id]): replace(label, doc_id=moves.places[doc_id])
            for (query_id, doc_id), label in sorted(old.items())
            if doc_id in moves.places
        }
        labels = {**dict(_copies(old, moves, pool_of(work))), **labels}
        calls = {(label.call_id, label.query_id) for label in labels.values()}
        return Known(
            tuple(labels[pair] for pair in sorted(labels)), tuple(self._shown(calls, moves)), self._prompts(calls)
        )

    def _labels(self, work: Work) -> dict[tuple[str, str], Label]:
        """Return the earlier judgments of kept questions, by question and document.

        What people corrected is kept as they left it, and no call is named for it. Nor is one that the earlier trace
        does not have: nobody could follow it.
        """
        nuggets = carried_nuggets(self.earlier, work)
        position = {one.nugget_id: one.position for of in nuggets.values() for one in of}
        found: dict[tuple[str, str], dict[int, tuple[int, str]]] = defaultdict(dict)
        known = {(call.call_id, call.query_id) for call in self.earlier.calls}
        columns = self.earlier.whole.judgments.columns("query_id", "nugget_id", "doc_id", "score", "call_id")
        for query_id, nugget_id, doc_id, score, call_id in zip(*columns, strict=True):
            if query_id in nuggets and nugget_id in position:
                named = call_id if (call_id, query_id) in known else ""
                found[query_id, doc_id][position[nugget_id]] = (score, named)
        return {pair: _label(pair, judged) for pair, judged in found.items() if len(judged) == len(nuggets[pair[0]])}

    def _prompts(self, wanted: set[tuple[str, str]]) -> dict[str, str]:
        digests = {call.prompt for call in self.earlier.calls if (call.call_id, call.query_id) in wanted}
        named = self.earlier.manifest.recipe.prompts
        return {name: digest for name, digest in named.items() if digest in digests}

    def _shown(self, wanted: set[tuple[str, str]], moves: Moves) -> Iterator[Shown]:
        """Yield what was shown in the calls that carried judgments came from."""
        for call in self.earlier.calls:
            if call.stage == SUPPORT and (call.call_id, call.query_id) in wanted:
                documents = tuple(moves.places.get(doc_id, doc_id) for doc_id in call.documents)
                yield Shown(call.call_id, call.query_id, documents)


def _label(pair: tuple[str, str], judged: Mapping[int, tuple[int, str]]) -> Label:
    """Return what is known of a document, from the score of each nugget and the call that gave it, "" where none did."""
    call_id = max(call_id for _, call_id in judged.values())
    supports = tuple(sorted(at for at, (score, _) in judged.items() if score))
    corrected = tuple(sorted(at for at, (_, named) in judged.items() if named != call_id))
    return Label(*pair, supports, call_id, corrected)


def _copies(
    old: Mapping[tuple[str, str], Label], moves: Moves, pool: Mapping[str, list[str]]
) -> Iterator[tuple[tuple[str, str], Label]]:
    """Yield the judgments of pooled documents whose text was judged for their question under any id."""
    judged: dict[tuple[str, bytes], Label] = {}
    for (query_id, doc_id), label in sorted(old.items()):
        if doc_id in moves.before:
            judged.setdefault((query_id, moves.before[doc_id]), label)
    for query_id, doc_ids in pool.items():
        for doc_id in doc_ids:
            found = judged.get((query_id, moves.texts[doc_id])) if doc_id in moves.texts else None
            if found is not None:
                yield (query_id, doc_id), replace(found, doc_id=doc_id)
