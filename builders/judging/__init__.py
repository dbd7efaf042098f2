"""Support: which nuggets of a question each document of its pool supports, as a model judges it."""

from builders.judging.judge import estimated, judge
from builders.judging.records import Group, Judged, Known, Shown, Source
from builders.judging.stage import Judging

__all__ = ["Group", "Judged", "Judging", "Known", "Shown", "Source", "estimated", "judge"]
