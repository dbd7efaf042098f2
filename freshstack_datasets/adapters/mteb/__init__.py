"""Datasets as retrieval tasks of MTEB, runs as its models, and its predictions as runs.

    import freshstack_datasets as fsd
    import mteb

    fsd.adapters.mteb.register()
    mteb.evaluate(model, mteb.get_task("FreshStackNimbusRetrieval"))

MTEB is imported, and anything made known to it, only when one of the functions is called.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freshstack_datasets.adapters.mteb.replaying import Replay
    from freshstack_datasets.adapters.mteb.retrieval import SnapshotTask
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run

__all__ = ["read_predictions", "register", "replay", "stale", "statistics", "task", "tasks"]


def register() -> None:
    """Make tasks, aggregates and benchmarks known to MTEB by name; a second time changes nothing.

    Raises:
        MissingExtraError: MTEB is not installed.
        InputError: The installed MTEB lacks what this stands on, or has something else of one of the names.
    """
    _behind("registry").register()


def tasks() -> "tuple[type[SnapshotTask], ...]":
    """Return the classes of the tasks that ``register`` makes known, without the aggregates.

    Each has ``metadata``, ``dataset_name`` and ``snapshot``.

    Raises:
        MissingExtraError: MTEB is not installed.
        InputError: The installed MTEB lacks what this stands on.
    """
    found: tuple[type[SnapshotTask], ...] = _behind("retrieval").known_tasks()
    return found


def task(data: "Dataset") -> "SnapshotTask":
    """Return a task on any dataset that was loaded, such as a folder of your own; nothing is registered.

    Its name has the dataset's name, the snapshot's, and the beginning of the fingerprint; its revision is the
    fingerprint.

    Args:
        data: The dataset, with documents.

    Raises:
        MissingExtraError: MTEB is not installed.
        InputError: It is no dataset, or one made of judgments alone, or the installed MTEB lacks what this stands
            on.
    """
    from freshstack_datasets.adapters.given import check_dataset

    check_dataset(data)
    made: SnapshotTask = _behind("retrieval").task_of(data)
    return made


def replay(run: "Run | Mapping[str, Mapping[str, float]]") -> "Replay":
    """Return a finished run as a model for ``mteb.evaluate``, which gives the scores of the run.

    The model's name has the run's, its revision is the digest of what the run holds. Of several models of one
    name, MTEB's tables show one, unless they are told ``include_model_revision=True``; ``run.named("mine")`` is the
    run under another name.

    Args:
        run: The run, or query id to document id to score.

    Raises:
        MissingExtraError: MTEB is not installed.
        RunError: The run is none, or holds something that is not allowed.
        InputError: The installed MTEB lacks what this stands on.
    """
    model: Replay = _behind("replaying").replay(run)
    return model


def read_predictions(
    path: Path | str, task: Any = None, *, subset: str | None = None, split: str | None = None
) -> "Run":
    """Read the predictions that MTEB keeps of a model, ``<task>_predictions.json``, as a run.

    Args:
        path: The file.
        task: A task of this package, its class or its name: its subset and split are read. Only a file that has
            several needs it.
        subset: The subset to read, where the task is none of this package.
        split: The split to read, where the task is none of this package.

    Returns:
        The run, named after the model in the file. MTEB leaves that name as it is when it writes the predictions of
        another model into the same folder; so give each model a folder of its own.

    Raises:
        MissingExtraError: MTEB is not installed.
        RunFileError: The file cannot be read, is none, or holds something that is not allowed.
        InputError: The file has not exactly one of the subsets and splits that are meant, or there is no such task.
    """
    run: Run = _behind("predictions").read_predictions(path, task, subset=subset, split=split)
    return run


def stale(result: Any, task: Any) -> str | None:
    """Tell why a result that MTEB keeps has to be computed again; MTEB itself would return it as it is.

    Args:
        result: The result: its JSON file, what stands there, or MTEB's ``TaskResult``.
        task: A task of this package, its class or its name.

    Returns:
        The reason, in a line; None if the result is what would be computed.

    Raises:
        MissingExtraError: MTEB is not installed.
        InputError: The file cannot be read or is no result, or there is no such task.
    """
    reason: str | None = _behind("staleness").stale(result, task)
    return reason


def statistics(task: Any, folder: Path | str) -> Path:
    """Write the descriptive statistics that MTEB computes of a task's texts, as ``<task>.json`` in a folder.

    Args:
        task: A task of this package, its class or its name.
        folder: Where the file goes; it is made when there is none.

    Returns:
        The file.

    Raises:
        MissingExtraError: MTEB is not installed.
        InputError: There is no such task, it is an aggregate, or the folder cannot be written.
        HubError: The snapshot cannot be had.
        SnapshotError: It cannot be read.
    """
    written: Path = _behind("descriptive").statistics(task, folder)
    return written


def _behind(name: str) -> Any:
    """Return a module of this adapter, all of which need MTEB."""
    from freshstack_datasets.adapters.mteb.internals import MTEB

    return MTEB.load(f"{__name__}.{name}")
