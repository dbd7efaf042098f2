"""Validators of numbers and texts in a typed file, which say in our words what would have been right."""

from pydantic import AfterValidator

from freshstack_datasets.errors import shown
from freshstack_datasets.typed_files.refused import RefusedError


def number(low: float, high: float) -> AfterValidator:
    """Return a validator of numbers within two limits, both allowed."""

    def check(value: float) -> float:
        if not low <= value <= high:
            raise RefusedError(f"a number from {low:,} to {high:,}", f"{value:,}")
        return value

    return AfterValidator(check)


def text(longest: int, *, lines: bool = False, empty: bool = False) -> AfterValidator:
    """Return a validator of texts.

    Args:
        longest: The most characters.
        lines: Whether it may have several lines.
        empty: Whether it may be empty.
    """
    wanted = f"a {'text' if lines else 'line'} of at most {longest:,} characters"

    def check(value: str) -> str:
        plain = value.replace("\n", "") if lines else value
        if len(value) > longest or (plain and not plain.isprintable()) or not (empty or value.strip()):
            raise RefusedError(wanted, shown(value))
        return value

    return AfterValidator(check)
