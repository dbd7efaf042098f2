"""The card of a snapshot: the README.md that people and dataset tools read beside the tables."""

import re
from collections.abc import Iterable, Mapping

import yaml

from freshstack_datasets.manifest import Manifest
from freshstack_datasets.recipe import Source
from freshstack_datasets.tables.schema import QRELS, TABLES

_AFTER_ABOUT = (
    "A snapshot of a retrieval benchmark: queries, the facts (nuggets) that a good answer to each holds, and for"
)
_BEFORE_SECTIONS = "relevant. `nugget_qrels` has the judgments one by one."
_AFTER_SECTIONS = ["## Use", "", "```python"]


def card(manifest: Manifest, about: str = "", sections: Mapping[str, str] | None = None) -> str:
    """Return the card: YAML that names the tables, then what the snapshot is in Markdown.

    Args:
        manifest: The snapshot's manifest.
        about: What the dataset is, in plain text, with an empty line between paragraphs; it is shown as it stands,
            Markdown marks included.
        sections: What else is to be said of it, from a heading to a text like ``about``.
    """
    return "\n".join(_lines(manifest, about, sections or {})) + "\n"


def _lines(manifest: Manifest, about: str, sections: Mapping[str, str]) -> Iterable[str]:
    name = f"{manifest.dataset}@{manifest.snapshot}"
    yield "---"
    yield yaml.safe_dump(_front_matter(manifest), sort_keys=False, allow_unicode=True).rstrip("\n")
    yield "---"
    yield f"# {name}"
    yield ""
    yield from paragraphs(about)
    yield _AFTER_ABOUT
    yield "each fact the documents that were judged to support it or not."
    yield ""
    yield "| table | rows |"
    yield "|---|---|"
    yield from (f"| `{table}` | {manifest.tables[table].rows:,} |" for table in TABLES)
    yield ""
    yield "In `qrels` the score is the number of the query's nuggets that the document supports; 0 is judged and not"
    yield _BEFORE_SECTIONS
    yield ""
    for section, text in sections.items():
        yield heading(section)
        yield ""
        yield from paragraphs(text)
    yield from _AFTER_SECTIONS
    yield "import freshstack_datasets as fsd"
    yield ""
    yield 'data = fsd.load("path/to/this/folder")'
    yield "```"
    yield ""
    yield f"Fingerprint: `{manifest.fingerprint}`. Scores are comparable only where it is the same;"
    yield "`freshstack verify FOLDER` checks it."
    yield ""
    yield "## Sources and licences" if manifest.sources else "## Licence"
    yield ""
    yield f"Licence of the whole: {plain(manifest.license)}. Author, address and licence of a text, where known, stand"
    yield "in its row."
    if manifest.sources:
        yield ""
        yield from map(source_item, manifest.sources)


def heading(text: str) -> str:
    """Return foreign text as the heading of a section.

    Args:
        text: Any text.
    """
    return "## " + _LAST_SIGN.sub(r"\\#", plain(text))


def paragraphs(text: str) -> Iterable[str]:
    """Yield the lines of a plain text, each paragraph on one line with an empty one after it.

    Args:
        text: Any text, with an empty line between paragraphs.
    """
    for paragraph in re.split(r"\n[^\S\n]*\n", text):
        if paragraph.strip():
            yield plain(paragraph)
            yield ""


def texts_of(card: str) -> tuple[str, dict[str, str]]:
    """Return ``about`` and ``sections`` of a card that ``card`` made; of any other text, nothing.

    Args:
        card: The text of the README.md.
    """
    lines = card.split("\n")
    try:
        start = next(i for i, line in enumerate(lines) if line.startswith("# ")) + 1
        about_end = lines.index(_AFTER_ABOUT, start)
        end = next(i for i in range(about_end, len(lines)) if lines[i : i + 3] == _AFTER_SECTIONS)
        sections_start = lines.index(_BEFORE_SECTIONS, about_end, end) + 1
    except (StopIteration, ValueError):
        return "", {}
    sections: dict[str, list[str]] = {}
    for line in filter(None, lines[sections_start:end]):
        if line.startswith("## "):
            sections[_unplain(line.removeprefix("## "))] = []
        elif sections:
            sections[next(reversed(sections))].append(_unplain(line))
    about = [_unplain(line) for line in lines[start:about_end] if line]
    return "\n\n".join(about), {heading: "\n\n".join(text) for heading, text in sections.items() if heading}


def _front_matter(manifest: Manifest) -> dict[str, object]:
    configs = [
        {
            "config_name": name,
            **({"default": True} if table is QRELS else {}),
            "data_files": [{"split": table.split, "path": f"{name}/{table.split}-*.parquet"}],
        }
        for name, table in TABLES.items()
    ]
    return {
        "license": manifest.license.lower(),  # the Hub's identifiers are SPDX's in small letters
        "pretty_name": f"{manifest.dataset} {manifest.snapshot}",
        "task_categories": ["text-retrieval"],
        "tags": ["freshstack", "retrieval", "nuggets"],
        "configs": configs,
    }


def source_item(source: Source) -> str:
    """Return one source as a list item of Markdown.

    Args:
        source: Any source that a manifest may name.
    """
    facts = [
        plain(source.url),
        *([f"commit {plain(source.commit)}"] if source.commit else []),
        *([plain(source.date)] if source.date else []),
        *([f"licence {plain(source.license)}"] if source.license else []),
        *(f"{count:,} {plain(what)}" for what, count in sorted(source.counts.items())),
    ]
    return "- " + (f"{plain(source.name)}: " if source.name else "") + ", ".join(facts)


_MARKS = str.maketrans({mark: "\\" + mark for mark in "\\`*_[]|~$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_LINK = re.compile(r"https?://[A-Za-z0-9/.:_~%?=&+@,;-]+")
_BLOCK = re.compile(r"[-+#=]|\d+[.)]")
_LAST_SIGN = re.compile(r"#\Z")
"""What Markdown takes for the end of a heading."""


def plain(text: str) -> str:
    """Return foreign text so that Markdown and HTML show it as it is, on one line.

    Args:
        text: Any text; an address becomes a link.
    """
    text = " ".join(text.split())
    if _LINK.fullmatch(text):
        return f"<{text}>"
    shown = text.translate(_MARKS)
    return "&#8203;" + shown if _BLOCK.match(shown) else shown  # a zero-width space: no heading, no list


_ESCAPED = re.compile(r"\\(.)|&(lt|gt|amp);")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&"}


def _unplain(line: str) -> str:
    """Return the text that ``plain`` made a line of."""
    line = line.removeprefix("&#8203;")
    if _LINK.fullmatch(line[1:-1]) and line == f"<{line[1:-1]}>":
        return line[1:-1]
    return _ESCAPED.sub(lambda found: found[1] or _ENTITIES[found[2]], line)
