"""``python -m builders publish``: a snapshot onto the Hugging Face Hub, whole or not at all."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.commands.secrets import AllowSecrets, findings_shown
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import shown

if TYPE_CHECKING:
    from builders.publishing.publish import Published
    from freshstack_datasets.verification import Problem

SHOWN = 5
"""Sources that a warning names."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("publish", epilog="Example: python -m builders publish coffee-2015-03 --repo acme/coffee --dry-run")(
        _publish
    )


def _publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a snapshot.")],
    repository: Annotated[
        str | None,
        typer.Option("--repo", metavar="ORG/NAME", help="The dataset repository; the dataset's name when not given."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, with sizes, and change nothing.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository a private one; one that is there has to be.")
    ] = False,
    pull_request: Annotated[
        bool, typer.Option("--pull-request", help="Open a pull request instead, for somebody else to merge.")
    ] = False,
    allow_secrets: AllowSecrets = "",
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Publish a snapshot on the Hugging Face Hub.

    Looks into every row, makes one commit of all files, in which those of an older snapshot go, tags it with the
    snapshot's name, downloads it again and looks into every row of that. Whatever fails, the same command goes on where
    it stopped. A snapshot that is published never changes: what is put right is a new one, such as 2024-10.1.

    Its texts are searched for secrets first. Places where one seems to be are listed in DIR.secrets.jsonl, and nothing is
    sent, unless --allow-secrets names a list that has them; those of corpus and questions do.

    The token is that of HF_TOKEN, or of hf auth login.
    """
    from builders.publishing.plan import UnfitError
    from builders.publishing.publish import publish
    from builders.secrets import Allowed

    try:
        with findings_shown(as_json):
            told = publish(
                folder,
                repository=repository,
                private=private,
                pull_request=pull_request,
                dry_run=dry_run,
                allowed=Allowed.of(allow_secrets),
                say=console.message,
            )
    except UnfitError as error:
        for problem in error.problems:
            console.message(console.one_line(str(problem)))
        if as_json:
            console.say_json({"ok": False, "problems": _entries(error.problems)})
        raise
    if as_json:
        console.say_json(_facts(told))
    else:
        _say(told, pull_request)
    if told.problems:
        raise typer.Exit(1)


def _facts(told: "Published") -> dict[str, Any]:
    manifest = told.prepared.manifest
    return {
        "ok": not told.problems,
        "state": told.state,
        "repository": told.repository,
        "dataset": manifest.dataset,
        "snapshot": manifest.snapshot,
        "fingerprint": manifest.fingerprint,
        "branch": told.branch,
        "commit": told.commit,
        "tag": manifest.snapshot if told.state in ("published", "unchanged") or told.tagged else None,
        "pull_request": told.pull_request or None,
        "address": told.address,
        "new": told.new,
        "unknown": told.unknown or None,
        "operations": [{"operation": kind, "path": path, "bytes": size} for kind, path, size in _operations(told)],
        "problems": _entries(told.problems),
    }


def _entries(problems: "list[Problem] | tuple[Problem, ...]") -> list[dict[str, str]]:
    return [{"code": p.code, "file": p.file, "id": p.id, "message": p.message} for p in problems]


def _operations(told: "Published") -> list[tuple[str, str, int]]:
    plan = told.plan
    kinds = (("add", plan.adds), ("keep", plan.keeps), ("delete", plan.deletes))
    return [(kind, file.path, file.size) for kind, files in kinds for file in files]


def _say(told: "Published", pull_request: bool) -> None:
    manifest = told.prepared.manifest
    console.say(f"{told.repository}@{manifest.snapshot}: {_SAID[told.state]}, fingerprint {manifest.fingerprint[:12]}")
    if told.state == "planned":
        _say_planned(told, pull_request)
    elif told.state == "proposed":
        console.say(told.pull_request)
        console.say("once it is merged, run the same command without --pull-request: it sets the tag and reads it back")
    elif told.state == "merged":
        console.say("run the same command without --pull-request: it sets the tag and reads it back")
    else:
        _say_published(told)


_SAID = {
    "published": "published",
    "unchanged": "published already, nothing was changed",
    "proposed": "proposed",
    "merged": "on main already, without its tag",
    "planned": "not published, as this is a dry run",
}


def _say_published(told: "Published") -> None:
    snapshot = told.prepared.manifest.snapshot
    console.say(f"commit {told.commit}, tag {snapshot}")
    if told.branch != "main":
        console.say(f"main has a newer snapshot and stays what it is; this one is on the branch {told.branch}")
    for path in told.differing:
        console.say(f"{path} on the Hub is another one than here, and stays")
    for problem in told.problems:
        console.say(console.one_line(str(problem)))
    if told.problems:
        count = console.counted(len(told.problems), "problems")
        console.message(f"what came back from the Hub is not what was sent, {count}: run the same command again")
        return
    console.say(f"read back, every row: all is well\n{told.address}/tree/{snapshot}")


def _say_planned(told: "Published", pull_request: bool) -> None:
    plan, snapshot = told.plan, told.prepared.manifest.snapshot
    if silent := [shown(source.name or source.url) for source in told.prepared.manifest.sources if not source.license]:
        some = ", ".join(silent[:SHOWN]) + (", …" if len(silent) > SHOWN else "")
        number = console.counted(len(silent), "sources")
        console.warn(f"no licence is known of {number}: {some}; see to it that their texts may be published")
    if told.unknown:
        console.warn(f"what {told.repository} holds is not known: {told.unknown}")
    if told.new:
        console.say(f"the repository {told.repository} would be made")
    if told.tagged:
        console.say(f"nothing would be changed: commit {told.commit} has it, and its tag")
        return
    if told.commit and pull_request:
        console.say(f"no pull request would be opened: main has it, at {told.commit}")
        return
    if told.commit:
        console.say(f"no commit would be made: {told.commit} has it; the tag {snapshot} would be set on it")
        return
    console.say_table(
        ("operation", "file", "bytes"),
        [(kind, path, f"{size:,}") for kind, path, size in _operations(told)],
        right=("bytes",),
    )
    added, deleted = (sum(file.size for file in files) for files in (plan.adds, plan.deletes))
    kept = f", {len(plan.keeps)} kept" if plan.keeps else ""
    gone = f", {len(plan.deletes)} deleted ({deleted:,} bytes)" if plan.deletes else ""
    what, then = ("one pull request", "") if pull_request else (f"one commit on {told.branch}", f", tagged {snapshot}")
    console.say(f"{what}: {console.counted(len(plan.adds), 'files')} added ({added:,} bytes){kept}{gone}{then}")
