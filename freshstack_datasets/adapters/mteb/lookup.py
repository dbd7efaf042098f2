"""The task that somebody means: by its name, its class, or as it is."""

from typing import Any

from freshstack_datasets.adapters.mteb.aggregate import TopicsAggregate, known_classes
from freshstack_datasets.adapters.mteb.retrieval import SnapshotTask
from freshstack_datasets.errors import InputError, UnknownNameError, shown


def meant(task: Any) -> Any:
    """Return a task of this package, or its class; both have its metadata.

    Args:
        task: Either of them, or the name of one that is known by name.

    Raises:
        UnknownNameError: No task has that name.
        InputError: It is no task of this package.
    """
    if isinstance(task, str):
        known: dict[str, Any] = {its.metadata.name: its for its in known_classes()}
        if task not in known:
            raise UnknownNameError("task", task, known)
        return known[task]
    ours = SnapshotTask | TopicsAggregate
    if not (issubclass(task, ours) if isinstance(task, type) else isinstance(task, ours)):
        got = f"{shown(task)} ({type(task).__name__})"
        raise InputError("a task", expected="one of freshstack-datasets, or its name", got=got)
    return task
