"""Taking over the rows of a published leaderboard, again and again."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.typed_files.reading import MOST_BYTES, bytes_of, validated
from freshstack_datasets.typed_files.yaml_file import Content
from leaderboard.boards.definition import read_definition
from leaderboard.boards.places import REPORTED
from leaderboard.boards.published import PUBLISHED, check_day, check_rows, parse_published, read_json
from leaderboard.boards.reported import Reported


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Args:
        path: The file that it wrote.
        rows: How many rows are in it.
        added: The names of rows that were not there before.
        changed: The names of those that say something else than before.
        gone: The names of those that are not there any more.
    """

    path: Path
    rows: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]


def import_rows(
    file: Path, board: Path, *, url: str | None = None, commit: str | None = None, date: str | None = None
) -> Imported:
    """Write the rows of a published file into a board, in place of those that are there.

    The same file gives the same bytes.

    Args:
        file: A file ``leaderboard_data.json``.
        board: The board's folder.
        url: Where it is published; as in the last import when not given.
        commit: The commit that it is of.
        date: The day of that; as in the last import when not given.

    Raises:
        InputError: The file cannot be read or does not fit the board, or nobody said where it is from.
    """
    content, name = bytes_of(file, PUBLISHED), shown_path(file)[1:-1]  # once: it may be a pipe
    published = parse_published(content, name)
    check_rows(published.leaderboardData, read_definition(board), name)
    path = board / REPORTED
    before = read_json(Reported, path, "imported rows") if path.is_file() else None
    digest = hashlib.sha256(content).hexdigest()
    if before is not None and before.source.sha256 == digest:  # nothing new: what was known of it still holds
        commit = commit or before.source.commit
    url = url or (before.source.url if before else None)
    date = date or (before.source.date if before else None)
    for name, value in (("--source", url), ("--date", date)):
        if value is None:
            raise InputError(name, expected="where the rows are from, and of which day", got="nothing")
    check_day(str(date), "--date")
    if not re.match(r"https?://\S+\Z", str(url)):
        raise InputError("--source", expected="an address that begins with https:// or http://", got=shown(url))
    told = {
        "schema_version": 1,
        "source": {"url": url, "commit": commit, "date": date, "sha256": digest},
        "rows": [row.model_dump() for row in published.leaderboardData],
    }
    reported = validated(Reported, Content(told), "the source of the rows")
    text = (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()
    if len(text) > MOST_BYTES:  # then nobody could read it
        raise InputError(name, expected=f"rows of at most {MOST_BYTES:,} bytes, as they are kept", got=f"{len(text):,}")
    with atomic_file(path) as work:
        work.write_bytes(text)
    return _compared(path, before, reported)


def _compared(path: Path, before: Reported | None, after: Reported) -> Imported:
    old = {} if before is None else {row.info.name: row for row in before.rows}
    new = {row.info.name: row for row in after.rows}
    return Imported(
        path,
        rows=len(new),
        added=tuple(name for name in new if name not in old),
        changed=tuple(name for name, row in new.items() if name in old and old[name] != row),
        gone=tuple(name for name in old if name not in new),
    )
