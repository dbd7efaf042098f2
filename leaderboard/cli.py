"""The commands of ``python -m leaderboard``: they behave as those of ``freshstack`` do."""

from freshstack_datasets.cli import console
from leaderboard.commands import build, checking, exporting, importing, new, score, serve, validating

app = console.command_line("python -m leaderboard")


@app.callback()
def leaderboard() -> None:
    """Take run files, check and score them, and publish who is truly ahead."""


new.add_to(app)
validating.add_to(app)
importing.add_to(app)
score.add_to(app)
build.add_to(app)
checking.add_to(app)
exporting.add_to(app)
serve.add_to(app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: What was typed after ``python -m leaderboard``; the process's own when not given.
    """
    return console.run(app, arguments, name="python -m leaderboard")
