"""Measures as values: what is computed, with which parameters, down to which rank.

``alpha_nDCG(alpha=0.9) @ 50`` and ``Measure.parse("alpha_nDCG(alpha=0.9)@50")`` are the same measure, and it prints
as the latter. The spellings of other libraries are read in ``spelling``.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from freshstack_datasets.errors import MeasureError, shown
from freshstack_datasets.evaluation.spelling import DEFAULTS, Parameters, read, split

MAX_CUTOFF = 1_000_000
"""No ranking is read deeper."""


@dataclass(frozen=True, repr=False)
class Measure:
    """One measure at one cutoff.

    Args:
        name: One of ``DEFAULTS``.
        cutoff: How many ranks count, from 1 to ``MAX_CUTOFF``.
        parameters: Name and value of each parameter; those left out get their default.

    Raises:
        MeasureError: There is no such measure, parameter or value.
    """

    name: str
    cutoff: int
    parameters: Parameters = ()

    def __post_init__(self) -> None:
        if self.name not in DEFAULTS:
            raise MeasureError(f"unknown measure {shown(self.name)}", expected=f"one of {', '.join(DEFAULTS)}")
        _check_cutoff(self.name, self.cutoff)
        object.__setattr__(self, "parameters", _settled(self.name, dict(self.parameters)))

    @classmethod
    def parse(cls, text: "str | Measure") -> Self:
        """Read a measure as it is printed, or in another library's spelling.

        Raises:
            MeasureError: The text names no measure.
        """
        name, cutoff, parameters = (
            (text.name, text.cutoff, text.parameters) if isinstance(text, Measure) else read(text)
        )
        return cls(name, cutoff, parameters)

    def __str__(self) -> str:
        default = DEFAULTS[self.name]
        said = tuple((name, value) for name, value in self.parameters if value != default[name])
        return f"{_written(self.name, said)}@{self.cutoff}"

    __repr__ = __str__

    def spelled_out(self) -> str:
        """Return the measure with all its parameters, those that have their default value too."""
        return f"{_written(self.name, self.parameters)}@{self.cutoff}"


@dataclass(frozen=True, repr=False)
class Family:
    """A measure that still lacks its cutoff: ``nDCG @ 10``, ``nDCG(gain="binary") @ 10``.

    Args:
        name: One of ``DEFAULTS``.
        parameters: Name and value of the parameters that were said.
    """

    name: str
    parameters: Parameters = ()

    def __call__(self, **parameters: float | str) -> "Family":
        """Return the same measure with other parameters.

        Raises:
            MeasureError: There is no such parameter or value.
        """
        return Family(self.name, _settled(self.name, {**dict(self.parameters), **parameters}))

    def __matmul__(self, cutoff: int) -> Measure:
        return Measure(self.name, cutoff, self.parameters)

    def __repr__(self) -> str:
        return _written(self.name, self.parameters)


def parse_measures(measures: "str | Measure | Iterable[str | Measure]") -> tuple[Measure, ...]:
    """Return the measures in the order they were named, each once.

    Args:
        measures: One text with names separated by spaces or commas, one measure, or several of either.

    Raises:
        MeasureError: A text names no measure, or nothing was named.
    """
    if isinstance(measures, str | Measure):
        measures = [measures]
    elif not isinstance(measures, Iterable):
        raise MeasureError("measures", expected='text such as "nDCG@10, Recall@50"', got=shown(measures))
    found: dict[Measure, None] = {}
    for one in measures:
        parts = split(one) if isinstance(one, str) else [one]
        found.update(dict.fromkeys(Measure.parse(part) for part in parts))
    if not found:
        raise MeasureError("no measure was named", expected='something such as "alpha_nDCG@10"')
    return tuple(found)


def _check_cutoff(name: str, cutoff: object) -> None:
    if not isinstance(cutoff, int) or isinstance(cutoff, bool) or not 1 <= cutoff <= MAX_CUTOFF:
        far = isinstance(cutoff, int) and abs(cutoff) > MAX_CUTOFF  # perhaps by too many digits to print
        got = "one far from it" if far else shown(cutoff)
        raise MeasureError(f"the cutoff of {name}", expected=f"a whole number from 1 to {MAX_CUTOFF:,}", got=got)


def _settled(name: str, said: Mapping[str, object]) -> Parameters:
    """Return all parameters of a measure in one order, checked, with their defaults where nothing was said."""
    default = DEFAULTS[name]
    for parameter in said:
        if parameter not in default:
            expected = f"only {', '.join(default)}" if default else "none"
            raise MeasureError(f"the parameters of {name}", expected=expected, got=shown(parameter))
    return tuple((parameter, _value(name, parameter, said.get(parameter, default[parameter]))) for parameter in default)


def _value(name: str, parameter: str, value: object) -> float | str:
    if parameter == "gain":
        if value not in ("graded", "binary"):
            raise MeasureError(f"gain of {name}", expected="graded or binary", got=shown(value))
        return str(value)
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]  # that is the check
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 1:
        raise MeasureError(f"{parameter} of {name}", expected="a number from 0 to 1", got=shown(value))
    return number + 0.0  # never -0.0


def _written(name: str, said: Parameters) -> str:
    values = ((parameter, value if isinstance(value, str) else repr(value)) for parameter, value in said)
    inside = ", ".join(f"{parameter}={value.removesuffix('.0')}" for parameter, value in values)
    return f"{name}({inside})" if inside else name


alpha_nDCG = Family("alpha_nDCG")  # noqa: N816 - spelled as in papers
Coverage = Family("Coverage")
Recall = Family("Recall")
nDCG = Family("nDCG")  # noqa: N816 - spelled as in papers
RR = Family("RR")
Success = Family("Success")
P = Family("P")
AP = Family("AP")
Judged = Family("Judged")

DEFAULT_MEASURES: tuple[Measure, ...] = (alpha_nDCG @ 10, Coverage @ 20, Recall @ 50)
"""What is computed when nobody says what: the three measures of the FreshStack paper (section 4.2)."""
