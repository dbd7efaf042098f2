"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

TopicFile = Annotated[Path, typer.Argument(metavar="TOPIC.yaml", help="The topic file.")]

Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes that work; as many as there are processors when not given."),
]

ClusterFile = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE.yaml",
        help="Let a cluster do what many processes can: a file with executor (slurm, ray or local), tasks, and for Slurm "
        "partition and time; all machines must see the same files.",
    ),
]
