"""Batches at a provider: uploaded, waited for and fetched, and gone on with after any end.

What was sent stands in ``batches.json`` beside the files. A batch is begun with the digest of its file, by which it is
found again at the provider when this process ended before it was noted: a batch that was begun twice is paid twice.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freshstack_datasets.errors import EndpointError, MissingExtraError, shown
from freshstack_datasets.files import atomic_file
from freshstack_datasets.llm.batch_notes import Notes
from freshstack_datasets.llm.reading import parsed
from freshstack_datasets.llm.records import CHAT
from freshstack_datasets.llm.refusals import trouble
from freshstack_datasets.llm.seams import Raw, Unanswered
from freshstack_datasets.llm.transport import LARGEST_BODY, Http, Key

if TYPE_CHECKING:
    import httpx2

LARGEST_RESULTS = 4 * 2**30
"""Bytes of a file of results."""
TRIES = 6
"""How often a provider that has too much to do, or is not there, is asked in a row."""
_DONE = frozenset({"completed", "expired", "cancelled"})
"""States of a batch in which all results are there that will ever be."""
_USELESS = frozenset({"failed", "expired", "cancelling", "cancelled"})
"""States of a batch that was begun before, in which it is begun anew."""
_MARK = "freshstack_sha256"


class _NoConnectionError(EndpointError):
    """Nothing whole came back."""


class BatchServer:
    """A provider that takes batches as OpenAI does.

    Args:
        base_url: Where it is, such as ``https://api.openai.com/v1``.
        key_from: The environment's variable that holds the key.
        timeout: Seconds that a request may wait for the provider's next words.
        sleep: Waits some seconds.

    Raises:
        InputError: The base URL is none.
        MissingExtraError: httpx2 is not installed.
    """

    def __init__(
        self,
        base_url: str,
        key_from: str = "OPENAI_API_KEY",
        timeout: float = 600.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtraError("httpx2", "llm") from None
        checked = Http(base_url, key_from, timeout, 1)
        self.endpoint, self.sleep = checked.endpoint, sleep
        self._key_from, self._key = key_from, Key(key_from)
        self._client = httpx2.Client(
            headers={"accept-encoding": "identity", "user-agent": "freshstack-datasets"},
            timeout=timeout,
            limits=httpx2.Limits(max_keepalive_connections=0),  # servers drop them between two looks
            follow_redirects=False,
            trust_env=not checked.local,
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def upload(self, path: Path) -> str:
        """Upload a file of calls and return the provider's name for it.

        Raises:
            EndpointError: The provider does not take it.
        """
        with path.open("rb") as stream:
            files = {"file": (path.name, stream, "application/jsonl")}
            return self._name(self._asked("POST", "/files", data={"purpose": "batch"}, files=files))

    def begin(self, uploaded: str, sha256: str) -> str:
        """Begin a batch and return the provider's name for it.

        Args:
            uploaded: The provider's name for the file of calls.
            sha256: The file's digest.

        Raises:
            EndpointError: The provider does not take it.
        """
        body = {
            "input_file_id": uploaded,
            "endpoint": f"/v1{CHAT}",
            "completion_window": "24h",
            "metadata": {_MARK: sha256},
        }
        return self._name(self._asked("POST", "/batches", tries=1, json=body))

    def begun(self, sha256: str) -> str | None:
        """Return the provider's name for a batch of a file that is under way or done, None when there is none.

        Args:
            sha256: The file's digest.

        Raises:
            EndpointError: The provider does not list its batches.
        """
        listed = self._asked("GET", "/batches", params={"limit": "100"}).get("data")
        for batch in listed if isinstance(listed, list) else ():
            marks = batch.get("metadata") if isinstance(batch, dict) else None
            if isinstance(marks, dict) and marks.get(_MARK) == sha256 and _state(batch) not in _USELESS:
                return self._name(batch)
        return None

    def look(self, batch: str) -> dict[str, Any]:
        """Return what the provider says of a batch.

        Raises:
            EndpointError: It says nothing.
        """
        return self._asked("GET", f"/batches/{batch}")

    def fetch(self, name: object, path: Path) -> None:
        """Download a file of results.

        Args:
            name: The provider's name for it.
            path: Where it goes; a file that is there is replaced.

        Raises:
            EndpointError: It cannot be had whole.
        """
        with self._streamed("GET", f"/files/{self._checked(name)}/content") as response:
            if response.status_code != 200 or "content-encoding" in response.headers:
                raise EndpointError(f"{self.endpoint} does not give the file {name}", got=str(response.status_code))
            with atomic_file(path) as work, work.open("wb") as stream:
                for part in response.iter_raw():
                    stream.write(part)
                    if stream.tell() > LARGEST_RESULTS:
                        got = f"more than {LARGEST_RESULTS:,} bytes"
                        raise EndpointError(f"{self.endpoint} does not give the file {name}", got=got)

    def _asked(self, method: str, path: str, *, tries: int = TRIES, **what: Any) -> dict[str, Any]:
        """Return the JSON that the provider says, asking again while it has too much to do."""
        try:
            raw, elsewhere = self._once(method, path, **what)
        except _NoConnectionError:
            if tries == 1:
                raise
            return self._later(method, path, tries, what)
        met = trouble(raw)
        if met is None:
            try:
                return parsed(raw.body)
            except Unanswered as unanswered:
                raise EndpointError(f"{self.endpoint}{path}", expected="JSON", got=str(unanswered)) from None
        if tries > 1 and met.passing and not met.spent:
            return self._later(method, path, tries, what)
        said = self._key.hide(met.message or met.code)
        if met.about_all or met.status == 403:
            raise met.error(self.endpoint, self._key_from, elsewhere, said)
        hint = "run it again: it goes on where it stopped"
        raise EndpointError(f"{self.endpoint} refuses {method} {path}", got=f"{met.status} ({said})", hint=hint)

    def _later(self, method: str, path: str, tries: int, what: dict[str, Any]) -> dict[str, Any]:
        """Ask again after a while, which is longer each time."""
        self.sleep(2.0 ** (TRIES - tries))
        return self._asked(method, path, tries=tries - 1, **what)

    def _once(self, method: str, path: str, **what: Any) -> tuple[Raw, str]:
        """Return what the provider says to one request, and where it sends it instead."""
        if "files" in what:
            what["files"]["file"][1].seek(0)
        with self._streamed(method, path, **what) as response:
            body = bytearray()
            for part in response.iter_raw():
                body += part
                if len(body) > LARGEST_BODY:
                    raise EndpointError(f"{self.endpoint}{path}", got=f"more than {LARGEST_BODY:,} bytes")
            return Raw(response.status_code, {}, bytes(body)), response.headers.get("location", "")

    @contextmanager
    def _streamed(self, method: str, path: str, **what: Any) -> "Iterator[httpx2.Response]":
        import httpx2

        try:
            with self._client.stream(method, self.endpoint + path, auth=self._key.prove, **what) as response:
                yield response
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            said = self._key.hide(str(error)) or type(error).__name__
            hint = "run it again: it goes on where it stopped"
            raise _NoConnectionError(f"no connection to {self.endpoint}", got=shown(said), hint=hint) from None

    def _name(self, said: Mapping[str, Any]) -> str:
        return self._checked(said.get("id"))

    def _checked(self, name: object) -> str:
        """Return a name that the provider gave, which goes into addresses."""
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,199}", name):
            raise EndpointError(f"{self.endpoint} names a file or a batch", expected="an id", got=shown(name))
        return name


def _state(said: Mapping[str, Any]) -> str:
    status = said.get("status")
    return status.lower() if isinstance(status, str) else ""


def send_batches(
    files: Sequence[Path],
    server: BatchServer,
    *,
    every: float = 60.0,
    patience: float = 172_800.0,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Send files of calls as batches, wait for them, and return the files of their results.

    After any end, the same call goes on: nothing is uploaded, begun or fetched twice.

    Args:
        files: The files, all in one folder, where the results go too.
        server: The provider.
        every: Seconds between two looks at a batch.
        patience: Seconds after which waiting ends.
        tell: Gets a line of news for people.

    Raises:
        EndpointError: The provider does not do it, or not in that time.
        InputError: A file cannot be read.
    """
    notes = {path: Notes(path) for path in files}
    for path, note in notes.items():
        if "batch" not in note.known:
            note.add("batch", _begun(server, path, note))
            tell(f"{path.name} is the batch {note.known['batch']}")
    return [result for path, note in notes.items() for result in _results(server, path, note, every, patience, tell)]


def _begun(server: BatchServer, path: Path, note: Notes) -> str:
    """Return the batch of a file: one that was begun and not noted, since a run ended just then, or a new one."""
    if "file" in note.known:
        return server.begun(note.sha256) or server.begin(note.known["file"], note.sha256)
    note.add("file", server.upload(path))
    return server.begin(note.known["file"], note.sha256)


def _results(
    server: BatchServer, path: Path, note: Notes, every: float, patience: float, tell: Callable[[str], None]
) -> list[Path]:
    """Wait for a batch and return the files of its results."""
    targets = {"output_file_id": path.with_suffix(".output.jsonl"), "error_file_id": path.with_suffix(".errors.jsonl")}
    if "done" not in note.known:
        waited, before = 0.0, ""
        while _state(said := server.look(note.known["batch"])) not in _DONE:
            if _state(said) != before:
                before = _state(said)
                tell(f"{path.name}: {shown(before)}")
            if before == "failed":
                note.forget()
                hint = "run it again when that is mended: it is begun anew"
                raise EndpointError(f"the batch of {path.name} failed", got=shown(said.get("errors")), hint=hint)
            if waited >= patience:
                hint = "run it again to go on waiting"
                raise EndpointError(f"the batch of {path.name}", expected="results", got=shown(before), hint=hint)
            server.sleep(every)
            waited += every
        for name, target in targets.items():
            if said.get(name):
                server.fetch(said[name], target)
        note.add("done", _state(said))
    return [target for target in targets.values() if target.is_file()]
