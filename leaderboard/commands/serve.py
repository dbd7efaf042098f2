"""``python -m leaderboard serve``: looks at a site that was built, on this machine alone."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("serve", epilog="Example: python -m leaderboard serve site")(_serve)


def _serve(
    site: Annotated[Path, typer.Argument(metavar="SITE", help="The folder that build wrote.")],
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="The port; 0 takes one that is free.")
    ] = 8000,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Serve a site on 127.0.0.1 until you interrupt it: no other machine can reach it."""
    from leaderboard.serving import server_of

    with suppress(KeyboardInterrupt), server_of(site, port) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        if as_json:
            console.say_json({"url": address, "site": str(site)})
        else:
            console.say(f"{address} shows {site}; end with Ctrl-C")
        server.serve_forever()
