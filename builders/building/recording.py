"""What models said in a whole build, in one file, with which the build can be made again without them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from builders.assembling.calls import asked_of
from builders.pipeline.asking import Asking
from builders.pipeline.reading import searches_of, topic_corpus
from builders.pipeline.work import Work
from builders.pooling.estimates import embedded, embedding
from builders.topics.pool import SAME
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.llm.replay import export


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording.

    Args:
        path: Its file.
        replies: How many replies and embeddings it holds.
        missing: How many calls of the build have none, such as those that the server turned away.
    """

    path: Path
    replies: int
    missing: int


def check(asking: Asking) -> None:
    """Refuse beforehand to record what nobody said.

    Args:
        asking: Who is asked.

    Raises:
        InputError: It is a stand-in.
    """
    if asking.stand_in:
        hint = "it says the same again by itself"
        raise InputError("--record", expected="a server whose replies are recorded", got="a stand-in", hint=hint)


def record(work: Work, asking: Asking, path: Path) -> Recording:
    """Write what the models of a build said into a recording; what other servers embedded is no part of it.

    Args:
        work: The folder of the build, with all stages done.
        asking: Who was asked.
        path: The recording's file; one that is there is replaced.

    Raises:
        InputError: A stage is not done, no reply is kept, or the file cannot be written.
    """
    wanted = sorted(set(_wanted(work, asking)))
    store, endpoint = asking.store, asking.endpoint
    if next(store.calls(wanted, endpoint), None) is None:
        got, hint = f"none in {shown_path(store.path)}", "name the file that the build was made with: --replies FILE"
        raise InputError("--record", expected="the replies to the calls of the build", got=got, hint=hint)
    replies = export(store, endpoint, wanted, path)
    return Recording(path, replies, len(wanted) - replies)


def _wanted(work: Work, asking: Asking) -> Iterator[str]:
    """Yield the ids of all calls, and of all texts that were embedded."""
    yield from (call_id for call_id, _ in asked_of(work))
    for told in asking.settings.pool.retrievers:
        if told.endpoint == SAME:
            texts = embedded(told, topic_corpus(work), (search.text for search in searches_of(work)))
            yield from (embedding(told, text).digest for text in texts)
