"""The tables and lists of a card, as cells and items of Markdown."""

from collections.abc import Iterator, Mapping
from typing import Any

from builders.cards.facts import Facts
from freshstack_datasets.card import plain
from freshstack_datasets.recipe import Recipe, Tool
from freshstack_datasets.tables.schema import TABLES

ROWS = {
    "qrels": "a query, a document that was judged for it, and how many of the query's nuggets it supports",
    "corpus": "a document: title, text, and where it came from",
    "queries": "a question: title, body, accepted answer, and where it came from",
    "nuggets": "a fact that a good answer to a query holds",
    "nugget_qrels": "a nugget, a document, and whether it supports the nugget",
}
"""What a row of each table is."""

UNKNOWN = "–"
_MOST_VALUES = 12
_LONGEST = 300


def tables_table(known: Facts) -> list[tuple[str, str, str]]:
    """Return name, number of rows and content of each table."""
    return [(name, f"{known.rows[name]:,}" if name in known.rows else UNKNOWN, ROWS[name]) for name in TABLES]


def figures(known: Facts) -> list[tuple[str, str, str]]:
    """Return what the statistics are of, with the published and the counted figure, "" where there is none.

    Published ones have the digits that they have there, counted means have one.
    """
    published = _published(known)
    counted = _counted(known)
    names = list(dict.fromkeys([*published, *counted]))
    return [(name, published.get(name, ""), counted.get(name, "")) for name in names]


def _published(known: Facts) -> dict[str, str]:
    snapshot = known.told
    if snapshot is None:
        return {}
    found = {
        **({"questions": f"{snapshot.queries:,}"} if known.filtered else {}),
        "documents": f"{snapshot.documents:,}",
        "repositories": f"{len(snapshot.repositories):,}",
    }
    if not known.filtered:
        return found
    found["nuggets a question"] = f"{snapshot.nuggets_per_query}"
    if (means := snapshot.figures) is not None:
        found |= {
            "tokens of a question": f"{means.query_tokens}",
            "tokens of an accepted answer": f"{means.answer_tokens}",
            "questions with code": f"{means.query_code_percent} %",
            "accepted answers with code": f"{means.answer_code_percent} %",
            "relevant documents a nugget": f"{means.relevant_per_nugget}",
            "relevant documents a question": f"{means.relevant_per_query}",
        }
    return found


def _counted(known: Facts) -> dict[str, str]:
    found = known.statistics
    if found is None:
        return {}
    lengths = {
        "tokens of a question": found.questions.lengths,
        "tokens of an accepted answer": found.questions.answers,
        "tokens of a document": found.documents,
    }
    return {
        "questions": f"{known.rows['queries']:,}",
        "documents": f"{known.documents:,}",
        "nuggets a question": f"{found.judged.nuggets_per_query:,.1f}",
        **{name: f"{of.mean:,.1f}" for name, of in lengths.items() if of is not None},
        "relevant documents a nugget": f"{found.judged.relevant_per_nugget:,.1f}",
        "relevant documents a question": f"{found.judged.relevant_per_query:,.1f}",
        "judged documents a question": f"{found.judged.judged_per_query:,.1f}",
    }


def spread(known: Facts) -> list[str]:
    """Return how the questions are spread over types and languages, an item each where they have any."""
    found = known.statistics
    kinds = {"type": found.questions.types, "language": found.questions.by_language} if found else {}
    return [f"Questions by {kind}: {_listed(counts)}." for kind, counts in kinds.items() if counts]


def _listed(counts: Mapping[str, int]) -> str:
    shown = [f"{_inside(value[:_LONGEST])} {count:,}" for value, count in list(counts.items())[:_MOST_VALUES]]
    others = len(counts) - len(shown)
    return ", ".join([*shown, *([f"and {others:,} more"] if others else [])])


def made(known: Facts) -> list[str]:
    """Return how the snapshot was made, as its recipe says, an item a fact."""
    if known.manifest is None:
        return []
    manifest = known.manifest
    writer = f"written by {_inside(manifest.generator.name)} {_inside(manifest.generator.version)}"
    return [*_recipe(manifest.recipe), f"{writer} on {manifest.created.isoformat()}"]


def _recipe(recipe: Recipe) -> Iterator[str]:
    if recipe.builder:
        yield f"builder: {_inside(recipe.builder)}{_settings(recipe.parameters)}"
    if recipe.topic_sha256:
        yield f"topic file: sha256 `{recipe.topic_sha256}`"
    for what, tool in (("chunker", recipe.chunker), ("tokenizer", recipe.tokenizer)):
        if tool is not None:
            yield f"{what}: {_tool(tool)}"
    for stage, model in sorted(recipe.models.items()):
        yield f"model of {_inside(stage)}: {_inside(model)}"
    for prompt, digest in sorted(recipe.prompts.items()):
        yield f"prompt {_inside(prompt)}: sha256 `{digest}`"
    if recipe.pool:
        yield f"documents to judge{_settings(recipe.pool)}"
    for rule in recipe.filters:
        reason = f": {_inside(rule.reason[:_LONGEST])}" if rule.reason else ""
        yield f"left out by {_inside(rule.name)}: {rule.dropped:,}{reason}"


def _tool(tool: Tool) -> str:
    return f"{_inside(tool.name)} {_inside(tool.version)}{_settings(tool.parameters)}"


def _settings(values: Mapping[str, Any]) -> str:
    """Return settings with their names, "" when there are none."""
    shown = (f"{_inside(name)} = {_value(value)}" for name, value in sorted(values.items()))
    return f" ({', '.join(shown)})" if values else ""


def _value(value: object) -> str:
    parts = [str(part) for part in value] if isinstance(value, list | tuple) else [str(value)]
    return " + ".join(_inside(part[:_LONGEST]) for part in parts[:_MOST_VALUES]) + (
        " …" if parts[_MOST_VALUES:] else ""
    )


def _inside(text: str) -> str:
    """Return foreign text for the middle of a line, where no heading and no list can begin."""
    return plain(text).removeprefix("&#8203;")
