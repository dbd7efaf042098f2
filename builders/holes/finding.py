"""Which documents at the top of runs a snapshot has not judged."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from builders.judging import Group
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run


@dataclass(frozen=True, slots=True)
class Holes:
    """What the snapshot has not judged.

    Args:
        groups: The documents to judge, by question.
        top: How many documents stand at the top of the runs, those of a question once.
        foreign: From a run's name to its documents there that the corpus lacks, ascending; nobody can judge them.
        strange: From a run's name to how many of its queries the snapshot does not have.
    """

    groups: tuple[Group, ...]
    top: int
    foreign: Mapping[str, tuple[str, ...]]
    strange: Mapping[str, int]

    @property
    def documents(self) -> int:
        """How many pairs of a question and a document are to judge."""
        return sum(len(group.doc_ids) for group in self.groups)


def holes_of(data: Dataset, runs: Sequence[Run], k: int) -> Holes:
    """Return which documents in the top k of runs the snapshot has not judged for the question they were found for.

    Args:
        data: The snapshot.
        runs: The runs.
        k: How many documents count of each question's ranking.

    Raises:
        InputError: A run shares no question with the snapshot.
    """
    corpus: Container[object] = data.corpus
    tops: dict[str, set[str]] = {}
    foreign: dict[str, set[str]] = {}
    strange: dict[str, int] = {}
    for run in runs:
        known = [query_id for query_id in run.query_ids if query_id in data.qrels]
        if not known:
            got = ", ".join(map(shown, run.query_ids[:3])) or "no question"
            raise InputError(f"the run {shown(run.name)}", expected=f"questions of {data.name}", got=got)
        strange[run.name] = len(run.query_ids) - len(known)
        for query_id in known:
            top = set(islice(run[query_id], k))
            lacking = {doc_id for doc_id in top if doc_id not in corpus}
            foreign.setdefault(run.name, set()).update(lacking)
            tops.setdefault(query_id, set()).update(top - lacking)
    groups = (
        Group(data.queries[query_id], data.nuggets_of(query_id), tuple(sorted(top - data.qrels[query_id].keys())))
        for query_id, top in sorted(tops.items())
    )
    return Holes(
        tuple(group for group in groups if group.doc_ids),
        sum(map(len, tops.values())),
        {name: tuple(sorted(found)) for name, found in foreign.items() if found},
        {name: count for name, count in strange.items() if count},
    )
