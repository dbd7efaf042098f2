"""A card as Markdown, and its pictures: the template filled with what is known of a dataset."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.cards import facts
from builders.cards.facts import Facts, Sizes
from builders.cards.front_matter import front_matter
from builders.cards.history import HEADING, snapshots_table
from builders.cards.tables import figures, made, spread, tables_table
from builders.statistics.pictures import Picture, pictures
from freshstack_datasets import catalog
from freshstack_datasets.card import heading, paragraphs, plain, source_item
from freshstack_datasets.errors import InputError, MissingExtraError, shown

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parents[2] / "dataset_cards"
PICTURES = "pictures"
CANARY = "freshstack-datasets canary b0b3dc74-dc24-46cc-a675-7d2168382251"
"""What every card says, and nothing else in the world: whoever finds it in training data finds our cards there. It is
the same for ever."""


def render(
    folder: Path, *, repository: str | None = None, snapshots: Mapping[str, Sizes | None] | None = None
) -> tuple[str, dict[str, bytes]]:
    """Return the card of a snapshot as it is published, and its pictures by their paths beside it.

    Args:
        folder: The folder of the snapshot; its README.md tells what those who made it say of it.
        repository: Where it is published, ``ORG/NAME``; when not given, where its name says.
        snapshots: The snapshots that are published there: their sizes by name, None where they are not known.

    Raises:
        InputError: The repository is none.
        MissingExtraError: A package that cards are made with is not installed.
        SnapshotError: It is no snapshot, or cannot be read.
    """
    return written(facts.of_folder(folder).among(snapshots or {}), repository=repository)


def written(
    known: Facts, *, repository: str | None = None, prefix: str = f"{PICTURES}/", in_clone: bool = False
) -> tuple[str, dict[str, bytes]]:
    """Return a card and its pictures by their paths.

    Args:
        known: What it says.
        repository: Where the snapshot is published; when not given, where its name says.
        prefix: How the paths of the pictures begin.
        in_clone: Whether it is shown in the clone, and not where the snapshot is published.
    """
    where = repository or (known.name if "/" in known.name else f"ORG/{known.name}")
    if not re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", where):
        raise InputError("a repository", expected="ORG/NAME", got=shown(where))
    drawn = _pictures(known, prefix)
    text = _template().render(_context(known, where, in_clone) | {"pictures": drawn})
    return text, {path: picture.svg for path, picture in drawn.items()}


def _context(known: Facts, repository: str, in_clone: bool) -> dict[str, Any]:
    """Return what the template may name; what comes from elsewhere is Markdown already, which shows it as it is."""
    manifest = known.manifest
    title = f"{known.name}@{known.snapshot}"
    return {
        "front_matter": front_matter(
            f"{known.name} {known.snapshot}",
            known.license,
            known.languages,
            known.known.tags if known.known else (),
            known.documents,
            known.counted,
        ),
        "title": title,
        "about": _lines(known.about),
        "sections": [(heading(name), _lines(text)) for name, text in known.sections.items()],
        "name": known.name,
        "twin": known.name.removesuffix(catalog.UNFILTERED),
        "short": re.sub(r"[^A-Za-z0-9]", "", known.name.rpartition("/")[2]) or "dataset",
        "snapshot": known.snapshot,
        "repository": repository,
        "in_clone": in_clone,
        "here": manifest is not None,
        "original": known.original,
        "told": known.told,
        "filtered": known.filtered,
        "license": plain(known.license),
        "attribution": any(part.lower().startswith("cc-by") for part in known.license.split(" AND ")),
        "fingerprint": manifest.fingerprint if manifest else "",
        "tables": tables_table(known),
        "figures": figures(known),
        "spread": spread(known),
        "made": made(known),
        "models": bool(manifest and manifest.recipe.models),
        "sources": [source_item(source) for source in manifest.sources] if manifest else [],
        "history": HEADING,
        "snapshots": snapshots_table(known),
        "next": _next(known.snapshot),
        "queries": known.queries,
        "undated": known.statistics.questions.undated if known.statistics else 0,
        "missing": len(manifest.missing) if manifest else 0,
        "canary": CANARY,
        "citation": catalog.citation(),
    }


def _lines(text: str) -> list[str]:
    """Return the paragraphs of a text, each a line of Markdown."""
    return [line for line in paragraphs(text) if line]


def _next(snapshot: str) -> str:
    """Return what a correction of a snapshot is called."""
    month, _, correction = snapshot.partition(".")
    return f"{month}.{int(correction or 0) + 1}"


def _pictures(known: Facts, prefix: str) -> dict[str, Picture]:
    """Return the pictures there can be of a snapshot, by path."""
    found = known.statistics
    if found is None:
        return {}
    questions = found.questions
    kinds = {"Questions": questions.lengths, "Accepted answers": questions.answers, "Documents": found.documents}
    drawn = pictures(f"{known.name}@{known.snapshot}", questions.quarters, kinds)
    return {f"{prefix}{name}": picture for name, picture in drawn.items()}


@cache
def _template() -> "Template":
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtraError("jinja2", "build") from error
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # it is Markdown: what comes from elsewhere is escaped where it is gathered
    )
    environment.filters["plain"] = plain
    return environment.get_template("_template.md")
