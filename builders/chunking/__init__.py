"""Files to chunks: pieces of at most so many tokens, exact, and complete but for white space."""

from builders.chunking.chunker import Chunker
from builders.chunking.ids import chunk_id
from builders.chunking.records import Chunk, Chunked, Refused

__all__ = ["Chunk", "Chunked", "Chunker", "Refused", "chunk_id"]
