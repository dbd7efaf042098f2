"""What a topic file says of its questions."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from builders.stackexchange.site import Site
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.recipe import Model
from freshstack_datasets.typed_files.refused import RefusedError


def _site(text: str) -> str:
    try:
        return Site(text).host
    except InputError as error:
        raise RefusedError(error.expected, error.got) from None


def _language(text: str) -> str:
    if not re.fullmatch("[a-z]{2,3}", text):
        raise RefusedError("a language's code, such as en", shown(text))
    return text


def _license(text: str) -> str:
    if not text.strip() or len(text) > 100 or not text.isprintable():
        raise RefusedError("a licence, such as CC-BY-4.0", shown(text))
    return text


_Score = Annotated[int, Field(ge=-999_999_999, le=999_999_999)]


class Questions(Model):
    """How questions are chosen, besides tags and days.

    Args:
        site: The host of the site that a dump is of.
        min_score: The least score of a question, None when any will do.
        answer: "accepted" for the answer that was accepted, "best" for the one with the most votes.
        min_answer_score: The least score of that answer, None when any will do, also one that nobody knows.
        language: The language of questions; None for that of a dump's site, and for none of a forum's export.
        license: The licence of texts that do not say theirs.
    """

    site: Annotated[str, AfterValidator(_site)] = "stackoverflow.com"
    min_score: _Score | None = None
    answer: Literal["accepted", "best"] = "accepted"
    min_answer_score: _Score | None = 1
    language: Annotated[str, AfterValidator(_language)] | None = None
    license: Annotated[str, AfterValidator(_license)] | None = None
