"""``python -m leaderboard.validation``: write the page that explains all codes."""

from leaderboard.validation.codes import FILE, page

FILE.write_text(page(), encoding="utf-8")
