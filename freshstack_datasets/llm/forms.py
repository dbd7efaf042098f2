"""Replies that fit a shape: asked for in the strictest form that the server takes, and again when they do not fit."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeVar

from pydantic import BaseModel

from freshstack_datasets.llm.calls import RefusedForm
from freshstack_datasets.llm.counting import Counts
from freshstack_datasets.llm.records import Answer, Failed, Reply, Request
from freshstack_datasets.llm.structure import FORMS, Form, again, in_form, read, strict_schema

M = TypeVar("M", bound=BaseModel)

CORRECTIONS = 2
"""How often a reply that does not fit is asked for again."""
_OF_A_REPLY = frozenset({"refused", "does-not-fit", "cut-off"})
"""Failures of calls that the server did answer."""


class Forms:
    """Asks for replies of a shape, and remembers for the run which forms a server takes.

    What is remembered is for one model and one schema, since a server may refuse a schema and take another one.

    Args:
        ask: Asks in free text.
        is_known: Tells whether a request was answered before.
        counts: What became of the calls.
    """

    def __init__(
        self,
        ask: Callable[[Request], Awaitable[Reply | Failed]],
        is_known: Callable[[Request], bool],
        counts: Counts,
    ) -> None:
        self._ask, self._is_known, self._counts = ask, is_known, counts
        self._takes: dict[tuple[str, str], dict[Form, bool]] = {}

    async def ask_for(self, request: Request, shape: type[M], check: Callable[[M], str] | None) -> Answer[M] | Failed:
        """Return a reply that fits a shape; see ``Client.ask_for``."""
        schema = request.schema or strict_schema(shape)
        plain = replace(request, schema=None)
        refused: list[tuple[Form, RefusedForm]] = []
        takes = self._takes.setdefault((plain.model, repr(schema)), {})
        formed = cache(partial(in_form, plain, schema))
        for form in self._left(takes, formed):
            outcome = await self._fitting(formed(form), schema, shape, check)
            if not isinstance(outcome, RefusedForm):
                break
            if not outcome.sure and takes.get(form):
                break  # the server takes the form: it is about the question
            refused.append((form, outcome))
        return self._concluded(plain.model, takes, form, outcome, refused)

    def _left(self, takes: Mapping[Form, bool], formed: Callable[[Form], Request]) -> list[Form]:
        """Return the forms to ask in: from the one in which it was answered before, else all that may be taken."""
        for form in sorted(FORMS, key=lambda one: not takes.get(one)):  # the likeliest first: each look takes time
            if self._is_known(formed(form)):
                return list(FORMS[FORMS.index(form) :])
        return [form for form in FORMS if takes.get(form, True)]

    async def _fitting(
        self, asked: Request, schema: Mapping[str, Any], shape: type[M], check: Callable[[M], str] | None
    ) -> Answer[M] | Failed:
        """Ask in one form, and again as long as the reply does not fit."""
        calls: tuple[str, ...] = ()
        problem = ""
        for left in range(CORRECTIONS, -1, -1):
            outcome = await self._ask(asked)
            calls += (asked.digest,)
            if isinstance(outcome, Failed) and outcome.reason != "does-not-fit":
                return replace(outcome, calls=calls)
            if isinstance(outcome, Reply):
                value, problem = read(outcome.text, shape, check)
                if value is not None:
                    return Answer(value, outcome, calls)
                text = outcome.text
            else:
                text, problem = "", outcome.detail
            if left:
                self._counts.unfit += 1
                asked = again(asked, schema, text, problem)
        return Failed(calls[-1], "does-not-fit", problem, calls)

    def _concluded(
        self,
        model: str,
        takes: dict[Form, bool],
        form: Form,
        outcome: Answer[M] | Failed,
        refused: list[tuple[Form, RefusedForm]],
    ) -> Answer[M] | Failed:
        """Return what comes of asking in several forms, and remember which of them the server takes.

        A refusal that does not speak of the form was about the form when another one was taken, and else about the
        question.
        """
        taken = not isinstance(outcome, Failed) or outcome.reason in _OF_A_REPLY
        for one, refusal in refused:
            if refusal.sure or taken:
                self._counts.refused_forms[f"{model}: {one}"] += takes.get(one) is not False
                takes[one] = False
        if taken or not isinstance(outcome, Failed):
            takes[form] = True
            return outcome
        first = next((refusal for _, refusal in refused if not refusal.sure), outcome)
        return Failed(first.digest, first.reason, first.detail, first.calls)
