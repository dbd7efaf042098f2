"""What an earlier snapshot knows: its questions with their nuggets, its judgments, and the calls that made them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from builders.assembling.assemble import UNFILTERED, unfiltered_of
from builders.correcting.apply import LOG, check_whole
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.llm.records import Call
from freshstack_datasets.llm.store import Store
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.manifest import FILE, Manifest
from freshstack_datasets.trace.reading import Calls, TracedCall
from freshstack_datasets.trace.schema import CALLS_FILE


@dataclass(frozen=True)
class Earlier:
    """An earlier snapshot.

    Args:
        data: The snapshot.
        whole: The same without filters, where it lies beside it as ``build`` leaves it; else ``data`` itself. It knows
            of questions that were dropped, for which documents may have come since.
    """

    data: Dataset
    whole: Dataset

    @property
    def manifest(self) -> Manifest:
        """What the snapshot says of itself."""
        assert self.data.manifest is not None, "a folder has one"
        return self.data.manifest

    @property
    def digest(self) -> str:
        """What all that is carried over depends on."""
        return self.whole.fingerprint

    @cached_property
    def calls(self) -> tuple[TracedCall, ...]:
        """The calls that made it; none where it has no such trace.

        Raises:
            SnapshotError: They cannot be read.
        """
        place = self.whole.trace_in(CALLS_FILE)
        return () if place is None else tuple(Calls(place.folder, place.root).all())

    @property
    def corrections(self) -> tuple[Path, ...]:
        """The files that tell what people corrected in it, and in those that it was refreshed from."""
        folder = self.data.path
        paths = (file.path for file in self.manifest.provenance if file.path.endswith(LOG))
        return () if folder is None else tuple(folder / path for path in paths)

    @cached_property
    def corrected(self) -> frozenset[str]:
        """The ids of the questions that people changed, added or removed; those that it does not have were removed.

        Raises:
            InputError: What people corrected cannot be read.
        """
        return frozenset(query_id for path in self.corrections for query_id in _corrected(path))


def earlier_of(folder: Path) -> Earlier:
    """Open an earlier snapshot, and the unfiltered one beside it where there is one of the same build.

    Args:
        folder: The snapshot's folder.

    Raises:
        SnapshotError: It is none, or one of the two is damaged.
        InputError: What lies beside it is the unfiltered one of another build.
    """
    data = load(folder)
    check_whole(folder)
    beside = unfiltered_of(folder)
    if data.name.endswith(UNFILTERED) or not (beside / FILE).is_file():
        return Earlier(data, data)
    whole = load(beside)
    if (whole.name, whole.snapshot) != (data.name + UNFILTERED, data.snapshot) or not _holds(whole, data):
        expected, got = f"{data.name}{UNFILTERED}@{data.snapshot} of the same build", f"{whole.name}@{whole.snapshot}"
        raise InputError(
            f"the unfiltered snapshot {shown(str(beside))}", expected=expected, got=got, hint="move it away"
        )
    check_whole(beside)
    return Earlier(data, whole)


def _corrected(path: Path) -> Iterator[str]:
    """Yield the ids of the questions that were corrected."""
    try:
        for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n"):
            told = json.loads(line)
            if told["kind"] == "question":
                yield str(told["query_id"])
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        got = getattr(error, "strerror", None) or "something else"
        raise InputError(f"{shown_path(path)[1:-1]}", expected="corrections as JSON lines", got=got) from None


def _holds(whole: Dataset, data: Dataset) -> bool:
    """Tell whether one dataset has all nuggets of another one."""
    nuggets = set(zip(*whole.nuggets.columns("nugget_id", "text"), strict=True))
    return nuggets.issuperset(zip(*data.nuggets.columns("nugget_id", "text"), strict=True))


class CarryingStore(Store):
    """Replies, those included that came before an earlier snapshot was published, whoever has them in a store.

    What an earlier snapshot's calls said is looked up there and never written into the file of replies: that file is
    shared by all builds, and the snapshot may be anybody's.

    Args:
        path: The file of replies.
        earlier: The earlier calls.
    """

    def __init__(self, path: Path, earlier: Iterable[TracedCall]) -> None:
        super().__init__(path)
        self._earlier = {call.call_id: call for call in earlier}

    def get(self, digest: str, endpoint: str) -> Call | None:
        """Return an answered call: the earlier one, or the one that is kept for the endpoint; None when there is none."""
        call = self._earlier.get(digest)
        return super().get(digest, endpoint) if call is None else _as_kept(call, endpoint)


def _as_kept(call: TracedCall, endpoint: str) -> Call:
    return Call(
        digest=call.call_id,
        endpoint=endpoint,
        stage=call.stage,
        prompt=call.prompt,
        asked=call.asked,
        parameters=call.parameters,
        model=call.model,
        text=call.reply,
        finish="stop",
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        usd=None if call.usd is None else Decimal(str(call.usd)),
        attempts=1,
        created=call.created,
    )
