"""How a build is set: what options say, above what the topic file says, above what a recipe says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from builders.topics import Topic
from builders.topics.models import Kind as ToldKind
from builders.topics.models import Models
from builders.topics.pool import Filters, Pool
from freshstack_datasets.errors import InputError, UnknownNameError, shown_path
from freshstack_datasets.llm.prompts import Prompt, read_prompt
from freshstack_datasets.llm.replay import Endpoint, parse_endpoint
from freshstack_datasets.recipe import Model
from freshstack_datasets.typed_files import bytes_of, checked, content_of, validated

KindName = Literal["nuggets", "sub-questions", "closed-book", "support", "second"]
KINDS: tuple[KindName, ...] = get_args(KindName)
"""The kinds of calls; each is the stage that its requests name."""
PROMPTS = Path(__file__).parents[1] / "prompts"
RECIPES = Path(__file__).parent / "recipes"
DEFAULT = "default"

_TWINS = ("max_tokens", "max_completion_tokens")
"""Two names of one limit, of which servers take one."""


class RecipeFile(Model):
    """What a recipe says.

    Args:
        models: Which models are asked.
        pool: How the documents to judge are chosen.
        filter: Which questions are dropped in the end.
    """

    models: Models = Models()
    pool: Pool = Pool()
    filter: Filters = Filters()


@dataclass(frozen=True, slots=True)
class Kind:
    """What one kind of call is asked with.

    Args:
        name: The kind.
        model: The model.
        parameters: What else is sent.
        prompt: The prompt.
    """

    name: KindName
    model: str
    parameters: Mapping[str, Any]
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Settings:
    """How a build is set.

    Args:
        models: Which models are asked.
        pool: How the documents to judge are chosen.
        filter: Which questions are dropped in the end.
        prompts: The folder of the prompts.
    """

    models: Models
    pool: Pool
    filter: Filters = field(default_factory=Filters)
    prompts: Path = PROMPTS

    @classmethod
    def of(
        cls, topic: Topic, recipe: str | Path = "", *, llm: str = "", model: str = "", key_from: str = ""
    ) -> "Settings":
        """Return how the build of a topic is set.

        Args:
            topic: The topic; what it says goes above the recipe.
            recipe: One of ours by its name, or a file; ``default`` when not given.
            llm: Where the models are, above all else: a base URL, ``recorded:FILE`` or ``fake``.
            model: The model for every kind of call, above all else.
            key_from: The variable of the environment that holds the key, above all else.

        Raises:
            InputError: The recipe cannot be read, or it or an option says what is not allowed.
            UnknownNameError: There is none of that name.
        """
        if llm:
            parse_endpoint(llm)
        low, said = read_recipe(recipe), _said(topic.models)
        models = overlay(_limit_called(_said(low.models), said), said)
        if model:
            models = {name: _without_model(value) for name, value in models.items()} | {"model": model}
        models |= {name: value for name, value in (("endpoint", llm), ("key_from", key_from)) if value}
        return cls(
            models=checked(Models, models, "--llm, --model, --key-from"),
            pool=Pool.model_validate(overlay(_said(low.pool), _said(topic.pool))),
            filter=Filters.model_validate(overlay(_said(low.filter), _said(topic.filter))),
        )

    @property
    def endpoint(self) -> Endpoint:
        """Where the models are."""
        key_from = {"key_from": self.models.key_from} if self.models.key_from else {}
        return parse_endpoint(self.models.endpoint or _no("endpoint", "--llm URL"), **key_from)

    def kind(self, name: KindName) -> Kind:
        """Return what one kind of call is asked with.

        Args:
            name: The kind.

        Raises:
            InputError: No model is named for it, or its prompt cannot be read.
            UnknownNameError: There is no such prompt.
        """
        told, above = self._told(name), self._told("support") if name == "second" else ToldKind()
        model = told.model or above.model or self.models.model or _no("model", "--model NAME")
        parameters = overlay(overlay(self.models.parameters, above.parameters), told.parameters)
        prompt = told.prompt or above.prompt or ("support" if name == "second" else name)
        sent = {key: value for key, value in parameters.items() if value is not None}
        return Kind(name, model, sent, read_prompt(self.prompts, prompt))

    def _told(self, name: KindName) -> ToldKind:
        told: ToldKind = getattr(self.models, name.replace("-", "_"))
        return told


def read_recipe(name: str | Path = "") -> RecipeFile:
    """Return what a recipe says.

    Args:
        name: One of ours by its name, or a file; ``default`` when not given.

    Raises:
        InputError: It cannot be read, or says what is not allowed.
        UnknownNameError: There is none of that name.
    """
    text = str(name) or DEFAULT
    path = RECIPES / f"{text}.yaml" if text.isalnum() else Path(text)
    if text.isalnum() and not path.is_file():
        raise UnknownNameError("recipe", text, sorted(file.stem for file in RECIPES.glob("*.yaml")))
    called = shown_path(path)[1:-1]
    return validated(RecipeFile, content_of(bytes_of(path, "a recipe"), called), called)


def overlay(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said at two levels, one above the other, keys within keys likewise.

    Args:
        low: What is said below.
        high: What is said above.
    """
    found = dict(low)
    for name, value in high.items():
        for twin in _TWINS:
            if name in _TWINS and name != twin and value is not None:
                found.pop(twin, None)
        below = found.get(name)
        found[name] = overlay(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return found


def _limit_called(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe says of models, with the longest reply called as what goes above it calls it for all of them.

    Args:
        low: What the recipe says.
        high: What goes above it.
    """
    name = next((name for name in _TWINS if high.get("parameters", {}).get(name) is not None), None)
    if name is None:
        return dict(low)
    renamed = dict.fromkeys(_TWINS, name)
    called = dict(low)
    for kind, told in low.items():
        if isinstance(told, dict) and "parameters" in told:
            called[kind] = told | {
                "parameters": {renamed.get(key, key): one for key, one in told["parameters"].items()}
            }
    return called


def _said(told: Model) -> dict[str, Any]:
    """Return what was said, and nothing of what was not."""
    return told.model_dump(exclude_unset=True, by_alias=True)


def _without_model(value: Any) -> Any:
    return {name: one for name, one in value.items() if name != "model"} if isinstance(value, dict) else value


def _no(what: str, hint: str) -> str:
    raise InputError(
        f"the {what} of the models", expected="one", got="none", hint=f"give {hint}, or say it in a recipe"
    )
