"""From a file's bytes to its text: UTF-8 first, then what a mark or the bytes say, and nothing that is no text.

Line ends stay as they are. A byte-order mark is no part of the text.
"""

import codecs

from builders.chunking.records import Refused
from freshstack_datasets.errors import MissingExtraError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD = 8_000
"""Bytes in which a zero makes a file binary, as git has it."""
_SAMPLE = 100_000
"""Bytes that the encoding is guessed from: guessing reads them dozens of times."""
_WESTERN = "cp1252"
"""Most often right, and so taken whenever no other encoding makes more sense of the bytes."""
_COMMON = [
    _WESTERN, "cp1250", "cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1253", "cp1254",
    "cp1255", "cp1256",
]  # fmt: skip
"""Encodings that files are written in; of the rare ones, one or other fits a lone © as well as the right one."""
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_MANY = 0.02
"""The share of control characters from which a file that is no UTF-8 counts as binary."""


def decode(data: bytes) -> str | Refused:
    """Return the text of a file, or why it has none.

    Raises:
        MissingExtraError: charset-normalizer is needed and not installed.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], name)
    head = data[:_HEAD]
    if b"\0" in head:
        wide = _wide(head)
        text = _decoded(data, wide) if wide else None
        if isinstance(text, str) and "\0" not in text[: _HEAD // 2]:
            return text
        return Refused("binary", f"a zero byte among the first {_HEAD:,}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"byte {data[error.start]:#04x} at {error.start} is no UTF-8"
    if len(head) - len(head.translate(None, _CONTROLS)) > _MANY * len(head):
        return Refused("binary", f"{problem}, and there are many control characters")
    guess = _guessed(data[:_SAMPLE])
    return _decoded(data, guess) if guess else Refused("encoding", f"{problem}, and no other encoding fits")


def _decoded(data: bytes, name: str) -> str | Refused:
    """Return the bytes in that encoding as text that UTF-8 can hold."""
    try:
        text = data.decode(name)
        text.encode()
    except UnicodeError as error:
        return Refused("encoding", f"it looks like {name}, but {getattr(error, 'reason', 'cannot be read as that')}")
    return text


def _wide(head: bytes) -> str | None:
    """Return the UTF-16 that a beginning without a mark is in: every other byte of Western text is then a zero."""
    pairs = len(head) // 2
    first, second = head[0::2].count(0), head[1::2].count(0)
    if second > 0.4 * pairs and not first:
        return "utf-16-le"
    return "utf-16-be" if first > 0.4 * pairs and not second else None


def _guessed(sample: bytes) -> str | None:
    """Return the encoding that makes the most sensible text of the bytes, or None."""
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise MissingExtraError("charset-normalizer", "build") from error
    found = list(from_bytes(sample, cp_isolation=_COMMON))
    best = [match for match in found if (match.chaos, match.coherence) == (found[0].chaos, found[0].coherence)]
    if any(_WESTERN in match.could_be_from_charset for match in best):
        return _WESTERN
    return best[0].encoding if best else None
