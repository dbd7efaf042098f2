"""The library's evaluators of retrieval, with the ranking and the measures of this package in the place of theirs."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.multi_vector_encoder import evaluation as multi_vector
from sentence_transformers.sentence_transformer import evaluation as dense
from sentence_transformers.sparse_encoder import evaluation as sparse
from sentence_transformers.util import append_to_last_row

from freshstack_datasets.adapters.judged import Judged
from freshstack_datasets.errors import InputError, UnknownNameError, shown
from freshstack_datasets.evaluation import (
    AP,
    DEFAULT_MEASURES,
    RR,
    Measure,
    P,
    Recall,
    Success,
    evaluate,
    nDCG,
    parse_measures,
)
from freshstack_datasets.loading import Dataset

logger = logging.getLogger(__name__)

Scores = dict[str, dict[int, float]]
"""Name of a measure, ending in ``@k``, to cutoff to mean."""

THEIRS = {
    "accuracy": ("accuracy_at_k", Success),
    "precision": ("precision_recall_at_k", P),
    "recall": ("precision_recall_at_k", Recall),
    "ndcg": ("ndcg_at_k", nDCG(gain="binary")),
    "mrr": ("mrr_at_k", RR),
    "map": ("map_at_k", AP),
}
"""What the library computes, with the attribute that holds the cutoffs, and the same measure here."""

_SPELLED = {str(family): name for name, (_, family) in THEIRS.items()} | {"nDCG": "ndcg(gain=graded)"}
_OVERRIDDEN = ("compute_all_metrics", "compute_metrics", "output_scores", "_append_csv_headers")


def lacking() -> list[str]:
    """Return the methods that are overridden here and that the installed library does not have."""
    home = dense.InformationRetrievalEvaluator
    return [f"{home.__name__}.{name}" for name in _OVERRIDDEN if not hasattr(home, name)]


def name_of(measure: Measure) -> str:
    """Return a measure as the library would spell it, without its cutoff."""
    written = str(measure).rpartition("@")[0]
    return _SPELLED.get(written, written.lower())


class DocId(str):
    """A document's id that sorts in falling order, as documents of one score are ranked; the library sorts upwards."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)


class Measured(BaseEvaluator):
    """What the evaluators below have in common; it stands before one of the library's.

    Args:
        data: The dataset.
        measures: What to compute, the primary one first.
        **options: What the library's evaluator takes besides texts and judgments.

    Raises:
        SnapshotError: The dataset has no corpus, or its files cannot be read.
        InputError: The library does not take such an option.
    """

    csv_headers: list[str]
    precision_recall_at_k: list[int]
    primary_metric: str | None

    def __init__(self, data: Dataset, measures: Sequence[Measure], **options: Any) -> None:
        self.measures = tuple(measures)
        self.judged = Judged.of(data)
        queries = dict(zip(*data.queries.columns("query_id", "text"), strict=True))
        corpus = {DocId(document.doc_id): document.default_text() for document in data.corpus}
        relevant = {query_id: {d for d, score in found.items() if score} for query_id, found in data.qrels.items()}
        try:
            super().__init__(queries=queries, corpus=corpus, relevant_docs=relevant, **options)
        except (TypeError, ValueError) as error:
            raise InputError("the options of an evaluator", got=shown(str(error).rpartition("() got ")[2])) from error
        # It left out the queries without a relevant document.
        self.queries_ids, self.queries = list(queries), list(queries.values())
        self._look_deep_enough()

    def _look_deep_enough(self) -> None:
        deepest = max(measure.cutoff for measure in self.measures)
        if deepest > max(measure.cutoff for measure in self._theirs()):
            self.precision_recall_at_k = [*self.precision_recall_at_k, deepest]
            self.csv_headers = self.csv_headers[:2]
            self._append_csv_headers(self.score_function_names)

    def _theirs(self) -> dict[Measure, str]:
        """Return the library's measures with the names that it gives them."""
        return {family @ k: name for name, (cutoffs, family) in THEIRS.items() for k in getattr(self, cutoffs)}

    def _columns(self) -> list[str]:
        """Return what is to be added to each row of the CSV file."""
        theirs = self._theirs()
        return [f"{name_of(measure)}@{measure.cutoff}" for measure in self.measures if measure not in theirs]

    def _append_csv_headers(self, score_function_names: Sequence[str]) -> None:
        super()._append_csv_headers(score_function_names)
        self.csv_headers.extend(f"{name}-{column}" for name in score_function_names for column in self._columns())

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, float]:
        """Evaluate a model.

        Args:
            model: The model.
            output_path: The folder that files are written to; none are when not given.
            epoch: The epoch of the training, -1 outside of one.
            steps: The step of the epoch, -1 at its end.
            *args: What the library's evaluator takes besides.
            **kwargs: The same by name.

        Returns:
            Name of a measure, after those of the dataset and of the similarity, to its mean.
        """
        metrics: dict[str, float] = super().__call__(model, output_path, epoch, steps, *args, **kwargs)
        if output_path is not None and self.write_csv:
            before = f"{self.name}_" if self.name else ""
            values = [metrics[f"{before}{name}_{c}"] for name in self.score_function_names for c in self._columns()]
            append_to_last_row(Path(output_path) / self.csv_file, values)
        return metrics

    def compute_all_metrics(self, *args: Any, **kwargs: Any) -> dict[str, Scores]:
        """Search and score, and settle at the first time which value is the primary one."""
        scores: dict[str, Scores] = super().compute_all_metrics(*args, **kwargs)
        if not self.primary_metric:
            name, k = name_of(self.measures[0]), self.measures[0].cutoff
            main = self.main_score_function
            best = main.value if main else max(self.score_function_names, key=lambda f: scores[f][f"{name}@k"][k])
            self.primary_metric = f"{best}_{name}@{k}"
        return scores

    def compute_metrics(self, queries_result_list: Iterable[Iterable[Mapping[str, Any]]]) -> Scores:
        """Return the means of all measures for what was found for each query."""
        run = {
            query_id: {str(hit["corpus_id"]): hit["score"] for hit in hits}
            for query_id, hits in zip(self.queries_ids, queries_result_list, strict=True)
        }
        names = {measure: name_of(measure) for measure in self.measures} | self._theirs()
        result = evaluate(run, self.judged, list(names), intervals=False)
        scores: Scores = {}
        for measure, name in names.items():
            scores.setdefault(f"{name}@k", {})[measure.cutoff] = result.mean[measure]
        return scores

    def output_scores(self, scores: Scores) -> None:
        """Log the means of one similarity."""
        super().output_scores(scores)
        for measure in self.measures:
            logger.info("%s: %.4f", measure, scores[f"{name_of(measure)}@k"][measure.cutoff])


class InformationRetrievalEvaluator(Measured, dense.InformationRetrievalEvaluator):
    """Evaluates a ``SentenceTransformer``."""


class SparseInformationRetrievalEvaluator(Measured, sparse.SparseInformationRetrievalEvaluator):
    """Evaluates a ``SparseEncoder``."""


class MultiVectorInformationRetrievalEvaluator(Measured, multi_vector.MultiVectorInformationRetrievalEvaluator):
    """Evaluates a ``MultiVectorEncoder``."""


ENCODERS = {
    "dense": InformationRetrievalEvaluator,
    "sparse": SparseInformationRetrievalEvaluator,
    "multi_vector": MultiVectorInformationRetrievalEvaluator,
}


def make(
    data: Dataset,
    measures: str | Measure | Iterable[str | Measure] | None,
    name: str | None,
    encoder: str,
    options: Mapping[str, Any],
) -> Measured:
    """Return the evaluator for a kind of encoder; see ``evaluator``.

    Args:
        data: The dataset.
        measures: What to compute.
        name: What the dataset is called.
        encoder: The kind of encoder.
        options: What else the library's evaluator takes.

    Raises:
        UnknownNameError: There is no such kind.
        MeasureError: A measure cannot be parsed.
        SnapshotError: The dataset has no corpus, or its files cannot be read.
        InputError: The library does not take such an option, or the name cannot be that of a file.
    """
    if encoder not in ENCODERS:
        raise UnknownNameError("kind of encoder", encoder, ENCODERS)
    chosen = DEFAULT_MEASURES if measures is None else parse_measures(measures)
    if name is not None and any(mark in name for mark in "/\\\0"):
        expected = "one without slashes, since files are called after it"
        raise InputError("the name of an evaluator", expected=expected, got=shown(name))
    called = f"{data.name}-{data.snapshot}".replace("/", "-") if name is None else name
    return ENCODERS[encoder](data, chosen, name=called, **options)
