"""How a snapshot's documents were judged, out of what it says of itself, so that others are judged alike."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from builders.pipeline.settings import PROMPTS, KindName, Settings, read_recipe
from builders.topics.models import Models
from builders.topics.pool import Pool
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.files import matching
from freshstack_datasets.llm.prompts import Prompt, read_prompt
from freshstack_datasets.loading import Dataset
from freshstack_datasets.tables.parquet import TableReader
from freshstack_datasets.trace.schema import CALLS, CALLS_FILE

SUPPORT: KindName = "support"
_PACKING = ("documents", "tokens", "seed")
_OF_THE_FORM = ("schema", "response_format")
"""What a call's parameters say of the form of its reply, which follows from the documents that are shown."""


@dataclass(frozen=True, slots=True)
class Judge:
    """How documents are judged.

    Args:
        model: The model that is asked.
        answers: The names of the models that answered for the snapshot; none where any may answer.
        parameters: What else is sent.
        prompt: The prompt, with its version.
        packing: How documents are put into calls, as far as the snapshot says.
        alike: Whether model, prompt and parameters are those of the snapshot.
    """

    model: str
    answers: tuple[str, ...]
    parameters: Mapping[str, Any]
    prompt: Prompt
    packing: Mapping[str, int]
    alike: bool = True

    def settings(self, endpoint: str, key_from: str = "") -> Settings:
        """Return how the calls that judge are made.

        Args:
            endpoint: Where the model is.
            key_from: The variable of the environment that holds the key.

        Raises:
            InputError: The snapshot says something that cannot be sent.
        """
        support = {"parameters": dict(self.parameters), "prompt": str(self.prompt), **self.packing}
        told = {"endpoint": endpoint, "model": self.model, "support": support}
        try:
            models = Models.model_validate(told | ({"key_from": key_from} if key_from else {}))
        except ValueError as error:
            what = "how the snapshot says that its documents were judged"
            raise InputError(what, expected="what a model can be asked with", got=shown(str(error)[:200])) from None
        return Settings(models, Pool(), prompts=PROMPTS)


@dataclass(frozen=True, slots=True)
class _Told:
    """What the calls of a snapshot have in common; the newest stands for all."""

    asked: str
    prompt: str
    parameters: str
    answers: frozenset[str]
    created: str


def judge_of(data: Dataset, model: str = "") -> Judge:
    """Return how the documents of a snapshot were judged: with the model, prompt and parameters of its calls.

    Where it has been judged in several ways by one model, as after a refresh, the newest is taken.

    Args:
        data: The snapshot.
        model: The model to ask, which may be another one than the snapshot's.

    Raises:
        InputError: The snapshot does not say it, or names several models, and no model is given; or its prompt is none
            of this version.
    """
    found = _told(data)
    packing = _packing(data)
    if not found:
        if model:
            usual = Settings(read_recipe().models, Pool()).kind(SUPPORT)
            return Judge(model, (), usual.parameters, usual.prompt, packing, alike=False)
        raise InputError(
            f"{data.name}@{data.snapshot} does not say how its documents were judged",
            expected=f"{CALLS_FILE} with calls that judged them",
            got="none",
            hint="--model NAME judges others on purpose with the newest prompt of this version",
        )
    models = sorted({one.asked for one in found})
    if len(models) > 1 and not model:
        got = ", ".join(map(shown, models))
        what = f"the model that judged {data.name}@{data.snapshot}"
        raise InputError(what, expected="one", got=got, hint="--model NAME chooses one")
    newest = max([one for one in found if one.asked == model] or found, key=lambda one: (one.created, one.prompt))
    judge = Judge(
        model=newest.asked,
        answers=() if model else tuple(sorted(newest.answers)),
        parameters=json.loads(newest.parameters),
        prompt=_prompt(newest.prompt, data),
        packing=packing,
    )
    return replace(judge, model=model, alike=False) if model and model != newest.asked else judge


def _told(data: Dataset) -> list[_Told]:
    """Return in which ways the calls were made that the judgments name."""
    place = data.trace_in(CALLS_FILE)
    if place is None:
        return []
    named = set(data.judgments.columns("call_id")[0])
    columns = ["call-id", "stage", "asked", "prompt", "parameters", "model", "created"]
    rows = TableReader(place.folder, CALLS, [CALLS_FILE], place.root).read(columns).to_pylist()
    found: dict[tuple[str, str, str], _Told] = {}
    for row in rows:
        if row["call-id"] not in named or row["stage"] != SUPPORT or None in row.values():
            continue
        key = (row["asked"], row["prompt"], _sent(row["parameters"]))
        before = found.get(key)
        answers, created = frozenset({row["model"]}), row["created"]
        if before:
            answers, created = answers | before.answers, max(created, before.created)
        found[key] = _Told(*key, answers, created)
    return list(found.values())


def _sent(parameters: str) -> str:
    """Return what a call was sent beside its conversation, as JSON, without the form of its reply."""
    try:
        told = json.loads(parameters)
        return json.dumps({name: value for name, value in told.items() if name not in _OF_THE_FORM}, sort_keys=True)
    except (ValueError, AttributeError, RecursionError):
        got = shown(parameters)
        raise InputError(f"the parameters of a call in {CALLS_FILE}", expected="a JSON object", got=got) from None


def _packing(data: Dataset) -> dict[str, int]:
    told = data.manifest.recipe.parameters if data.manifest else {}
    found = {name: told.get(f"{SUPPORT}.{name}") for name in _PACKING}
    return {name: value for name, value in found.items() if isinstance(value, int)}


def _prompt(digest: str, data: Dataset) -> Prompt:
    """Return the prompt of a digest.

    Raises:
        InputError: This version has none.
    """
    for prompt in _prompts():
        if prompt.digest == digest:
            return prompt
    names: Sequence[str] = [
        name for name, one in (data.manifest.recipe.prompts if data.manifest else {}).items() if one == digest
    ]
    raise InputError(
        f"the prompt that {data.name}@{data.snapshot} was judged with",
        expected="one of this version",
        got=f"{', '.join(names) or 'one'} of the digest {digest[:12]}",
        hint="take the version of this repository that made the snapshot",
    )


def _prompts() -> Iterator[Prompt]:
    for path in matching(PROMPTS, "*.md"):
        yield read_prompt(PROMPTS, path.stem)
