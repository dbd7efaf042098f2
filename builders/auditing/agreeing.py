"""How far the people who filled in sheets agree with each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from builders.auditing.annotations import Annotation
from builders.auditing.cells import COLUMNS, Unit
from builders.auditing.estimates import Estimate, Part, estimate
from freshstack_datasets.evaluation.agreement import (
    cohen_kappa,
    cohen_kappa_interval,
    krippendorff_alpha,
    krippendorff_alpha_interval,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two people agree.

    Args:
        annotators: Who.
        same: The share of what both looked at of which they say the same.
        kappa: Cohen's kappa.
    """

    annotators: tuple[str, str]
    same: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far all agree in one column.

    Args:
        alpha: Krippendorff's alpha, of what at least two looked at.
        pairs: Each two of them.
    """

    alpha: Estimate
    pairs: tuple[Pair, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        pairs = [
            {"annotators": list(pair.annotators), "same": pair.same.to_json(), "kappa": pair.kappa.to_json()}
            for pair in self.pairs
        ]
        return {"alpha": self.alpha.to_json(), "pairs": pairs}


def agreements(annotations: Sequence[Annotation]) -> dict[str, Agreement]:
    """Return for each column how far people agree; nothing where there is one person.

    Values are nominal: of a number of missing nuggets, 1 is as far from 2 as from 5. Questions are what intervals are
    drawn from, with all that belongs to each.

    Args:
        annotations: The sheets.
    """
    return {column: _agreement(annotations, column) for column in COLUMNS} if len(annotations) > 1 else {}


def _agreement(annotations: Sequence[Annotation], column: str) -> Agreement:
    units = list(dict.fromkeys(u for annotation in annotations for u in annotation.values if u.column == column))
    units = [unit for unit in units if sum(unit in annotation.values for annotation in annotations) > 1]
    values = [[annotation.values.get(unit) for annotation in annotations] for unit in units]
    groups = [unit.query_id for unit in units]
    alpha = Estimate(krippendorff_alpha(values), krippendorff_alpha_interval(values, groups), len(units))
    pairs = (_pair(first, second, units) for first, second in combinations(annotations, 2))
    return Agreement(alpha, tuple(pair for pair in pairs if pair.same.of))


def _pair(first: Annotation, second: Annotation, units: Sequence[Unit]) -> Pair:
    both = [unit for unit in units if unit in first.values and unit in second.values]
    groups = [unit.query_id for unit in both]
    one, other = ([annotation.values[unit] for unit in both] for annotation in (first, second))
    same = estimate(Part(unit.query_id, first.values[unit] == second.values[unit]) for unit in both)
    kappa = Estimate(cohen_kappa(one, other), cohen_kappa_interval(one, other, groups), len(both))
    return Pair((first.annotator, second.annotator), same, kappa)
