"""What is known of one system, name by name, in the words that its page uses."""

from dataclasses import dataclass

from leaderboard.boards.records import Entry

NO_MODEL = "none: no model takes part"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known of a system, or that nobody said.

    Args:
        name: What it is.
        value: What is known; "" where nobody said.
        url: Where more is, as somebody gave it; templates link to http and https alone.
    """

    name: str
    value: str
    url: str | None = None


def facts_of(entry: Entry) -> tuple[Fact, ...]:
    """Return what is known of a system as a whole."""
    pool = {True: "yes, it or a part of it: see Judged@10", False: "no", None: ""}[entry.in_pool]
    submission = entry.submission
    contact = submission.team.contact if submission else ""
    none = NO_MODEL if entry.parameters == 0 else ""
    facts = [
        Fact("Team", entry.team),
        Fact("Affiliation", (submission.team.affiliation or "") if submission else ""),
        Fact("Contact", contact, contact),
        Fact("Kind", entry.kind),
        Fact("Setting", entry.setting),
        Fact("Components", ", ".join(submission.system.components) if submission else ""),
        Fact("Parameters", _parameters(entry)),
        Fact("Licence of its models", none or entry.license or ""),
        Fact("Weights", none or entry.openness),
        Fact("Helped to build the pool", pool),
        Fact("Released" if entry.published else "Date", entry.date.isoformat()),
        Fact("Described at", entry.url or "", entry.url),
        Fact("Scores published in", entry.source or "", entry.source),
        Fact("Scores published on", entry.published.isoformat() if entry.published else ""),
        Fact("The rest is known from", "; ".join(dict.fromkeys(entry.corrections))),
        Fact("Scored by", entry.evaluator),
        Fact("Licence of its runs", submission.license if submission else ""),
    ]
    always = {"Team", "Kind", "Setting", "Parameters", "Licence of its models", "Weights", "Helped to build the pool"}
    return tuple(fact for fact in facts if fact.value or fact.name in always)


def _parameters(entry: Entry) -> str:
    if entry.parameters is None:
        return entry.size.strip("-")
    return f"{entry.size} ({entry.parameters:,})" if entry.parameters else NO_MODEL


def training_of(entry: Entry) -> tuple[Fact, ...]:
    """Return what its models may have seen."""
    if entry.submission is None:
        return (Fact("On this benchmark", entry.trained_on_benchmark),)
    said = entry.submission.training
    facts = [
        Fact("On this benchmark", said.on_benchmark),
        Fact("On the forum that its questions are from", said.on_its_questions_site),
        Fact("Data sets", ", ".join(said.datasets)),
        Fact("Statement", said.statement or ""),
    ]
    return tuple(fact for fact in facts if fact.value)


def reproduction_of(entry: Entry) -> tuple[Fact, ...]:
    """Return how its runs can be made again; nothing for a reported row. The command is not among it."""
    if entry.submission is None:
        return ()
    said = entry.submission.reproduce
    facts = [
        Fact("Repository", said.repository, said.repository),
        Fact("Commit", said.commit),
        Fact("Environment", said.environment or ""),
        Fact("Seed", "" if said.seed is None else str(said.seed)),
        Fact("Hardware", entry.submission.hardware or ""),
        *_latency(entry),
    ]
    return tuple(fact for fact in facts if fact.value)


def _latency(entry: Entry) -> tuple[Fact, ...]:
    latency = entry.submission.latency if entry.submission else None
    if latency is None:
        return ()
    slow = "" if latency.query_ms_p95 is None else f"{latency.query_ms_p95:g} ms"
    index = "" if latency.index_seconds is None else f"{latency.index_seconds:g} s"
    return (
        Fact("Median time of a query", f"{latency.query_ms_p50:g} ms"),
        Fact("95 of 100 queries take at most", slow),
        Fact("Time to index", index),
    )
