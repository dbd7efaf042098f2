"""Batches: calls as files, for the large providers, which answer such a file within a day at half the price.

The files are those of OpenAI's batches, which others take too: a line for each call, under its digest. See
``batch_results`` for what comes back.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.llm.records import CHAT, Request

MOST_REQUESTS = 50_000
"""Calls in a file."""
MOST_BYTES = 200_000_000
"""Bytes of a file."""


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A file of calls to one model.

    Args:
        path: Where it is.
        model: Who is asked.
        requests: How many calls it holds.
        size: Its bytes.
    """

    path: Path
    model: str
    requests: int
    size: int


def write_batches(
    requests: Iterable[Request],
    folder: Path,
    *,
    answered: Callable[[str], bool] = lambda digest: False,
    most_requests: int = MOST_REQUESTS,
    most_bytes: int = MOST_BYTES,
) -> tuple[BatchFile, ...]:
    """Write calls into files ``batch-0001.jsonl`` and so on, each to one model and as large as a provider takes.

    Args:
        requests: The calls, taken one at a time; one that comes twice is written once.
        folder: Where the files go; it must not exist, or be an empty folder.
        answered: Tells by a call's id whether it was answered before; such a one is left out.
        most_requests: The most calls in a file.
        most_bytes: The most bytes of a file.

    Returns:
        The files, in the order of their names; none when there is nothing to ask.

    Raises:
        InputError: Something is in the folder, or a call is no chat, or larger than a file may be.
    """
    seen: set[str] = set()
    with atomic_folder(folder) as work, ExitStack() as streams:
        files: list[BatchFile] = []
        newest: dict[str, tuple[int, BinaryIO]] = {}
        for request in requests:
            if request.digest in seen or answered(request.digest):
                continue
            seen.add(request.digest)
            line = _line(request)
            if len(line) > most_bytes:
                what = f"the call {request.digest} of the stage {shown(request.stage)}"
                raise InputError(what, expected=f"at most {most_bytes:,} bytes", got=f"{len(line):,}")
            at, stream = newest.get(request.model, (-1, None))
            if stream is None or files[at].requests >= most_requests or files[at].size + len(line) > most_bytes:
                if stream is not None:
                    stream.close()
                at = len(files)
                files.append(BatchFile(folder / f"batch-{at + 1:04}.jsonl", request.model, 0, 0))
                stream = streams.enter_context((work / files[at].path.name).open("wb"))
                newest[request.model] = at, stream
            stream.write(line)
            file = files[at]
            files[at] = BatchFile(file.path, file.model, file.requests + 1, file.size + len(line))
    return tuple(files)


def _line(request: Request) -> bytes:
    if request.path != CHAT:
        raise InputError("a batch", expected="chats", got=shown(request.path))
    head = json.dumps({"custom_id": request.digest, "method": "POST", "url": f"/v1{request.path}"})
    return head.removesuffix("}").encode() + b', "body": ' + request.body + b"}\n"
