"""What commands that look for secrets have in common: the option that accepts findings, and the places on the screen."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from freshstack_datasets.cli import console

AllowSecrets = Annotated[
    str,
    typer.Option(
        metavar="FILE|all", help="Findings of secrets that are accepted: a list that was looked through, or all."
    ),
]


@contextmanager
def findings_shown(as_json: bool) -> Iterator[None]:
    """Print the first places where something seems to be secret, when that ends the block."""
    from builders.secrets import SecretsError

    try:
        yield
    except SecretsError as error:
        for finding in error.first:
            console.message(console.one_line(str(finding)))
        if error.count > len(error.first):
            console.message(f"and {error.count - len(error.first):,} more")
        if as_json:
            places = [asdict(finding) for finding in error.first]
            console.say_json(
                {"ok": False, "secrets": {"count": error.count, "list": str(error.listed), "first": places}}
            )
        raise
