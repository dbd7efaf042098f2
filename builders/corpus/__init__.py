"""From a topic's sources to its corpus: every chunk of every file as a document, and every other file with a reason."""

from builders.corpus.build import Built, build
from builders.corpus.settings import Settings

__all__ = ["Built", "Settings", "build"]
