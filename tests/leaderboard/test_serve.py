"""The server of a site: on this machine alone, files below one folder, headers with every answer."""

import http.client
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from freshstack_datasets.errors import InputError
from leaderboard.cli import main
from leaderboard.serving import HEADERS, server_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "nimbus").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "index.html").write_text("<h1>Boards</h1>", encoding="utf-8")
    (folder / "nimbus" / "index.html").write_text("<h1>Nimbus</h1>", encoding="utf-8")
    (folder / "board.js").write_text("'use strict';", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
def ask(site):
    with server_of(site) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()

        def asked(path, method="GET", host=None):
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
            connection.putrequest(method, path, skip_host=True)
            connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
            connection.endheaders()
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            return answer, content

        asked.server = server
        yield asked
        server.shutdown()
        thread.join()


def test_it_listens_on_the_loopback_alone(ask):
    assert ask.server.server_address[0] == "127.0.0.1"
    assert ask.server.socket.family == socket.AF_INET


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [("/", b"<h1>Boards</h1>", "text/html; charset=utf-8"), ("/nimbus/", b"<h1>Nimbus</h1>", "text/html; charset=utf-8"),
     ("/nimbus/index.html?x=1", b"<h1>Nimbus</h1>", "text/html; charset=utf-8"),
     ("/board.js", b"'use strict';", "text/javascript; charset=utf-8")],
)  # fmt: skip
def test_files_are_served_with_their_types(ask, path, content, kind):
    answer, got = ask(path)
    assert (answer.status, got, answer.headers["Content-Type"]) == (200, content, kind)
    assert int(answer.headers["Content-Length"]) == len(content)
    head, nothing = ask(path, "HEAD")
    assert (head.status, nothing) == (200, b"")


@pytest.mark.parametrize("path", ["/", "/nothing", "/nimbus"])
def test_every_answer_has_the_headers_that_keep_readers_safe(ask, path):
    answer, _ = ask(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "Python" not in answer.headers["Server"]


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//etc/passwd", "/nimbus/../../secret.txt", "/link.txt",
     "/empty/", "/board.js/", "/nothing", "/%00", "/" + "a" * 5000, "/nimbus/%2e%2e%2f%2e%2e%2fsecret.txt"],
)  # fmt: skip
def test_nothing_else_is_served(ask, path):
    answer, content = ask(path)
    assert answer.status == 404
    assert b"secret" not in content.replace(path.encode(), b"")


def test_a_folder_is_led_to_with_its_slash_and_never_to_another_host(ask):
    answer, _ = ask("/nimbus")
    assert (answer.status, answer.headers["Location"]) == (301, "/nimbus/")
    answer, _ = ask("//nimbus")
    assert not (answer.headers["Location"] or "").startswith("//")


def test_another_name_for_this_machine_is_refused(ask):
    assert ask("/", host="evil.example:80")[0].status == 421
    assert ask("/", host="localhost:80")[0].status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(ask, method):
    assert ask("/", method)[0].status == 501


def test_a_folder_without_a_site_is_refused(tmp_path, capsys):
    assert main(["serve", str(tmp_path)]) == 2
    assert "python -m leaderboard build" in capsys.readouterr().err


def test_a_port_that_is_taken_is_an_error_of_ours(site):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InputError, match="one that is free"):
            server_of(site, other.getsockname()[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there, no signal can be sent to one process")
def test_the_command_tells_where_it_serves_and_ends_well_when_it_is_interrupted(site):
    command = [sys.executable, "-m", "leaderboard", "serve", str(site), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        said = server.stdout.readline()
        with urllib.request.urlopen(said.split()[0], timeout=10) as answer:
            assert answer.read() == b"<h1>Boards</h1>"
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0
        assert server.stderr.read() == ""
    assert said.startswith("http://127.0.0.1:")


def raw(server, sent, *, leave=False):
    """Send bytes to a server, and return what it answers; with ``leave`` go away before it can."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(sent)
        if leave:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, no goodbye
            return b""
        return connection.recv(100)


@pytest.mark.parametrize("path", [b"http://[x/", b"/%00", b"/" + b"a" * 5_000, b"/\xff\xfe", b"*", b"/;/"])
def test_what_is_no_address_is_answered_all_the_same(ask, path, capfd):
    answer = raw(ask.server, b"GET " + path + b" HTTP/1.1\r\nHost: localhost:80\r\n\r\n")
    assert answer.startswith((b"HTTP/1.0 400 ", b"HTTP/1.0 404 "))
    assert capfd.readouterr().err == ""


def test_a_browser_that_goes_away_is_no_error(ask, capfd):
    gone = threading.Event()
    ask.server.shutdown_request = lambda request, end=ask.server.shutdown_request: (end(request), gone.set())
    raw(ask.server, b"GET /board.js HTTP/1.1\r\nHost: localhost:80\r\n\r\n", leave=True)
    assert gone.wait(10)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),  # as browsers write it for port 80
        ("127.0.0.1", 200),
        ("localhost:evil.com:80", 421),
        ("127.0.0.1.evil.com:80", 421),
        ("localhost:x", 421),
        ("[::1]:80", 421),
    ],
)
def test_this_machine_is_named_with_or_without_a_port(ask, host, status):
    assert ask("/", host=host)[0].status == status
