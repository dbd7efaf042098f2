"""Which way in a file has: a dump of Stack Exchange, or another forum's export."""

from pathlib import Path

from builders.questions.dump import DumpDoor
from builders.questions.records import Door
from builders.questions.rules import Rules
from builders.stackexchange.site import Site
from builders.stages import Cluster
from builders.topics import Topic


def door_of(
    path: Path, topic: Topic, rules: Rules, work: Path, processes: int, cluster: Cluster | None = None
) -> tuple[Door, str | None]:
    """Return the way in that a file or folder has, and the language of its questions, None when nobody knows.

    Args:
        path: The file or folder.
        topic: The topic.
        rules: Which questions and answers are taken.
        work: A folder for parts.
        processes: How many processes may work.
        cluster: Who works instead where several can.

    Raises:
        InputError: It is none that can be read.
    """
    from builders.forums import is_forum, is_named_so, open_forum

    language = topic.questions.language
    if is_forum(path) or is_named_so(path):  # else a missing one would be missed as a dump
        return open_forum(path), language
    site = Site(topic.questions.site)
    return DumpDoor(path, site, rules, work, processes, cluster), language or site.language
