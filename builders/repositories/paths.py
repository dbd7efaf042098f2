"""Which paths of a repository are safe to hand on."""

import re

LONGEST = 4_096
"""Bytes that a path may have, as in Linux."""

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Letters without width, which the file systems of Macs leave out of names."""


def wrong_with(path: bytes) -> str:
    """Return why a path is not handed on, "" when it is.

    Paths that differ only in capital letters or in how a letter is composed are different ones: nothing is written to
    places of such names.

    Args:
        path: The path as the repository has it.
    """
    if len(path) > LONGEST:
        return f"more than {LONGEST:,} bytes"
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return "no UTF-8"
    if _CONTROLS.search(text):
        return "control characters"
    parts = text.split("/")
    if "" in parts:
        return "an absolute path" if text.startswith("/") else "a part without a name"
    if "." in parts or ".." in parts:
        return "a part . or .."
    if any(_is_gits_own(part) for part in parts):
        return "git's own folder"
    return ""


def written(path: bytes) -> str:
    """Return any path as a text that JSON can hold, cut where it is very long."""
    return path[:LONGEST].decode("utf-8", "backslashreplace")


def _is_gits_own(part: str) -> bool:
    """Tell whether some file system takes a name for ``.git``."""
    plain = _IGNORED.sub("", part).lower().partition(":")[0].rstrip(" .")
    return plain in (".git", "git~1")
