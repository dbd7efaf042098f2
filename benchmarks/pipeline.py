"""What the client of language models costs beside the model: 3,000 calls to a server on loopback that answers at once.

    python -m benchmarks.pipeline [--calls N] [--rounds N] [--concurrency N]

The server is a process of its own and says the same to everybody; with faults, it turns 7 of 100 requests away, by turns
with 429 (``Retry-After: 0.05``) and with 500, and takes them when they come again. Every way runs in a process of its own,
one way after the other in every round:

- ``openai``: the client of that name with asyncio, as many calls at once, as many tries, and nothing kept; it is left out
  where it is not installed: ``pip install openai``.
- ``ours``: ``freshstack_datasets.llm``, which keeps every reply on the disk before it is handed out, and notes each call
  before it is sent, so that none is lost.
- ``ours, again``: the same calls once more, all of them known, with the server gone.

``ms a call`` is the time of all calls by their number, ``CPU`` the processor's time in the client's process by the same;
``times`` is how many times openai's time ours is, with the least and the most of all rounds. Both count from the first
call to the last reply, without imports; memory is the peak of the process. Of the faults' time most is waiting, as it has
to be: half a second or more before what was answered by 500 is sent again.
"""

import argparse
import asyncio
import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SERVED = ("openai", "ours")
AGAIN = "ours, again"
FAULTS = {"no faults": 0, "7 % faults": 7}
TRIES = 6


def prompt(number: int) -> str:
    """Return what is asked: some 2,000 characters, no two the same."""
    return f"Question {number}: " + "why does a queue run the same job twice when there are several workers? " * 28


class Answering:
    """The server: HTTP/1.1 and no more than it takes.

    Args:
        faults: How many of 100 requests are turned away.
    """

    def __init__(self, faults: int) -> None:
        self._faults, self._number = faults, 0
        message = {"role": "assistant", "content": '{"nuggets": ["Each worker starts a scheduler of its own."]}'}
        reply = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520},
        }
        self._fine = _said("200 OK", reply)
        self._wrong = (
            _said("429 Too Many Requests", {"error": {"message": "slow down"}}, "retry-after: 0.05\r\n"),
            _said("500 Internal Server Error", {"error": {"message": "out of order"}}),
        )

    async def serve(self) -> None:
        """Say at which port it listens, and answer until the process is ended."""
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]))
                self._number += 1
                fault = self._faults and self._number * self._faults % 100 < self._faults
                writer.write(self._wrong[self._number // 100 % 2] if fault else self._fine)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def _said(status: str, body: object, more: str = "") -> bytes:
    packed = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{more}content-length: {len(packed)}\r\n\r\n"
    return head.encode() + packed


def ours(url: str, calls: int, concurrency: int, store: Path) -> dict[str, float]:
    """Ask with our client."""
    from freshstack_datasets.llm.client import Client
    from freshstack_datasets.llm.records import Message, Reply, Request
    from freshstack_datasets.llm.store import Store

    requests = [
        Request("m", (Message("user", prompt(at)),), {"temperature": 0.1, "max_tokens": 100}) for at in range(calls)
    ]
    with Store(store) as kept:
        client = Client(url, kept, concurrency=concurrency, retries=TRIES)
        start, worked = time.perf_counter(), time.process_time()
        replies = client.run(requests, "asking")
        figures = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - worked}
    if not all(isinstance(reply, Reply) for reply in replies):
        raise SystemExit("a call failed")
    return {**figures, "sent": client.counts.sent}


def openai(url: str, calls: int, concurrency: int, _: Path) -> dict[str, float]:
    """Ask with the client of OpenAI."""
    from openai import AsyncOpenAI  # type: ignore[import-not-found]

    async def all_of_them() -> int:
        turns = asyncio.Semaphore(concurrency)
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=TRIES) as client:

            async def one(number: int) -> str:
                messages = [{"role": "user", "content": prompt(number)}]
                async with turns:
                    reply = await client.chat.completions.create(
                        model="m", messages=messages, temperature=0.1, max_tokens=100
                    )
                return str(reply.choices[0].message.content)

            return len(await asyncio.gather(*map(one, range(calls))))

    start, worked = time.perf_counter(), time.process_time()
    asyncio.run(all_of_them())
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - worked, "sent": float("nan")}


def in_process(way: str, port: int, arguments: argparse.Namespace, store: Path) -> dict[str, float]:
    """Run one way in a process of its own, and return its figures."""
    url = f"http://127.0.0.1:{port}/v1"
    told = [way, url, str(arguments.calls), str(arguments.concurrency), str(store)]
    command = [sys.executable, "-m", "benchmarks.pipeline", "--way", *told]
    figures: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return figures


def measured(faults: int, arguments: argparse.Namespace, ways: list[str]) -> dict[str, dict[str, float]]:
    """Return the figures of all ways, once."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "replies.sqlite")
        for way in ways:
            command = [sys.executable, "-m", "benchmarks.pipeline", "--serve", str(faults)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
                assert server.stdout is not None
                port = int(server.stdout.readline())
                found[way] = in_process(way, port, arguments, store)
                server.terminate()
        found[AGAIN] = in_process("ours", port, arguments, store)  # nobody listens there any more
    if found[AGAIN]["sent"]:
        raise SystemExit("what was known was sent again")
    return found


def compare(name: str, arguments: argparse.Namespace) -> None:
    """Measure all ways, and print a table."""
    ways = [way for way in SERVED if way == "ours" or importlib.util.find_spec(way)]
    if "openai" not in ways:
        print("openai is not installed, and left out: pip install openai", file=sys.stderr)
    rounds = [measured(FAULTS[name], arguments, ways) for _ in range(arguments.rounds)]
    print(f"\n{arguments.calls:,} calls, {arguments.concurrency} at once, {name}; rounds: {arguments.rounds}")
    heads = ("ms a call", "calls/s", "times", "from", "to", "CPU", "seconds", "sent", "memory")
    print(f"{'':14}" + "".join(f"{head:>10}" for head in heads))
    for way in [*ways, AGAIN]:
        seconds, cpu, sent, memory = (
            statistics.median(one[way][key] for one in rounds) for key in ("seconds", "cpu", "sent", "memory")
        )
        times = [one["openai"]["seconds"] / one[way]["seconds"] for one in rounds] if "openai" in ways else []
        told = [f"{value:.2f}" for value in (statistics.median(times), min(times), max(times))] if times else ["-"] * 3
        print(
            f"{way:14}{seconds / arguments.calls * 1e3:10.2f}{arguments.calls / seconds:10,.0f}"
            + "".join(f"{value:>10}" for value in told)
            + f"{cpu / arguments.calls * 1e3:10.2f}{seconds:10.2f}{sent:10,.0f}{memory:7.0f} MB"
        )


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--way", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        asyncio.run(Answering(arguments.serve).serve())
    elif arguments.way:
        way, url, calls, concurrency, store = arguments.way
        figures = {"openai": openai, "ours": ours}[way](url, int(calls), int(concurrency), Path(store))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(json.dumps({**figures, "memory": memory}))
    else:
        for name in FAULTS:
            compare(name, arguments)


if __name__ == "__main__":
    main()
