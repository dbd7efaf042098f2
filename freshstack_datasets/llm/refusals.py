"""What a server says in place of a reply, and what that means for this call and for others."""

import json
import re
from dataclasses import dataclass

from freshstack_datasets.errors import EndpointError, shown
from freshstack_datasets.llm.reading import line, parsed, word
from freshstack_datasets.llm.seams import Raw, Unanswered

_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_FORM = frozenset({400, 422, 501})
_FORM_WORDS = (
    "response_format",
    "json_schema",
    "json_object",
    "json schema",
    "json mode",
    "structured output",
    "grammar",
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a server says in place of a reply.

    Args:
        status: The HTTP status, or the one that the error names where the status says that all is well.
        code: Its code, such as ``content_filter``.
        message: Its words for people.
    """

    status: int
    code: str
    message: str

    @property
    def filtered(self) -> bool:
        """Whether a filter turned away what was asked, which is an answer of its own."""
        return self.status == 400 and self.code in ("content_filter", "content_policy_violation")

    @property
    def spent(self) -> bool:
        """Whether the account has no money, so that waiting does not help."""
        return self.status == 402 or (self.status == 429 and self.code in _SPENT)

    @property
    def about_form(self) -> bool:
        """Whether it is about the form of reply that was asked for, and not about the question."""
        said = f"{self.code} {self.message}".lower()
        return self.status in (404, 415, 500, *_FORM) and any(word in said for word in _FORM_WORDS)

    @property
    def perhaps_about_form(self) -> bool:
        """Whether it may be about the form, though it does not say so."""
        return self.status in _FORM

    @property
    def about_all(self) -> bool:
        """Whether every call is refused, or sent elsewhere, as long as nothing is set up otherwise."""
        return self.status in (401, 404) or 300 <= self.status < 400 or self.spent

    @property
    def busy(self) -> bool:
        """Whether the server has too much to do, so that all calls have to wait."""
        return self.status in (429, 503, 529) and "request too large" not in self.message.lower()

    @property
    def passing(self) -> bool:
        """Whether the same call may be answered later."""
        return self.busy or self.status in (408, 409, 425, 500) or (self.status > 501 and self.status != 505)

    def error(self, endpoint: str, key_from: str, where: str, said: str, model: str = "") -> EndpointError:
        """Return the error that ends a run.

        Args:
            endpoint: Who refuses.
            key_from: The variable that the key is read from.
            where: Where it sends calls, when it sends them elsewhere.
            said: What it says, safe to show.
            model: The model that was asked for, where it is one.
        """
        hint = "what was answered is kept; run it again when that is mended"
        got = f"{self.status}" + (f" ({said})" if said else "")
        if 300 <= self.status < 400:
            what, hint = "sends calls elsewhere, where no key is sent", "set the base URL to where it sends them"
            got = shown(where)
        elif self.status == 401:
            what, hint = "refuses the key", f"set {key_from or 'the variable of its key'}"
        elif self.spent:
            what = "has no money left for this account"
        elif self.status == 403:
            what = "refuses every call"
        else:
            what = f"does not know the {f'model {shown(model)}, or the address' if model else 'model or the address'}"
            hint = "check the base URL, and the model's name"
        return EndpointError(f"{endpoint} {what}", got=got, hint=hint)


def trouble(raw: Raw) -> Trouble | None:
    """Return what a server says in place of a reply; None when it says a reply.

    Args:
        raw: Its answer.
    """
    try:
        whole = parsed(raw.body)
    except Unanswered:
        return None if raw.status == 200 else Trouble(raw.status, "", line(raw.body[:400].decode("utf-8", "replace")))
    error = whole.get("error")
    if raw.status == 200 and not error:
        return None
    if isinstance(error, dict):
        code, message = error.get("code") or error.get("type"), error.get("message")
    else:
        code, message = None, error or whole.get("detail") or whole.get("message")
    status = raw.status
    if status == 200:  # some gateways put the status of those behind them here
        number = int(code) if isinstance(code, str) and re.fullmatch(r"[45][0-9]{2}", code) else code
        status = number if type(number) is int and 400 <= number <= 599 else 502
    words = message if isinstance(message, str) else json.dumps(message) if message else ""
    return Trouble(status, word(code), line(words))
