"""Retrievers: the protocol, BM25, a fake for tests, and indexes kept between runs.

Neither bm25s nor PyStemmer is imported before something is indexed or searched.
"""

from freshstack_datasets.retrieval.bm25 import BM25
from freshstack_datasets.retrieval.fake import FakeRetriever
from freshstack_datasets.retrieval.index_cache import indexed
from freshstack_datasets.retrieval.protocol import Retriever

__all__ = ["BM25", "FakeRetriever", "Retriever", "indexed"]
