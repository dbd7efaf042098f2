"""Whether systems that one snapshot puts in an order are put in the same order by another one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.refreshing.tau import kendall_tau
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.evaluation import DEFAULT_MEASURES, Result, evaluate
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import own, retriever

DEPTH = 100


@dataclass(frozen=True)
class Systems:
    """The scores of systems on two snapshots.

    Args:
        scores: By measure and by system, the score on the earlier snapshot and on the newer one.
    """

    scores: Mapping[str, Mapping[str, tuple[float, float]]]

    @property
    def tau(self) -> dict[str, float | None]:
        """Kendall's tau-b of the two orders, by measure; None where one snapshot tells no two systems apart."""
        return {
            measure: kendall_tau([before for before, _ in of.values()], [now for _, now in of.values()])
            for measure, of in self.scores.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON values."""
        scores = {
            measure: {system: {"before": before, "now": now} for system, (before, now) in of.items()}
            for measure, of in self.scores.items()
        }
        return {"scores": scores, "kendall_tau": self.tau}


def systems(before: Iterable[Result], now: Iterable[Result]) -> Systems:
    """Return the scores of systems on both snapshots.

    Args:
        before: Their results on the earlier one.
        now: Their results on the newer one; a system is known by its name.

    Raises:
        InputError: A system has a result on one of the two alone, or two.
    """
    old, new = _by_name(before), _by_name(now)
    if single := sorted(old.keys() ^ new.keys()):
        what = f"the runs of {shown(single[0])}"
        raise InputError(what, expected="one on each snapshot, of one name", got="one on one of them")
    return Systems(
        {
            str(measure): {name: (old[name].mean[measure], new[name].mean[measure]) for name in sorted(old)}
            for measure in DEFAULT_MEASURES
        }
    )


def searched(
    names: Sequence[str], documents: Collection[Document], queries: Sequence[Query], judged: Dataset
) -> list[Result]:
    """Return the results of retrievers.

    Args:
        names: The retrievers, as ``freshstack evaluate`` knows them.
        documents: Where they search.
        queries: What they search for.
        judged: The judgments.

    Raises:
        UnknownNameError: There is no such retriever.
    """
    found = []
    for name in names:
        with own.blamed(name):
            ready = retriever(name).index(documents)
        run = own.searched(ready, name, queries, DEPTH).named(name)
        found.append(evaluate(run, judged, intervals=False))
    return found


def scored(runs: Iterable[Run], data: Dataset) -> list[Result]:
    """Return the results of runs on a snapshot.

    Args:
        runs: The runs.
        data: The snapshot.

    Raises:
        RunError: A run shares no query with the snapshot.
    """
    return [evaluate(run, data, intervals=False) for run in runs]


def _by_name(results: Iterable[Result]) -> dict[str, Result]:
    found: dict[str, Result] = {}
    for result in results:
        if result.system in found:
            got = "two"
            raise InputError(f"the runs of {shown(result.system)}", expected="one on each snapshot", got=got)
        found[result.system] = result
    return found
