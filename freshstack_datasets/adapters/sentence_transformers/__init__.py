"""The measures of this package as an evaluator of sentence-transformers, for models in training and after it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from freshstack_datasets.adapters.given import check_dataset
from freshstack_datasets.adapters.libraries import Library

if TYPE_CHECKING:
    from freshstack_datasets.evaluation import Measure
    from freshstack_datasets.loading import Dataset

__all__ = ["evaluator"]

_SENTENCE_TRANSFORMERS = Library("sentence_transformers", "dense")


def evaluator(
    data: "Dataset",
    measures: "str | Measure | Iterable[str | Measure] | None" = None,
    *,
    name: str | None = None,
    encoder: str = "dense",
    **options: Any,
) -> Any:
    """Return an ``InformationRetrievalEvaluator`` of sentence-transformers whose values are those of ``evaluate``.

    Called with a model, it encodes the texts, ranks the whole corpus and returns the values by names that the library
    would give them, such as ``freshstack-nimbus-2026-11_cosine_alpha_ndcg@10``. The first measure is the primary one:
    what the log and the model card highlight, and what ``metric_for_best_model`` can name, with ``eval_`` before it
    and written out: ``evaluator.primary_metric`` is None until a model, whose similarity the name holds, was evaluated.

    Cards are written by the library: one of a model that was trained, or made anew, has the values; a model that came
    with a card of its own, and was not trained, keeps it as it is.

    The library's own measures are there too, for the cutoffs that it has or is told (``ndcg_at_k`` and so on), but
    computed here: means run over all queries, ties go to the larger id, and ``map@k`` divides by all relevant
    documents. ``ndcg`` alone has binary gains; that by the number of nuggets is ``ndcg(gain=graded)``. A measure that
    looks deeper than all of these adds its cutoff to those of ``precision`` and ``recall``.

    Args:
        data: The dataset. Documents are encoded as ``default_text`` has them, and the whole corpus is held in memory.
        measures: What to compute; ``DEFAULT_MEASURES`` when not given, of which alpha-nDCG@10 is the first.
        name: What the dataset is called in the names of the values, the files and the model card, without slashes; its
            name and snapshot when not given.
        encoder: ``dense`` for a ``SentenceTransformer``, ``sparse`` for a ``SparseEncoder``, ``multi_vector`` for a
            ``MultiVectorEncoder``.
        **options: What else the library's evaluator takes: ``batch_size``, ``query_prompt``, ``truncate_dim``, …

    Returns:
        An evaluator, to be called with a model or given to a trainer.

    Raises:
        SnapshotError: The dataset has no corpus, or its files cannot be read.
        InputError: It is no dataset, there is no such encoder or option, the name has a slash, or the installed library
            lacks what this stands on.
        MeasureError: A measure cannot be parsed.
        MissingExtraError: sentence-transformers is not installed.
    """
    evaluators = _SENTENCE_TRANSFORMERS.load(f"{__name__}.evaluators")
    if lacking := evaluators.lacking():
        raise _SENTENCE_TRANSFORMERS.moved(lacking[0])
    check_dataset(data)
    return evaluators.make(data, measures, name, encoder, options)
