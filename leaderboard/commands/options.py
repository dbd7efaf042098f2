"""What several commands take."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Root: TypeAlias = Annotated[
    Path,
    typer.Option("--root", metavar="DIR", help="The folder of submissions.", show_default="leaderboard/submissions"),
]
"""Where submissions are; the commands' default is that of the clone, wherever it is."""
