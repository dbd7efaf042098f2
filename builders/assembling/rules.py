"""Which questions are kept: the paper's two rules (section 4), after those that were not judged to the end."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from builders.pipeline.records import Label

NO_NUGGETS = "no nuggets"
EMPTY_POOL = "empty pool"
INCOMPLETE = "incomplete judgments"
NO_SUPPORT = "no supported nugget"
UNSUPPORTED = "unsupported nugget"
CONTAMINATED = "known by heart"

RULES: Mapping[str, str] = {
    NO_NUGGETS: "the model could make no nuggets of the answer",
    EMPTY_POOL: "no search found a document to judge",
    INCOMPLETE: "the model did not judge every document of the pool, so nobody knows what those support",
    NO_SUPPORT: "no document supports any of its nuggets",
    UNSUPPORTED: "a nugget of it is supported by no document",
    CONTAMINATED: "its closed-book answer, which a model gave without any document, already holds so much of its nuggets",
}
"""From a rule to why it drops a question, in the order in which they are applied: a question falls to the first."""

PAPER = (NO_SUPPORT, UNSUPPORTED)
"""Those of the paper, which are told of also where they drop nothing."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """What the rules make of the questions.

    Args:
        kept: The ids of those that are kept, ascending.
        dropped: From a rule to the ids of those that fall to it, ascending; every rule is there.
    """

    kept: tuple[str, ...]
    dropped: Mapping[str, tuple[str, ...]]


def sift(
    questions: Iterable[str],
    nuggets: Mapping[str, Collection[object]],
    pool: Mapping[str, Sequence[str]],
    labels: Iterable[Label],
    known: Collection[str] = (),
) -> Sifted:
    """Apply the rules.

    Args:
        questions: The ids of all questions.
        nuggets: The nuggets of each question that has some, by its id, in the order of their positions from 0.
        pool: The documents to judge of each question, by its id.
        labels: The judged documents.
        known: The ids of questions that may be known by heart.
    """
    judged: dict[str, set[str]] = {}
    supported: dict[str, set[int]] = {}
    for label in labels:
        judged.setdefault(label.query_id, set()).add(label.doc_id)
        supported.setdefault(label.query_id, set()).update(label.supports)
    kept: list[str] = []
    dropped: dict[str, list[str]] = {rule: [] for rule in RULES}
    for query_id in sorted(questions):
        many = len(nuggets.get(query_id, ()))
        lacking = set(pool.get(query_id, ())) - judged.get(query_id, set())
        found = supported.get(query_id, set()) & set(range(many))
        broken = {
            NO_NUGGETS: not many,
            EMPTY_POOL: not pool.get(query_id),
            INCOMPLETE: bool(lacking),
            NO_SUPPORT: not found,
            UNSUPPORTED: len(found) < many,
            CONTAMINATED: query_id in known,
        }
        rule = next((rule for rule in RULES if broken[rule]), None)
        (kept if rule is None else dropped[rule]).append(query_id)
    return Sifted(tuple(kept), {rule: tuple(ids) for rule, ids in dropped.items()})
