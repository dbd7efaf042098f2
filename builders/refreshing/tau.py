"""Kendall's tau: how far two rankings of the same systems agree.

M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945): tau-b.
"""

import math
from collections.abc import Sequence
from itertools import combinations


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Kendall's tau-b of two scorings of the same systems.

    With P pairs of systems that both put in the same order and Q that they do not, and n0 pairs in all, of which the
    first scores n1 alike and the second n2, it is (P - Q) / sqrt((n0 - n1) (n0 - n2)).

    Args:
        one: The first scores, a system each.
        other: The second scores, in the same order.

    Returns:
        From -1, the reverse order, to 1, the same order; None where one of the scorings tells no two systems apart.
    """
    agree = apart_in_one = apart_in_other = 0
    for (a, x), (b, y) in combinations(zip(one, other, strict=True), 2):
        first, second = (a > b) - (a < b), (x > y) - (x < y)
        agree += first * second
        apart_in_one += first != 0
        apart_in_other += second != 0
    if not apart_in_one or not apart_in_other:
        return None
    return agree / math.sqrt(apart_in_one * apart_in_other)
