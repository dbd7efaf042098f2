"""The list of a dataset's snapshots that a card has, and cards that are the same but for it.

A card lists the snapshots that there were when it was published. Later ones are not added to it, as a published snapshot
never changes: who compares cards leaves the others of the list out.
"""

from builders.cards.facts import Facts
from builders.cards.tables import UNKNOWN
from freshstack_datasets.catalog import snapshot_order

HEADING = "Snapshots"
THIS = "this one"


def snapshots_table(known: Facts) -> list[tuple[str, str, str, str]]:
    """Return name, questions and documents of each snapshot, the newest first, and whether it is this one in words."""
    listed = {**known.others, known.snapshot: (known.queries, known.documents)}
    rows = []
    for name in sorted(listed, key=snapshot_order, reverse=True):
        queries, documents = (UNKNOWN if size is None else f"{size:,}" for size in listed[name] or (None, None))
        rows.append((name, queries, documents, THIS if name == known.snapshot else ""))
    return rows


def same_but_for_history(one: str, other: str) -> bool:
    """Return whether two cards of one snapshot differ in nothing but which other snapshots they list.

    Args:
        one: A card.
        other: Another one, or any text.
    """
    return _without_others(one) == _without_others(other)


def _without_others(card: str) -> str:
    """Return a card without the rows of other snapshots; foreign texts, which come before the list, stay."""
    before, heading, rest = card.rpartition(f"\n## {HEADING}\n")
    table, line, after = rest.partition("\n## ")
    kept = [row for row in table.split("\n") if not row.startswith("| `") or row.endswith(f"| {THIS} |")]
    return before + heading + "\n".join(kept) + line + after
