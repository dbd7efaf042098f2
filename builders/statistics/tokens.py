"""Lengths in tokens of ``o200k_base``, the tokenizer of the paper's figures."""

from builders.tokens import encoding

TOKENIZER = "o200k_base"

_PIECE = 100_000
"""Characters that are read at once: tiktoken crashes on some hundred thousand spaces in a row. A word that is cut in
two between pieces counts a token or so more."""


def count(text: str) -> int:
    """Return how many tokens a text has; what looks like a special token is text like any other.

    Raises:
        MissingExtraError: tiktoken or the vocabulary is not installed.
    """
    encode = encoding(TOKENIZER).encode_ordinary
    return sum(len(encode(text[start : start + _PIECE])) for start in range(0, len(text), _PIECE))
