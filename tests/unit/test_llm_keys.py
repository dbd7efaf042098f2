"""Where a key goes, and where it never does; and what a server's address may be."""

import asyncio
import logging
import pickle
import subprocess
import sys
import traceback
from io import StringIO
from pathlib import Path

import pytest

from freshstack_datasets.errors import EndpointError, InputError
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.records import Failed, Message, Request
from freshstack_datasets.llm.store import Store
from freshstack_datasets.llm.transport import Http, Key
from tests.llm_server import Says, Server, chat, error

CANARY = "sk-canary-0123456789abcdef"
REQUEST = Request("m", (Message("user", "why?"),))


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


def echo(asked):
    """A server that repeats the key wherever it can."""
    said = asked.headers["authorization"]
    return {
        "reply": chat(f"you are {said}", model=said, finish=said, id=said),
        "refusal": chat(None, message={"refusal": said}),
        "400": error(400, said, said),
        "403": error(403, said),
        "500": error(500, said, said),
        "401": error(401, said, **{"www-authenticate": said}),
        "307": Says(b"", 307, {"location": f"http://127.0.0.1:1/?key={said}"}),
        "no JSON": Says(said.encode()),
        "nonsense": Says({"choices": said}),
    }[asked.text]


def test_a_key_goes_to_the_server_and_nowhere_else(tmp_path, caplog, capfd):
    """Every file, log, output, error, traceback and representation is searched for it."""
    caplog.set_level(logging.DEBUG)
    seen = []
    with Server(echo) as server:
        store = Store(tmp_path / "replies.sqlite")
        for text in ("reply", "refusal", "400", "500", "no JSON", "nonsense", "403", "401", "307"):
            client = Client(server.url, store, retries=0)
            request = Request("m", (Message("user", text),))
            try:
                seen.append(repr(client.run([request], "asking")))
            except EndpointError as raised:
                seen += [str(raised), *traceback.format_exception(raised), rich_traceback(raised)]
            seen += [repr(client), str(client.counts), repr(client.counts), repr(vars(client.transport))]
        assert all(asked.headers["authorization"] == f"Bearer {CANARY}" for asked in server.asked)
        assert len(server.asked) == 9
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())  # the write-ahead log is still there
    store.close()
    out, err = capfd.readouterr()
    assert any("you are Bearer [key]" in one for one in seen)
    for where in (*seen, out, err, caplog.text, files.decode("latin-1")):
        assert CANARY not in where
        assert CANARY[3:] not in where


def rich_traceback(error):
    """The traceback with the values of all variables, as some programs print it."""
    from rich.console import Console
    from rich.traceback import Traceback

    console = Console(file=StringIO(), width=300)
    console.print(Traceback.from_exception(type(error), error, error.__traceback__, show_locals=True))
    return console.file.getvalue()


def test_a_key_does_not_show_itself():
    key = Key("OPENAI_API_KEY")
    assert repr(key) == str(key) == "Key('OPENAI_API_KEY', set)"
    assert key
    with pytest.raises(TypeError, match="not written anywhere"):
        pickle.dumps(key)


def test_without_a_key_none_is_sent(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with Server([chat("x")]) as server:
        Client(server.url, store := Store(tmp_path / "s")).run([REQUEST], "asking")
        assert "authorization" not in server.asked[0].headers
        monkeypatch.setenv("OWN", "another")
        Client(server.url, store, key_from="OWN").run([Request("n", REQUEST.messages)], "asking")
        assert server.asked[1].headers["authorization"] == "Bearer another"
    store.close()


@pytest.mark.parametrize("value", ["två", "a\nb", "a\tb"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(monkeypatch, value):
    monkeypatch.setenv("OPENAI_API_KEY", value)
    with pytest.raises(InputError, match=r"the key in OPENAI_API_KEY.*not shown") as raised:
        Http("http://localhost/v1", "OPENAI_API_KEY", 1, 1)
    assert value not in str(raised.value)


def test_a_short_key_that_is_a_word_does_not_change_replies(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with Server([chat("none of them")]) as server:
        (reply,) = Client(server.url, store := Store(tmp_path / "s")).run([REQUEST], "asking")
    assert reply.text == "none of them"
    store.close()


def test_a_redirect_is_not_followed(tmp_path):
    with Server([chat("x")]) as other, Server([Says(b"", 308, {"location": other.url})]) as server:
        store = Store(tmp_path / "s")
        with pytest.raises(EndpointError, match="sends calls elsewhere"):
            Client(server.url, store).run([REQUEST], "asking")
        assert (other.connections, len(server.asked)) == (0, 1)
    store.close()


def test_a_server_on_this_machine_is_asked_past_the_proxies(tmp_path, monkeypatch):
    with Server([chat("x")]) as server, Server([error(500)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        Client(server.url, store := Store(tmp_path / "s")).run([REQUEST], "asking")
        assert (len(server.asked), proxy.connections) == (1, 0)
    store.close()


@pytest.mark.parametrize(
    "given, endpoint",
    [
        ("http://localhost:8080/v1/", "http://localhost:8080/v1"),
        ("https://API.example.com:443/v1", "https://api.example.com/v1"),
        ("http://[::1]:80", "http://[::1]"),
        ("http://10.0.0.7:8000/openai/v1", "http://10.0.0.7:8000/openai/v1"),
    ],
)
def test_an_address_has_one_form(given, endpoint):
    assert Http(given, "", 1, 1).endpoint == endpoint


@pytest.mark.parametrize(
    "given",
    [
        "",
        "localhost:8080/v1",
        "ftp://localhost/v1",
        "http://",
        "http://localhost:99999/v1",
        "http://local host/v1",
        "http://[::1/v1",
        "http://localhost/v1\n",
        "http://lücke.example/v1",
        f"https://user:{CANARY}@api.example.com/v1",
        f"https://api.example.com/v1?key={CANARY}",
        f"user:{CANARY}@api.example.com/v1",
        f"https://api.example.com/v1#{CANARY}",
        "http://localhost:8080/v1/chat/completions",
    ],
)
def test_what_is_no_address_or_may_hold_a_secret_is_refused(given):
    with pytest.raises(InputError, match="the model's server, expected a base URL such as http") as raised:
        Http(given, "", 1, 1)
    assert CANARY not in str(raised.value)


@pytest.mark.parametrize(
    "url, variable, words",
    [
        ("http://models.example/v1", "OPENAI_API_KEY", "the key and all that is asked travel to http://models.example/v1"),
        ("http://models.example/v1", "", "all that is asked travels to http://models.example/v1 in the clear"),
        ("https://models.example/v1", "OPENAI_API_KEY", ""),
        ("https://models.example/v1", "NOT_SET", "no key is sent to https://models.example/v1, since NOT_SET is not set"),
        ("https://models.example/v1", "", ""),
        ("http://localhost/v1", "NOT_SET", ""),
        ("http://127.0.0.2:1/v1", "OPENAI_API_KEY", ""),
        ("http://localhost/v1", "OPENAI_API_KEY", ""),
    ],
)  # fmt: skip
def test_people_are_told_when_a_key_travels_in_the_clear_or_is_not_there(tmp_path, url, variable, words):
    warnings = Client(url, Store(tmp_path / "s"), key_from=variable).warnings
    assert bool(warnings) == bool(words)
    assert not words or words in warnings[0]


@pytest.mark.parametrize(
    "values",
    [
        {"concurrency": 0},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"retries": -1},
        {"requests_per_minute": 0},
        {"tokens_per_minute": float("inf")},
    ],
)
def test_a_setting_that_cannot_be_is_refused(tmp_path, values):
    with pytest.raises(InputError, match="expected"):
        Client("http://localhost/v1", Store(tmp_path / "s"), **values)


def test_a_client_opens_nothing_before_it_is_asked_and_imports_nothing_that_it_does_not_need(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "import freshstack_datasets; assert not {'sqlite3', 'httpx2'} & set(sys.modules)\n"
        "from freshstack_datasets.llm.client import Client; from freshstack_datasets.llm.store import Store\n"
        "Client('http://localhost:1/v1', Store('x/replies.sqlite'))\n"
        "assert not Path('x').exists(); assert 'httpx2' not in sys.modules"
    )
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env={"PYTHONPATH": root}, check=True)


def test_a_certificate_that_nobody_trusts_ends_the_run(monkeypatch):
    import httpx2

    async def refuse(*_, **__):
        raise httpx2.ConnectError(
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed (_ssl.c:1006)"
        )

    http = Http("https://localhost:1/v1", "", 1, 1)
    monkeypatch.setattr(http, "_exchange", refuse)
    with pytest.raises(EndpointError, match=r"certificate of https://localhost:1/v1 is not trusted.*SSL_CERT_FILE"):
        asyncio.run(http.send(REQUEST))


def test_a_failed_call_says_nothing_of_the_key(tmp_path):
    with Server(lambda asked: error(400, f"key {CANARY} has no access")) as server:
        (failed,) = Client(server.url, store := Store(tmp_path / "s")).run([REQUEST], "asking")
    assert failed == Failed(REQUEST.digest, "http-400", "key [key] has no access")
    store.close()
