"""A small snapshot that can be counted by hand, for the tests of cards."""

from datetime import date

import freshstack_datasets as fsd

ABOUT = "Three toy questions.\n\nNobody asked them."
SECTIONS = {"How it *was* made": "By hand."}
HOSTILE = "# Big <script>alert(1)</script> [x](javascript:y) `z` | w {{ 1 + 1 }} {% raw %} ![i](http://x/i.svg)"


def write(folder, **changes):
    """Write it and return its folder.

    Args:
        folder: Where it goes.
        changes: Other arguments of ``write_snapshot``.
    """
    told = {
        "dataset": "acme/toy",
        "snapshot": "2026-10",
        "license": "CC-BY-SA-4.0",
        "documents": [
            fsd.Document("d1", "Hello", "world"),
            fsd.Document("d2", "", ""),
            fsd.Document("d3", "", "hello world " * 20),
        ],
        "queries": [
            fsd.Query("q1", "hello world", answer_text="hello", date="2023-02-01", language="en", type="easy"),
            fsd.Query("q2", "hello " * 30, answer_text="hello world", date="2023-11-30T12:00:00Z", language="en"),
            fsd.Query("q3", "hola mundo", language="es", type="hard"),
        ],
        "nuggets": [
            fsd.Nugget("n1", "q1", 0, "one"),
            fsd.Nugget("n2", "q1", 1, "two"),
            fsd.Nugget("n3", "q2", 0, "three"),
            fsd.Nugget("n4", "q3", 0, "four"),
        ],
        "judgments": [
            fsd.Judgment("q1", "n1", "d1", 1),
            fsd.Judgment("q1", "n1", "d2", 0),
            fsd.Judgment("q1", "n2", "d1", 1),
            fsd.Judgment("q1", "n2", "d2", 1),
            fsd.Judgment("q2", "n3", "d3", 1),
            fsd.Judgment("q3", "n4", "d1", 0),
            fsd.Judgment("q3", "n4", "d3", 1),
        ],
        "about": ABOUT,
        "sections": SECTIONS,
        "created": date(2026, 10, 31),
    }
    fsd.write_snapshot(folder, **(told | changes))
    return folder
