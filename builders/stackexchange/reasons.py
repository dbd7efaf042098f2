"""What is counted in a dump: its posts by their types, and what is left out by its reasons."""

from builders.stackexchange.posts import ANSWER, QUESTION

UNANSWERED = "questions without an accepted answer"
MISSING = "questions whose accepted answer is missing"
FOREIGN = "questions whose accepted answer is no answer to them"
EMPTY = "questions whose accepted answer is empty"
EMPTY_ANSWERS = "empty answers"
FABRICATED = "fabricated posts"

REASONS = {
    UNANSWERED: "their askers accepted none",
    MISSING: "no usable row of the dump has its id",
    FOREIGN: "it is a post of another type, or answers another question",
    EMPTY: "no text is left of it",
    EMPTY_ANSWERS: "no text is left of their HTML",
    FABRICATED: "the dumps since mid-2025 hold two invented posts to mark copies",
}
"""Why each rule leaves something out, where its name does not say."""

MALFORMED = "malformed rows: "
"""What rows are counted as that are no posts, with what is wrong behind it."""

KINDS = {
    QUESTION: "questions",
    ANSWER: "answers",
    3: "wikis",
    4: "tag wiki excerpts",
    5: "tag wikis",
    6: "moderator nominations",
    7: "wiki placeholders",
    8: "privilege wikis",
}
"""Types of posts in words, as the documentation of the dumps lists them."""
