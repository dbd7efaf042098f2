"""The questions of a refreshed snapshot: those of the earlier one that are kept, and those that the dump has beside them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.building import sources
from builders.outputs import write_about, write_sorted
from builders.pipeline.reading import questions_of
from builders.pipeline.work import LACKING, QUESTIONS, Work, write_lines
from builders.refreshing.earlier import Earlier
from builders.refreshing.rules import KEPT_OUT, OPEN, RETIRED, Merged, Rules, merged
from builders.topics import Topic
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.manifest import made
from freshstack_datasets.recipe import Filter, Recipe, Source
from freshstack_datasets.records import Query
from freshstack_datasets.tables.schema import QUERIES

FATES = "fates.jsonl"
"""What became of each question, in the folder of the stage."""
NEWER = "newer"
"""The folder, within that of the refresh, of what is chosen from the dump."""
BUILDER = "refresh"
_ANSWERS = "answers.jsonl"


@dataclass(frozen=True)
class Merging:
    """The stage ``questions`` of a refresh, which asks no model.

    Args:
        topic: The topic.
        given: What the newer questions are chosen from.
        earlier: The earlier snapshot.
        rules: By which rules its questions are kept.
    """

    topic: Topic
    given: sources.Given
    earlier: Earlier
    rules: Rules
    name: str = field(default=QUESTIONS)

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the questions depend on.

        Raises:
            InputError: The posts cannot be found.
        """
        rules = {
            "retire_gone": self.rules.retire_gone,
            "retire_before": self.rules.retire_before and self.rules.retire_before.isoformat(),
        }
        chosen = sources.Questions(self.topic, self.given).key(work)
        corrected = sorted(self.earlier.corrected)
        return {"chosen": chosen, "earlier": self.earlier.digest, "rules": rules, "corrected": corrected}

    def build(self, work: Work, out: Path) -> None:
        """Choose questions from the dump, and put them together with the earlier ones.

        Args:
            work: The folder of the refresh.
            out: A new folder for the stage.

        Raises:
            InputError: The posts cannot be read, or no question is left.
            SecretsError: Something seems to be secret, and is not allowed.
        """
        newer = Work(work.path / NEWER)
        sources.run(sources.Questions(self.topic, self.given), newer)
        folder = newer.folder(QUESTIONS)
        left_out = {str(one.get("id")): str(one.get("reason")) for one in _lines(folder / LACKING) if one.get("id")}
        earlier = self.earlier
        found = merged(earlier.whole.queries, questions_of(newer), left_out, self.rules, earlier.corrected)
        if not found.questions:
            why = ", ".join(f"{count:,} {reason}" for reason, count in Counter(found.left_out.values()).most_common(3))
            raise InputError("no question is left", expected="one that the rules keep", got=why or "none")
        out.mkdir()
        table = write_sorted(out, QUERIES, found.questions)
        taken = found.fates.keys() - found.gone
        answers = (one for one in _lines(folder / _ANSWERS) if one.get("question") in taken)
        write_lines(out / _ANSWERS, answers)
        ours = ({"id": query_id, "reason": why} for query_id, why in found.left_out.items())
        write_lines(out / LACKING, [*(one for one in _lines(folder / LACKING) if not _ours(one, found)), *ours])
        write_lines(out / FATES, _told(found))
        self._write_about(out, newer, found, table)

    def _write_about(self, out: Path, newer: Work, found: Merged, table: dict[str, Any]) -> None:
        about = newer.about(QUESTIONS)
        recipe: Recipe = made(Recipe, **about["recipe"])
        dropped = Counter(found.left_out.values())
        filters = tuple(Filter(name=why, dropped=count, reason="") for why, count in sorted(dropped.items()))
        manifest = self.earlier.manifest
        told = {"refreshes": f"{manifest.dataset}@{manifest.snapshot}", "refreshes_fingerprint": manifest.fingerprint}
        fates = Counter(found.fates.values())
        counts = {"questions": len(found.questions), **fates, RETIRED: len(found.retired)}
        counts |= {"kept_out": len(found.kept_out)}
        write_about(
            out / "questions.json",
            self.topic.name,
            [*(made(Source, **one) for one in about["sources"]), *self._source(len(found.gone))],
            recipe.model_copy(
                update={
                    "builder": BUILDER,
                    "parameters": {**recipe.parameters, **told},
                    "filters": (*recipe.filters, *filters),
                }
            ),
            table,
            counts,
        )

    def _source(self, gone: int) -> Iterator[Source]:
        """Yield the earlier snapshot, where questions are taken from it that the dump does not have."""
        if gone:
            manifest = self.earlier.manifest
            name = f"{manifest.dataset}@{manifest.snapshot}"
            url = f"{name}#{manifest.fingerprint[:12]}"
            yield Source(url=url, name=name, license=manifest.license, counts={"questions": gone})


def fates_of(work: Work) -> dict[str, dict[str, Any]]:
    """Return by the id of each question what became of it: ``fate``, and of those that are left out ``reason``.

    Args:
        work: The folder of the refresh.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    return {str(one["id"]): one for one in _lines(work.folder(QUESTIONS) / FATES)}


def open_questions(work: Work) -> list[Query]:
    """Return the questions for which nothing is known yet.

    Raises:
        InputError: The stage is not done, or its files cannot be read.
    """
    fates = fates_of(work)
    return [query for query in questions_of(work) if fates.get(query.query_id, {}).get("fate") in OPEN]


def write_questions(queries: list[Query], topic: Topic, source: Work, to: Work) -> None:
    """Write some of the questions of a build as those of another one.

    Args:
        queries: The questions.
        topic: The topic.
        source: The build whose questions they are.
        to: The folder of the other one.
    """
    about, folder = source.about(QUESTIONS), to.path / QUESTIONS
    folder.mkdir(parents=True)
    table = write_sorted(folder, QUERIES, queries)
    recipe: Recipe = made(Recipe, **about["recipe"])
    listed = [made(Source, **one) for one in about["sources"]]
    write_about(folder / "questions.json", topic.name, listed, recipe, table, {"questions": len(queries)})


def _told(found: Merged) -> Iterator[dict[str, str]]:
    for query_id, fate in sorted(found.fates.items()):
        yield {"id": query_id, "fate": fate, **({"from": "earlier"} if query_id in found.gone else {})}
    for query_id, why in found.left_out.items():
        yield {"id": query_id, "fate": RETIRED if query_id in found.retired else KEPT_OUT, "reason": why}


def _ours(one: Mapping[str, Any], found: Merged) -> bool:
    """Tell whether a line is of a question that is told of already."""
    return str(one.get("id")) in found.left_out


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for line in stream:
                value = json.loads(line)
                if isinstance(value, dict):
                    yield value
    except (OSError, ValueError, RecursionError) as error:
        got = getattr(error, "strerror", None) or "no JSON"
        raise InputError(f"cannot read {shown_path(path)}", got=got, hint="run the stage again") from None
