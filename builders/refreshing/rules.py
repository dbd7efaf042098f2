"""Which questions a refresh keeps, adds and retires.

A question is *added* when it is chosen from the dump as ``build`` would choose it, and the earlier snapshot does not have
it. A question of the earlier snapshot is

1. *retired* when it was asked before or after the topic's period, or before ``--retire-before``;
2. *retired* when it has no tag of the topic;
3. *retired* when the dump has it and the topic's rules now leave it out, for the reason that they give;
4. *kept* when it is chosen from the dump, with the dump's record; where its text or its answer is another one, it is
   *edited*: its nuggets are made anew, and none of its judgments is carried over;
5. *kept* as it was when the dump does not have it at all: posts that were deleted since stay in a benchmark, under their
   licence; with ``--retire-gone`` it is *retired*.

``--retire-before`` also leaves out older questions of the dump, or what was retired would come back as new.

What people corrected stands above the dump: a question that they changed is kept as they left it, and one that they
removed stays out.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from builders.topics import Topic
from freshstack_datasets.records import Query

KEPT, EDITED, NEW = "kept", "edited", "new"
"""What becomes of the questions of a refreshed snapshot."""
RETIRED, KEPT_OUT = "retired", "kept out"
"""What becomes of the others: those of the earlier snapshot, and those of the dump alone that a rule leaves out."""
OPEN = (EDITED, NEW)
"""Of those, for which nothing is known yet."""
REMOVED = "retired: removed by a correction"
"""Why a question stays out that people removed."""


@dataclass(frozen=True, slots=True)
class Rules:
    """By which rules questions are kept.

    Args:
        first: The first day on which one may have been asked.
        last: The last day.
        tags: The tags of which one is needed; none lets every question pass.
        retire_gone: Whether those are retired that the dump does not have.
        retire_before: The day before which questions are retired, None for no such day.
    """

    first: date | None = None
    last: date | None = None
    tags: frozenset[str] = frozenset()
    retire_gone: bool = False
    retire_before: date | None = None

    @classmethod
    def of(cls, topic: Topic, *, retire_before: date | None = None, retire_gone: bool = False) -> "Rules":
        """Return the rules of a topic."""
        tags = frozenset(tag.casefold() for tag in topic.tags)
        return cls(topic.first, topic.last, tags, retire_gone, retire_before)

    def too_old(self, query: Query) -> str:
        """Return why a question is too old for the benchmark, "" when it is not, or nobody knows when it was asked."""
        day = (query.date or "")[:10]
        if day and self.retire_before and day < self.retire_before.isoformat():
            return f"retired: asked before {self.retire_before}"
        return ""

    def retires(self, query: Query) -> str:
        """Return why an earlier question is retired, whatever the dump says of it; "" when it is not."""
        day = (query.date or "")[:10]
        if day and self.first and day < self.first.isoformat():
            return f"retired: asked before the topic's period, which begins on {self.first}"
        if day and self.last and day > self.last.isoformat():
            return f"retired: asked after the topic's period, which ends on {self.last}"
        if self.tags and query.tags and not self.tags.intersection(tag.casefold() for tag in query.tags):
            return "retired: no tag of the topic"
        return self.too_old(query)


@dataclass(frozen=True, slots=True)
class Merged:
    """The questions of a refreshed snapshot.

    Args:
        questions: The questions.
        fates: By the id of each, whether it is kept, edited or new.
        gone: The ids of those among the kept ones that the dump does not have.
        retired: By the id of each question of the earlier snapshot that is not among them, why.
        kept_out: By the id of each question that would be new and is not among them, why.
    """

    questions: tuple[Query, ...]
    fates: Mapping[str, str]
    gone: frozenset[str]
    retired: Mapping[str, str]
    kept_out: Mapping[str, str]

    @property
    def left_out(self) -> dict[str, str]:
        """By the id of each question that is retired or kept out, why."""
        return dict(sorted({**self.retired, **self.kept_out}.items()))


def merged(
    earlier: Iterable[Query],
    chosen: Iterable[Query],
    left_out: Mapping[str, str],
    rules: Rules,
    corrected: Collection[str] = (),
) -> Merged:
    """Return what becomes of all questions.

    Args:
        earlier: The questions of the earlier snapshot.
        chosen: Those that were chosen from the dump.
        left_out: By the id of each that was left out though it has a tag, the reason.
        rules: The rules.
        corrected: The ids of the questions that people changed, added or removed.
    """
    now = {query.query_id: query for query in chosen}
    before = {query.query_id: query for query in earlier}
    retired: dict[str, str] = {}
    kept_out: dict[str, str] = {}
    gone: set[str] = set()
    taken: dict[str, Query] = {}
    for query_id, query in before.items():
        if why := rules.retires(query) or ("" if query_id in now else _lost(query_id, left_out, rules)):
            retired[query_id] = why
            continue
        if query_id not in now:
            gone.add(query_id)
        taken[query_id] = query if query_id in corrected else now.get(query_id, query)
    for query_id, query in now.items():
        if why := rules.too_old(query):
            (retired if query_id in before else kept_out)[query_id] = why
        elif query_id not in before and query_id in corrected:
            kept_out[query_id] = REMOVED
        elif query_id not in before:
            taken[query_id] = query
    taken = {query_id: query for query_id, query in taken.items() if query_id not in retired}
    fates = dict(_fates(taken, before))
    return Merged(
        tuple(taken[query_id] for query_id in sorted(taken)),
        fates,
        frozenset(gone - retired.keys()),
        dict(sorted(retired.items())),
        dict(sorted(kept_out.items())),
    )


def same_texts(one: Query, other: Query) -> bool:
    """Tell whether two records of a question have the same question and the same answer."""
    return (one.text, one.title, one.body, one.answer_text) == (other.text, other.title, other.body, other.answer_text)


def _lost(query_id: str, left_out: Mapping[str, str], rules: Rules) -> str:
    """Return why a question is retired that was not chosen from the dump, "" when it is kept all the same."""
    if query_id in left_out:
        return f"retired: {left_out[query_id]}"
    return "retired: no longer in the dump" if rules.retire_gone else ""


def _fates(taken: Mapping[str, Query], before: Mapping[str, Query]) -> Iterator[tuple[str, str]]:
    for query_id, query in taken.items():
        if query_id not in before:
            yield query_id, NEW
        else:
            yield query_id, KEPT if same_texts(query, before[query_id]) else EDITED
