"""Reading a topic file: from bytes to a checked topic, or to an error that says where it is wrong, and how."""

import hashlib
import os
from pathlib import Path

from builders.topics.topic import Topic
from freshstack_datasets.errors import shown_path
from freshstack_datasets.typed_files import Content, bytes_of, content_of, unknown_key, validated

_OURS = ("digest",)
"""Keys of a topic that its file does not say."""


def read_topic(path: Path | str) -> Topic:
    """Read a topic file.

    Paths in it that are relative start in its folder.

    Args:
        path: The file.

    Raises:
        InputError: It cannot be read, is no YAML, or says something that is not allowed; the message has its line.
        MissingExtraError: It has patterns, and pathspec is not installed.
    """
    path = Path(path)
    return parse_topic(bytes_of(path, "a topic file", _near(path)), path)


def parse_topic(content: bytes, path: Path) -> Topic:
    """Return the topic that the bytes of a file say.

    Args:
        content: The bytes.
        path: Where the file is, or will be.

    Raises:
        InputError: They are no YAML, or say something that is not allowed; the message has the line.
        MissingExtraError: They have patterns, and pathspec is not installed.
    """
    name = shown_path(path)[1:-1]
    found = content_of(content, name, "python -m builders new writes a topic file")
    if "digest" in found.value:
        raise unknown_key(Topic, found, ("digest",), _OURS).error(name)
    told = {**found.value, "digest": hashlib.sha256(content).hexdigest()}
    hints = {"tags": "[] takes all questions"}
    return validated(Topic, Content(told, found.lines), name, _folder(path), hints=hints, hidden=_OURS)


def topic_files() -> list[Path]:
    """Return the topic files that come with the builders."""
    return sorted(Path(__file__).parent.glob("*.yaml"))


def _folder(path: Path) -> Path:
    """Return the real folder of a file, from which ``..`` leads where the file's owner means."""
    return Path(os.path.realpath(path.parent))


def _near(path: Path) -> str:
    """Return the hint for a path where nothing is: a topic of ours that may be meant."""
    same = [file for file in topic_files() if file.stem == path.stem]
    return f"did you mean builders/topics/{same[0].name}?" if same else ""
