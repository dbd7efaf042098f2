"""What each retriever brought: the relevant documents that it alone found, and those that only it put into the pool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builders.pipeline.reading import labels_of
from builders.pipeline.records import FUSION
from builders.pipeline.step import summary_of
from builders.pipeline.work import POOL, Work
from builders.pooling.stage import METHOD, pools_of, read_runs
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.ranking import Run
from freshstack_datasets.retrieval import fuse

Pair = tuple[str, str]
"""A question and a document."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a retriever brought of the relevant documents, which are those that support a nugget of their question.

    A document counts once for each question that it is relevant to.

    Args:
        retriever: Who.
        found: How many it found, in any of its lists down to their depth.
        alone: How many of these no other retriever found.
        lost: How many would not be in the pools had it not been there, and the others been put together without it.
    """

    retriever: str
    found: int
    alone: int
    lost: int


@dataclass(frozen=True, slots=True)
class Settings:
    """How the stage ``pool`` was set.

    Args:
        techniques: What was searched for.
        files: From a retriever to what its files are called, in their order.
        depth: The most documents of a list.
        top: How many of each technique's lists, put together, were judged.
    """

    techniques: tuple[str, ...]
    files: Mapping[str, str]
    depth: int
    top: int

    @classmethod
    def of(cls, work: Work) -> "Settings":
        """Return how the stage of a build was set.

        Args:
            work: The folder of the build.

        Raises:
            InputError: The stage is not done, or what it says of itself is damaged.
        """
        told: Mapping[str, Any] = summary_of(work, POOL).settings
        try:
            files = {label: told["files"][label] for label in told["retrievers"]}
            return cls(tuple(told["techniques"]), files, int(told["depth"]), int(told["top"]))
        except (KeyError, TypeError, ValueError):
            what = f"what {shown_path(work.path / POOL)} says of itself is damaged"
            raise InputError(what, hint="run the stage again") from None


def contribution(work: Work) -> list[Contribution]:
    """Return what each retriever brought of the relevant documents, in the order of the retrievers.

    Args:
        work: The folder of the build, with pool and support done.

    Raises:
        InputError: They are not, or their files cannot be read.
    """
    settings, folder = Settings.of(work), work.folder(POOL)
    relevant = {(label.query_id, label.doc_id) for label in labels_of(work) if label.supports}
    runs = {
        label: [read_runs(folder, technique, file) for technique in settings.techniques]
        for label, file in settings.files.items()
    }
    found = {label: relevant & _pairs(lists) for label, lists in runs.items()}
    pooled = relevant & _pooled(
        [read_runs(folder, technique, FUSION) for technique in settings.techniques], settings.top
    )
    told = []
    for label, own in found.items():
        others = [lists for other, lists in runs.items() if other != label]
        by_others: set[Pair] = set().union(*(pairs for other, pairs in found.items() if other != label))
        without = [fuse(lists, METHOD, settings.depth) for lists in zip(*others, strict=True)] if others else []
        lost = pooled - _pooled(without, settings.top)
        told.append(Contribution(label, len(own), len(own - by_others), len(lost)))
    return told


def _pooled(fused: list[Run], top: int) -> set[Pair]:
    return {(query_id, doc_id) for query_id, doc_ids in pools_of(fused, top).items() for doc_id in doc_ids}


def _pairs(runs: list[Run]) -> set[Pair]:
    return {(query_id, doc_id) for run in runs for query_id, found in run.to_dict().items() for doc_id in found}
