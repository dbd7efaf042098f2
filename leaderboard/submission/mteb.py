"""A model as MTEB's ``model_meta.json`` describes it, so that its numbers are imported and not typed."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.typed_files import RefusedError, bytes_of, checked
from leaderboard.submission import licenses
from leaderboard.submission.model import TrainingData, UsedModel, is_benchmark
from leaderboard.submission.placeholders import FILL_IN

MOST_BYTES = 2_000_000

_NO_LICENSE = ("not specified", "multiple")
_PLACES = {"query_prompt": ("query",), "document_prompt": ("document", "passage", "corpus")}
"""Our keys of prompts, and what MTEB's loaders call them."""

_THEIRS = {"id": "name", "parameters": "n_parameters", "dimensions": "embed_dim"}
_THEIRS |= {"max_query_tokens": "max_tokens", "max_document_tokens": "max_tokens"}
"""What MTEB calls members that we call otherwise."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file says of a model.

    Args:
        model: The members of a ``UsedModel`` that it says; ``FILL_IN`` for those that have to be there and are not.
        datasets: What the model was trained on; empty where it is not known.
    """

    model: Mapping[str, Any]
    datasets: tuple[str, ...]

    @property
    def on_benchmark(self) -> bool:
        """Whether tasks of this benchmark are among what it was trained on."""
        return any(is_benchmark(name) for name in self.datasets)


def read_model_meta(path: Path) -> Imported:
    """Read a ``model_meta.json``.

    Args:
        path: The file, as MTEB writes it beside results.

    Raises:
        InputError: It cannot be read, is no such file, or says something that no submission may.
        MissingExtraError: license-expression is not installed.
    """
    name = shown_path(path)[1:-1]
    meta = _members(bytes_of(path, "MTEB's model_meta.json", most=MOST_BYTES), name)
    told = {
        "id": meta.get("name") or FILL_IN,
        "revision": _revision(meta.get("revision")),
        "parameters": _whole(meta.get("n_parameters")),
        "license": _license(meta.get("license")),
        "open_weights": meta.get("open_weights"),
        "release_date": meta.get("release_date"),
        **_prompts(meta),
        "max_query_tokens": _whole(meta.get("max_tokens")),
        "max_document_tokens": _whole(meta.get("max_tokens")),
        "dimensions": _dimensions(meta.get("embed_dim")),
    }
    told = {key: value for key, value in told.items() if value is not None or key in ("parameters", "license")}
    for key, value in told.items():
        if value != FILL_IN:
            told[key] = checked(
                UsedModel.model_fields[key].rebuild_annotation(), value, f"{name}, {_THEIRS.get(key, key)}"
            )
    found = meta.get("training_datasets")
    datasets = sorted(found) if isinstance(found, list) and all(isinstance(one, str) for one in found) else []
    return Imported(told, checked(TrainingData, datasets, f"{name}, training_datasets"))


def _members(content: bytes, name: str) -> dict[str, Any]:
    expected = "MTEB's model_meta.json"
    if len(content) > MOST_BYTES:
        raise InputError(name, expected=f"a file of at most {MOST_BYTES:,} bytes", got="more")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):  # ValueError: no UTF-8, no JSON, or a number with too many digits
        raise InputError(name, expected=expected, got="no JSON") from None
    if not isinstance(found, dict) or "name" not in found or "revision" not in found:
        raise InputError(name, expected=f"{expected}, with name and revision", got="something else")
    return found


def _revision(value: Any) -> Any:
    return FILL_IN if value in (None, "", "no_revision_available") else value


def _whole(value: Any) -> Any:
    """Return a number, None for none or no bound, and a float such as 512.0 as a whole one."""
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    return value


def _dimensions(value: Any) -> Any:
    """Return the length of vectors, the longest of several that a model can give."""
    lengths = [one for one in value if isinstance(one, int)] if isinstance(value, list) else []
    return max(lengths, default=None) if isinstance(value, list) else _whole(value)


def _license(value: Any) -> Any:
    """Return a licence as SPDX spells it; what SPDX does not list, as a reference by its name or address."""
    if not isinstance(value, str) or value.lower() in _NO_LICENSE:
        return None
    try:
        return licenses.spelled(value)
    except RefusedError:
        own = re.sub("[^A-Za-z0-9.]+", "-", value.partition("://")[2] or value).strip("-.")
        return f"LicenseRef-{own}"[: licenses.LONGEST] if own else None


def _prompts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return prompts where MTEB's loader is told them; that for queries waits to be filled in when there is one."""
    loader = meta.get("loader_kwargs")
    named = loader.get("model_prompts") if isinstance(loader, dict) else None
    named = named if isinstance(named, dict) else {}
    found = {ours: named[name] for ours, names in _PLACES.items() for name in names if isinstance(named.get(name), str)}
    if meta.get("use_instructions") is True:
        found.setdefault("query_prompt", FILL_IN)
    return found
