"""A board as a table of Markdown, as one pastes into an issue or a README."""

import re

from freshstack_datasets.report import plain, rank_text, score_text
from leaderboard.boards.records import Board, Entry
from leaderboard.verdicts.records import Verdicts

_MARKS = re.compile(r"([\\`*_\[\]#|~<>&@$])")


def board_markdown(board: Board, verdicts: Verdicts) -> str:
    """Return a board as Markdown: its systems on its first scope, by its first measure.

    Args:
        board: The board.
        verdicts: What is concluded from it.
    """
    scope, measures = board.scopes[0], [str(measure) for measure in board.measures]
    where = "all topics" if len(board.topics) > 1 else board.topics[0].title
    heading = ["Rank", "System", "Size", *measures, "Tier"]
    rows = [
        [_rank(verdicts, board, entry), _text(entry.name), entry.size, *_values(entry, scope, measures), entry.tier]
        for entry in board.entries
    ]
    fingerprints = ", ".join(f"{topic.name} {(topic.fingerprint or 'not known')[:12]}" for topic in board.topics)
    lines = [
        f"# {_text(board.title)}",
        "",
        f"Means over {_text(where)} with 95 % intervals, by {measures[0]}; updated {board.updated}.",
        "Oracles have no rank, and systems without a run no interval.",
        "",
        _line(heading),
        _line(["---", "---", "---:", *["---:"] * len(measures), "---"]),
        *map(_line, rows),
        "",
        f"Data: {board.name}/{board.snapshot}, {_text(fingerprints)}.",
    ]
    return "\n".join(lines) + "\n"


def _rank(verdicts: Verdicts, board: Board, entry: Entry) -> str:
    if not entry.ranked:
        return "oracle"
    verdict = verdicts.verdicts.get((board.scopes[0], str(board.measures[0])))
    found = verdict.standing(entry.entry_id) if verdict is not None else None
    return "" if found is None else rank_text(found.rank_low, found.rank_high)


def _values(entry: Entry, scope: str, measures: list[str]) -> list[str]:
    scores = entry.scores(scope)
    found = [None if scores is None else scores.measures.get(measure) for measure in measures]
    return ["n/a" if score is None else score_text(score.value) + _interval(score.low, score.high) for score in found]


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" ({score_text(low)}–{score_text(high)})"


def _text(text: str) -> str:
    """Return foreign text that Markdown takes for text."""
    return _MARKS.sub(r"\\\1", plain(text))


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
