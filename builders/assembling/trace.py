"""The other files of the trace: what brought documents before the judge, and what the stages left out."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.pipeline.reading import lacking_of
from builders.pipeline.work import CORPUS, FILTER, LACKING, NUGGETS, POOL, POOLED, QUERIES, QUESTIONS, SUPPORT, Work
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.trace.schema import POOL as TABLE

_AGAIN = "run the stage again"


def write_pool(path: Path, work: Work, kept: Collection[str]) -> int:
    """Write what brought documents before the judge and return how many rows it has.

    Args:
        path: A new file.
        work: The folder of the build.
        kept: The ids of the questions whose documents it tells of.

    Raises:
        InputError: The stage is not done, or its table cannot be read.
    """
    source = work.folder(POOL) / POOLED
    try:
        rows = pq.read_table(source, columns=TABLE.schema.names).cast(TABLE.schema)
        rows = rows.filter(pc.is_in(rows["query-id"], pa.array(sorted(kept), pa.string())))
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise InputError(f"cannot read {shown_path(source)}", got=shown(str(error)[:200]), hint=_AGAIN) from None
    rows = rows.sort_by([(column, "ascending") for column in TABLE.key]).combine_chunks()
    with pq.ParquetWriter(path, TABLE.schema, compression="zstd", write_page_index=True) as writer:
        for start in range(0, max(rows.num_rows, 1), TABLE.group_rows):
            writer.write_table(rows.slice(start, TABLE.group_rows))
    return int(rows.num_rows)


def left_out(work: Work, sifted: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield what every stage left out: the stage, the id, the reason, and what else is known.

    Args:
        work: The folder of the build.
        sifted: From a rule to the ids of the questions that fell to it.

    Raises:
        InputError: A stage is not done, or its file cannot be read.
    """
    for stage in (QUESTIONS, CORPUS):
        for item in _lines(work.folder(stage) / LACKING):
            rest = {name: value for name, value in item.items() if name not in ("id", "reason") and value}
            yield {"stage": stage, "id": _id_of(item), "reason": str(item.get("reason", "")), **rest}
    for stage in (NUGGETS, QUERIES, SUPPORT):
        for lacking in lacking_of(work, stage):
            told = {"document": lacking.doc_id, "detail": lacking.detail, "calls": list(lacking.calls)}
            known = {name: value for name, value in told.items() if value}
            yield {"stage": stage, "id": lacking.query_id, "reason": lacking.reason, **known}
    for rule, ids in sifted.items():
        for query_id in ids:
            yield {"stage": FILTER, "id": query_id, "reason": rule}


def _id_of(item: Mapping[str, Any]) -> str:
    """Return the id of what was left out: a post's, or of a file its source and its path."""
    if item.get("id"):
        return str(item["id"])
    return "/".join(str(item[name]) for name in ("source", "repository", "path", "place") if item.get(name))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines; nothing where there is no such file."""
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                item = json.loads(line)
                if not isinstance(item, dict):
                    raise ValueError(f"line {number}: no object")
                yield item
    except (OSError, ValueError, RecursionError) as error:
        got = getattr(error, "strerror", None) or shown(str(error)[:200])
        raise InputError(f"cannot read {shown_path(path)}", got=got, hint=_AGAIN) from None
