"""How much of a question's nuggets its closed-book answer holds, told by their words alone, with no model.

A model that answers without documents may know the very page. Whether its answer covers a nugget is for a judge to say;
what can be said without one is how many of the nuggets' terms stand in it. Those of the question are not counted, since
every answer repeats them. It is a sign, not a proof: other words may say the same, and the same words something else.
"""

from collections.abc import Iterable

from freshstack_datasets.records import Nugget, Query, language_code
from freshstack_datasets.retrieval.language import DEFAULT, terms


def coverage(question: Query, nuggets: Iterable[Nugget], answer: str) -> float | None:
    """Return the share of the nuggets' terms that an answer holds, None where they have none that the question lacks.

    Terms are those that BM25 counts: lower case, no stop words, stems. Each counts once for each nugget.

    Args:
        question: The question.
        nuggets: Its nuggets.
        answer: The closed-book answer.
    """
    language = language_code(question.language) or DEFAULT
    asked, held = set(terms(question.text, language)), set(terms(answer, language))
    told = [term for nugget in nuggets for term in set(terms(nugget.text, language)) - asked]
    return sum(term in held for term in told) / len(told) if told else None
