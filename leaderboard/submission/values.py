"""The values that ``submission.yaml`` holds, each refused in our words where it is not what it should be."""

import datetime
import re
import unicodedata
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from freshstack_datasets.errors import shown
from freshstack_datasets.typed_files import RefusedError
from freshstack_datasets.typed_files.limits import number, text
from freshstack_datasets.typed_files.refused import without_secrets
from leaderboard.submission import licenses

LINE = 200
"""Characters of a line of text."""
URL = 500
"""Characters of an address."""
PARAGRAPH = 2_000
"""Characters of a text of several lines."""

_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+")
_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_MAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@([A-Za-z0-9.-]+)")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+-]*(?:/[A-Za-z0-9_.:@+-]+)*")
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_MOVING = ("head", "main", "master", "latest", "no_revision_available")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FIRST_DAY = datetime.date(1990, 1, 1)
_UNSEEN = " \u115f\u1160\u2800\u3164\uffa0"
"""Letters that are no spaces and look like nothing: a name of them is one that nobody can click."""
_MOST_MARKS = 3
"""Accents that may stand on one letter; with more of them, one line is drawn over many."""


def _line(value: str) -> str:
    if not value or len(value) > LINE or not value.isprintable() or value != value.strip():
        hint = "no line breaks, control characters, or marks that turn the direction of a text"
        raise RefusedError(f"a line of 1 to {LINE} characters", shown(value), hint)
    if not value.strip(_UNSEEN):
        raise RefusedError("a line that can be seen", ascii(value[:20]))
    marks = 0
    for letter in value:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks > _MOST_MARKS:
            raise RefusedError(f"letters with at most {_MOST_MARKS} accents each", shown(value))
    return value


def _url(value: str) -> str:
    wanted = f"an https:// or http:// address of at most {URL} characters"
    if len(value) > URL or not _ADDRESS.fullmatch(value):
        raise RefusedError(wanted, shown(without_secrets(value)))
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise RefusedError(wanted, shown(without_secrets(value))) from None
    if "@" in parts.netloc:
        raise RefusedError("an address without a name or a password", "one with such")
    if not _HOST.fullmatch(host):
        raise RefusedError("an address that everybody can open", shown(value))
    return value


def _contact(value: str) -> str:
    if value.lower().startswith(("https://", "http://")):
        return _url(value)
    found = _MAIL.fullmatch(value)
    if not found or not _HOST.fullmatch(found[1].lower()):
        raise RefusedError("an e-mail address, or the https:// address of a page", shown(value))
    return value


def _model_id(value: str) -> str:
    if len(value) > LINE or not _MODEL.fullmatch(value):
        raise RefusedError("a model's name, such as BAAI/bge-m3", shown(value))
    return value


def _revision(value: str) -> str:
    if value.lower() in _MOVING:
        hint = "a whole commit, or the version or the day of an interface"
        raise RefusedError("a revision that stays what it is", shown(value), hint)
    return _line(value)


def _commit(value: str) -> str:
    if not _COMMIT.fullmatch(value) or set(value) == {"0"}:
        hint = "git rev-parse HEAD prints it"
        raise RefusedError("a whole commit, 40 digits from 0 to f", shown(value), hint)
    return value


def answered(value: object) -> object:
    """Take what YAML makes of ``yes`` and ``no`` without quotes: truth values."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _day(value: object) -> object:
    """Take a day as a text too, as JSON has it."""
    if isinstance(value, str) and _ISO_DAY.fullmatch(value):
        try:
            value = datetime.date.fromisoformat(value)
        except ValueError:
            raise RefusedError("a day that there is", shown(value)) from None
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise RefusedError("a day such as 2026-10-24", shown(value))
    if value < _FIRST_DAY:
        raise RefusedError(f"a day from {_FIRST_DAY} on", str(value))
    return value


Line: TypeAlias = Annotated[
    str, AfterValidator(_line), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LINE})
]
Paragraph: TypeAlias = Annotated[
    str,
    text(PARAGRAPH, lines=True),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": PARAGRAPH}),
]
Prompt: TypeAlias = Annotated[
    str,
    text(PARAGRAPH, lines=True, empty=True),
    WithJsonSchema({"type": "string", "maxLength": PARAGRAPH}),
]
Url: TypeAlias = Annotated[
    str,
    AfterValidator(_url),
    WithJsonSchema({"type": "string", "format": "uri", "pattern": "^https?://", "maxLength": URL}),
]
Contact: TypeAlias = Annotated[
    str, AfterValidator(_contact), WithJsonSchema({"type": "string", "pattern": "^https?://|@", "maxLength": URL})
]
ModelId: TypeAlias = Annotated[
    str,
    AfterValidator(_model_id),
    WithJsonSchema({"type": "string", "pattern": f"^{_MODEL.pattern}$", "maxLength": LINE}),
]
Revision: TypeAlias = Annotated[
    str, AfterValidator(_revision), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LINE})
]
Commit: TypeAlias = Annotated[
    str, AfterValidator(_commit), WithJsonSchema({"type": "string", "pattern": f"^({_COMMIT.pattern})$"})
]
License: TypeAlias = Annotated[
    str,
    AfterValidator(licenses.spelled),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": licenses.LONGEST}),
]
Day: TypeAlias = Annotated[datetime.date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
Parameters: TypeAlias = Annotated[
    int, number(0, 10**15), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 10**15})
]
Length: TypeAlias = Annotated[
    int, number(1, 10**9), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 10**9})
]
Quantity: TypeAlias = Annotated[
    float, number(0, 10**9), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 10**9})
]
Seed: TypeAlias = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
