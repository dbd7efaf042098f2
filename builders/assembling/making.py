"""How a snapshot was made, for its manifest: sources, licence of the whole, and the recipe of all stages."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from builders.pipeline.reading import lacking_of
from builders.pipeline.records import Summary
from builders.pipeline.step import summary_of
from builders.pipeline.work import CORPUS, FILTER, NUGGETS, POOL, QUERIES, QUESTIONS, SUPPORT, Work
from builders.publishing.stand_ins import is_stand_in
from builders.topics import Topic
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.manifest import made
from freshstack_datasets.recipe import Filter, Recipe, Source

BUILDER = "build"
UNKNOWN_LICENSE = "LicenseRef-unknown"
"""Stands in the licence of the whole for sources that say none: nobody may take the rest for all of it."""
VARIOUS_LICENSES = "LicenseRef-those-of-the-sources"
"""The licence of a whole of so many that they have no room."""
_CC_BY_SA = re.compile(r"\bCC BY-SA ([0-9.]+)")
"""How Stack Exchange spells a licence, which SPDX and the Hub spell with hyphens."""
_LONGEST = 1_000
_ASKING = (NUGGETS, QUERIES, POOL, SUPPORT, FILTER)
_LACKING = {
    "refused": "the model, or its content filter, refused to answer",
    "does-not-fit": "the model's reply did not fit what was asked for, asked again as well",
    "cut-off": "the model's reply was cut off at its longest",
    "bad-reply": "the server's words made no sense",
    "no-answer": "it has no answer",
    "no-nugget": "the model found no fact in its answer",
}
"""From a reason to a sentence."""


def sources_of(work: Work) -> list[Source]:
    """Return what the questions and the corpus were made from.

    Raises:
        InputError: A stage is not done, or what it says of itself is damaged.
    """
    return [
        _read(Source, source, stage)
        for stage in (QUESTIONS, CORPUS)
        for source in _listed(work.about(stage).get("sources"))
    ]


def license_of(sources: Iterable[Source]) -> str:
    """Return the licence of the whole: all that its sources have, as an SPDX expression.

    A source of which no document was taken does not count. One that says no licence stands for itself, as one that is
    not known.

    Args:
        sources: What the snapshot was made from.
    """
    found: set[str] = set()
    for source in sources:
        if source.counts.get("documents") == 0:
            continue
        text = _CC_BY_SA.sub(r"CC-BY-SA-\1", " ".join((source.license or UNKNOWN_LICENSE).split()))
        parts = [text] if "(" in text else text.split(" AND ")
        found.update(f"({part})" if " OR " in part and not part.startswith("(") else part for part in parts)
    whole = " AND ".join(sorted(found)) or UNKNOWN_LICENSE
    return whole if len(whole) <= _LONGEST else VARIOUS_LICENSES


def recipe_of(topic: Topic, work: Work, rules: Iterable[Filter]) -> Recipe:
    """Return how all stages were set, what they used, and what each left out.

    Args:
        topic: The topic.
        work: The folder of the build.
        rules: What the stage ``filter`` dropped from this very snapshot.

    Raises:
        InputError: A stage is not done, or what it says of itself is damaged.
        SnapshotError: What it says is not allowed in a manifest.
    """
    first = {stage: _read(Recipe, work.about(stage).get("recipe"), stage) for stage in (QUESTIONS, CORPUS)}
    summaries = {stage: summary_of(work, stage) for stage in _ASKING}
    told = {f"{stage}.{name}": value for stage, recipe in first.items() for name, value in recipe.parameters.items()}
    for stage, summary in summaries.items():
        told |= flat(dict(_asked(work.about(stage).get("key"))))
        if stage != POOL:
            told |= flat(summary.settings, f"{stage}.")
    recipe: Recipe = made(
        Recipe,
        builder=BUILDER,
        parameters=told,
        topic_sha256=topic.digest,
        chunker=first[CORPUS].chunker,
        tokenizer=first[CORPUS].tokenizer,
        prompts={name: digest for summary in summaries.values() for name, digest in summary.prompts.items()},
        models=_models(summaries.values()),
        pool=flat({name: value for name, value in summaries[POOL].settings.items() if name != "files"}),
        filters=(*_earlier(first), *_lacking(work), *rules),
    )
    return recipe


def _asked(key: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield by kind of call which model was asked, and with what, as the key of a stage says it anywhere within."""
    for name, value in key.items() if isinstance(key, dict) else ():
        if isinstance(value, dict) and value.keys() >= {"model", "parameters", "prompt"}:
            yield str(name), {"asked": value["model"], "parameters": value["parameters"]}
        else:
            yield from _asked(value)


def _models(summaries: Iterable[Summary]) -> dict[str, str]:
    """Return by kind of call who answered; a stand-in is named first, by which whoever publishes knows it."""
    named: dict[str, set[str]] = {}
    for summary in summaries:
        for kind, models in summary.models.items():
            named.setdefault(kind, set()).update(models)
    return {
        kind: ", ".join(sorted(models, key=lambda model: (not is_stand_in(model), model)))[:_LONGEST]
        for kind, models in named.items()
        if models
    }


def _earlier(recipes: Mapping[str, Recipe]) -> Iterator[Filter]:
    for stage, recipe in recipes.items():
        for rule in recipe.filters:
            yield rule.model_copy(update={"name": f"{stage}: {rule.name}"})


def _lacking(work: Work) -> Iterator[Filter]:
    """Yield what the stages that ask a model could not make, by its reason."""
    units = {NUGGETS: "nuggets of a question", QUERIES: "a text to search for", SUPPORT: "a document's judgment"}
    for stage, unit in units.items():
        counts = Counter(lacking.reason for lacking in lacking_of(work, stage))
        for reason, count in sorted(counts.items()):
            words = f"{unit}: {_LACKING.get(reason, 'it could not be made')}"
            yield Filter(name=f"{stage}: {reason}", dropped=count, reason=words)


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return settings with one name each, a dot between those of what is nested, and values that a manifest may hold.

    Args:
        settings: JSON values by name.
        prefix: What the names begin with.
    """
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            found[f"{prefix}{name}"] = [
                one if isinstance(one, str) else json.dumps(one, sort_keys=True) for one in value
            ]
        else:
            found[f"{prefix}{name}"] = value
    return found


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise InputError("the sources of a stage", expected="a list", got=shown(value), hint="run the stage again")
    return value


def _read(model: Any, value: object, stage: str) -> Any:
    """Return what a stage says of itself in JSON as one of the manifest's models."""
    if not isinstance(value, dict):
        raise InputError(f"what the stage {stage} says of itself is damaged", hint="run the stage again")
    return made(model, **value)
