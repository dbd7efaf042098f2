"""The records that every part of the package speaks of: documents, queries, nuggets and judgments.

All are frozen. Runs, which come in millions of entries, are arrays: see ``ranking``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from freshstack_datasets.errors import RecordError, shown

ID_RULE = "a non-empty string without tab or line break"

Qrels = Mapping[str, Mapping[str, int]]
"""Query id to document id to the number of nuggets supported; 0 is judged and not relevant."""


def check_id(value: object, kind: str) -> str:
    """Return an id unchanged, or say why it cannot be one.

    Args:
        value: The id.
        kind: What it identifies, for the message: query, document, nugget.

    Raises:
        RecordError: It is no string, is empty, or holds a tab, a line break or half a surrogate pair.
    """
    if isinstance(value, str) and value and not ("\t" in value or "\n" in value or "\r" in value):
        if value.isascii() or value.isprintable() or _encodes(value):
            return value
        raise RecordError(f"{kind} id {shown(value)}", expected="valid Unicode", got="half a surrogate pair")
    raise RecordError(f"{kind} id", expected=ID_RULE, got=f"{shown(value)} ({type(value).__name__})")


def all_allowed(ids: Sequence[object]) -> bool:
    """Return whether all values are ids beyond doubt; a quick look at many, before a slow one at each.

    Args:
        ids: The values; one of millions is looked at as quickly as one of ten.
    """
    try:
        joined = "\n".join(ids)  # type: ignore[arg-type]  # it refuses what is no string, which is the question
        joined.encode()
    except (TypeError, UnicodeEncodeError):
        return False
    breaks = max(0, len(ids) - 1)
    return "\t" not in joined and "\r" not in joined and joined.count("\n") == breaks and all(ids)


def language_code(value: object) -> str | None:
    """Return the code of the language that a value names; None when it names none.

    A region or script is left out, so that ``pt-BR``, ``PT_br`` and ``pt`` are one language.

    Args:
        value: What somebody gave as a language, such as ``Query.language``.
    """
    found = re.fullmatch(r"([a-z]{2,3})([-_][a-z0-9]{1,8})*", value.lower()) if isinstance(value, str) else None
    return found[1] if found else None


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Document:
    """A piece of the corpus that a retriever can find.

    Args:
        doc_id: Its id, opaque.
        title: Its title, "" when it has none.
        text: Its text.
        metadata: Where it came from; the members that are known, of those in ``snapshot.json``'s corpus table
            (url, repository, path, commit, license, author, date, score, start_char, …).
    """

    doc_id: str
    title: str
    text: str
    metadata: Mapping[str, str | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_id(self.doc_id, "document")

    def default_text(self) -> str:
        """Return the text that a retriever sees: title and text joined by a space, stripped."""
        return f"{self.title} {self.text}".strip()


@dataclass(frozen=True, slots=True)
class Query:
    """A question that somebody asked, with its accepted answer where it is known.

    Args:
        query_id: Its id, opaque.
        text: What a retriever searches for; the title and the body, joined by a space.
        title: The question's title.
        body: The question's body, as text.
        answer_id: The id of the accepted answer.
        answer_text: Its text.
        date: When it was asked, ISO 8601.
        tags: Its tags.
        url: Where it stands.
        author: Who asked: a profile's address where there is one, else a name.
        score: The votes it has.
        license: The licence of its text.
        language: Its language, ISO 639-1.
        type: The kind of question, in the dataset's own words.
        difficulty: How hard it is, in the dataset's own words.
    """

    query_id: str
    text: str
    title: str | None = None
    body: str | None = None
    answer_id: str | None = None
    answer_text: str | None = None
    date: str | None = None
    tags: tuple[str, ...] | None = None
    url: str | None = None
    author: str | None = None
    score: int | None = None
    license: str | None = None
    language: str | None = None
    type: str | None = None
    difficulty: str | None = None

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")


@dataclass(frozen=True, slots=True)
class Nugget:
    """One atomic fact of a query's answer.

    Args:
        nugget_id: Its id, opaque.
        query_id: The query it belongs to.
        position: Its place among the query's nuggets, from 0.
        text: The fact.
        importance: "vital", "okay", or None where nobody said.
    """

    nugget_id: str
    query_id: str
    position: int
    text: str
    importance: str | None = None

    def __post_init__(self) -> None:
        check_id(self.nugget_id, "nugget")
        check_id(self.query_id, "query")


@dataclass(frozen=True, slots=True)
class Judgment:
    """Whether a document supports a nugget.

    Args:
        query_id: The nugget's query.
        nugget_id: The nugget.
        doc_id: The document.
        score: 1 when the document supports the nugget, 0 when it was judged and does not.
        call_id: The call of a model that judged it, in ``provenance/calls.parquet``.
    """

    query_id: str
    nugget_id: str
    doc_id: str
    score: int
    call_id: str | None = None

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        check_id(self.nugget_id, "nugget")
        check_id(self.doc_id, "document")
