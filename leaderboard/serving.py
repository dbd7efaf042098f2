"""Serving a site on the loopback: files below one folder, and nothing else."""

import os
import sys
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import is_file_below

LOOPBACK = "127.0.0.1"

_HOSTS = (LOOPBACK, "localhost")
"""What the address may be called by; any other name that leads here is somebody's who would read along."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What goes with every answer, on top of what the pages say themselves."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".bib": "text/plain; charset=utf-8",
    ".atom": "application/atom+xml",
    ".svg": "image/svg+xml",
}
"""The types of the files of a site; what the machine says of others may be anything."""


def server_of(site: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a site, which listens on the loopback alone.

    Args:
        site: The folder that was built.
        port: The port; 0 takes one that is free.

    Raises:
        InputError: The folder holds no site, or the port is taken.
    """
    if not (site / "index.html").is_file():
        hint = "python -m leaderboard build --out SITE writes one"
        raise InputError(f"the folder {shown_path(site)}", expected="a site with its index.html", got="none", hint=hint)
    try:
        return _Server((LOOPBACK, port), partial(_Handler, directory=str(site.resolve())))
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        raise InputError(f"the port {port}", expected="one that is free", got=got, hint="give another --port") from None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # on Windows it would share the port of another program

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a browser went away while it was answered."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _is_here(host: str) -> bool:
    """Tell whether a request names this machine, with a port or, as browsers do for port 80, without."""
    name, _, port = host.partition(":")
    return name.lower() in _HOSTS and (not port or (port.isascii() and port.isdigit()))


class _Handler(SimpleHTTPRequestHandler):
    """Answers GET and HEAD with files below the site's folder, links that leave it not followed."""

    server_version = "leaderboard"
    sys_version = ""

    def send_head(self) -> BinaryIO | None:
        """Open the file that is asked for, or answer why not."""
        if not _is_here(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "This server answers for 127.0.0.1 alone")
            return None
        try:
            url = urlsplit(self.path).path
        except ValueError:  # http://[
            self.send_error(HTTPStatus.BAD_REQUEST, "No address")
            return None
        path, root = Path(self.translate_path(url)), Path(self.directory)
        if is_file_below(path / "index.html", root) and not url.endswith("/"):
            self._send_to(f"/{url.strip('/')}/")  # one slash in front: two would name another host
            return None
        path = path / "index.html" if url.endswith("/") else path
        if not is_file_below(path, root):
            self.send_error(HTTPStatus.NOT_FOUND, "Not a file of the site")
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _TYPES.get(path.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(path.stat().st_size))
        self.end_headers()
        return path.open("rb")

    def end_headers(self) -> None:
        """End the headers with those that go with every answer."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: the browser shows what was asked for."""

    def _send_to(self, location: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()
