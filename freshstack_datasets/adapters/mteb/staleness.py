"""Whether a result that MTEB keeps is still what would be computed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mteb.results import TaskResult

from freshstack_datasets.adapters.mteb.lookup import meant
from freshstack_datasets.adapters.mteb.scores import METRIC_VERSION
from freshstack_datasets.errors import InputError, shown, shown_path

_MOST_BYTES = 1 << 26


def stale(result: Any, task: Any) -> str | None:
    """Tell why a stored result has to be computed again.

    MTEB takes a stored result for up to date when it has the splits and subsets of the task, even when it was computed
    on other data or by other measures.

    Args:
        result: The result: its JSON file, what stands there, or MTEB's ``TaskResult``.
        task: The task, its class, or its name.

    Returns:
        The reason, in a line; None if the result is what would be computed.

    Raises:
        InputError: The file cannot be read, or is no result.
        UnknownNameError: There is no such task.
    """
    metadata = meant(task).metadata
    told = _told(result)
    name, revision = told.get("task_name"), told.get("dataset_revision")
    if name != metadata.name:
        return f"it is of the task {shown(name)}, and not of {metadata.name}"
    if revision != metadata.revision:
        return f"its data is of revision {shown(revision)}, and that of the task of {metadata.revision}"
    for entry in _entries(told):
        version = entry.get("metric_version")
        if version != METRIC_VERSION:
            return f"its measures are of version {shown(version)}, and those of the task of {METRIC_VERSION}"
    return None


def _told(result: Any) -> Mapping[str, Any]:
    if isinstance(result, TaskResult):
        return dict(result.to_dict())
    told = _read(Path(result)) if isinstance(result, str | Path) else result
    if not isinstance(told, Mapping):
        raise InputError("a result of MTEB", expected="a JSON object", got=f"{shown(told)} ({type(told).__name__})")
    return told


def _read(path: Path) -> object:
    try:
        with path.open("rb") as stream:
            return json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"result {shown_path(path)}", expected="a JSON file of MTEB", got=shown(str(error))) from None


def _entries(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    try:
        return [dict(entry) for entries in told["scores"].values() for entry in entries]
    except (KeyError, TypeError, ValueError, AttributeError):
        expected, got = "scores by split, one entry a subset", shown(told.get("scores"))
        raise InputError("a result of MTEB", expected=expected, got=got) from None
