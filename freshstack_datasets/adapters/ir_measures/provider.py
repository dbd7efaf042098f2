"""The measure ``Coverage`` and the provider of this package's measures, as ``ir_measures`` wants them."""

import logging
import threading
from collections.abc import Collection, Iterable, Iterator
from typing import Any as Anything
from typing import ClassVar

import ir_measures
from ir_measures.measures import ParamInfo
from ir_measures.measures import registry as known_measures
from ir_measures.providers import registry as known_providers
from ir_measures.providers.base import Any, Choices
from ir_measures.util import RunConverter

from freshstack_datasets.adapters.ir_measures.judged import Rows, judged
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.evaluation import Measure, evaluate
from freshstack_datasets.ranking import Run, as_run

log = logging.getLogger(__name__)


class CoverageMeasure(ir_measures.Measure):
    """The share of all nuggets of a query that the first k documents support."""

    __name__ = "Coverage"
    NAME = __name__
    PRETTY_NAME = "Nugget Coverage at k"
    SHORT_DESC = "The share of all nuggets, supported or not, that the top k documents cover."
    SUPPORTED_PARAMS: ClassVar = {
        "cutoff": ParamInfo(dtype=int, required=True, desc="ranking cutoff threshold"),
        "rel": ParamInfo(dtype=int, default=1, desc="minimum relevance score to be considered relevant (inclusive)"),
    }


Coverage = CoverageMeasure()

_OURS = {"alpha_nDCG": "alpha_nDCG", "Coverage": "Coverage", "StRecall": "Coverage", "R": "Recall"}
"""The names of ``ir_measures`` to those of this package; ``StRecall`` is the coverage of supported nuggets."""


class NuggetProvider(ir_measures.Provider):
    """Computes with this package's evaluator."""

    NAME = "freshstack_datasets"
    SUPPORTED_MEASURES: ClassVar = [
        ir_measures.alpha_nDCG(cutoff=Any(required=True), alpha=Any(), rel=Any(), judged_only=Choices(False)),
        Coverage(cutoff=Any(required=True), rel=Any()),
        ir_measures.StRecall(cutoff=Any(required=True), rel=Any()),
        ir_measures.R(cutoff=Any(required=True), rel=Any(), judged_only=Choices(False)),
    ]

    def _evaluator(self, measures: Iterable[Anything], qrels: Anything) -> "NuggetEvaluator":
        return NuggetEvaluator(list(measures), Rows.read(qrels))

    def qrel_inputs(self, measures: Iterable[Anything]) -> list[str]:
        """Return the fields of the qrels that are read."""
        return list(ir_measures.Qrel._fields)


class NuggetEvaluator(ir_measures.Evaluator):
    """Scores runs against the same qrels.

    Args:
        measures: What to compute.
        rows: The judgments.
    """

    def __init__(self, measures: list[Anything], rows: Rows) -> None:
        super().__init__(measures, set(rows.query_ids))
        wanted: dict[tuple[int, bool], dict[Measure, Anything]] = {}
        for measure in measures:
            key = measure["rel"], measure.NAME == "StRecall"
            wanted.setdefault(key, {})[_ours(measure)] = measure
        self._parts = [(judged(rows, rel, supported=only), part) for (rel, only), part in wanted.items()]

    def _iter_calc(self, run: Anything) -> Iterator[Anything]:
        scores = _read(run)
        if not _shares_a_query(scores, self.qrel_qids):
            return  # every query of the qrels is missing in the run, which ir_measures itself fills in
        for data, wanted in self._parts:
            result = evaluate(scores, data, wanted, intervals=False)
            for measure, values in zip(result.measures, result.values.tolist(), strict=True):
                for query_id, value in zip(result.query_ids, values, strict=True):
                    yield ir_measures.Metric(query_id, wanted[measure], value)


def _ours(measure: Anything) -> Measure:
    alpha = (("alpha", measure["alpha"]),) if measure.NAME == "alpha_nDCG" else ()
    return Measure(_OURS[measure.NAME], measure["cutoff"], alpha)


def _read(run: Anything) -> Run | dict[str, dict[str, float]]:
    """Return a run in a form that the evaluator takes; nothing of it is lost, as in a dictionary of its rows."""
    if isinstance(run, dict):
        return run
    rows = list(RunConverter(run).as_namedtuple_iter())
    return Run.from_columns([r.query_id for r in rows], [r.doc_id for r in rows], [r.score for r in rows])


def _shares_a_query(run: Run | dict[str, dict[str, float]], query_ids: Collection[str]) -> bool:
    """Tell whether there is something to evaluate; a run for other queries is looked through, and told of."""
    if any(query_id in query_ids for query_id in run):
        return True
    as_run(run)
    if query_ids and len(run):
        log.warning("all scores are 0: the run shares no query with the qrels, it has %s", shown(next(iter(run))))
    return False


_installing = threading.Lock()


def install() -> None:
    """Register the measure, and put the provider before those that claim the same measures.

    Raises:
        InputError: There is another measure of that name.
    """
    providers = ir_measures.DefaultPipeline.providers
    found = known_measures.setdefault(Coverage.NAME, Coverage)
    if not isinstance(found, CoverageMeasure):
        got = f"one of {type(found).__module__}"
        raise InputError(f"the measure {Coverage.NAME} of ir_measures", expected="none of that name", got=got)
    provider = known_providers.setdefault(NuggetProvider.NAME, NuggetProvider())
    with _installing:
        if provider not in providers:
            providers.insert(0, provider)
