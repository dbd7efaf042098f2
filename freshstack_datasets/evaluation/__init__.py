"""Scoring runs: measures, results, comparisons."""

from freshstack_datasets.evaluation.comparison import Comparison, Difference, compare
from freshstack_datasets.evaluation.evaluator import evaluate
from freshstack_datasets.evaluation.hypotheses import Finding, Hypothesis, hypotheses_of, weigh
from freshstack_datasets.evaluation.measures import (
    AP,
    DEFAULT_MEASURES,
    RR,
    Coverage,
    Judged,
    Measure,
    P,
    Recall,
    Success,
    alpha_nDCG,
    nDCG,
    parse_measures,
)
from freshstack_datasets.evaluation.result import Interval, Result, macro_mean
from freshstack_datasets.evaluation.slicing import Slice, slices

__all__ = [
    "AP",
    "DEFAULT_MEASURES",
    "RR",
    "Comparison",
    "Coverage",
    "Difference",
    "Finding",
    "Hypothesis",
    "Interval",
    "Judged",
    "Measure",
    "P",
    "Recall",
    "Result",
    "Slice",
    "Success",
    "alpha_nDCG",
    "compare",
    "evaluate",
    "hypotheses_of",
    "macro_mean",
    "nDCG",
    "parse_measures",
    "slices",
    "weigh",
]
