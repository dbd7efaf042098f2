"""Commands that hand what was typed to another tool's command line, which keeps its help, messages and exit codes."""

import contextlib
import logging
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import typer
from typer.core import TyperCommand

from freshstack_datasets.cli import console
from freshstack_datasets.errors import FreshStackError


class Wrapped(TyperCommand):
    """A command that leaves every word after its name to another tool: ``--help`` and unknown options too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words as they are; the command finds them in ``ctx.args``."""
        ctx.args = list(args)
        return list(ctx.args)


@contextlib.contextmanager
def as_itself(program: str, arguments: Sequence[str]) -> Iterator[None]:
    """Let another tool's code run as if it had been started by itself.

    It finds its arguments in ``sys.argv``, and warns and logs as Python does. What goes wrong in it is shown as a
    traceback and ends with exit code 1, as Python would; an error of this package stays what it is. Where nobody reads
    on, as after ``| head``, it just ends.

    Args:
        program: What its help calls it.
        arguments: What was typed after that.
    """
    typed, sys.argv = sys.argv, [program, *arguments]
    ours = logging.getLogger("freshstack_datasets")
    propagate, ours.propagate = ours.propagate, False  # the command line shows its records, once
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except (FreshStackError, typer.Exit):
        raise
    except Exception as error:
        if isinstance(error, BrokenPipeError) and console.nobody_reads():
            return
        traceback.print_exc()
        raise typer.Exit(1) from None
    finally:
        sys.argv, ours.propagate = typed, propagate


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    with contextlib.suppress(OSError):
        (file or sys.stderr).write(warnings.formatwarning(message, category, filename, lineno, line))
