"""Searches: what is searched for on behalf of a question, to find the documents to judge."""

from builders.searches.stage import Searches

__all__ = ["Searches"]
