"""Real git servers on loopback, for the tests of ``builders.repositories``, and repositories to serve."""

import contextlib
import http.server
import os
import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CLEAN = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder, *arguments, data=None, date="2024-10-24T12:00:00Z"):
    """Run git, with its own settings alone, and return what it prints."""
    environment = CLEAN | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments],
        cwd=folder,
        env=environment,
        input=data,
        capture_output=True,
        check=True,
    ).stdout.strip()


def commit(folder, files, *, date="2024-10-24T12:00:00Z", message="x"):
    """Write files into a repository's folder, commit them, and return the commit."""
    for path, content in files.items():
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    git(folder, "add", "--all", "--force", date=date)
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message, date=date)
    return git(folder, "rev-parse", "HEAD").decode()


def new(folder, *options):
    """Make a repository with files beside it."""
    Path(folder).mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    return Path(folder)


def tree(folder, lines):
    """Make a tree as the bytes say, whatever git thinks of it, and return a commit of it.

    Args:
        folder: The repository.
        lines: Mode, name and object of each line.
    """
    raw = b"".join(b"%s %s\0" % (mode, name) + bytes.fromhex(oid) for mode, name, oid in lines)
    made = git(folder, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", data=raw).decode()
    return made, git(folder, "commit-tree", made, "-m", "x").decode()


@dataclass
class Server:
    """What a server was asked."""

    url: str
    requests: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    headers: list = field(default_factory=list)


class _Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


@contextlib.contextmanager
def _serving(handler) -> Iterator[Server]:
    server = _Quiet(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    handler.told = Server(f"http://127.0.0.1:{server.server_port}")
    try:
        yield handler.told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def smart(
    root: Path,
    *,
    version_2: bool = True,
    token: str = "",
    leads_to: str = "",
    before: Callable[[str], object] = lambda _: None,
) -> Iterator[Server]:
    """Serve the repositories below a folder by git's own program.

    Args:
        root: The folder.
        version_2: Whether the newer protocol is spoken, which gives any commit by its name.
        token: What Basic authentication must hold; nobody needs any when empty.
        leads_to: Another server, to which every request is led on.
        before: Is called with the path of a request, in its own thread, before it is answered.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        told: Server

        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self._answer(body)

        def _answer(self, body: bytes) -> None:
            self.told.requests.append(self.path)
            self.told.bodies.append(body)
            self.told.headers.append(dict(self.headers))
            before(self.path)
            if leads_to:
                self.send_response(301)
                self.send_header("Location", leads_to + self.path)
                self.end_headers()
                return
            if token and self.headers.get("Authorization") != f"Basic {token}":
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=x")
                self.end_headers()
                # a server may well say what it was sent
                self.wfile.write(f"not {self.headers.get('Authorization')}".encode())
                return
            self._run(body)

        def _run(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            environment = CLEAN | {
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", "") if version_2 else "",
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            }
            done = subprocess.run(
                ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
            )
            head, _, answer = done.stdout.partition(b"\r\n\r\n")
            status = re.search(rb"^Status: (\d+)", head, re.M)
            self.send_response(int(status[1]) if status else 200)
            for line in head.decode().splitlines():
                name, _, value = line.partition(": ")
                if name != "Status":
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    with _serving(Handler) as server:
        yield server


@contextlib.contextmanager
def dumb(root: Path) -> Iterator[Server]:
    """Serve the files of a folder as they are."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        told: Server

        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(root))

        def do_GET(self) -> None:
            self.told.requests.append(self.path)
            super().do_GET()

        def log_message(self, *_: object) -> None: ...

    with _serving(Handler) as server:
        yield server


@contextlib.contextmanager
def daemon(root: Path) -> Iterator[Server]:
    """Serve the repositories below a folder by ``git daemon``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["git", "-c", "safe.directory=*", "daemon", "--export-all", f"--base-path={root}", "--reuseaddr"]
    process = subprocess.Popen(
        [*command, "--listen=127.0.0.1", f"--port={port}", "--informative-errors", "--verbose"],
        env=CLEAN | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert b"Ready to rumble" in process.stderr.readline()
        yield Server(f"git://127.0.0.1:{port}")
    finally:
        os.killpg(process.pid, 15)
        process.communicate()


Serve = Callable[..., contextlib.AbstractContextManager[Server]]
