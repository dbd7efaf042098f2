"""``python -m builders cards``: the cards of all known datasets, written anew."""

from pathlib import Path
from typing import Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("cards", epilog="Example: python -m builders cards")(_cards)


def _cards(
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder; dataset_cards of the clone when not given.")
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write the card of every known dataset anew, with its pictures.

    Cards of datasets that come with the package are counted from their tables; others have what the catalog knows.
    Files that are as they should be are left alone, and no other is removed.
    """
    from builders.cards.collection import collection
    from builders.cards.render import TEMPLATES
    from freshstack_datasets.files import atomic_file

    folder = TEMPLATES if out is None else out
    changed = []
    for path, content in collection().items():
        target = folder / path
        if target.is_file() and target.read_bytes() == content:
            continue
        with atomic_file(target) as work:
            work.write_bytes(content)
        changed.append(path)
    if as_json:
        console.say_json({"path": str(folder), "written": changed})
    elif changed:
        console.say("\n".join(str(folder / path) for path in changed))
    else:
        console.say(f"{folder}: all cards are as they should be")
