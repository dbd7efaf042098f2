"""The folder of a build, with one folder for each stage that is done: what stages read and write there."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_args

from builders.pipeline.records import Label, Lacking, Search
from freshstack_datasets.errors import InputError, shown, shown_path

QUESTIONS, CORPUS, NUGGETS, QUERIES, POOL, SUPPORT, FILTER = STAGES = (
    "questions",
    "corpus",
    "nuggets",
    "queries",
    "pool",
    "support",
    "filter",
)
"""The stages' names, which are those of their commands and of their folders, in their order."""
ABOUT = {QUESTIONS: "questions.json", CORPUS: "corpus.json"}
"""The files by which the two stages that need no model say how they were made; the others have ``STAGE``."""
STAGE = "stage.json"
SEARCHES, LABELS, LACKING, POOLED = "searches.jsonl", "labels.jsonl", "dropped.jsonl", "pool.parquet"

R = TypeVar("R", Label, Lacking, Search)


@dataclass(frozen=True, slots=True)
class Work:
    """The folder of a build.

    Args:
        path: Where it is.
    """

    path: Path

    def folder(self, stage: str) -> Path:
        """Return the folder of a stage that is done.

        Raises:
            InputError: It is not.
        """
        folder = self.path / stage
        if not (folder / ABOUT.get(stage, STAGE)).is_file():
            out = f" --out {shown_path(folder)[1:-1]}" if stage in ABOUT else f" --work {shown_path(self.path)[1:-1]}"
            what = f"{shown_path(folder)} is needed"
            raise InputError(what, got="none", hint=f"run python -m builders {stage} TOPIC.yaml{out} first")
        return folder

    def about(self, stage: str) -> dict[str, Any]:
        """Return what a stage that is done says of itself.

        Raises:
            InputError: It is not done, or its file is damaged.
        """
        path = self.folder(stage) / ABOUT.get(stage, STAGE)
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            got = getattr(error, "strerror", None) or "no JSON"
            raise InputError(f"cannot read {shown_path(path)}", got=got, hint="run the stage again") from None
        if not isinstance(value, dict):
            raise InputError(f"cannot read {shown_path(path)}", expected="an object", got=shown(value))
        return value

    def digest(self, stage: str) -> str:
        """Return the digest of what a stage made: its table's, or that of all its files.

        Raises:
            InputError: The stage is not done, its files are not those that it made, or an earlier stage that it was made
                of was made anew since.
        """
        about, folder = self.about(stage), self.folder(stage)
        found = _digest_in(stage, about)
        if found is None:
            raise InputError(f"{shown_path(folder)} has no digest", hint=_again(stage))
        if not is_whole(stage, folder, about):
            what = f"what is in {shown_path(folder)}"
            raise InputError(what, expected="what the stage made", got="something else", hint=_again(stage))
        self._refuse_older(stage, about)
        return found

    def _refuse_older(self, stage: str, about: Mapping[str, Any]) -> None:
        """Refuse a stage if one that it was made of, or that this was made of, was made anew since."""
        key = about.get("key")
        told = key if isinstance(key, Mapping) else {}
        stages = told.get("stages")
        for earlier, digest in {**told, **(stages if isinstance(stages, Mapping) else {})}.items():
            if earlier in STAGES[: STAGES.index(stage)] and isinstance(digest, str):
                now = self.about(earlier)
                if _digest_in(earlier, now) != digest:
                    what = f"{shown_path(self.folder(stage))} was made of what the stage {earlier} made before"
                    raise InputError(what, hint=_again(stage))
                self._refuse_older(earlier, now)


def _digest_in(stage: str, about: Mapping[str, Any]) -> str | None:
    """Return the digest that a stage says it has, None where it says none."""
    told = about.get("table") if stage in ABOUT else about
    found = told.get("digest") if isinstance(told, Mapping) else None
    return found if isinstance(found, str) else None


def is_whole(stage: str, folder: Path, about: Mapping[str, Any]) -> bool:
    """Tell whether the files of a stage are those that it made.

    Of one that asks no model these are its table and its lists; where it was made before lists had digests, the table.

    Args:
        stage: The stage.
        folder: Its folder.
        about: What it says of itself.
    """
    try:
        if stage not in ABOUT:
            return bool(files_digest(folder) == about["digest"])
        told = {**about.get("lists", {}), about["table"]["file"]: about["table"]["sha256"]}
        return all(_sha256(folder / name) == digest for name, digest in told.items())
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _again(stage: str) -> str:
    return f"run the stage {stage} again" + (", into a new folder" if stage in ABOUT else "")


def files_digest(folder: Path) -> str:
    """Return the digest of all files of a folder but ``STAGE``, by their paths in it."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != STAGE):
        total.update(f"{_sha256(path)} {path.relative_to(folder).as_posix()}\n".encode())
    return total.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_lines(path: Path, records: Iterable[Label | Lacking | Search | Mapping[str, Any]]) -> int:
    """Write records as JSON lines and return how many they are.

    Args:
        path: A new file in a stage's folder.
        records: The records, in an order that their content decides.
    """
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for record in records:
            count += 1
            value = dict(record) if isinstance(record, Mapping) else asdict(record)
            stream.write(json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n")
    return count


def read_lines(path: Path, kind: type[R]) -> Iterator[R]:
    """Yield the records of a file of JSON lines that ``write_lines`` wrote.

    Args:
        path: The file.
        kind: What they are.

    Raises:
        InputError: It cannot be read, or a line is none.
    """
    try:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                yield _record(line, kind, path, number)
    except (OSError, UnicodeDecodeError) as error:
        got = getattr(error, "strerror", None) or "no UTF-8"
        raise InputError(f"cannot read {shown_path(path)}", got=got, hint="run the stage again") from None


def _record(line: str, kind: type[R], path: Path, number: int) -> R:
    try:
        value: dict[str, Any] = {
            name: tuple(one) if isinstance(one, list) else one for name, one in json.loads(line).items()
        }
        record = kind(**value)
        if not all(_holds(getattr(record, field.name), field.type) for field in fields(record)):
            raise TypeError
        return record
    except (ValueError, TypeError, AttributeError, RecursionError):
        where, what = f"{shown_path(path)[1:-1]}:{number}", f"a {kind.__name__.lower()}"
        raise InputError(where, expected=what, got=shown(line[:100]), hint="run the stage again") from None


def _holds(value: object, wanted: object) -> bool:
    """Tell whether a value is a text, or holds nothing but texts or whole numbers, as a field of a record wants."""
    if wanted is str:
        return isinstance(value, str)
    item = get_args(wanted)[0]
    return isinstance(value, tuple) and all(type(one) is item for one in value)
