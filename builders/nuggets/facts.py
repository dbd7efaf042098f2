"""What a model is asked to say of an answer, and what is made of it: nothing else decides on nuggets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from builders.nuggets.distinct import distinct, has_controls, line
from freshstack_datasets.recipe import Model
from freshstack_datasets.records import Nugget

MOST = 10
"""Nuggets of an answer; three to four are usual."""
LONGEST = 400
"""Characters of a nugget, which is one sentence."""
WEIGHED = "nuggets-with-importance"
"""The name of the prompt that also asks how much each nugget counts."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One nugget as a model writes it.

    Args:
        text: The fact, on one line.
        importance: "vital", "okay", or None where it was not asked.
    """

    text: str
    importance: str | None = None


class Facts(Protocol):
    """A reply that holds nuggets."""

    def facts(self) -> tuple[Fact, ...]:
        """Return them in their order, of which the first is the most important one."""
        ...


class Plain(Model):
    """The reply to the prompt ``nuggets``.

    Args:
        nuggets: The facts.
    """

    nuggets: list[str]

    def facts(self) -> tuple[Fact, ...]:
        """Return the nuggets in their order."""
        return tuple(Fact(line(text)) for text in self.nuggets)


class Weighed(Model):
    """One nugget of the reply to the prompt ``nuggets-with-importance``.

    Args:
        text: The fact.
        importance: How much it counts.
    """

    text: str
    importance: Literal["vital", "okay"]


class WithImportance(Model):
    """The reply to the prompt ``nuggets-with-importance``.

    Args:
        nuggets: The facts.
    """

    nuggets: list[Weighed]

    def facts(self) -> tuple[Fact, ...]:
        """Return the nuggets in their order."""
        return tuple(Fact(line(one.text), one.importance) for one in self.nuggets)


def shape_of(prompt: str) -> type[Plain] | type[WithImportance]:
    """Return what the reply to a prompt has to fit.

    Args:
        prompt: The prompt's name.
    """
    return WithImportance if prompt == WEIGHED else Plain


def problem(reply: Facts) -> str:
    """Return what is wrong with a reply that fits its shape, in words for the model; "" when nothing is.

    Args:
        reply: The reply. Nuggets that are empty or duplicates are not wrong: they are left out.
    """
    facts = reply.facts()
    for number, fact in enumerate(facts, 1):
        if has_controls(fact.text):
            return f"nugget {number} holds a control character"
        if len(fact.text) > LONGEST:
            return f"nugget {number} has {len(fact.text)} characters, and a nugget is one fact of at most {LONGEST}"
    number = len(distinct([fact.text for fact in facts]).kept)
    return f"it has {number} nuggets; give the {MOST} most important ones at most" if number > MOST else ""


@dataclass(frozen=True, slots=True)
class Taken:
    """The nuggets of a question.

    Args:
        nuggets: In their order.
        empty: How many facts said nothing.
        duplicates: How many said what one before them says.
    """

    nuggets: tuple[Nugget, ...]
    empty: int
    duplicates: int


def taken(query_id: str, facts: Sequence[Fact]) -> Taken:
    """Return the nuggets that facts make: those that say something, each once.

    Args:
        query_id: The question.
        facts: The facts, the most important one first.
    """
    left = distinct([fact.text for fact in facts])
    nuggets = tuple(
        Nugget(f"{query_id}_{position}", query_id, position, facts[place].text, facts[place].importance)
        for position, place in enumerate(left.kept)
    )
    return Taken(nuggets, left.empty, left.duplicates)
