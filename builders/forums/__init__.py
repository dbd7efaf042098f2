"""Questions of forums other than Stack Exchange: an export as JSON lines, or GitHub's issues and discussions."""

import re
from pathlib import Path

from builders.forums.files import ENDINGS, Files, head_of, is_folder, listed
from builders.forums.github import GitHub
from builders.forums.jsonl import JsonLines
from builders.questions.records import Door
from freshstack_datasets.errors import InputError, shown_path

__all__ = ["is_forum", "is_named_so", "open_forum"]

_OF_GITHUB = re.compile(
    rb'\A[\s\[{]*"(?:data|errors|message)"\s*:'
    rb'|(?<!\\)"(?:node_id|html_url|issue_url|repository_url|nameWithOwner|createdAt|authorAssociation)"\s*:'
)
_EMPTY_PAGES = re.compile(rb"[\s\[\]]+")


def is_forum(path: Path) -> bool:
    """Return whether something is to be read as a forum's export: by its name, or else by how it begins.

    Args:
        path: A file, or a folder of such files.
    """
    files = listed(path)
    if not files or path.is_dir() or path.name.lower().endswith(ENDINGS):
        return bool(files)
    try:
        return head_of(path).startswith((b"{", b"["))
    except InputError:
        return False


def is_named_so(path: Path) -> bool:
    """Return whether a path can be meant for nothing but an export, be one there or not: a folder, or by its ending."""
    return path.name.lower().endswith(ENDINGS) or is_folder(path)


def open_forum(path: Path) -> Door:
    """Return the questions of a forum's export; which of the two kinds it is, is told by how it begins.

    Args:
        path: A file, or a folder whose files ending in ``.json`` or ``.jsonl`` are read in the order of their names.
            Each may be packed by gzip.

    Raises:
        InputError: It is neither, or cannot be read.
    """
    files = Files(path)
    for file in files.paths:
        head = head_of(file)
        if not head:
            continue
        if _OF_GITHUB.search(head) or _EMPTY_PAGES.fullmatch(head):
            return GitHub(files)
        if head.startswith(b"{"):
            return JsonLines(files)
        raise _neither(file, head)
    raise InputError(f"{shown_path(path)} is empty", expected="questions and answers")


def _neither(path: Path, head: bytes) -> InputError:
    an_array = head.startswith(b"[")
    return InputError(
        f"{shown_path(path)} is no export of a forum",
        expected="one JSON object a line, or the JSON of GitHub's API",
        got="an array" if an_array else "no JSON",
        hint="write one object a line: jq -c '.[]' FILE > FILE.jsonl" if an_array else "",
    )
