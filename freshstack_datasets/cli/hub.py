"""Commands about whole datasets, on this machine or on the Hub: list, info, download, verify."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.inputs import DatasetName, heading, open_dataset

if TYPE_CHECKING:
    from freshstack_datasets.holdings import Held

KnownName = Annotated[
    str, typer.Argument(metavar="NAME", help="A dataset's name, or name@snapshot; by default the newest snapshot.")
]


def list_(as_json: Json = False, verbose: Verbose = False) -> None:
    """List the datasets that are known by name or on this machine.

    The Hub is not asked: a snapshot that was published since is not in the list, but can be named all the same. The
    exit code is 1 when a dataset that came with the package is broken.
    """
    from freshstack_datasets.cli.describe import known_datasets

    known = known_datasets()
    if as_json:
        console.say_json(known)
    else:
        rows = [
            (entry["name"], snapshot["name"], _here(snapshot), _size(snapshot["bytes"]))
            for entry in known["datasets"]
            for snapshot in entry["snapshots"]
        ]
        console.say_table(("dataset", "snapshot", "on this machine", "size"), rows, right=("size",))
    for entry in known["broken"]:
        console.message(f"{entry['name']} came with the package and is broken: {entry['message']}; install it again")
    if known["broken"]:
        raise typer.Exit(1)


def info(dataset: DatasetName, as_json: Json = False, verbose: Verbose = False) -> None:
    """Describe a dataset: tables, statistics, licences, sources, where it is, how to cite it."""
    from freshstack_datasets.cli.describe import described

    data = open_dataset(dataset)
    facts = described(data)
    if as_json:
        console.say_json(facts)
        return
    console.say(f"{heading(data)}\nlicence {facts['license']}, made {facts['created']}\nin {facts['path']}")
    if facts["languages"]:
        console.say(f"languages: {', '.join(facts['languages'])}")
    console.say("")
    if facts["description"]:
        console.say(f"{facts['description']}\n")
    console.say_table(("table", "rows"), [(n, t["rows"]) for n, t in facts["tables"].items()], right=("rows",))
    console.say("")
    rows = [(name.replace("_", " "), _number(value)) for name, value in facts["statistics"].items()]
    console.say_table(("statistic", "value"), [row for row in rows if row[1]], right=("value",))
    for source in facts["sources"]:
        console.say("\n" + "\n".join(f"{key}: {_short(value)}" for key, value in source.items() if value))
    _say_made(facts)
    if facts["repositories"]:
        console.say("")
        rows = [(repository["name"], repository["license"]) for repository in facts["repositories"]]
        console.say_table(("repository", "licence"), rows)
    if facts["citation"]:
        console.say(f"\n{facts['citation'].strip()}")


def download(
    dataset: KnownName,
    accept_moved: Annotated[
        bool,
        typer.Option(
            "--accept-moved",
            help="If the tag of the snapshot has moved, say from where to where, and use that commit from now on.",
        ),
    ] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Bring all files of a snapshot to this machine, so that it can be used without the Hub.

    Files that are here already are read again; damaged ones are fetched anew, but for those that came with the package.
    The exit code is 1 when one of these is damaged, or when the tag of the snapshot has moved since it was first used,
    which never happens to a snapshot that is published right. The commit of then stays in use unless --accept-moved is
    given: scores from before and after it are of different data.
    """
    from freshstack_datasets.holdings import accept, fetch, moved_tag
    from freshstack_datasets.places import meant

    name, snapshot = _named(*meant(dataset))
    tag = moved_tag(name, snapshot) if accept_moved else None
    before, now = tag.commits() if tag else (None, None)
    if accept_moved and not as_json:
        console.message(
            f"{tag.now}: the tag has moved from commit {before} to {now}" if tag else f"{dataset}: no tag has moved"
        )
    held = accept(tag) if tag else fetch(name, snapshot)
    manifest = held.manifest
    if as_json:
        facts = {"dataset": manifest.dataset, "snapshot": manifest.snapshot, "fingerprint": manifest.fingerprint}
        more = {"path": str(held.folder), "bytes": held.bytes, "renewed": held.renewed}
        accepted = {"before": before, "now": now} if tag else None
        console.say_json({**facts, **more, "accepted": accepted, "problems": _problems(held)})
    else:
        for path in held.renewed:
            console.message(f"{path} was damaged and has been fetched again")
        _say_problems(held)
        title = f"{manifest.dataset}@{manifest.snapshot}, fingerprint {manifest.fingerprint[:12]}"
        console.say(f"{title}: {_size(held.bytes)} in {held.folder}")
    if held.problems:
        raise typer.Exit(1)


def verify(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A snapshot's folder, a name, or name@snapshot.")],
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Check a snapshot: files, digests, ids, counts; of one on the Hub also whether its tag has moved.

    Files that lack are downloaded first. Prints a problem a line; the exit code is 1 when there is one.
    """
    from freshstack_datasets.holdings import check, check_folder
    from freshstack_datasets.places import meant

    name, snapshot = meant(dataset)
    held = check(name, snapshot) if isinstance(name, str) else check_folder(name, snapshot)
    if as_json:
        console.say_json({"ok": not held.problems, "problems": _problems(held)})
    else:
        _say_problems(held)
        found = console.counted(len(held.problems), "problems") if held.problems else "all is well"
        console.message(f"{dataset}: {found}")
    if held.problems:
        raise typer.Exit(1)


def _named(name: Any, snapshot: str | None) -> tuple[str, str | None]:
    """Return a name that is none of a folder."""
    from freshstack_datasets.errors import InputError, shown

    if not isinstance(name, str):
        hint = f"freshstack verify {name} looks through a folder"
        raise InputError(f"cannot download {shown(str(name))}", expected="a name", got="a folder", hint=hint)
    return name, snapshot


def _problems(held: "Held") -> list[dict[str, str]]:
    return [{"code": p.code, "file": p.file, "id": p.id, "message": p.message} for p in held.problems]


def _say_problems(held: "Held") -> None:
    for problem in held.problems:
        console.say(console.one_line(str(problem)))
    if held.note:
        console.message(held.note)


def _say_made(facts: Mapping[str, Any]) -> None:
    """Print how a dataset was made."""
    chosen = facts["recipe"].get("parameters") or {}
    if chosen:
        console.say("")
        console.say_table(("parameter", "value"), [(name, _short(value)) for name, value in chosen.items()])
    dropped = facts["recipe"].get("filters") or []
    if dropped:
        console.say("")
        rows = [(entry["name"], entry["dropped"], entry.get("reason", "")) for entry in dropped]
        console.say_table(("left out", "number", "why"), rows, right=("number",))


def _here(snapshot: Mapping[str, Any]) -> str:
    return "yes" if snapshot["cached"] else "a part" if snapshot["bytes"] else "no"


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(console.counted(number, name) for name, number in value.items())
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return console.one_line(str(value), 100)


def _size(number: int | None) -> str:
    return "" if number is None else f"{number / 1e6:,.1f} MB"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
