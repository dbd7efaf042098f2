"""Running a stage when what it depends on is not what it was, and not otherwise."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from builders.pipeline.records import Summary
from builders.pipeline.work import STAGE, Work, files_digest
from builders.stages.workshop import workshop
from freshstack_datasets.errors import InputError

_OURS = "parts-of-a-stage"
_SUMMARY, _SAID = TypeAdapter(Summary), tuple(field.name for field in fields(Summary))


class Step(Protocol):
    """A stage of a build."""

    @property
    def name(self) -> str:
        """What it is called; its folder too."""
        ...

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that its outcome depends on, as JSON values: settings, prompts' digests, digests of earlier stages.

        Raises:
            InputError: An earlier stage is not done.
        """
        ...

    def make(self, work: Work, folder: Path) -> Summary:
        """Make its files.

        Args:
            work: The folder of the build, for what earlier stages made.
            folder: An empty folder for its files, which becomes that of the stage.
        """
        ...


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a stage.

    Args:
        name: The stage.
        summary: What it says of itself.
        kept: Whether it had been made before, of the same.
    """

    name: str
    summary: Summary
    kept: bool


def run(step: Step, work: Work) -> Made:
    """Make a stage, unless it was made of the very same and is whole.

    Its folder changes in one step: a stage that fails leaves the one before as it was.

    Args:
        step: The stage.
        work: The folder of the build.

    Raises:
        InputError: An earlier stage is not done, or another process is at this one.
    """
    key = _key(step, work)
    out = work.path.absolute() / step.name
    if found := _kept(step.name, key, work):
        return Made(step.name, found, kept=True)
    with workshop(out, _OURS) as parts:
        folder = parts / "result"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        summary = step.make(work, folder)
        told = {"stage": step.name, "key": key, "digest": files_digest(folder), **asdict(summary)}
        text = json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        (folder / STAGE).write_text(text + "\n", encoding="utf-8", newline="\n")
        before = parts / "before"
        shutil.rmtree(before, ignore_errors=True)
        if out.exists():
            out.rename(before)
        folder.rename(out)
    return Made(step.name, summary, kept=False)


def kept(step: Step, work: Work) -> Summary | None:
    """Return what a stage said of itself when it was made of the very same and is whole, None when it was not.

    Args:
        step: The stage.
        work: The folder of the build.

    Raises:
        InputError: An earlier stage is not done.
    """
    return _kept(step.name, _key(step, work), work)


def summary_of(work: Work, stage: str) -> Summary:
    """Return what a stage that is done says of itself.

    Raises:
        InputError: It is not done, or its file is damaged.
    """
    try:
        return _SUMMARY.validate_python({name: work.about(stage)[name] for name in _SAID})
    except (LookupError, ValidationError):
        raise InputError(f"what the stage {stage} says of itself is damaged", hint="run the stage again") from None


def _key(step: Step, work: Work) -> Any:
    return json.loads(json.dumps(step.key(work), sort_keys=True, allow_nan=False))


def _kept(name: str, key: object, work: Work) -> Summary | None:
    try:
        about = work.about(name)
        whole = about.get("key") == key and about.get("digest") == files_digest(work.folder(name))
        return summary_of(work, name) if whole else None
    except InputError:
        return None
