"""Stages of a build: pure functions of a shard, run in any number of processes, and gone on with after any end."""

from typing import TYPE_CHECKING, Any

from builders.stages.code import code
from builders.stages.records import Divisible, Stage
from builders.stages.runner import run

if TYPE_CHECKING:
    from builders.stages.cluster import Cluster

__all__ = ["Cluster", "Divisible", "Stage", "code", "run"]


def __getattr__(name: str) -> Any:
    """Return the cluster, which is imported when it is asked for: each process that works would wait for it."""
    if name != "Cluster":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from builders.stages.cluster import Cluster

    return Cluster
