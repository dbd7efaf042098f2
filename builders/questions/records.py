"""What every door yields: questions with their answers, and what could not be one."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question.

    Args:
        answer_id: Its id.
        text: What it says, as text.
        score: Its votes, None when nobody knows.
        date: When it was written, ISO 8601, "" when nobody knows.
        author: Who wrote it: a profile's address where there is one, else a name.
        url: Where it stands.
        license: The licence of its text.
        accepted: Whether the asker, or whoever decides that in the forum, accepted it.
    """

    answer_id: str
    text: str
    score: int | None = None
    date: str = ""
    author: str | None = None
    url: str | None = None
    license: str | None = None
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question, with those of its answers that may be wanted.

    Args:
        question_id: Its id.
        title: Its title, on one line.
        body: What it says beyond its title, as text.
        tags: Its tags, as they are spelled.
        date: When it was asked, ISO 8601, "" when nobody knows.
        score: Its votes, None when nobody knows.
        url: Where it stands.
        author: Who asked: a profile's address where there is one, else a name.
        license: The licence of its text.
        answers: Its answers, the older ones first.
        place: Where it was found, for people: "line 12", "page.json, entry 3".
    """

    question_id: str
    title: str
    body: str
    tags: tuple[str, ...]
    date: str
    score: int | None
    url: str | None
    author: str | None
    license: str | None
    answers: tuple[Answer, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """What is no question that can be used.

    Args:
        record_id: Its id, "" when none can be seen.
        place: Where it was found, for people.
        reason: Why, one of a few phrases, to be counted by.
        detail: The same with what is wrong.
    """

    record_id: str
    place: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read, known once all of it was.

    Args:
        name: The file's or the folder's name.
        sha256: The digest of the file's bytes; of a folder, that of its files' names and digests.
        counts: How many bytes, rows, questions, answers and so on it holds.
        url: Where it comes from, "" when nobody knows.
        licenses: The licences of its texts, where they are counted.
        unlisted: From a reason to how many questions were left out for it, none of which is an entry.
    """

    name: str
    sha256: str
    counts: dict[str, int] = field(default_factory=dict)
    url: str = ""
    licenses: tuple[str, ...] = ()
    unlisted: dict[str, int] = field(default_factory=dict)


class Door(Protocol):
    """A way in for questions: a dump, or a forum's export.

    Each question comes once; ids are such that records take them, and texts are Unicode.
    """

    def entries(self) -> Iterator[Question | Skipped]:
        """Yield all that may be wanted, and what is wrong, in an order that the input alone decides.

        Raises:
            InputError: It cannot be read.
        """
        ...

    def source(self) -> Read:
        """Return what was read, after the last entry."""
        ...
