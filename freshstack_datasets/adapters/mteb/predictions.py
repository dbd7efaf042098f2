"""What MTEB wrote of a model's predictions, read as a run."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from freshstack_datasets.adapters.mteb.lookup import meant
from freshstack_datasets.errors import InputError, RunError, RunFileError, shown, shown_path
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import clean_name
from freshstack_datasets.runs.source import opened

_META = "mteb_model_meta"
_MOST_BYTES = 1 << 28
"""100 documents for each of 50,000 queries fit. The whole is decoded at once, unlike a run file."""


def read_predictions(path: Path | str, task: Any = None, *, subset: str | None = None, split: str | None = None) -> Run:
    """Read a file ``<task>_predictions.json`` of MTEB as a run.

    Args:
        path: The file.
        task: The task, its class, or its name, where the file has several subsets: those of the task are taken.
        subset: The subset, for a task of others.
        split: The split, for a task of others.

    Returns:
        The run, named after the model in the file.

    Raises:
        RunFileError: The file cannot be read, is none, or holds something that is not allowed.
        InputError: The file has not exactly one of the subsets and splits that were asked for.
        UnknownNameError: There is no such task.
    """
    path = Path(path)
    content = _object(path, _decoded(path), "the predictions")
    meta = content.pop(_META, None)
    found = {
        (its_subset, its_split): queries
        for its_subset, splits in content.items()
        for its_split, queries in _object(path, splits, f"subset {shown(its_subset)}").items()
    }
    metadata = None if task is None else meant(task).metadata
    subsets = metadata.hf_subsets if metadata else subset and [subset]
    splits = metadata.eval_splits if metadata else split and [split]
    chosen = [key for key in found if (not subsets or key[0] in subsets) and (not splits or key[1] in splits)]
    if len(chosen) != 1:
        raise _unclear(path, chosen or found, subsets, splits)
    name = meta.get("model_name") if isinstance(meta, dict) else None
    try:
        return Run.from_dict(found[chosen[0]], clean_name(name) if name and isinstance(name, str) else "run")
    except RunError as error:
        raise RunFileError(path, 0, error.what, expected=error.expected, got=error.got, hint=error.hint) from None


def _decoded(path: Path) -> object:
    with opened(path) as stream:
        try:
            data = stream.read(_MOST_BYTES + 1)
        except OSError as error:
            raise RunFileError(path, 0, "predictions that cannot be read", got=shown(error.strerror)) from None
    if len(data) > _MOST_BYTES:
        raise RunFileError(path, 0, "predictions", expected=f"at most {_MOST_BYTES} bytes", got="more")
    try:
        return json.loads(data, object_pairs_hook=_each_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise RunFileError(path, error.lineno, "predictions", expected="JSON", got=shown(error.msg)) from None
    except (ValueError, RecursionError) as error:  # no UTF-8, a key twice, NaN, a number of thousands of digits
        raise RunFileError(path, 0, "predictions", expected="JSON", got=shown(str(error))) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{shown(name)} twice")
        found[name] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _object(path: Path, value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RunFileError(
            path, 0, what, expected="an object of subset to split to query to document to score", got=shown(value)
        )
    return value


def _unclear(path: Path, found: Iterable[tuple[str, str]], subsets: Any, splits: Any) -> InputError:
    has = ", ".join(f"{shown(subset)} of {shown(split)}" for subset, split in sorted(found)[:5]) or "nothing"
    asked = " and ".join(
        f"{kind} {', '.join(map(shown, names))}" for kind, names in (("subset", subsets), ("split", splits)) if names
    )
    return InputError(
        f"predictions {shown_path(path)}",
        expected=asked or "one subset and split",
        got=has,
        hint="say which: task=, or subset= and split=",
    )
