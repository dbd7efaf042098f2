"""What goes into a snapshot: the questions that it has, their nuggets, and what was judged for them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from builders.pipeline.reading import labels_of, nuggets_of, questions_of
from builders.pipeline.records import Label
from builders.pipeline.work import Work
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Judgment, Nugget, Query


@dataclass(frozen=True, slots=True)
class Parts:
    """What a snapshot has beside its documents.

    Args:
        questions: The questions, each with a nugget.
        nuggets: The nuggets of each question, by its id, in their order; each was judged.
        labels: The documents that were judged for these questions.
    """

    questions: tuple[Query, ...]
    nuggets: Mapping[str, tuple[Nugget, ...]]
    labels: tuple[Label, ...]

    def judgments(self) -> Iterator[Judgment]:
        """Yield a judgment for each judged document and each nugget of its question."""
        for label in self.labels:
            for position, nugget in enumerate(self.nuggets[label.query_id]):
                score = int(position in label.supports)
                call_id = None if position in label.corrected else label.call_id or None
                yield Judgment(label.query_id, nugget.nugget_id, label.doc_id, score, call_id)

    def scored(self, name: str, snapshot: str) -> Dataset:
        """Return the judgments as a dataset for scoring, before there is a snapshot.

        Args:
            name: The dataset's name.
            snapshot: The snapshot's name.
        """
        rows = ((one.query_id, one.nugget_id, one.doc_id, one.score) for one in self.judgments())
        return Dataset.from_nugget_qrels(rows, name, snapshot)

    def only(self, kept: Collection[str]) -> "Parts":
        """Return the same of some questions.

        Args:
            kept: Their ids.
        """
        return Parts(
            tuple(question for question in self.questions if question.query_id in kept),
            {query_id: nuggets for query_id, nuggets in self.nuggets.items() if query_id in kept},
            tuple(label for label in self.labels if label.query_id in kept),
        )


def parts_of(work: Work) -> Parts:
    """Return all that can stand in a snapshot: the questions that have nuggets, and of which a document was judged.

    Raises:
        InputError: A stage is not done, its files cannot be read, or a label is of a nugget that there is not.
    """
    nuggets, labels = nuggets_of(work), labels_of(work)
    _refuse_strange(labels, nuggets)
    judged = {label.query_id for label in labels}
    whole = Parts(tuple(questions_of(work)), nuggets, tuple(labels))
    return whole.only(judged & nuggets.keys())


def _refuse_strange(labels: Iterable[Label], nuggets: Mapping[str, tuple[Nugget, ...]]) -> None:
    """Refuse labels that do not fit the nuggets, which are then of another build."""
    for label in labels:
        many = len(nuggets.get(label.query_id, ()))
        if strange := [position for position in label.supports if not 0 <= position < many]:
            what = f"a label of question {shown(label.query_id)}, document {shown(label.doc_id)}"
            got = f"the nugget {strange[0]}"
            raise InputError(what, expected=f"one of {many} nuggets", got=got, hint="run the stage support again")
