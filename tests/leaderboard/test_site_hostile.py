"""A site of a board whose every text and id is somebody's who means harm: all of it is text, and stays in its folder."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import yaml

from freshstack_datasets.loading import load
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from leaderboard.boards.importing import import_rows
from leaderboard.site.pages import address
from leaderboard.site.writing import build_site
from tests.leaderboard import made

TEXTS = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'\"`;--", "{{ 7*7 }}{% raw %}", "${7*7}",
    "\u202eevil\u2066", "e\u0301e\u0301 \U0001f389", "x" * 500, "javascript:alert(1)", "=cmd|'/c calc'!A1", "a|b",
    "</title></style></textarea><svg onload=alert(1)>", "&lt;script&gt;", "--><script>", "]]>", "\\", "%00%0a",
    "../../x", "..", ".", "CON", "Q1", "q1", "\u00e9", "e\u0301", "/etc/passwd", "a/b", "C:\\x", "x?y#z", "-x", "<!--",
)  # fmt: skip
ADDRESSES = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "  javascript:x", "data:text/html,<script>alert(1)</script>",
    "vbscript:x", "file:///etc/passwd", "//evil.dev/x", "http://[", "https://evil.dev\\@fine.dev",
    "https://fine.dev@evil.dev/", "\u202ehttps://x.dev", "https://x.dev/\u202e",
)  # fmt: skip
FINE = ("https://ok.dev/a?b=c&d=<e>", 'https://ok.dev/"onmouseover=alert(1)', "https://ok.dev/'>")
ALLOWED_SCRIPT = {"src", "type", "id"}


@pytest.mark.parametrize("url", [*ADDRESSES, "", None, "https://", "https:///x"])
def test_what_leads_elsewhere_than_it_shows_is_no_link(url):
    assert address(url) is None


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    home = tmp_path_factory.mktemp("hostile")
    urls = (*ADDRESSES, *FINE)
    documents = [
        Document(text, text, f"{text}\n{text}", {"url": urls[number % len(urls)], "license": TEXTS[number - 1]})
        for number, text in enumerate(TEXTS)
    ]
    queries = [
        Query(text, TEXTS[number - 1], title=TEXTS[number - 2], body=text, answer_text=text, author=text, license=text,
              type=text, url=urls[number % len(urls)], tags=(text,))
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    nuggets = [Nugget(f"n{text}", text, 0, TEXTS[number - 3]) for number, text in enumerate(TEXTS)]
    judged = [(text, document.doc_id, place) for text in TEXTS for place, document in enumerate(documents[:6])]
    judgments = [Judgment(text, f"n{text}", doc_id, int(place == len(text) % 6)) for text, doc_id, place in judged]
    write_snapshot(
        home / "alpha",
        dataset="freshstack/alpha",
        snapshot=made.SNAPSHOT,
        license="CC0-1.0",
        documents=documents,
        queries=queries,
        nuggets=nuggets,
        judgments=judgments,
    )
    root = home / "submissions"
    board = root / made.BOARD / made.SNAPSHOT
    board.mkdir(parents=True)
    topic = {"name": "alpha", "title": TEXTS[0], "dataset": str(home / "alpha")}
    topic["fingerprint"] = load(home / "alpha").fingerprint
    told = {"title": TEXTS[0] + TEXTS[1], "about": TEXTS[11], "measures": ["Recall@50"], "baseline": None}
    (board / "board.yaml").write_text(yaml.safe_dump(told | {"topics": [topic]}), encoding="utf-8")
    for number, text in enumerate(TEXTS[1:5]):
        ranking = {doc_id: float(len(doc_id) * (number + 3) % 17) for doc_id in TEXTS}
        run = Run.from_dict(dict.fromkeys(TEXTS, ranking), text)
        about = {"name": text, "description": text, "components": [text]}
        team = {"name": text, "affiliation": text}
        made.made_submission(
            root,
            made.BOARD,
            made.SNAPSHOT,
            f"20261101-acme-s{number}",
            {"alpha": run},
            ".jsonl",
            system=about,
            team=team,
        )
    made.score_all(root)
    rows = [
        {
            "info": {"name": text, "size": "8B", "type": "open_source", "date": "2024-01-01",
                     "link": urls[number % len(urls)]},
            "datasets": {name: {"recall_50": 0.5} for name in ("alpha", "average")},
        }
        for number, text in enumerate(TEXTS)
    ]  # fmt: skip
    (home / "rows.json").write_text(json.dumps({"leaderboardData": rows}))
    import_rows(home / "rows.json", board, url="https://acme.dev", date="2026-01-01")
    return root


class Looker(HTMLParser):
    """Notes what a page must not hold."""

    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.bad.append((tag, name, value))
            scheme = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]*):", value or "")
            if name in ("href", "src", "action", "formaction", "xlink:href") and (
                (scheme and scheme[1] not in ("https", "http")) or re.match(r"[\\/]{2}", value or "")
            ):
                self.bad.append((tag, name, value))
        if tag in ("iframe", "object", "embed", "base", "img") or (
            tag == "script" and set(dict(attrs)) - ALLOWED_SCRIPT
        ):
            self.bad.append((tag, attrs))
        if tag == "script" and "src" not in dict(attrs) and dict(attrs).get("type") != "application/json":
            self.bad.append((tag, attrs))


@pytest.mark.parametrize("with_text", [False, True])
def test_hostile_texts_and_ids_are_text_on_pages_of_their_own(submissions, tmp_path, with_text):
    out = tmp_path / "site"
    build_site(submissions, out, with_text=with_text, repository="https://github.com/a/b?x=\"'<", resamples=100)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    paths = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    assert [path for path, number in Counter(path.casefold() for path in paths).items() if number > 1] == []
    assert [path for path in paths if not re.fullmatch(r"[a-z0-9._/-]+", path)] == []
    assert sum(path.startswith("made/2026-10/queries/alpha/") for path in paths) == len(TEXTS) + 1
    for path in out.rglob("*.html"):
        text, looker = path.read_text(encoding="utf-8"), Looker()
        looker.feed(text)
        assert looker.bad == [], path
        assert "\u202e" not in text
        assert not re.search(r">\s*49\s*<", text)
    ElementTree.parse(out / "changes.atom")
