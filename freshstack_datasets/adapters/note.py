"""The README.md of an export: what it was made of, whose the texts are, and how dataset tools read its files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from freshstack_datasets.card import plain, source_item
from freshstack_datasets.loading import Dataset


@dataclass(frozen=True)
class JsonTable:
    """A file of JSON lines that ``datasets.load_dataset(folder, name)`` shall read.

    Args:
        name: What it is called there.
        split: Its only split.
        schema: Its columns: a column that is null in the first rows would otherwise be read as one that is always so.
    """

    name: str
    split: str
    schema: pa.Schema


def write_note(folder: Path, dataset: Dataset, layout: str, texts: str, tables: Sequence[JsonTable] = ()) -> None:
    """Write the README.md that stands beside the files of an export.

    Args:
        folder: The export's folder.
        dataset: What was exported.
        layout: What the files are, to end the heading with.
        texts: A sentence that says where author, address and licence of each text stand.
        tables: Its files of JSON lines, each named after the table.
    """
    text = "\n".join(_lines(dataset, layout, texts, tables)) + "\n"
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")


def _lines(dataset: Dataset, layout: str, texts: str, tables: Sequence[JsonTable]) -> Iterator[str]:
    manifest = dataset.manifest
    assert manifest is not None, "a dataset with documents was loaded from a folder that has one"
    name = plain(f"{dataset.name}@{dataset.snapshot}")
    if tables:
        yield "---"
        yield yaml.safe_dump(_front_matter(tables), sort_keys=False, allow_unicode=True).rstrip("\n")
        yield "---"
    yield f"# {name} {layout}"
    yield ""
    yield f"Exported from the snapshot {name}, fingerprint `{dataset.fingerprint}`."
    yield ""
    yield f"Licence of the whole: {plain(manifest.license)}. {texts}"
    if manifest.sources:
        yield ""
        yield "## Sources"
        yield ""
        yield from map(source_item, manifest.sources)


def _front_matter(tables: Sequence[JsonTable]) -> dict[str, Any]:
    return {
        "configs": [
            {"config_name": t.name, "data_files": [{"split": t.split, "path": f"{t.name}.jsonl"}]} for t in tables
        ],
        "dataset_info": [{"config_name": t.name, "features": [_feature(f) for f in t.schema]} for t in tables],
    }


def _feature(field: pa.Field) -> dict[str, Any]:
    """Return a column in the words of ``datasets``."""
    if pa.types.is_struct(field.type):
        return {"name": field.name, "struct": [_feature(member) for member in field.type]}
    if pa.types.is_list(field.type):
        return {"name": field.name, "list": str(field.type.value_type)}
    return {"name": field.name, "dtype": str(field.type)}
