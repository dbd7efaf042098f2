"""The command that writes a dataset in the layouts of other tools."""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.inputs import DatasetName, heading, identity, open_dataset


class Layout(StrEnum):
    """The layouts that ``export`` writes, each a module of ``adapters``."""

    beir = "beir"
    trec = "trec"
    jsonl = "jsonl"


def export(
    dataset: DatasetName,
    to: Annotated[Layout, typer.Option("--to", metavar="beir|trec|jsonl", help="The layout.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new or an empty folder.")],
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write a dataset for other tools.

    A BEIR folder, TREC files or JSON lines.
    """
    data = open_dataset(dataset)
    import_module(f"freshstack_datasets.adapters.{to.value}").export(data, out)
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    if as_json:
        console.say_json({**identity(data), "format": to.value, "out": str(out), "files": files})
    else:
        console.say("\n".join(str(out / name) for name in files))
        console.message(f"{heading(data)}: written as {to.value}")
