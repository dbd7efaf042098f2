"""The file in which replies are kept, so that what was answered once is never asked again.

It is SQLite in its write-ahead mode, and several processes may use it at once. Calls under way stand in it too, so that
those are known whose process was ended before their reply came: they may have been charged for.
"""

import itertools
import json
import os
import secrets
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Self

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.home import home
from freshstack_datasets.llm.records import Call

_PATIENCE = 60
"""Seconds to wait for another process that writes."""
VERSION = 1
"""Of the tables; a file with another one is refused."""

_TABLES = """
    CREATE TABLE IF NOT EXISTS replies (
        digest TEXT, endpoint TEXT, stage TEXT, prompt TEXT, asked TEXT, parameters TEXT, model TEXT, text TEXT,
        finish TEXT, input_tokens INTEGER, output_tokens INTEGER, usd TEXT, attempts INTEGER, created TEXT,
        PRIMARY KEY (digest, endpoint));
    CREATE TABLE IF NOT EXISTS vectors (
        digest TEXT, endpoint TEXT, vector BLOB, PRIMARY KEY (digest, endpoint)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS under_way (
        number INTEGER PRIMARY KEY, digest TEXT, endpoint TEXT, stage TEXT, until REAL, host TEXT, process INTEGER,
        session TEXT);
    CREATE TABLE IF NOT EXISTS lost (digest TEXT, endpoint TEXT, stage TEXT);
"""
_COLUMNS = tuple(Call.__dataclass_fields__)
_KEEP = f"INSERT OR IGNORE INTO replies ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"
_GET = f"SELECT {', '.join(_COLUMNS)} FROM replies WHERE digest = ? AND endpoint = ?"
_END = "DELETE FROM under_way WHERE number = ?"
_SESSIONS: set[str] = set()
"""The stores that this process has open."""


def default_store() -> Path:
    """Return the file of replies in the folder for what is kept between runs."""
    return home() / "llm" / "replies.sqlite"


class Store:
    """Replies by the digest of what was asked, for each endpoint; opened when it is first used.

    Args:
        path: The file; it is made with its folder where there is none.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.found_lost: dict[str, int] = {}
        """Those of ``lost`` that were found when this opened the file: of runs that were ended since it was last opened."""
        self._session = ""
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, digest: str, endpoint: str) -> Call | None:
        """Return an answered call, None when it was not answered yet."""
        with self._base() as base:
            row = base.execute(_GET, (digest, endpoint)).fetchone()
            return None if row is None else _call(row)

    def keep(self, call: Call, note: int = 0) -> Call:
        """Keep an answered call; return the one that is kept, which is another process's when that was quicker.

        Args:
            call: The call.
            note: The number of its note, which goes in the same step.
        """
        with self._base() as base, _at_once(base):
            base.execute(_KEEP, _row(call))
            base.execute(_END, (note,))
            return _call(base.execute(_GET, (call.digest, call.endpoint)).fetchone())

    def calls(self, digests: Iterable[str], endpoint: str) -> Iterator[Call]:
        """Yield those of some calls that were answered, in the order asked.

        Args:
            digests: Their ids.
            endpoint: Who was asked.
        """
        found = (self.get(digest, endpoint) for digest in digests)
        return (call for call in found if call is not None)

    def vectors(self, digests: Iterable[str], endpoint: str) -> dict[str, bytes]:
        """Return those of some embeddings that are kept, as bytes of little-endian 32-bit floats."""
        query = "SELECT vector FROM vectors WHERE digest = ? AND endpoint = ?"
        with self._base() as base:
            rows = {digest: base.execute(query, (digest, endpoint)).fetchone() for digest in digests}
        return {digest: bytes(row[0]) for digest, row in rows.items() if row is not None}

    def keep_vectors(self, vectors: Mapping[str, bytes], endpoint: str, note: int = 0) -> None:
        """Keep embeddings.

        Args:
            vectors: By the digest of what was embedded, bytes of little-endian 32-bit floats.
            endpoint: Who was asked.
            note: The number of their call's note, which goes in the same step.
        """
        rows = [(digest, endpoint, vector) for digest, vector in vectors.items()]
        with self._base() as base, _at_once(base):
            base.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
            base.execute(_END, (note,))

    def begin(self, digest: str, endpoint: str, stage: str, seconds: float) -> int:
        """Note that a call is sent; return the number of the note.

        Args:
            digest: The call's id.
            endpoint: Who is asked.
            stage: What it is asked for.
            seconds: How long it may take at most.
        """
        into = "INSERT INTO under_way (digest, endpoint, stage, until, host, process, session) VALUES "
        with self._base() as base:
            row = (digest, endpoint, stage, time.time() + seconds, socket.gethostname(), os.getpid(), self._session)
            return base.execute(f"{into} (?, ?, ?, ?, ?, ?, ?)", row).lastrowid or 0

    def end(self, number: int) -> None:
        """Take a note of ``begin`` away, since the call was answered, or is known to have failed."""
        with self._base() as base:
            base.execute(_END, (number,))

    def lost(self) -> dict[str, int]:
        """Return how many calls were under way when their process was ended, by stage; each was perhaps charged."""
        with self._base() as base:
            return dict(base.execute("SELECT stage, COUNT(*) FROM lost GROUP BY stage ORDER BY stage"))

    def close(self) -> None:
        """Close the file; it is opened again when it is used again."""
        with self._lock:
            _SESSIONS.discard(self._session)
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    @contextmanager
    def _base(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _told(self.path):
            if self._opened is None:
                self._opened = self._open()
            yield self._opened

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        base = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            _write_ahead(base)
            # The last replies may be lost with the power, not with a process.
            base.execute("PRAGMA synchronous = NORMAL")
            with _at_once(base):
                self._make(base)
                self._session = secrets.token_hex(8)  # what an earlier one left under way was given up
                _SESSIONS.add(self._session)
                self.found_lost = _find_lost(base)
        except BaseException:
            base.close()
            raise
        return base

    def _make(self, base: sqlite3.Connection) -> None:
        (version,) = base.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            hint = "update the package, or name another file"
            what = f"replies in {shown_path(self.path)}"
            raise InputError(what, expected=f"version {VERSION} of their tables", got=str(version), hint=hint)
        for table in _TABLES.split(";"):
            base.execute(table)
        base.execute(f"PRAGMA user_version = {VERSION}")


def _write_ahead(base: sqlite3.Connection) -> None:
    """Change to the write-ahead mode; where another process does so at this moment, SQLite itself does not wait."""
    for pause in itertools.chain(itertools.repeat(0.02, int(_PATIENCE / 0.02)), [None]):
        try:
            base.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if pause is None or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(pause)


def _find_lost(base: sqlite3.Connection) -> dict[str, int]:
    """Move the notes of processes that have ended to the calls that are lost; return how many they are, by stage."""
    found: Counter[str] = Counter()
    query = "SELECT number, stage, until, host, process, session FROM under_way"
    for number, stage, *note in base.execute(query).fetchall():
        if not _is_alive(*note):
            found[stage] += 1
            base.execute("INSERT INTO lost SELECT digest, endpoint, stage FROM under_way WHERE number = ?", (number,))
            base.execute(_END, (number,))
    return dict(sorted(found.items()))


def _is_alive(until: float, host: str, process: int, session: str) -> bool:
    """Tell whether somebody may still wait for a reply: a call takes no longer than was noted, whoever waits."""
    if until < time.time():
        return False
    if host != socket.gethostname() or os.name != "posix":  # elsewhere, asking for a process may end it
        return True
    if process == os.getpid():  # in containers all processes may have the same number
        return session in _SESSIONS
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


@contextmanager
def _at_once(base: sqlite3.Connection) -> Iterator[None]:
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:  # when the disk is full, it was taken back already
            base.execute("ROLLBACK")
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, ValueError) as error:  # ValueError: a NUL in the path
        got = getattr(error, "strerror", None) or str(error)
        hint = "check the disk and who may write there, or name another file"
        raise InputError(f"replies cannot be kept in {shown_path(path)}", got=got, hint=hint) from None


def _row(call: Call) -> tuple[Any, ...]:
    values = {name: getattr(call, name) for name in _COLUMNS}
    values["parameters"] = json.dumps(dict(call.parameters), sort_keys=True)
    values["usd"] = None if call.usd is None else str(call.usd)
    return tuple(values.values())


def _call(row: tuple[Any, ...]) -> Call:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["parameters"] = json.loads(values["parameters"])
    try:
        values["usd"] = None if values["usd"] is None else Decimal(values["usd"])
    except InvalidOperation:
        raise ValueError("a reply of it is damaged") from None
    return Call(**values)
