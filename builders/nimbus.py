"""Nimbus: the benchmark that comes with the package, the documentation of an invented cloud storage service.

The texts were written one by one and lie in ``nimbus_texts``. This module fills in what two siblings differ in, and
draws by seed what no answer depends on: closing words, dates, which changes a release note lists. Pages and questions
need the standard library alone; only ``build``, which writes the snapshot, needs the package's libraries.
"""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.nimbus_draw import Draw
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.records import Document, Judgment, Nugget, Query

if TYPE_CHECKING:
    from freshstack_datasets.manifest import Manifest

SEED = 2504
SNAPSHOT = "2026-11"
CREATED = date(2026, 11, 30)
POOL = {
    "retriever": "bm25",
    "depth": 10,
    "also": ["near-duplicates", "pages with a code of the question", "look-alikes"],
}
"""What was judged for a question beside the pages that answer it."""
TEXTS = Path(__file__).with_name("nimbus_texts")
TYPES = ("exact", "paraphrase", "distractor", "noise")
YEARS = (2024, 2026)
FIRST, LAST = date(2024, 6, 1), date(2026, 10, 31)
"""The days between which pages were revised."""

_MONTHS = {
    "es": (
        "enero", "febrero", "marzo", "abril", "mayo", "junio",
        "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
    ),
    "en": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
}  # fmt: skip
_REVISED = {"es": "Última revisión: {0.day} de {month} de {0.year}.", "en": "Last revised: {month} {0.day}, {0.year}."}


def documents(seed: int = SEED) -> tuple[Document, ...]:
    """Return the 200 documents by ascending id.

    Args:
        seed: Where the random numbers start.
    """
    families = (_errors, _plans, _policies, _help_pages, _release_notes, _posts)
    pages = (page for family in families for page in family(seed))
    return tuple(sorted(pages, key=lambda page: page.doc_id))


def queries() -> Iterator[Query]:
    """Yield the 60 questions, each with its answer, language and trap."""
    for asked in _questions():
        yield Query(
            asked["id"],
            asked["text"],
            answer_text=asked["answer"],
            language=asked["language"],
            type=asked["type"],
        )


def nuggets() -> Iterator[Nugget]:
    """Yield the facts of every answer."""
    for asked in _questions():
        for position, fact in enumerate(asked["nuggets"]):
            yield Nugget(_nugget_id(asked, position), asked["id"], position, fact["text"], fact["importance"])


def judgments() -> Iterator[Judgment]:
    """Yield a judgment of every nugget for every document that was judged for its question.

    Those are the documents that support one of the question's nuggets, and its negatives: the sibling, the superseded
    policy, the posts that look alike.
    """
    for asked in _questions():
        judged = {*asked["negatives"], *(name for fact in asked["nuggets"] for name in fact["documents"])}
        for position, fact in enumerate(asked["nuggets"]):
            for doc_id in sorted(judged):
                yield Judgment(asked["id"], _nugget_id(asked, position), doc_id, int(doc_id in fact["documents"]))


def build(out: Path, seed: int = SEED) -> "Manifest":
    """Write the snapshot.

    Args:
        out: Where it goes; it must not exist, or be empty.
        seed: Where the random numbers start; with another one it is another dataset, and is called so.

    Raises:
        InputError: The folder is taken, or the seed is no whole number of 64 bits, which is all that a recipe can tell.
    """
    from freshstack_datasets.snapshot import write_snapshot

    if type(seed) is not int or not -(2**63) <= seed < 2**63:
        raise InputError("the seed", expected="a whole number of 64 bits", got=shown(seed))
    card = _texts("card")
    return write_snapshot(
        out,
        dataset="freshstack/nimbus" if seed == SEED else f"freshstack/nimbus-seed-{seed}",
        snapshot=SNAPSHOT,
        license="Apache-2.0",
        documents=documents(seed),
        queries=queries(),
        nuggets=nuggets(),
        judgments=judgments(),
        recipe={"builder": "nimbus", "parameters": {"seed": seed}, "pool": POOL},
        about=card["about"],
        sections={section["heading"]: section["text"] for section in card["sections"]},
        created=CREATED,
    )


def _questions() -> Iterator[dict[str, Any]]:
    for trap in TYPES:
        for asked in _texts(f"questions_{trap}")["questions"]:
            yield {**asked, "type": trap}


def _nugget_id(asked: Mapping[str, Any], position: int) -> str:
    return f"{asked['id']}-n{position + 1}"


@cache
def _texts(name: str) -> dict[str, Any]:
    return tomllib.loads((TEXTS / f"{name}.toml").read_text(encoding="utf-8"))


def _errors(seed: int) -> Iterator[Document]:
    written = _texts("errors")
    for pair in written["pairs"]:
        draw = Draw(seed, pair["codes"][0])
        closing, day = draw.one(written["closings"][pair["language"]]), draw.day(FIRST, LAST)
        for side, code in enumerate(pair["codes"]):
            title, text = _filled(pair, side, code=code)
            yield _page(code.lower(), pair["language"], title, [*text, closing], day)


def _plans(seed: int) -> Iterator[Document]:
    written = _texts("plans")
    for pair in written["pairs"]:
        draw = Draw(seed, f"SKU-{pair['number']}")
        closing, day = draw.one(written["closings"][pair["language"]]), draw.day(FIRST, LAST)
        for side, letter in enumerate("MA"):  # monthly and annual
            sku = f"SKU-{pair['number']}{letter}"
            title, text = _filled(pair, side, sku=sku, name=pair["name"])
            doc_id = f"plan-{pair['number']}{letter.lower()}"
            yield _page(doc_id, pair["language"], title, [*text, closing], day)


def _policies(seed: int) -> Iterator[Document]:
    written = _texts("policies")
    for pair in written["pairs"]:
        closing = Draw(seed, f"pol-{pair['number']}").one(written["closings"][pair["language"]])
        for side, year in enumerate(YEARS):
            title, text = _filled(pair, side, year=year)
            notice = [written["superseded"][pair["language"]].format(title=title)] if year != max(YEARS) else []
            doc_id = f"pol-{pair['number']:02}-{year}"
            yield _page(doc_id, pair["language"], title, [*notice, *text, closing], date(year, 1, 1), revised=False)


def _help_pages(seed: int) -> Iterator[Document]:
    for name in ("billing", "account"):
        written = _texts(name)
        for page in written["pages"]:
            draw = Draw(seed, page["id"])
            text = [*page["paragraphs"], draw.one(written["closings"][page["language"]])]
            yield _page(page["id"], page["language"], page["title"], text, draw.day(FIRST, LAST))


def _release_notes(seed: int) -> Iterator[Document]:
    number = 0
    for language, written in _texts("notes")["notes"].items():
        draw = Draw(seed, f"notes {language}")
        changes = draw.endless(written["changes"])
        openings, endings = draw.endless(written["openings"]), draw.endless(written["endings"])
        for title in written["titles"]:
            number += 1
            day = draw.day(FIRST, LAST)
            version = f"{day:%y}.{day.month}.{day.day}"
            listed = "\n".join(f"- {next(changes)}" for _ in range(5))
            text = [next(openings), listed, next(endings)]
            yield _page(f"note-{number:02}", language, title.format(version=version), text, day, revised=False)


def _posts(seed: int) -> Iterator[Document]:
    for page in _texts("posts")["pages"]:
        day = Draw(seed, page["id"]).day(FIRST, LAST)
        yield _page(
            page["id"], page["language"], page["title"], page["paragraphs"], day, revised=False, author=page["author"]
        )


def _filled(pair: Mapping[str, Any], side: int, **given: object) -> tuple[str, list[str]]:
    """Return title and paragraphs of one sibling of a pair."""
    slots = {**{name: values[side] for name, values in pair["slots"].items()}, **given}
    return pair["title"].format(**slots), [paragraph.format(**slots) for paragraph in pair["paragraphs"]]


def _page(
    doc_id: str, language: str, title: str, paragraphs: list[str], day: date, *, revised: bool = True, **more: str
) -> Document:
    """Return a page with its address and day; help pages also say at their end when they were revised."""
    end = [_REVISED[language].format(day, month=_MONTHS[language][day.month - 1])] if revised else []
    metadata = {"url": f"https://docs.nimbus.example/{language}/{doc_id}", "date": day.isoformat(), **more}
    return Document(doc_id, title, "\n\n".join([*paragraphs, *end]), metadata)
