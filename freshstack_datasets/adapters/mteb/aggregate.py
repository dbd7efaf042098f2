"""The mean over the topics of a snapshot, as one task of MTEB."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mteb.abstasks.aggregate_task_metadata import AggregateTaskMetadata
from mteb.abstasks.aggregated_task import AbsTaskAggregate

from freshstack_datasets import catalog
from freshstack_datasets.adapters.mteb.metadata import SPLIT, SUBSET, months
from freshstack_datasets.adapters.mteb.retrieval import SnapshotTask, known_tasks
from freshstack_datasets.adapters.mteb.scores import HEADLINE, MAIN_SCORE, METRIC_VERSION
from freshstack_datasets.catalog import snapshot_order

_SAME = (
    "date",
    "domains",
    "task_subtypes",
    "license",
    "annotations_creators",
    "sample_creation",
    "category",
    "dialect",
)
"""What MTEB would put together itself, in an order of its own, even where all tasks say the same."""


class TopicsAggregate(AbsTaskAggregate):
    """The macro mean over the topics of one snapshot: each topic counts the same."""

    snapshot: str

    def task_results_to_scores(self, task_results: Sequence[Any]) -> dict[str, Mapping[str, dict[str, Any]]]:
        """Return the mean of each headline score; None for all where a topic has no result, or a damaged one.

        Args:
            task_results: The results of the topics' tasks.
        """
        found = {result.task_name: result for result in task_results if result.task_name in self.taskname_to_task}
        values = [scores for result in found.values() if (scores := _whole(result)) is not None]
        whole = len(values) == len(self.taskname_to_task)
        means = {name: sum(topic[name] for topic in values) / len(values) if whole else None for name in HEADLINE}
        more = {"queries": sum(topic["queries"] for topic in values)} if whole else {}
        told = {"main_score": means[MAIN_SCORE], "metric_version": METRIC_VERSION}
        return {SPLIT: {SUBSET: {**means, **more, **told}}}


def _whole(result: Any) -> Mapping[str, Any] | None:
    """Return the scores of a topic; None where the file they were read from does not hold them all, and once."""
    entries: Sequence[Any] = result.scores.get(SPLIT, ())
    if len(entries) != 1:
        return None
    values = [entries[0].get(name) for name in (*HEADLINE, "queries")]
    return entries[0] if all(isinstance(value, int | float) and math.isfinite(value) for value in values) else None


def editions() -> dict[str, dict[str, str]]:
    """Return the snapshots that the catalogued datasets were published as together.

    Returns:
        From the name of a snapshot that any of them has to every dataset's own of that month: the newest one that is
        not newer. For a correction of one topic, that is the correction, and what the other topics had by then.
    """
    published = {name: sorted(catalog.published(name), key=snapshot_order) for name in sorted(catalog.known())}
    found: dict[str, dict[str, str]] = {}
    for edition in sorted({snapshot for names in published.values() for snapshot in names}, key=snapshot_order):
        until = snapshot_order(edition)
        for name, snapshots in published.items():
            for snapshot in snapshots:
                if until[:2] == snapshot_order(snapshot)[:2] and snapshot_order(snapshot) <= until:
                    found.setdefault(edition, {})[name] = snapshot
    return found


def tasks_of(edition: str) -> list[SnapshotTask]:
    """Return the tasks on what the catalogued datasets had by a snapshot of that name."""
    members = editions()[edition]
    return [known() for known in known_tasks() if members.get(known.dataset_name) == known.snapshot]


@cache
def known_aggregates() -> tuple[type[TopicsAggregate], ...]:
    """Return the class of each aggregate: one for each snapshot that the catalogued datasets have."""
    return tuple(map(_made, editions()))


def known_classes() -> list[Any]:
    """Return the classes of all tasks that are known by name, the aggregates last."""
    return [*known_tasks(), *known_aggregates()]


def _made(edition: str) -> type[TopicsAggregate]:
    tasks = tasks_of(edition)
    told = AggregateTaskMetadata(
        name=f"FreshStack{months(edition)[0]}Retrieval",
        description=f"The mean over the topics of FreshStack, snapshot {edition}; each topic counts the same.",
        dataset={"path": "freshstack", "revision": _revision(tasks)},
        reference=tasks[0].metadata.reference,
        tasks=tasks,
        type="Retrieval",
        eval_splits=[SPLIT],
        eval_langs=sorted({code for task in tasks for code in task.metadata.bcp47_codes}),
        main_score=MAIN_SCORE,
        bibtex_citation=catalog.citation(),
        **_said_by_all(tasks),
    )
    parts = {"metadata": told, "snapshot": edition, "__module__": __name__, "__doc__": told.description}
    return type(told.name, (TopicsAggregate,), parts)


def _said_by_all(tasks: Sequence[SnapshotTask]) -> dict[str, Any]:
    first = tasks[0].metadata
    said = {name: getattr(first, name) for name in _SAME}
    return {name: value for name, value in said.items() if all(getattr(task.metadata, name) == value for task in tasks)}


def _revision(tasks: Sequence[SnapshotTask]) -> str:
    """Return what changes when the data of any of the tasks does."""
    lines = "".join(f"{task.metadata.name} {task.metadata.revision}\n" for task in tasks)
    return hashlib.sha256(lines.encode()).hexdigest()


def __getattr__(name: str) -> type[TopicsAggregate]:
    """Return the class of an aggregate, which is how a pickled one is found again."""
    for known in known_aggregates():
        if known.__name__ == name:
            return known
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
