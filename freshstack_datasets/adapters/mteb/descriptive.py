"""Descriptive statistics of a task's texts, in MTEB's form, where the user wants them."""

from pathlib import Path
from typing import Any

from freshstack_datasets.adapters.mteb.lookup import meant
from freshstack_datasets.adapters.mteb.retrieval import SnapshotTask
from freshstack_datasets.errors import InputError, shown, shown_path


def statistics(task: Any, folder: Path | str) -> Path:
    """Write the descriptive statistics that MTEB computes of a task, as ``<task>.json``.

    Args:
        task: The task, its class, or its name.
        folder: Where the file goes; it is made when there is none. A file that is there is replaced.

    Returns:
        The file.

    Raises:
        InputError: It is no task on a snapshot, or the folder cannot be written.
        HubError: The snapshot cannot be had.
        SnapshotError: It cannot be read.
    """
    found = meant(task)
    computed = found() if isinstance(found, type) else found
    if not isinstance(computed, SnapshotTask):
        raise InputError(
            f"statistics of {computed.metadata.name}", expected="a task on a snapshot", got="a mean of tasks"
        )
    file = Path(folder) / f"{computed.metadata.name}.json"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)  # before anything is read, or downloaded
    except (OSError, ValueError) as error:  # ValueError: a NUL
        raise _unwritable(file, error) from None
    told, loaded = computed.metadata, computed.data_loaded
    computed.metadata = told.with_statistics_in(file)
    try:
        computed.calculate_descriptive_statistics(overwrite_results=True)
    except OSError as error:
        raise _unwritable(file, error) from None
    finally:
        computed.metadata = told
        if computed.data_loaded and not loaded:
            computed.unload_data()
    return file


def _unwritable(file: Path, error: Exception) -> InputError:
    return InputError(f"cannot write {shown_path(file)}", got=shown(str(error)))
