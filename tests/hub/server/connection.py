"""The HTTP side: requests read from a socket, answers written to it."""

import contextlib
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.hub.server.messages import Answer, Request


class Server(ThreadingHTTPServer):
    """Listens on loopback and hands every request to a function; None instead of an answer closes the connection."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, respond: Callable[[Request], Answer | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond = respond

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # with one write an answer: else the two sides wait 40 ms for each other at every request
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 60
    server: Server

    def _handle(self) -> None:
        try:
            answer = self.server.respond(Request(self.command, self.path, self.headers, self._body()))
            if answer is not None:
                self._send(answer)
                return
        except ConnectionError:  # the client went away
            pass
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815  # the names that the library calls

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()

    def log_message(self, format: str, *arguments: object) -> None:  # the library's own name
        """Say nothing: the Hub has a log of its own."""
