"""Counts of tokens for any stretch of a text, after reading the text once.

A tokenizer first cuts a text into words and then each word into tokens. Where one of the cuts between words is certain,
the tokens on both sides are the same whether the sides are read together or alone, so that a stretch between two such
places has exactly the tokens counted. A line break before a line that is not blank is such a place, in the tokenizers
listed here; everywhere else the stretch is read anew.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING, Any

from builders.chunking.deadline import Deadline
from builders.tokens import encoding
from freshstack_datasets.errors import InputError, MissingExtraError, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PIECE = 50_000
"""Characters that are read at once: tiktoken crashes on some hundred thousand spaces in a row."""

_WORDS_BEGIN = {
    "cl100k_base": re.compile(rb"[ \t]*[!-~]"),
    # a slash at the very start of a line belongs to the punctuation that ends the line before
    "o200k_base": re.compile(rb"[ \t]+[!-~]|[!-.0-~]"),
    "o200k_harmony": re.compile(rb"[ \t]+[!-~]|[!-.0-~]"),
}
"""What a line begins with if a word surely begins with it; white space beyond ASCII might go on with the line before."""

_SAMPLE = (
    "def f(x):\r\n\treturn x ** 2  # 日本語 naïve café\n\n\n  'it's' I'LL we'RE <|endoftext|> \u3000 \u00a0\n"
    "1234567 ½ ٣٤ 🙂👍🏽 e\u0301 \x00\x1b ====//==== \ufeff\u2028 " + "a" * 300 + " " * 300 + "\n" * 9 + "終わり"
)
"""A text that the two tokenizers are compared on."""
_LONG_S = "\u017f"
"""The letter after whose apostrophe quicktok cuts in another place than tiktoken."""


class Tokenizer:
    """Counts tokens exactly as tiktoken does.

    Args:
        name: The name that tiktoken has for it.
        fast: Whether quicktok reads the texts, which is some times faster.

    Raises:
        MissingExtraError: A library or a vocabulary is not installed.
        UnknownNameError: tiktoken has no tokenizer of that name.
        InputError: The fast one lacks it, or differs from tiktoken.
    """

    def __init__(self, name: str, *, fast: bool = False) -> None:
        import numpy as np

        self._slow = encoding(name)
        self._quick = _quicktok(name) if fast else None
        self._begins = _WORDS_BEGIN.get(name)
        self._lengths = np.zeros(self._slow.n_vocab, dtype=np.int64)
        for token in range(self._slow.n_vocab):
            try:
                self._lengths[token] = len(self._slow.decode_single_token_bytes(token))
            except KeyError:
                continue  # numbers that no token has

    def count(self, text: str) -> int:
        """Return how many tokens a text has; what looks like a special token is text."""
        return len(self._tokens(text))

    def begins_word(self, raw: bytes, at: int) -> bool:
        """Return whether a word surely begins at that byte, whatever is before it."""
        if at in (0, len(raw)):
            return True
        return self._begins is not None and raw[at - 1] == 10 and self._begins.match(raw, at) is not None

    def lengths(self, text: str) -> "NDArray[np.int64]":
        """Return for each token of a text, in order, how many bytes it has."""
        return self._lengths[self._tokens(text)]

    def _tokens(self, text: str) -> "NDArray[np.uint32]":
        if self._quick is not None and _LONG_S not in text:
            tokens: NDArray[np.uint32] = self._quick.encode_batch([text], 1)[0]
            return tokens
        return self._slow.encode_to_numpy(text, disallowed_special=())


def _quicktok(name: str) -> Any:
    """Return quicktok's tokenizer of that name, after comparing it with tiktoken's."""
    try:
        import quicktok
    except ImportError as error:
        raise MissingExtraError("quicktok-v1", "fast") from error
    try:
        quick = quicktok.get_encoding(name)
    except Exception as error:  # it has no documented error for a name that it lacks
        raise InputError(f"quicktok has no tokenizer {shown(name)}", hint="leave out fast") from error
    if quick.encode_ordinary(_SAMPLE) != encoding(name).encode_ordinary(_SAMPLE):
        raise InputError(f"quicktok's {shown(name)} differs from tiktoken's", hint="leave out fast")
    return quick


@cache
def tokenizer(name: str, fast: bool) -> Tokenizer:
    """Return the tokenizer of that name, made once a process."""
    return Tokenizer(name, fast=fast)


class Counted:
    """A text whose tokens were counted.

    Args:
        text: Any text that UTF-8 can hold.
        raw: The same as UTF-8.
        counter: Counts its tokens.
        deadline: The time that this may take.
    """

    def __init__(self, text: str, raw: bytes, counter: Tokenizer, deadline: Deadline) -> None:
        self.raw = raw
        self._counter = counter
        self._ends = array("q")
        """The byte after each token."""
        self._seams: list[int] = []
        """Places where the text was cut for reading, though not between words for sure."""
        start = at = 0
        while start < len(text):
            deadline.check()
            end = self._piece(text, start)
            ends = counter.lengths(text[start:end]).cumsum() + at
            self._ends.frombytes(ends.tobytes())
            start, at = end, self._ends[-1]
            if not counter.begins_word(raw, at):
                self._seams.append(at)

    @staticmethod
    def _piece(text: str, start: int) -> int:
        """Return where the piece ends that is read at once from there: after a line, if one ends in it."""
        end = start + _PIECE
        if end >= len(text):
            return len(text)
        return text.rfind("\n", start, end) + 1 or end

    def about(self, start: int, end: int) -> int:
        """Return how many of the whole text's tokens lie in these bytes, in whole or in part."""
        return bisect_left(self._ends, end) + 1 - bisect_right(self._ends, start) if end > start else 0

    def reach(self, start: int, tokens: int) -> int:
        """Return the last byte at which so many of the whole text's tokens from there have ended."""
        return self._ends[min(bisect_right(self._ends, start) + tokens - 1, len(self._ends) - 1)]

    def exactly(self, start: int, end: int) -> int:
        """Return how many tokens these bytes have when read alone."""
        seam = bisect_right(self._seams, start)
        whole = seam == len(self._seams) or self._seams[seam] >= end
        if whole and self._counter.begins_word(self.raw, start) and self._counter.begins_word(self.raw, end):
            return self.about(start, end)
        return self._counter.count(self.raw[start:end].decode())
