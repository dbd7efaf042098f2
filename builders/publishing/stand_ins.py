"""Telling what a stand-in for a language model made, by all that a snapshot says of its models."""

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from freshstack_datasets.errors import SnapshotError, shown, shown_path
from freshstack_datasets.manifest import Manifest

CALLS = "provenance/calls.parquet"
"""The calls of models that made a snapshot, where there were any."""
MODEL = "model"
"""The column of the model that was called."""

_STAND_IN = re.compile(r"\s*(stand[-_ ]?in|fake)(?![a-z0-9])", re.IGNORECASE)


def is_stand_in(model: str) -> bool:
    """Tell whether a model is none, by its name.

    Args:
        model: The name of a model that answered.
    """
    return _STAND_IN.match(model) is not None


def refuse_stand_ins(folder: Path, manifest: Manifest) -> None:
    """Refuse a snapshot that says of a model that it is none, in its recipe or in the list of the calls.

    Args:
        folder: Where it is.
        manifest: What it says of itself.

    Raises:
        SnapshotError: It does, or what it says of the calls cannot be read.
    """
    for place, model in (*_of_recipe(manifest), *_of_calls(folder, manifest)):
        if is_stand_in(model):
            raise SnapshotError(
                f"{shown_path(folder)} is not published",
                expected="one that language models made",
                got=f"the stand-in {shown(model)} as the model of {place}",
                hint="build it with a real model; a stand-in is for trying out the steps",
            )


def _of_recipe(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield what each model of the recipe is the model of, and its name."""
    for stage, model in sorted(manifest.recipe.models.items()):
        yield shown(stage), model


def _of_calls(folder: Path, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the same of each model that was called, by name."""
    if CALLS not in {file.path for file in manifest.provenance}:
        return
    models: set[str] = set()
    try:
        with pq.ParquetFile(folder / CALLS) as file:
            kind = file.schema_arrow.field(MODEL).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise ValueError(f"{MODEL}: {kind}")
            for batch in file.iter_batches(columns=[MODEL]):
                models.update(filter(None, batch.column(0).unique().to_pylist()))
    except (pa.ArrowException, OSError, ValueError, KeyError, MemoryError, OverflowError) as error:
        raise SnapshotError(
            f"{shown_path(folder)} is not published",
            expected=f"{CALLS} with a column of texts, {MODEL}",
            got=shown(str(error).partition("\n")[0]),
            hint="build it again: without it nobody knows which models were called",
        ) from error
    for model in sorted(models):
        yield f"calls in {CALLS}", model
