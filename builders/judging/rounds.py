"""What has come of calls so far, and what is asked next of the documents that they leave open."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from builders.judging.calls import Pack
from builders.judging.packing import parts_of
from builders.judging.records import Shown
from builders.judging.replies import Reply, read_labels
from builders.pipeline.asking import STANDING, TURNED_AWAY, is_new, takes_others
from builders.pipeline.records import Label, Lacking
from freshstack_datasets.llm.records import Answer, Failed

FAULTS = {"missing": "missing", "twice": "twice", "nugget": "wrong_nuggets", "unreadable": "unreadable"}
"""What can be wrong with what a reply says of a document, and what it is counted as."""
COUNTS = ("calls", "asked_again", *FAULTS.values(), "halved", "unasked")
_TOO_LARGE = "request too large"


@dataclass(slots=True)
class Found:
    """What has come of judging so far."""

    labels: list[Label] = field(default_factory=list)
    lacking: list[Lacking] = field(default_factory=list)
    orders: list[Shown] = field(default_factory=list)
    passing: list[Failed] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    new: bool = False
    """Whether a call was answered in this run."""
    refused: list[tuple[Pack, Failed]] = field(default_factory=list)
    """Calls that the server would not take, as when they are too large for the model."""

    def take(self, pack: Pack, result: Answer[Reply] | Failed) -> list[Pack]:
        """Take what came of a call, and return what is asked next of its documents.

        Args:
            pack: Its documents.
            result: What came of it.
        """
        self.counts["calls"] += len(result.calls)
        if isinstance(result, Answer):
            self._show(pack, result.calls)
            self.new |= is_new(result)
            return self._take_labels(pack, result)
        if result.reason in STANDING:
            self.new = True
            self._show(pack, result.calls)
            return self._halved(pack, result)
        self._show(pack, result.calls[:-1])
        turned_away = result.reason in TURNED_AWAY or (
            result.reason == "http-429" and _TOO_LARGE in result.detail.lower()
        )
        if turned_away:
            self.refused.append((pack, result))
        else:
            self.passing.append(result)
        return []

    def end_round(self) -> list[Pack]:
        """Return what is asked next of calls that the server would not take.

        Where it takes others, it is about these calls, and they are halved as those are whose replies are of no use. As
        long as it takes none, one of them is halved to see whether it is too large; where it does not even take a
        single document, it is about something else, and all stay open.
        """
        refused, self.refused = self.refused, []
        if refused and not takes_others(len(refused), len(self.orders), self.new):
            first = min(refused, key=lambda one: len(one[0].doc_ids))
            if len(first[0].doc_ids) == 1:
                self.passing += [result for _, result in refused]
                return []
            refused.remove(first)
            refused, self.refused = [first], refused
        return [part for pack, result in refused for part in self._halved(pack, result)]

    def _take_labels(self, pack: Pack, answer: Answer[Reply]) -> list[Pack]:
        group, nuggets = pack.group, pack.group.nuggets
        said = read_labels(answer.value, len(pack.doc_ids), len(nuggets))
        for number, supports in said.supports.items():
            positions = tuple(nuggets[one - 1].position for one in supports)
            doc_id = pack.doc_ids[number - 1]
            self.labels.append(Label(group.query.query_id, doc_id, positions, answer.reply.digest))
        self.counts["unasked"] += said.unasked
        self.counts.update(FAULTS[fault] for fault in said.faults.values())
        return self._again(pack, [pack.doc_ids[number - 1] for number in said.faults], answer.calls)

    def _halved(self, pack: Pack, result: Failed) -> list[Pack]:
        if len(pack.doc_ids) > 1:
            self.counts["halved"] += 1
            return self._again(pack, pack.doc_ids, result.calls)
        query_id, calls = pack.group.query.query_id, (*pack.calls, *result.calls)
        self.lacking.append(Lacking(query_id, result.reason, result.detail, pack.doc_ids[0], calls))
        return []

    def _again(self, pack: Pack, doc_ids: Sequence[str], calls: tuple[str, ...]) -> list[Pack]:
        self.counts["asked_again"] += len(doc_ids)
        return [Pack(pack.group, part, (*pack.calls, *calls)) for part in parts_of(doc_ids, len(pack.doc_ids))]

    def _show(self, pack: Pack, calls: Iterable[str]) -> None:
        self.orders += [Shown(call_id, pack.group.query.query_id, pack.doc_ids) for call_id in calls]
