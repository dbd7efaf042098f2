"""Why a value of a topic is refused, as the validators of its models say it."""


class RefusedError(ValueError):
    """A value that is not allowed.

    It is a ``ValueError``, which a validator has to raise; reading makes an ``InputError`` of it.

    Args:
        expected: What would have been right.
        got: What was found instead, safe to print.
        hint: The next step.
        place: The keys and places that lead to it, from what the validator is of.
    """

    def __init__(self, expected: str, got: str, hint: str = "", place: tuple[str | int, ...] = ()) -> None:
        super().__init__(expected, got, hint)
        self.expected, self.got, self.hint, self.place = expected, got, hint, place
