"""``python -m leaderboard new``: the folder of a submission, written from a few answers."""

import datetime
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.asking import Questions
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralValues
from freshstack_datasets.typed_files import checked
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root

if TYPE_CHECKING:
    from freshstack_datasets.typed_files import Fault


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "new",
        cls=SeveralValues,
        epilog="Example: python -m leaderboard new nimbus/2026-11 --team Acme --name 'Acme Search' --kind dense "
        "--model-meta model_meta.json --run nimbus.trec --no-input",
    )(_new)


def _new(
    board: Annotated[str, typer.Argument(metavar="BOARD", help="The board and its snapshot, such as nimbus/2026-11.")],
    team: Annotated[str | None, typer.Option(metavar="TEXT", help="What your team is called.")] = None,
    contact: Annotated[
        str | None, typer.Option(metavar="TEXT", help="An e-mail address, or a page; published.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="What the system is called.")] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="What kind of system it is, by its last step, such as dense.")
    ] = None,
    setting: Annotated[
        str, typer.Option(metavar="SETTING", help="inference, or oracle when it saw answers or nuggets.")
    ] = "inference",
    component: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A retriever that it is made of, such as bm25, or several."),
    ] = None,
    model_meta: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="MTEB's model_meta.json of a model that takes part, or several."),
    ] = None,
    on_benchmark: Annotated[
        str | None, typer.Option(metavar="ANSWER", help="Trained on the benchmark: yes, no or unknown.")
    ] = None,
    on_its_questions_site: Annotated[
        str | None, typer.Option(metavar="ANSWER", help="Trained on the forum of its questions: yes, no or unknown.")
    ] = None,
    repository: Annotated[str | None, typer.Option(metavar="URL", help="Where the code is.")] = None,
    commit: Annotated[str | None, typer.Option(metavar="COMMIT", help="Its commit, whole.")] = None,
    command: Annotated[str | None, typer.Option(metavar="TEXT", help="What makes the runs again.")] = None,
    hardware: Annotated[str | None, typer.Option(metavar="TEXT", help="What it ran on.")] = None,
    license: Annotated[
        str, typer.Option("--license", metavar="SPDX", help="The licence of the run files.")
    ] = "CC-BY-4.0",
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="[TOPIC=]FILE", help="A run file to take along, or several: one a topic."),
    ] = None,
    folder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The folder; yyyymmdd-team-system when not given.")
    ] = None,
    root: Root = SUBMISSIONS,
    no_input: Annotated[bool, typer.Option("--no-input", help="Ask nothing.")] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write the folder of a submission: its run files, and a submission.yaml that explains itself.

    What no option says is asked for. What nobody answers waits in the file to be filled in, and validate refuses it.
    """
    from leaderboard.boards.places import SUBMISSION
    from leaderboard.submission import new
    from leaderboard.submission.mteb import read_model_meta

    home = new.board_folder(root, board)
    runs = new.runs_of(home, run or [])
    models = tuple(read_model_meta(path) for path in model_meta or ())
    if on_benchmark is None and any(model.on_benchmark for model in models):
        on_benchmark = "yes"
    told = {
        "team": team,
        "name": name,
        "contact": contact,
        "kind": kind,
        "on_benchmark": on_benchmark,
        "on_its_questions_site": on_its_questions_site,
        "repository": repository,
        "commit": commit,
        "command": command,
        "hardware": hardware,
    }
    if not no_input and None in told.values():
        console.message("an empty answer leaves a value to be filled in later")
    asked = _asked(Questions(not no_input), told)
    stated = {"setting": setting, "components": tuple(component or ()), "license": license}
    today = datetime.datetime.now(datetime.UTC).date()
    target = home / new.folder_name(today, asked["team"], asked["name"], folder)
    answers = new.Answers(models=models, **asked, **_stated(stated))
    left = new.write_new(answers, target, runs)
    path = target / SUBMISSION
    if as_json:
        console.say_json(_facts(path, runs, left))
        return
    taken = console.counted(len(runs), "run files") if runs else "no run file yet"
    console.say(f"{path}: {answers.name} of {answers.team}, with {taken}")
    for fault in left:
        console.say(f"  line {fault.line}: fill in {fault.place}")
    console.say(f"{'then' if left else 'next'}: python -m leaderboard validate {shlex.quote(str(target))}")


def _asked(questions: Questions, told: dict[str, str | None]) -> dict[str, Any]:
    """Return what options say, checked, and what is answered where they do not."""
    from leaderboard.submission import model, values
    from leaderboard.submission.placeholders import FILL_IN

    kinds = ", ".join(get_args(model.Kind))
    # what is asked for, what it has to be, and what an empty answer means: None where there has to be one
    rows: dict[str, tuple[str, Any, str | None]] = {
        "team": ("What your team is called", values.Line, None),
        "name": ("What the system is called", values.Line, None),
        "contact": ("An e-mail address or a page of yours, which is published", values.Contact, FILL_IN),
        "kind": (f"Its kind, by its last step: {kinds}", model.Kind, FILL_IN),
        "on_benchmark": ("Was it trained on this benchmark: yes, no or unknown", model.Told, FILL_IN),
        "on_its_questions_site": ("On the forum of its questions: yes, no or unknown", model.Told, FILL_IN),
        "repository": ("Where its code is, https://…", values.Url, FILL_IN),
        "commit": ("The commit of that", values.Commit, FILL_IN),
        "command": ("The command that makes the runs again", values.Paragraph, FILL_IN),
        "hardware": ("What it ran on", values.Line, ""),
    }

    def check(kind: Any, empty: str | None) -> Callable[[str, str], Any]:
        return lambda text, what: empty if not text and empty is not None else checked(kind, text, what)

    return {
        key: questions.one(
            told[key], f"--{key.replace('_', '-')}", question, None if empty is None else "", check(kind, empty)
        )
        for key, (question, kind, empty) in rows.items()
    }


def _stated(told: dict[str, Any]) -> dict[str, Any]:
    """Return what options say that nobody is asked for, checked."""
    from leaderboard.submission import model, values

    kinds = {"setting": model.Setting, "components": model.Components, "license": values.License}
    options = {"components": "--component"}
    return {key: checked(kinds[key], value, options.get(key, f"--{key}")) for key, value in told.items()}


def _facts(path: Path, runs: Iterable[str], left: Iterable["Fault"]) -> dict[str, Any]:
    return {
        "path": str(path),
        "runs": sorted(runs),
        "left": [{"line": fault.line, "place": fault.place} for fault in left],
    }
