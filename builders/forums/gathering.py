"""Questions and answers that come one by one, in any order: they wait on disk until those that belong together are known."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from freshstack_datasets.errors import InputError

_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -65536;
    CREATE TABLE question (number INTEGER PRIMARY KEY, key TEXT UNIQUE, value TEXT);
    CREATE TABLE answer (number INTEGER PRIMARY KEY, question TEXT, key TEXT UNIQUE, value TEXT);
    CREATE INDEX answer_question ON answer (question, number);
"""


class Gathering:
    """A nameless file of questions and answers in the machine's folder for temporary files, gone when it is closed."""

    def __init__(self) -> None:
        with _told():
            self._base = sqlite3.connect("", isolation_level=None)  # on disk, as far as they do not fit into the cache
            self._base.executescript(_SCHEMA)
            self._base.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def add_question(self, key: str, value: Mapping[str, Any]) -> bool:
        """Keep a question; return whether it was not there yet.

        Args:
            key: What its answers know it by.
            value: What is to be known of it.
        """
        return self._added("INSERT OR IGNORE INTO question (key, value) VALUES (?, ?)", key, json.dumps(value))

    def add_answer(self, question: str, key: str, value: Mapping[str, Any]) -> bool:
        """Keep an answer; return whether it was not there yet.

        Args:
            question: The key of its question.
            key: Its own.
            value: What is to be known of it.
        """
        command = "INSERT OR IGNORE INTO answer (question, key, value) VALUES (?, ?, ?)"
        return self._added(command, question, key, json.dumps(value))

    def matched(self) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Yield each question, in the order in which they came, with its answers in theirs."""
        of_question = "SELECT value FROM answer WHERE question = ? ORDER BY number"
        with _told():
            for key, value in self._base.execute("SELECT key, value FROM question ORDER BY number"):
                answers = self._base.execute(of_question, (key,)).fetchall()
                yield json.loads(value), [json.loads(answer) for (answer,) in answers]

    def strays(self) -> Iterator[dict[str, Any]]:
        """Yield the answers whose question never came."""
        lonely = "SELECT value FROM answer WHERE question NOT IN (SELECT key FROM question) ORDER BY number"
        with _told():
            for (value,) in self._base.execute(lonely):
                yield json.loads(value)

    def _added(self, command: str, *values: str) -> bool:
        with _told():
            return self._base.execute(command, values).rowcount == 1


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        hint = "make room in the folder for temporary files, or name another one in the variable TMPDIR"
        raise InputError(
            "answers cannot be kept on disk until their questions come", got=str(error), hint=hint
        ) from None
