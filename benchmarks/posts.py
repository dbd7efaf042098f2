"""From a Stack Exchange dump to the questions of a topic, against freshstack 0.0.6.

    python -m benchmarks.posts [--dump Posts.xml] [--peer SCRIPT] [--megabytes N ...] [--rounds N]
        [--packed [LZMA2] [BZip2]]

The dump is inflated to each size by repeating its posts under other ids, with both spellings of tags; 112 questions have
the tag that is looked for. The first one is read from a .7z too. Without ``--dump``: coffee.stackexchange.com where it
lies beside the clone, else the posts of the tests. Every way runs in a process of its own, one way after the other in
every round:

- ``freshstack``: its script ``examples/scraping/parse_and_extract_queries.py``, which no release on PyPI contains: it is
  taken from GitHub, or from where ``--peer`` says. Its default of ``filter`` and its logger end it before its work, so
  they are mended first; of its log, nothing is written. From a .7z, freshstack unpacks the dump to the disk first.
- ``ours``: ``python -m builders questions``, in one process and in two.

Both must give the same questions: those of freshstack's whose accepted answer it found, with a score of at least 1, must
be ours, and the texts of ours must be what our reading of HTML makes of the bodies that it kept. Time counts from the
start of Python to the last line written; ``times`` is freshstack's time in ours, with the least and the most of all
rounds, and ``CPU`` the same of the time that processors worked, which other work on the machine changes less. Memory is
the peak of all processes together.
"""

import argparse
import ast
import json
import logging
import statistics
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.posts_inputs import TAG, inflate, pack
from benchmarks.processes import measured

ROOT = Path(__file__).parents[1]
DUMPS = (
    ROOT.parent / "shared" / "data" / "coffee.stackexchange.com-Posts.xml",
    ROOT / "tests" / "data" / "Posts.xml",
)
PEER = (
    "https://raw.githubusercontent.com/fresh-stack/freshstack/78a3c83d63c010f6e810ec9b43ef67a703c3e581/"
    "examples/scraping/parse_and_extract_queries.py"
)
PROCESSES = {"ours": 1, "ours, two processes": 2}
WAYS = ("freshstack", *PROCESSES)
METHODS = ("LZMA2", "BZip2")
_TOPIC = f"""name: benchmarked
domain: what is looked for in a benchmark
tags: [{TAG}]
questions:
  site: coffee.stackexchange.com
documents:
  - path: .
    name: none
"""
_FOUND = "found.jsonl"
Questions = dict[str, tuple[str, str, str]]
"""From ids to titles, bodies and accepted answers."""


class _Mended(ast.NodeTransformer):
    """Puts the last of several words where freshstack joins them by ``|``, which strings do not have."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return node.right if isinstance(node.op, ast.BitOr) and isinstance(node.right, ast.Constant) else node


def freshstack(script: Path, dump: Path, out: Path) -> None:
    """Run freshstack's script on a dump, unpacked first where it is packed."""
    if dump.suffix == ".7z":
        from freshstack.util import extract_7z

        extract_7z(str(dump), str(out))
        dump = out / "Posts.xml"
    mended = ast.fix_missing_locations(_Mended().visit(ast.parse(script.read_text(encoding="utf-8"))))
    names: dict[str, Any] = {"__name__": "peer"}
    exec(compile(mended, script, "exec"), names)
    names["logger"] = logging.getLogger()
    logging.disable()
    names["parse_xml"](str(dump), str(out / _FOUND), [TAG], "tags")


@dataclass(frozen=True, slots=True)
class Trial:
    """What is run.

    Args:
        script: freshstack's script.
        folder: Where results go.
    """

    script: Path
    folder: Path

    def run(self, way: str, dump: Path) -> tuple[dict[str, float], Questions]:
        """Run one way on a dump, and return its figures and its questions."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            out = Path(name, "out")
            if way == "freshstack":
                out.mkdir()
                command = [sys.executable, "-m", "benchmarks.posts", "--way", self.script, dump, out]
                return measured([*map(str, command)], PYTHONWARNINGS="ignore"), dict(_peers(out / _FOUND))
            topic = Path(name, "topic.yaml")
            topic.write_text(_TOPIC, encoding="utf-8")
            command = [sys.executable, "-m", "builders", "questions", topic, "--posts", dump, "--out", out]
            return measured([*map(str, command), "--processes", str(PROCESSES[way])]), dict(_ours(out))


def _peers(found: Path) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield freshstack's questions as ours are: accepted and upvoted answers, HTML as our text."""
    from builders.html.text import html_to_text

    with found.open(encoding="utf-8") as lines:
        for item in map(json.loads, lines):
            answer = item["answers"].get(item["accepted_answer"])
            if answer and int(answer["score"]) >= 1:
                body, said = (html_to_text(each["metadata"]["Body"]) for each in (item, answer))
                yield item["id"], (" ".join(item["title"].split()), body, said)


def _ours(out: Path) -> Iterator[tuple[str, tuple[str, str, str]]]:
    import pyarrow.parquet as pq

    (file,) = out.glob("queries/*.parquet")
    for row in pq.read_table(file, columns=["_id", "title", "body", "answer_text"]).to_pylist():
        yield row["_id"], (row["title"], row["body"], row["answer_text"])


def dumps(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[Path, float]]:
    """Yield the dumps to read, and their megabytes: one of each size, and the first one packed."""
    for number, megabytes in enumerate(arguments.megabytes):
        dump = folder / "Posts.xml"
        posts = inflate(arguments.dump, dump, megabytes)
        size = dump.stat().st_size / 1e6
        print(f"{size:,.0f} MB, {posts:,} posts", file=sys.stderr)
        yield dump, size
        for method in () if number else arguments.packed:
            packed = folder / f"Posts.{method}.7z"
            pack(dump, packed, method)
            print(f"packed with {method}: {packed.stat().st_size / 1e6:,.0f} MB", file=sys.stderr)
            yield packed, size


def compare(trial: Trial, dump: Path, size: float, rounds: int) -> None:
    """Measure all ways on a dump, and print a table."""
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for number in range(rounds):
        found: dict[str, Questions] = {}
        for way, figures in runs.items():
            taken, found[way] = trial.run(way, dump)
            figures.append(taken)
            print(f"round {number + 1}, {way}: {taken['seconds']:.2f} s, {taken['memory']:.0f} MB", file=sys.stderr)
        for way in PROCESSES:
            check(way, found[way], found["freshstack"])
    print(f"\n{dump.name}, {size:,.0f} MB unpacked, {len(found['ours'])} questions, the same by all; rounds: {rounds}")
    heads = ("MB/s", "times", "from", "to", "CPU", "seconds", "memory")
    print(f"{'':22}" + "".join(f"{head:>9}" for head in heads))
    for way, figures in runs.items():
        times, worked = (
            [peer[key] / run[key] for peer, run in zip(runs["freshstack"], figures, strict=True)]
            for key in ("seconds", "cpu")
        )
        seconds = statistics.median(run["seconds"] for run in figures)
        print(
            f"{way:22}{size / seconds:9.0f}{statistics.median(times):9.1f}{min(times):9.1f}{max(times):9.1f}"
            f"{statistics.median(worked):9.1f}{seconds:9.2f}{max(run['memory'] for run in figures):6.0f} MB"
        )


def check(way: str, ours: Questions, theirs: Questions) -> None:
    """Stop when a way gives other questions than freshstack, or other texts."""
    if ours.keys() != theirs.keys():
        other = sorted(ours.keys() ^ theirs.keys())
        raise SystemExit(
            f"{way}: {len(ours)} questions, freshstack has {len(theirs)}; only in one of them: {other[:5]}"
        )
    for name, said in ours.items():
        if said != theirs[name]:
            raise SystemExit(f"{way}: question {name} reads\n{said}\nbut of freshstack's HTML\n{theirs[name]}")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", type=Path, default=next(path for path in DUMPS if path.is_file()))
    parser.add_argument("--peer", default=PEER, help="freshstack's script: a file or an address")
    parser.add_argument("--megabytes", type=float, nargs="+", default=(500, 2000))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--packed", nargs="*", choices=METHODS, default=METHODS)
    parser.add_argument("--way", nargs=3, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        freshstack(*arguments.way)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trial = Trial(fetched(arguments.peer, folder), folder)
        for dump, size in dumps(arguments, folder):
            compare(trial, dump, size, arguments.rounds)


def fetched(peer: str, folder: Path) -> Path:
    """Return where freshstack's script is, fetched if it is an address."""
    if not peer.startswith("https://"):
        return Path(peer)
    script = folder / "peer.py"
    if not script.exists():
        try:
            with urllib.request.urlopen(peer, timeout=30) as answer:
                script.write_bytes(answer.read())
        except OSError as error:
            raise SystemExit(f"cannot fetch {peer}: {error}; get it, and name it with --peer") from None
    return script


if __name__ == "__main__":
    main()
