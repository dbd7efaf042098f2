"""What scoring needs of a dataset, and no more: for adapters that have judgments but no dataset, or pickle what they hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from freshstack_datasets.loading import Dataset
from freshstack_datasets.tables.records import Records


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of lists.

    Args:
        values: The name of each field to its values.
    """

    values: Mapping[str, list[Any]]

    @classmethod
    def of(cls, records: Records[Any], *fields: str) -> Self:
        """Take some fields out of records."""
        return cls(dict(zip(fields, records.columns(*fields), strict=True)))

    def columns(self, *fields: str) -> tuple[list[Any], ...]:
        """Return the named fields of all rows, a list each."""
        return tuple(self.values[name] for name in fields)


@dataclass(frozen=True, eq=False)
class Judged:
    """A dataset without its texts.

    Args:
        queries: The queries, with ``query_id``.
        nuggets: The nuggets, with ``query_id`` and ``nugget_id``.
        judgments: The judgments, with ``query_id``, ``nugget_id``, ``doc_id`` and ``score``, which is 1 or 0.
        name: The dataset's name; "" where the judgments are of none.
        snapshot: The snapshot's name.
        fingerprint: What scores are tied to.
    """

    queries: Columns
    nuggets: Columns
    judgments: Columns
    name: str = ""
    snapshot: str = ""
    fingerprint: str = ""

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Take from a dataset what scoring needs."""
        return cls(
            Columns.of(data.queries, "query_id"),
            Columns.of(data.nuggets, "query_id", "nugget_id"),
            Columns.of(data.judgments, "query_id", "nugget_id", "doc_id", "score"),
            data.name,
            data.snapshot,
            data.fingerprint,
        )
