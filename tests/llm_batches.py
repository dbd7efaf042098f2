"""A provider of batches on loopback, which answers each call with its own words in capitals.

with serving(Provider()) as provider:
    BatchServer(provider.url)
"""

import email
import email.policy
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Provider:
    """A provider that answers each call with its own words in capitals, after some looks at the batch."""

    url = ""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.seen: Counter[str] = Counter()
        self.keys: set[str | None] = set()
        self.looks = 2
        self.last = "completed"
        self.instead: Callable[[str, str], tuple[int, dict[str, str], bytes] | None] = lambda method, path: None

    def answer(self, method: str, path: str, headers, body: bytes) -> tuple[int, dict[str, str], bytes]:
        path = path.removeprefix("/v1").partition("?")[0]
        kind = f"{method} /{path.split('/')[1]}{'/…' if path.count('/') > 1 else ''}"
        self.seen[kind] += 1
        self.keys.add(headers["authorization"])
        if (said := self.instead(method, path)) is not None:
            return said
        match kind:
            case "POST /files":
                return self.said(self.upload(headers, body))
            case "POST /batches":
                return self.said(self.begin(json.loads(body)))
            case "GET /batches":
                return self.said({"data": list(self.batches.values())})
            case "GET /batches/…":
                return self.said(self.look(path.split("/")[2]))
            case _:
                return 200, {}, self.files[path.split("/")[2]]

    def said(self, value: object) -> tuple[int, dict[str, str], bytes]:
        return 200, {"content-type": "application/json"}, json.dumps(value).encode()

    def upload(self, headers, body: bytes) -> dict:
        head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
        parts = {
            part.get_param("name", header="content-disposition"): part
            for part in email.message_from_bytes(head + body, policy=email.policy.HTTP).iter_parts()
        }
        assert parts["purpose"].get_payload(decode=True).strip() == b"batch"
        self.files[name := f"file-{len(self.files)}"] = parts["file"].get_payload(decode=True)
        return {"id": name}

    def begin(self, asked: dict) -> dict:
        assert (asked["endpoint"], asked["completion_window"]) == ("/v1/chat/completions", "24h")
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {**asked, "id": name, "status": "validating", "looks": 0}
        return self.batches[name]

    def look(self, name: str) -> dict:
        batch = self.batches[name]
        batch["looks"] += 1
        if batch["looks"] > self.looks and batch["status"] != self.last:
            batch["status"] = self.last
            calls = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
            good = [self.result(call) for call in calls if "fail" not in call["body"]["messages"][0]["content"]]
            bad = [{"custom_id": call["custom_id"], "response": None, "error": {"code": "x"}} for call in calls]
            self.files[f"{name}-out"] = "".join(json.dumps(one) + "\n" for one in good).encode()
            batch["output_file_id"] = f"{name}-out"
            if len(good) < len(calls):
                self.files[f"{name}-err"] = "".join(json.dumps(one) + "\n" for one in bad).encode()
                batch["error_file_id"] = f"{name}-err"
        return batch

    def result(self, call: dict) -> dict:
        text = call["body"]["messages"][0]["content"].upper()
        body = {"model": "m", "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        return {"custom_id": call["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}


@contextmanager
def serving(provider: Provider) -> Iterator[Provider]:
    """Let a provider answer requests, at its ``url``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:  # its name in the library
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.close_connection = True
            try:
                status, headers, said = provider.answer(self.command, self.path, self.headers, body)
            except ConnectionAbortedError:
                return
            self.send_response(status)
            for name, value in ({"content-length": str(len(said))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        provider.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield provider
        server.shutdown()
        thread.join()
