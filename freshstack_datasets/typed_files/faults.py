"""What is wrong in a typed file: the complaints of its model in our words, each with its line."""

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from freshstack_datasets.errors import InputError, UnknownNameError, shown
from freshstack_datasets.recipe import Model
from freshstack_datasets.typed_files.refused import RefusedError, without_secrets
from freshstack_datasets.typed_files.yaml_file import Content, UnreadableError

NONE: Mapping[str, str] = {}

_EXPECTED = {
    "string_type": "a text",
    "tuple_type": "a list",
    "model_type": "keys and their values",
    "dict_type": "keys and their values",
    "date_type": "a day, a month or a year: 2024-10-24, 2024-10 or 2024",
    "string_too_long": "a shorter text",
    "string_too_short": "a text",
    "string_pattern_mismatch": "a text without line breaks and control characters",
    "too_long": "a shorter list",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "missing": "a value",
}
"""What we call that which pydantic missed, by its name for the complaint."""

_LIMITS = {"greater_than_equal": ("at least", "ge"), "less_than_equal": ("at most", "le")}
"""Complaints of a number that is out of its limits: how we say so, and where the complaint holds the limit."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a typed file that is not allowed.

    Args:
        kind: What is wrong: ``unreadable``, ``unknown key``, ``missing``, ``value``, or what a ``RefusedError`` says.
        line: Its line, from 1; 0 where it is not known.
        place: The keys and places that lead to it, such as ``models[0].license``; "" for the whole.
        expected: What would have been right; "" for an unknown key.
        got: What was found instead, safe to print.
        hint: The next step.
    """

    kind: str
    line: int
    place: str
    expected: str
    got: str
    hint: str = ""

    def error(self, name: str) -> InputError:
        """Return it as the error of the file that is called so."""
        where = f"{name}:{self.line}" if self.line else name
        where += f", {self.place}" if self.place else ""
        if self.kind == "unknown key":
            return InputError(f"{where}: unknown key {self.got}", hint=self.hint)
        return InputError(where, expected=self.expected, got=self.got, hint=self.hint)


def unreadable(error: UnreadableError) -> Fault:
    """Return the fault of a file that is no YAML."""
    return Fault("unreadable", error.line, "", error.expected, error.got, error.hint)


def unknown_key(kind: Any, found: Content, place: tuple[str | int, ...], hidden: Container[str] = ()) -> Fault:
    """Return the fault of a key that is not known, with the nearest known ones.

    Args:
        kind: What the file is.
        found: What it holds.
        place: The keys and places that lead to it, itself the last.
        hidden: Keys that are known and not for people to write.
    """
    known = [key for key in _keys(kind, place) if key not in hidden]
    hint = UnknownNameError("key", place[-1], known).hint
    return Fault("unknown key", found.line(place), spelled(place[:-1]), "", shown(place[-1]), hint)


def first_of(faults: Iterable[Fault]) -> Fault:
    """Return a key that is not known, which other complaints may come from, else the first fault."""
    found = list(faults)
    return next((fault for fault in found if fault.kind == "unknown key"), found[0])


def faults_of(
    kind: Any, found: Content, error: ValidationError, hints: Mapping[str, str] = NONE, hidden: Container[str] = ()
) -> Iterator[Fault]:
    """Yield the models' complaints in our words.

    Args:
        kind: What the file is.
        found: What it holds.
        error: What its model complains of.
        hints: What to do where a key is missing, by the key.
        hidden: Keys that are known and not for people to write.
    """
    for complaint in error.errors(include_url=False):
        place = complaint["loc"]
        if complaint["type"] == "extra_forbidden":
            yield unknown_key(kind, found, place, hidden)
            continue
        refusal = complaint.get("ctx", {}).get("error")
        if not isinstance(refusal, RefusedError):
            refusal = _refusal(complaint, hints)
        place = (*place, *refusal.place)
        what = "missing" if complaint["type"] == "missing" else refusal.kind
        yield Fault(what, found.line(place), spelled(place), refusal.expected, refusal.got, refusal.hint)


def _refusal(complaint: ErrorDetails, hints: Mapping[str, str]) -> RefusedError:
    """Return what pydantic itself complains of, in our words."""
    expected = _EXPECTED.get(complaint["type"], "another value")
    told = complaint.get("ctx", {})
    if complaint["type"] == "literal_error":
        expected = told["expected"].replace("'", "")
    if complaint["type"] in _LIMITS:
        bound, limit = _LIMITS[complaint["type"]]
        expected = f"a number of {bound} {told[limit]:,}"
    if complaint["type"] == "missing":
        return RefusedError(expected, "none", hints.get(spelled(complaint["loc"]), ""))
    value = complaint["input"]
    is_unquoted = complaint["type"] == "string_type" and value is not None and not isinstance(value, dict | list)
    return RefusedError(expected, described(value), "put it in quotes" if is_unquoted else "")


def described(value: Any) -> str:
    """Return a value for a message, without anything that may be a secret in an address."""
    if isinstance(value, dict):
        return "keys and their values"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    return shown(without_secrets(value)) if isinstance(value, str) else str(value)


def _keys(kind: Any, place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that are known where an unknown one stands."""
    model = _model_in(kind)
    for part in place[:-1]:
        members = model.model_fields.items() if isinstance(part, str) else ()
        model = next((_model_in(member.annotation) for name, member in members if part in (name, member.alias)), model)
    return [member.alias or name for name, member in model.model_fields.items()]


def _model_in(kind: Any) -> type[Model]:
    """Return the model that a type is, or is made of: a tuple of such, or one that may be None."""
    if isinstance(kind, type) and issubclass(kind, Model):
        return kind
    return next(found for part in get_args(kind) if (found := _model_or_none(part)))


def _model_or_none(kind: Any) -> type[Model] | None:
    with suppress(StopIteration):
        return _model_in(kind)
    return None


def spelled(place: tuple[str | int, ...]) -> str:
    """Return keys and places as one text: ``repositories[2].url``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
