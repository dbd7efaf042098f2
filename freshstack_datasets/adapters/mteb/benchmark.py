"""The topics of a snapshot as a benchmark of MTEB."""

import math
from dataclasses import dataclass
from typing import Any

from mteb.benchmarks.benchmark import Benchmark

from freshstack_datasets import catalog
from freshstack_datasets.adapters.mteb.aggregate import editions, tasks_of
from freshstack_datasets.adapters.mteb.metadata import months
from freshstack_datasets.adapters.mteb.scores import HEADLINE

ALIAS = "FreshStack"
"""The other name of the newest benchmark."""


@dataclass
class TopicsBenchmark(Benchmark):
    """A benchmark that has the mean of each headline score beside MTEB's, which is of the main score alone."""

    def _get_model_score(self, model_result: Any) -> dict[str, float | None]:
        scores: dict[str, float | None] = super()._get_model_score(model_result)
        results = model_result.select_tasks(self.tasks).task_results
        for name in HEADLINE:
            values = [result.get_score(getter=lambda topic, name=name: topic.get(name, math.nan)) for result in results]
            mean = float(sum(values) / len(values))
            scores[f"Mean({name})"] = mean if math.isfinite(mean) else None  # a stored result may lack it
        return scores


def known_benchmarks() -> list[TopicsBenchmark]:
    """Return a benchmark for each snapshot that the catalogued datasets have; the last one has the alias."""
    names = list(editions())
    return [_made(edition, (ALIAS,) if edition == names[-1] else ()) for edition in names]


def _made(edition: str, aliases: tuple[str, ...]) -> TopicsBenchmark:
    tasks = tasks_of(edition)
    return TopicsBenchmark(
        name=f"FreshStack({months(edition)[1]})",
        aliases=aliases,
        tasks=tasks,
        description=f"Questions on technical documents of {len(tasks)} topics, snapshot {edition}, scored by nuggets.",
        reference=tasks[0].metadata.reference,
        citation=catalog.citation(),
    )
