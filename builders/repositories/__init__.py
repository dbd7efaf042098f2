"""From a repository or a plain folder, pinned, to its files: the same ones, in the same order, wherever they are."""

from builders.repositories.checkout import Checkout, opened
from builders.repositories.fetching import Fetched, fetch
from builders.repositories.records import LARGEST, REASONS, Passed, Pinned, SourceFile
from builders.repositories.tree import Entry

__all__ = ["LARGEST", "REASONS", "Checkout", "Entry", "Fetched", "Passed", "Pinned", "SourceFile", "fetch", "opened"]
