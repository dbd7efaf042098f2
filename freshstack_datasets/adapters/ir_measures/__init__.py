"""The measures of this package in ``ir_measures``, and judgments in its form.

Nothing is registered by importing this; ``install`` does, in the process that calls it.
"""

from typing import TYPE_CHECKING, Any

from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.adapters.nuggets import zeros_first

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

__all__ = ["install", "qrels"]

_IR_MEASURES = Library("ir_measures", "ir")


def install() -> None:
    """Let ``ir_measures`` compute the measures of this package, with this package's own evaluator, in this process.

    Afterwards ``ir_measures.parse_measure("Coverage@20")`` is known, and these are computed here whenever they have a
    cutoff and count all documents (``judged_only=False``):

    - ``alpha_nDCG@k`` for any alpha, several of them at once, and ``StRecall@k``, down to any rank: pyndeval ends at 20;
    - ``Coverage@k``, which divides by all nuggets that the qrels name, and so by those that no document supports too,
      where ``StRecall@k`` leaves them out;
    - ``R@k``, for which a document is relevant when one of its rows is, in whatever order they come.

    Each takes ``rel``, from which relevance on a document supports a nugget. All else goes on to the providers of
    ``ir_measures`` as before.

    A nugget is an ``iteration`` of the qrels. Where they have none, as in nested dictionaries, each query has a single
    nugget: ``R`` is not concerned by that; ``alpha_nDCG``, ``Coverage`` and ``StRecall`` are then of little use.

    Documents are ranked by falling score, those of the same score by falling id. Means run over all queries of the
    qrels, and one that the run lacks scores 0, as everywhere in ``ir_measures``. A document that comes twice for a
    query, a score that is no number, an id that is no string, and two rows that contradict each other are errors.

    Doing the same again changes nothing.

    Raises:
        MissingExtraError: ir_measures is not installed.
        InputError: The installed one lacks something this stands on, or has another measure called ``Coverage``.
    """
    provider = _IR_MEASURES.load(f"{__name__}.provider")
    _IR_MEASURES.attribute(_IR_MEASURES.attribute("ir_measures", "DefaultPipeline"), "providers")
    provider.install()


def qrels(data: "Dataset") -> list[Any]:
    """Return the judgments of a dataset as ``ir_measures`` takes them.

    ``iteration`` is the nugget's number among those of its query, from 1, as text, the same as in the
    ``diversity.qrels`` that ``freshstack export --to trec`` writes. The rows of a query stand together, those with
    relevance 0 first: measures that know no nuggets keep the last row of a query and a document. So ``nDCG`` has gains
    of 0 and 1; with ``data.qrels``, which ``ir_measures`` takes as well, they are numbers of nuggets, as here.

    Args:
        data: The dataset.

    Returns:
        A list of ``ir_measures.Qrel``.

    Raises:
        MissingExtraError: ir_measures is not installed.
        InputError: It is no dataset, or has an id with a NUL, where trec_eval ends it.
        SnapshotError: A judgment is of no nugget that its query has.
    """
    qrel = _IR_MEASURES.attribute("ir_measures", "Qrel")
    return [qrel(query_id, doc_id, score, str(number)) for query_id, number, doc_id, score in zeros_first(data)]
