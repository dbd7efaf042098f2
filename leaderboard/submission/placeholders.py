"""What stands in a template until somebody writes something in its place."""

import re

FILL_IN = "ENTER_VALUE_HERE"
"""What a new submission holds where nobody answered."""

_PROMPTS = ("query_prompt", "document_prompt")
_PROSE = ("command", "environment", "description", "statement")
"""Keys of texts in which such an address may be meant."""

_WORDS = re.compile(r"(?i:\b(?:ENTER_VALUE_HERE|CHANGE_?ME|FILL_?ME|FIXME|REPLACE_?ME)\b)|\b(?:TODO|TBD)\b")
_WHOLE = re.compile(
    r"(?i:n/?a|none|null|todo|tbd|x{3,}|your[ _-]\w+(?:[ -]\w+)*)|[.…?_*-]+|<[^<>]*>|\[[^][]*\]|\{[^{}]*\}"
)
_PIECE = re.compile(r"(?:^|\s)(?:\.\.\.|…)(?:\s|$)|<[A-Za-z][\w-]*>")
_HOST = re.compile(
    r"(?i:(?://|@)(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net|edu))?|invalid|test|localhost))(?=[/:?#\s]|\Z)"
)


def is_placeholder(text: str, key: str) -> bool:
    """Tell whether a text, or a part of it, waits for a value.

    Args:
        text: A text of a submission.
        key: The key that it stands behind: a prompt may be ``[Q]``, and a command must not hold ``<path>``.
    """
    told = text.strip()
    if _WORDS.search(told):
        return True
    if key in _PROMPTS:
        return False
    if key == "command" and _PIECE.search(told):
        return True
    return bool(_WHOLE.fullmatch(told) or (key not in _PROSE and _HOST.search(told)))
