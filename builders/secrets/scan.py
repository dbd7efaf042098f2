"""Looking for secrets in texts, and in files that were cut into pieces."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from builders.secrets.engine import matches
from builders.secrets.records import Finding, Piece


def scan(texts: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Yield what seems to be secret in texts that are in no file.

    Args:
        texts: Ids, and what has them says.

    Raises:
        MissingExtraError: The library that looks is not installed.
    """
    for name, text in texts:
        yield from scan_file("", [Piece(name, text)])


def scan_file(path: str, pieces: Sequence[Piece]) -> Iterator[Finding]:
    """Yield what seems to be secret in a file, by line and kind, each kind once a line.

    The pieces are looked into together, since a key may be longer than one of them. A secret in the name of the file or
    of a piece is not looked for here, but hidden where a finding names them.

    Args:
        path: The file.
        pieces: What it was cut into, in order; between them nothing but white space was left out.

    Raises:
        MissingExtraError: The library that looks is not installed.
    """
    data = [piece.text.encode("utf-8", "replace") for piece in pieces]  # replace: half a surrogate pair
    for number, (one, other) in enumerate(pairwise(pieces)):
        if other.start > one.start + len(one.text):
            data[number] += b"\n"
    found = matches(b"".join(data))
    if not found:
        return
    starts, lines = _places(data)

    shown = cache(lambda name: _hidden((name, path)))

    @cache
    def digest(kind: str, first: int, last: int) -> str:
        """Of all pieces that a secret is in: which letters of them it is cannot be guessed from that."""
        total = hashlib.sha256(f"{kind}\0{pieces[first].id}\0".encode("utf-8", "replace"))
        for part in data[first : last + 1]:
            total.update(part)
        return total.hexdigest()

    seen = set()
    for match in found:
        first = bisect_right(starts, match.start) - 1
        last = max(first, bisect_right(starts, match.end - 1) - 1)
        piece = pieces[first]
        line = piece.line + match.line - lines[first] if piece.line else 0
        name, place = shown(piece.id)
        finding = Finding(name, place, line, match.kind, digest(match.kind, first, last))
        if finding not in seen:
            seen.add(finding)
            yield finding


def _hidden(names: tuple[str, str]) -> tuple[str, str]:
    """Return an id and a path as they may be shown: with a mark for each secret that is in one of them, wherever it is."""
    found = {}
    for name in names:
        data = name.encode("utf-8", "replace")
        for match in matches(data):
            found[data[match.start : match.end].decode("utf-8", "replace")] = f"<{match.kind}>"
    for secret in sorted(filter(None, found), key=len, reverse=True):
        names = names[0].replace(secret, found[secret]), names[1].replace(secret, found[secret])
    return names


def _places(data: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Return where each piece starts in all of them together: its byte, and its line, counted from 1."""
    starts, lines, byte, line = [], [], 0, 1
    for part in data:
        starts.append(byte)
        lines.append(line)
        byte += len(part)
        line += part.count(b"\n")
    return starts, lines
