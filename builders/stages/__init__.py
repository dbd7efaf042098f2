"""Stages of a build: pure functions of a shard, run in any number of processes, and gone on with after any end."""

from builders.stages.cluster import Cluster
from builders.stages.code import code
from builders.stages.records import Divisible, Stage
from builders.stages.runner import run

__all__ = ["Cluster", "Divisible", "Stage", "code", "run"]
