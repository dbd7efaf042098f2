"""The Hub that tests start: what it holds, what it was asked, and what is to go wrong."""

import math
import re
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import unquote

from tests.hub.server.accounts import Account
from tests.hub.server.connection import Server
from tests.hub.server.faults import Fault
from tests.hub.server.messages import Answer, RefusedError, Request, answer
from tests.hub.server.objects import Objects, corrupted
from tests.hub.server.repository import File, Repository, is_large, large, regular
from tests.hub.server.routes import answered

ALWAYS = math.inf


class Logged(NamedTuple):
    """A request and the status of its answer, 0 when there was none."""

    method: str
    path: str
    status: int


class TestHub:
    """A Hub on a free port of 127.0.0.1, running from the start to the end of a ``with``.

    Args:
        folder: Where large files are kept; a temporary folder when not given.

    Attributes:
        url: What ``HF_ENDPOINT`` has to be.
        repos: The repositories by name, ``organization/dataset``; ``private`` and ``gated`` may be set.
        tokens: The tokens that are known; while there is none, everybody may do anything without one.
        log: Every request, in the order of the answers.
        page_size: How many entries a page of a tree has.
        bugs: What went wrong in the Hub itself; empty in a test that means something.
    """

    __test__ = False  # no test, by the name that it has

    def __init__(self, folder: Path | None = None) -> None:
        self._temporary = None if folder else tempfile.TemporaryDirectory(prefix="test-hub-")
        self.objects = Objects(folder or Path(str(self._temporary and self._temporary.name)))
        self.repos: dict[str, Repository] = {}
        self.tokens: dict[str, Account] = {}
        self.log: list[Logged] = []
        self.page_size = 1000
        self.bugs: list[str] = []
        self._faults: list[Fault] = []
        self._before: list[tuple[re.Pattern[str], str | None, Callable[[], object]]] = []
        self._lock = threading.RLock()  # what a test does before an answer may take it again
        self._server = Server(self._respond)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.port}"
        self.other_url = f"http://localhost:{self._server.port}"
        """Another host in the eyes of a client, which keeps its token from it and does not follow it for a HEAD."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        if self._temporary:
            self._temporary.cleanup()

    def stop(self) -> None:
        """Be gone: connections are refused from now on."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def fail(
        self,
        pattern: str,
        *,
        method: str | None = None,
        status: int = 500,
        times: float = 1,
        headers: Mapping[str, str] | None = None,
        drop: bool = False,
        after: bool = False,
    ) -> Fault:
        """Let the next requests that match fail, and return the fault, whose ``left`` counts down.

        Args:
            pattern: Searched in the decoded path and query.
            method: None for any.
            status: What is answered instead.
            times: How often; ``ALWAYS`` for as long as the Hub runs.
            headers: What the answer says, such as ``Retry-After``, or ``X-Error-Code``.
            drop: Close the connection and answer nothing.
            after: Do what was asked first, and then lose the answer.
        """
        fault = Fault(re.compile(pattern), method, Answer(status, headers=headers or {}), times, drop, after)
        self._faults.append(fault)
        return fault

    def before(self, pattern: str, do: Callable[[], object], *, method: str | None = None) -> None:
        """Do something, once, right before the next request that matches is answered, as somebody else would.

        Args:
            pattern: Searched in the decoded path and query.
            do: What to do.
            method: None for any.
        """
        self._before.append((re.compile(pattern), method, do))

    def heal(self) -> None:
        """Let nothing fail any more, and nothing be done before an answer."""
        self._faults.clear()
        self._before.clear()

    def asked(self, pattern: str = "", method: str | None = None) -> list[Logged]:
        """Return the requests whose path matches, of one method or all."""
        return [one for one in self.log if re.search(pattern, one.path) and method in (None, one.method)]

    def put(self, name: str, source: Path | Mapping[str, bytes], tag: str | None = None, xet: bool = False) -> str:
        """Make a commit on main that holds exactly some files, without a client, and return its id.

        Args:
            name: The repository; made when it is not there.
            source: A folder, or contents by path.
            tag: Set on the commit.
            xet: Keep large files in the xet store.
        """
        if isinstance(source, Path):
            source = {p.relative_to(source).as_posix(): p.read_bytes() for p in source.rglob("*") if p.is_file()}
        with self._lock:
            repository = self.repos.setdefault(name, Repository(name))
            files = {path: self._file(path, data, xet) for path, data in source.items()}
            commit = repository.add("refs/heads/main", files, f"put {tag or 'files'}")
            if tag:
                repository.tag(tag, commit)
        return commit

    def _file(self, path: str, data: bytes, xet: bool) -> File:
        if not is_large(path, len(data)):
            return regular(data)
        return large(self.objects.xet.add(data) if xet else self.objects.add(data), len(data))

    def read(self, name: str, path: str, revision: str = "main") -> bytes:
        """Return a file's bytes as they would be downloaded."""
        file = self.repos[name].at(revision).files[path]
        return self.objects.path(file.sha256).read_bytes() if file.sha256 else file.data

    def move_tag(self, name: str, tag: str, revision: str) -> None:
        """Let a tag point at another commit."""
        self.repos[name].refs[f"refs/tags/{tag}"] = self.repos[name].at(revision).id

    def corrupt(self, name: str, path: str, revision: str = "main") -> None:
        """Change one byte of a file; its commit, size and digests stay what they are said to be."""
        file = self.repos[name].at(revision).files[path]
        if file.sha256:
            self.objects.corrupt(file.sha256)
        else:
            damaged = File(file.oid, file.size, corrupted(file.data))
            self.repos[name].replace_file(revision, path, damaged)

    def remove(self, name: str, path: str, revision: str = "main") -> None:
        """Lose a file of a commit that stays what it is called."""
        self.repos[name].replace_file(revision, path, None)

    def _respond(self, request: Request) -> Answer | None:
        """Answer one request at a time, so that nothing depends on which of two came first."""
        with self._lock:
            self._do_before(request)
            fault = next((fault for fault in self._faults if fault.hits(request)), None)
            if fault is None:
                told: Answer | None = self._answer(request)
            else:
                fault.left -= 1
                if fault.after:
                    self._answer(request)
                told = None if fault.drop else fault.answer
            self.log.append(Logged(request.method, request.target, told.status if told else 0))
        return told

    def _do_before(self, request: Request) -> None:
        for waiting in list(self._before):
            pattern, method, do = waiting
            if method in (None, request.method) and pattern.search(unquote(request.target)):
                self._before.remove(waiting)
                do()

    def _answer(self, request: Request) -> Answer:
        try:
            return answered(self, request)
        except RefusedError as refused:
            return refused.answer()
        except Exception:
            self.bugs.append(traceback.format_exc())
            return answer({"error": "a bug in the test Hub"}, 500)
