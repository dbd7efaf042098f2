"""What is said of a system, under the names and in the order that all exports have."""

from leaderboard.boards.records import Entry


def facts_of(entry: Entry) -> dict[str, str | int | float | bool | None]:
    """Return what is known of a system beside its scores; None where it is not known.

    Args:
        entry: The system.
    """
    return {
        "id": entry.entry_id,
        "name": entry.name,
        "team": entry.team or None,
        "tier": entry.tier,
        "kind": entry.kind or None,
        "setting": entry.setting,
        "parameters": entry.parameters,
        "license": entry.license,
        "openness": entry.openness or None,
        "trained_on_benchmark": entry.trained_on_benchmark,
        "date": entry.date.isoformat(),
        "url": entry.url,
        "latency_ms": entry.latency_ms,
        "in_pool": entry.in_pool,
        "reproduced": entry.reproduced,
        "evaluator": entry.evaluator or None,
        "source": entry.source,
    }
