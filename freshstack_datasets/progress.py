"""A progress bar for long work: on standard error, and only when that is a terminal."""

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

NARROW = 120
"""Columns of a terminal from which on a note has room beside a long bar and a rate."""
SHORT = 10
"""Columns of a bar that leaves room for a note."""


def track(
    items: Iterable[T], total: int | None, what: str, unit: str = "", note: Callable[[], str] | None = None
) -> Iterable[T]:
    """Return the items as they are, with a bar that advances as they are taken.

    Args:
        items: What the work goes through.
        total: How many there are, None when nobody knows.
        what: What is done to them, in a few words.
        unit: What they are, in the plural, to show how many are done in a second; not shown when not given.
        note: Returns what else is shown, anew each time.
    """
    return _barred(items, total, what, unit, note) if sys.stderr is not None and sys.stderr.isatty() else items


def _barred(items: Iterable[T], total: int | None, what: str, unit: str, note: Callable[[], str] | None) -> Iterable[T]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f} {unit}/s" if task.speed else "")

    class Note(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(note() if note else "")

    console = Console(stderr=True)
    short = note is not None and console.width < NARROW
    usual = Progress.get_default_columns()
    columns = [BarColumn(SHORT) if short and isinstance(one, BarColumn) else one for one in usual]
    columns += [*([Rate()] if unit and not short else []), *([Note()] if note else [])]
    with Progress(*columns, console=console, transient=True) as progress:
        yield from progress.track(items, total=total, description=what)
