"""The documents to judge: what several retrievers find for what is searched for, put together."""

from builders.pooling.contribution import Contribution, contribution
from builders.pooling.stage import Pooling
from builders.pooling.table2 import table2

__all__ = ["Contribution", "Pooling", "contribution", "table2"]
