"""Why a value of a typed file is refused, as the validators of its models say it, and how one is shown."""

import re


class RefusedError(ValueError):
    """A value that is not allowed.

    It is a ``ValueError``, which a validator has to raise; reading makes an ``InputError`` of it.

    Args:
        expected: What would have been right.
        got: What was found instead, safe to print.
        hint: The next step.
        place: The keys and places that lead to it, from what the validator is of.
    """

    kind = "value"
    """What kind of fault it makes."""

    def __init__(self, expected: str, got: str, hint: str = "", place: tuple[str | int, ...] = ()) -> None:
        super().__init__(expected, got, hint)
        self.expected, self.got, self.hint, self.place = expected, got, hint, place


def without_secrets(text: str) -> str:
    """Return a text for a message, without what stands before an @ or behind ? and #, where addresses have secrets."""
    _, at, rest = text.rpartition("@")  # not by one expression: that takes a square of a long text's length
    plain, sign, _ = rest.partition(found[0]) if (found := re.search("[?#]", rest)) else (rest, "", "")
    return ("…@" if at else "") + plain + (f"{sign}…" if sign else "")
