"""Looking for secrets in the documents of a corpus, file by file, before they become one."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from builders.secrets import Finding, Piece, library, rules, scan_file
from builders.stages import Cluster, code, run

_ALONE = 50
"""Parts that are not worth other processes, of which each would load the rules first."""


def secrets_in(
    parts: Sequence[Path], work: Path, *, processes: int = 1, cluster: Cluster | None = None
) -> Iterator[Finding]:
    """Yield what seems to be secret in the documents, in the order of the parts.

    Args:
        parts: What was cut.
        work: Where findings are kept.
        processes: How many processes look.
        cluster: Who looks instead.

    Raises:
        MissingExtraError: The library that looks is not installed.
    """
    library()  # compiles the rules once for all processes, where that was not done before
    few = processes if len(parts) > _ALONE else 1
    for found in run(Scanning(), parts, work, processes=few, cluster=cluster, what="looking for secrets"):
        with found.open(encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield Finding(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Scanning:
    """Lists what seems to be secret in the documents of a part, a line of JSON each."""

    name: str = "secrets"

    def key(self, shard: Path) -> str:
        """Return all that the findings depend on."""
        with shard.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return f"{digest} {rules()} {code('builders.secrets', __name__)}"

    def make(self, shard: Path, part: Path) -> None:
        """Write the findings."""
        with shard.open(encoding="utf-8", newline="\n") as lines, part.open("w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                for finding in _findings(json.loads(line)):
                    out.write(json.dumps(asdict(finding)) + "\n")

    def close(self) -> None:
        """Give nothing back."""


def _findings(file: dict[str, Any]) -> Iterator[Finding]:
    """Yield those of a file and its path, or of a row, whose id, title and address are somebody's text too."""
    documents = file.get("documents", ())
    if not documents:
        return
    first = documents[0]
    path = first["metadata"].get("path", "")
    names = (path,) if path else (first["title"], first["metadata"].get("url", ""), first["doc_id"])
    for text in names:
        yield from scan_file(path, [Piece(first["doc_id"], text, line=0)])
    yield from scan_file(
        path,
        [
            Piece(row["doc_id"], row["text"], line, row["metadata"]["start_char"])
            for row, line in zip(documents, file["lines"], strict=True)
        ],
    )
