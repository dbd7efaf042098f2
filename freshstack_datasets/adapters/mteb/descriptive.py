"""Descriptive statistics of a task's texts, in MTEB's form, where the user wants them."""

from pathlib import Path
from typing import Any

from freshstack_datasets.adapters.mteb.lookup import meant
from freshstack_datasets.adapters.mteb.retrieval import SnapshotTask
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.files import atomic_file


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
    told, loaded = computed.metadata, computed.data_loaded
    try:
        with atomic_file(file) as work:  # made before anything is read, or downloaded
            work.unlink()  # MTEB would read what is there, as it would a damaged file of before
            computed.metadata = told.with_statistics_in(work)
            computed.calculate_descriptive_statistics(overwrite_results=True)
    except OSError as error:
        raise InputError(f"cannot write {shown_path(file)}", got=shown(str(error))) from None
    finally:
        computed.metadata = told
        if computed.data_loaded and not loaded:
            computed.unload_data()
    return file
