"""What people say of findings: a list of those that are left, and an end to the build until somebody looked."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from builders.secrets.engine import scanner
from builders.secrets.records import Finding
from freshstack_datasets.errors import InputError, SnapshotError, shown, shown_path
from freshstack_datasets.files import atomic_file

ALL = "all"
_LONGEST = 1 << 20
"""Bytes of a line; what is longer is none of ours, and is refused as such."""
SHOWN = 20
"""Findings that an error names."""


class _Line(BaseModel):
    """A line of a list: what a finding is known by; places may have moved, and are not read."""

    model_config = ConfigDict(strict=True, extra="ignore")

    id: str
    kind: str
    digest: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """Findings that somebody looked at and accepts.

    Args:
        everything: Whether all are accepted.
        keys: What the accepted ones are known by.
        path: The list that names them.
    """

    everything: bool = False
    keys: frozenset[tuple[str, str, str]] = frozenset()
    path: Path | None = None

    @classmethod
    def of(cls, given: str) -> Self:
        """Return what an option says.

        Args:
            given: "" for none, "all", or the path of a list of findings.

        Raises:
            InputError: There is no such list, or it is none.
        """
        if given in ("", ALL):
            return cls(everything=given == ALL)
        path = Path(given)
        try:
            with path.open("rb") as file:
                read = enumerate(iter(lambda: file.readline(_LONGEST), b""), 1)
                lines = [_read(path, number, line) for number, line in read if line.strip()]
        except (OSError, ValueError) as error:
            got = (getattr(error, "strerror", None) or str(error)).lower()
            hint = f"name a list of findings, or '{ALL}'"
            raise InputError(f"cannot read {shown_path(path)}", got=got, hint=hint) from None
        return cls(keys=frozenset((line.id, line.kind, line.digest) for line in lines), path=path)

    def __contains__(self, finding: Finding) -> bool:
        return self.everything or finding.key in self.keys


def _read(path: Path, number: int, line: bytes) -> _Line:
    try:
        return _Line.model_validate_json(line)
    except ValidationError:
        what = f"{shown_path(path)[1:-1]}:{number}"
        raise InputError(what, expected="a finding: JSON with id, kind and digest", got=shown(line)) from None


class SecretsError(SnapshotError):
    """Something seems to be secret, and nobody accepted that.

    Args:
        count: How many findings there are that are not accepted.
        first: The first of them.
        listed: Where all of them are listed.
        added: The list that was given, to which what is accepted is added.
    """

    exit_code = 1

    def __init__(self, count: int, first: tuple[Finding, ...], listed: Path, added: Path | None) -> None:
        self.count, self.first, self.listed = count, first, listed
        accept = f"add their lines to {shown_path(added)}" if added else f"--allow-secrets {shown_path(listed)}"
        super().__init__(
            f"{count:,} {'place seems' if count == 1 else 'places seem'} to hold a secret, listed in {shown_path(listed)}",
            hint=f"take the secrets out of the sources, or accept what stays in the list: {accept}",
        )


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What was found, all of it accepted.

    Args:
        found: How many findings there are.
        listed: How many of them a list names; the others were accepted unseen.
    """

    found: int
    listed: int

    def parameters(self) -> dict[str, Any]:
        """Return what a recipe says of it."""
        counts = {"secrets_allowed": self.found, "secrets_allowed_unseen": self.found - self.listed}
        return {"secrets_scanner": scanner(), **{name: count for name, count in counts.items() if count}}


def review(findings: Iterable[Finding], allowed: Allowed, beside: Path) -> Reviewed:
    """Count findings that are accepted, and list the others.

    Args:
        findings: What was found.
        allowed: What is accepted.
        beside: The folder that is made, or published; the list is put beside it, never over the one that was given.

    Raises:
        SecretsError: Some are not accepted.
        InputError: The list cannot be written.
    """
    found = list(findings)
    left = [finding for finding in found if finding not in allowed]
    if not left:
        return Reviewed(len(found), sum(finding.key in allowed.keys for finding in found))
    listed = beside.with_name(f"{beside.name}.secrets.jsonl")
    if allowed.path and listed.exists() and allowed.path.exists() and listed.samefile(allowed.path):
        listed = beside.with_name(f"{beside.name}.secrets.new.jsonl")
    with atomic_file(listed) as work, work.open("w", encoding="utf-8", newline="\n") as stream:
        for finding in left:
            stream.write(json.dumps(asdict(finding)) + "\n")
    raise SecretsError(len(left), tuple(islice(left, SHOWN)), listed, allowed.path)
