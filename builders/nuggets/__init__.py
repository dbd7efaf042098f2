"""Nuggets: the facts that an accepted answer states, by which documents are judged."""

from builders.nuggets.stage import Nuggets

__all__ = ["Nuggets"]
