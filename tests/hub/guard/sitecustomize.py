"""Runs first in every client that tests start: no look-up of another host's address leaves this machine.

The guard of tests/conftest.py ends with its process, and a client that looks for a service of the Hub beside its
endpoint (``datasets-server.127.0.0.1``) would wait for a name server that may never answer.
"""

import socket

_look_up = socket.getaddrinfo


def _on_loopback(host: object, *arguments: object, **options: object) -> object:
    if host not in ("127.0.0.1", "localhost", "::1", None):
        raise socket.gaierror(socket.EAI_NONAME, f"{host} is not on loopback")
    return _look_up(host, *arguments, **options)  # type: ignore[arg-type]  # passed on as it came


socket.getaddrinfo = _on_loopback  # type: ignore[assignment]  # of the same use
