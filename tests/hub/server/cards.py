"""What the Hub asks of the YAML at the top of a README; a few of its rules, in place of all."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import yaml

from tests.hub.server.messages import Answer, Request, answer

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub

_SIZES = [
    "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B",
    "100B<n<1T", "n>1T",
]  # fmt: skip


def front_matter(text: str) -> dict[str, Any]:
    """Return a card's metadata, {} where there is none that can be read."""
    try:
        return _metadata(text) or {}
    except ValueError:
        return {}


def _metadata(text: str) -> dict[str, Any] | None:
    """Return a card's metadata, None when it has none."""
    found = re.match(r"---\r?\n(.*?)\r?\n---(\r?\n|$)", text, re.DOTALL)
    if not found:
        return None
    try:
        said = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        raise ValueError(f"YAML: {error}") from None
    if not isinstance(said, dict):
        raise ValueError("the metadata is not a mapping")
    return said


def validate(hub: "TestHub", request: Request) -> Answer:
    """Say what is wrong with a card."""
    try:
        said = _metadata(request.json()["content"])
    except ValueError as error:
        return _verdict([str(error)], [])
    if said is None:
        return _verdict([], ["empty or missing yaml metadata in repo card"])
    return _verdict(list(_errors(said)), [] if "license" in said else ['"license" is missing'])


def _verdict(errors: list[str], warnings: list[str]) -> Answer:
    told = {
        "errors": [{"message": message} for message in errors],
        "warnings": [{"message": message} for message in warnings],
    }
    return answer(told, 400 if errors else 200)


def _errors(said: dict[str, Any]) -> Iterable[str]:
    configs = said.get("configs", [])
    for place, config in enumerate(configs):
        for needed in ("config_name", "data_files"):
            if needed not in config:
                yield f'"configs[{place}].{needed}" is required'
    if sum(config.get("default", False) for config in configs) > 1:
        yield '"configs" has several defaults'
    for name in _listed(said.get("license")):
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
            yield f'"license" must be one of the Hub\'s identifiers, which {name} is not'
    for size in _listed(said.get("size_categories")):
        if size not in _SIZES:
            yield f'"size_categories" must be of {_SIZES}, which {size} is not'
    for language in _listed(said.get("language")):
        if not re.fullmatch("[a-z]{2,3}|code|multilingual", language):
            yield f'"language" must be ISO 639 codes, which {language} is not'


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [] if value is None else [str(value)]
