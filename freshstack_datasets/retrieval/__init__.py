"""Retrievers: the protocol, BM25, dense search, fusion, a fake for tests, and indexes kept between runs.

Neither bm25s nor PyStemmer is imported before something is indexed or searched, nor a package of an extra before
something is encoded.
"""

from freshstack_datasets.retrieval.bm25 import BM25
from freshstack_datasets.retrieval.dense import Dense
from freshstack_datasets.retrieval.encoders import Encoded, Encoder, EndpointEncoder, SentenceEncoder
from freshstack_datasets.retrieval.fake import FakeRetriever
from freshstack_datasets.retrieval.fusion import fuse
from freshstack_datasets.retrieval.index_cache import indexed
from freshstack_datasets.retrieval.named import retriever
from freshstack_datasets.retrieval.protocol import Retriever

__all__ = [
    "BM25",
    "Dense",
    "Encoded",
    "Encoder",
    "EndpointEncoder",
    "FakeRetriever",
    "Retriever",
    "SentenceEncoder",
    "fuse",
    "indexed",
    "retriever",
]
