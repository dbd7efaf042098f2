"""MTEB's command line with FreshStack's tasks in it, and commands of ours beside MTEB's."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.main import get_command

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralValues
from freshstack_datasets.cli.wrapped import as_itself
from freshstack_datasets.errors import MissingExtraError

if TYPE_CHECKING:
    from freshstack_datasets.adapters.mteb.autoload import Autoload

PROGRAM = "freshstack mteb"

commands = console.command_line(PROGRAM)
"""The commands of ours."""


@commands.callback()
def _ours() -> None:
    """Commands of FreshStack beside those of MTEB."""


def mteb(context: typer.Context) -> None:
    """Run MTEB's own command line with FreshStack's tasks in it.

    MTEB's: run, available-tasks, available-benchmarks, create-model-results and all others, with MTEB's options,
    messages and exit codes. The tasks are FreshStackNimbusRetrieval, FreshStackLangchainOct2024Retrieval and so on for
    each topic, FreshStackOct2024Retrieval for their mean; the benchmark is FreshStack.

    Ours, for run: -m also takes the folder of a sentence-transformers model, or a run file, which is replayed;
    --max-seq-length N lets the model read the first N tokens of a text; --topics langchain,yolo is short for the tasks
    of those topics, of the newest snapshot. Models, lengths and snapshots never share a result or a prediction file,
    and a result that was scored on other data or by an older formula is computed again.

    Ours beside MTEB's: install, which makes plain mteb know the tasks in this environment, uninstall, which undoes it,
    and statistics, which describes a task's data.
    """
    words = list(context.args)
    own = get_command(commands)
    if words and words[0] in getattr(own, "commands", ()):
        raise typer.Exit(own(words, prog_name=PROGRAM, standalone_mode=False) or 0)
    if not words or words[0] in ("-h", "--help"):
        console.say(context.get_help() + "\n\nMTEB's own help:\n")
        words = ["--help"]
    with as_itself(PROGRAM, words):
        from freshstack_datasets.adapters.mteb.internals import MTEB

        MTEB.load("freshstack_datasets.adapters.mteb.launcher").launch(words)


def install(as_json: Json = False, verbose: Verbose = False) -> None:
    """Make plain MTEB know FreshStack's tasks in this environment.

    mteb run -t FreshStackNimbusRetrieval and import mteb; mteb.get_task(…) then work without this command line: two
    small files in site-packages register the tasks when a program imports MTEB. FRESHSTACK_MTEB_AUTOLOAD=0 switches
    them off, and uninstall removes them. They do nothing where MTEB or this package is not installed.
    """
    from freshstack_datasets.adapters.mteb import autoload

    done = autoload.install()
    if as_json:
        console.say_json({"installed": True, **_told(done)})
    else:
        console.say("\n".join(map(str, done.files)))
        state = "MTEB now knows FreshStack's tasks in" if done.changed else "nothing to do; it was installed in"
        console.message(f"{state} {done.environment}; undo it with {PROGRAM} uninstall")
    if not autoload.mteb_is_here():
        console.warn(str(MissingExtraError("mteb", "mteb")))


def uninstall(as_json: Json = False, verbose: Verbose = False) -> None:
    """Undo install in this environment."""
    from freshstack_datasets.adapters.mteb import autoload

    done = autoload.uninstall()
    if as_json:
        console.say_json({"installed": False, **_told(done)})
        return
    if done.files:
        console.say("\n".join(map(str, done.files)))
    state = "removed from" if done.changed else "nothing to do; it was not installed in"
    console.message(f"{state} {done.environment}")


def statistics(
    tasks: Annotated[list[str], typer.Option("-t", "--tasks", metavar="TASK", help="A task, or several.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder that they are written into.")],
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write MTEB's descriptive statistics of tasks, a JSON file each."""
    from freshstack_datasets.adapters import mteb as adapter

    files = [str(adapter.statistics(task, out)) for task in tasks]
    if as_json:
        console.say_json({"files": files})
    else:
        console.say("\n".join(files))


def _told(done: "Autoload") -> dict[str, object]:
    return {"changed": done.changed, "environment": str(done.environment), "files": [str(path) for path in done.files]}


for _function, _words in (
    (install, "install"),
    (uninstall, "uninstall"),
    (statistics, "statistics -t FreshStackNimbusRetrieval --out statistics"),
):
    commands.command(_words.split()[0], cls=SeveralValues, epilog=f"Example: {PROGRAM} {_words}")(_function)
