"""The pages behind the table in a real browser: systems, queries, comparisons, verdicts, quarters, changes.

They need Chromium; ``.ci/run`` installs it where it can.
"""

import json
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from freshstack_datasets.loading import load
from leaderboard.boards.reading import read_board
from leaderboard.site.writing import build_site
from tests.leaderboard.made import entry_of, made_board

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
browsed = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; .ci/run installs it")

DESK, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
BOARD = "made/2026-10"
BM25, TINY, LARGE, CLOSED, FUSED, ORACLE, BM25_2 = map(entry_of, range(7))
QUERY = f"{BOARD}/queries/alpha/q-70000013.html"
COMPARE = f"{BOARD}/compare/alpha.html"
PAGES = [
    f"{BOARD}/systems/{TINY}.html",
    f"{BOARD}/systems/{ORACLE}.html",
    f"{BOARD}/queries/alpha/index.html",
    QUERY,
    COMPARE,
    f"{BOARD}/compare/macro.html",
    f"{BOARD}/verdicts.html",
    "made/quarters.html",
    "about.html",
    "changes.html",
]
AUDITED = [path for path in PAGES if ORACLE not in path and "macro" not in path]  # the others are alike


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """Two sites of seven systems, two topics and two snapshots; in one, every text is hostile and documents are shown."""
    made = {}
    for kind in ("plain", "hostile"):
        folder = tmp_path_factory.mktemp(kind)
        root = made_board(folder, systems=7, topics=2, hostile=kind == "hostile", queries=10)
        _copy_to_july(root / "made")
        told = {"with_text": True} if kind == "hostile" else {"repository": "https://git.example/acme/board"}
        build_site(root, folder / "site", resamples=200, **told)
        made[kind] = folder / "site"
    return made


def _copy_to_july(boards):
    """Add an older snapshot with the same scores, whose data is not at hand, and without the last system."""
    july = boards / "2026-07"
    shutil.copytree(boards / "2026-10", july)
    shutil.rmtree(july / BM25_2)
    for path in july.glob("*/scores.json"):
        told = json.loads(path.read_text())
        path.write_text(json.dumps({**told, "snapshot": "2026-07"}, indent=1, sort_keys=True) + "\n")


@pytest.fixture(scope="module", params=["plain", "hostile"])
def any_site(request, sites):
    return sites[request.param]


@pytest.fixture(scope="module")
def board(sites):
    return read_board(sites["plain"].parent / "submissions" / "made" / "2026-10")


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


class Opened:
    """A browser's window, and all that its pages complain about or ask for."""

    def __init__(self, chromium, site, **options):
        self.context = chromium.new_context(**{"viewport": DESK, **options})
        self.page = self.context.new_page()
        self.base = site.as_uri()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def goto(self, path):
        self.page.goto("about:blank")  # so that another fragment is another visit
        self.page.goto(f"{self.base}/{path}")
        return self.page


@pytest.fixture
def browse(chromium, sites):
    opened = []

    def open_page(path, site=None, **options):
        window = Opened(chromium, site or sites["plain"], **options)
        opened.append(window)
        window.goto(path)
        return window

    yield open_page
    for window in opened:
        assert window.complaints == []
        assert all(url == "about:blank" or url.startswith(window.base) for url in window.requests)
        window.context.close()


# For everyone, on any screen


@browsed
@pytest.mark.parametrize(
    ("kind", "viewport", "scheme"),
    [
        ("plain", DESK, "light"),
        ("plain", DESK, "dark"),
        ("plain", PHONE, "light"),
        ("plain", PHONE, "dark"),
        ("hostile", PHONE, "dark"),
    ],
)
def test_axe_finds_nothing_that_keeps_people_out(browse, sites, kind, viewport, scheme):
    from axe_playwright_python.sync_playwright import Axe

    window = browse(PAGES[0], sites[kind], viewport=viewport, color_scheme=scheme)
    for path in AUDITED:
        page = window.goto(path)
        page.evaluate("[...document.querySelectorAll('details')].slice(-3).forEach(one => { one.open = true; })")
        options = {"resultTypes": ["violations"], "preload": False}
        found = Axe().run(page, options=options).response["violations"]
        assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []


@browsed
def test_a_phone_never_scrolls_a_page_sideways(browse, any_site):
    window = browse(PAGES[0], any_site, viewport=PHONE, has_touch=True, is_mobile=True)
    for path in PAGES:
        page = window.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert (path, page.evaluate("document.documentElement.scrollWidth")) == (path, 390)


@browsed
def test_names_and_texts_that_hold_markup_are_shown_as_text(browse, sites):
    window = browse(PAGES[0], sites["hostile"])
    for path in PAGES:
        page = window.goto(path)
        assert page.locator("main img, main iframe, main script:not([type='application/json'])").count() == 0
    page = window.goto(f"{BOARD}/systems/{BM25}.html")
    assert "<script>alert(\"1\")</script> 'quoted'" in page.locator("h1").inner_text()
    page = window.goto(COMPARE)
    offered = [option.get_attribute("value") for option in page.locator("#names option").all()]
    assert sum("<script>alert(" in name for name in offered) == 2  # of seven systems, the names of two begin so


class Links(HTMLParser):
    """The addresses that a page asks for or leads to, and its ids."""

    def __init__(self, path):
        super().__init__()
        self.addresses, self.ids = [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.addresses.append(value)
            elif name == "id":
                self.ids.append(value)


def test_every_link_within_the_site_leads_to_a_page_and_no_page_has_an_id_twice(any_site):
    pages = {path.resolve(): Links(path) for path in any_site.rglob("*.html")}
    for path, links in pages.items():
        assert len(links.ids) == len(set(links.ids)), path
        for address in links.addresses:
            parts = urlsplit(address)
            if parts.scheme:
                assert parts.scheme in ("http", "https"), (path, address)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), (path, address)
            if target in pages and parts.fragment and "=" not in parts.fragment:
                assert parts.fragment in pages[target].ids, (path, address)


# From a system down to a document


@browsed
def test_a_system_leads_to_its_hardest_query_and_that_to_the_documents(browse, board):
    window = browse(f"{BOARD}/systems/{TINY}.html")
    page = window.page
    hardest = page.locator("section:has(#hardest) tbody tr").first
    entry = board.entry(TINY)
    least = min(float(held.values[0].min()) for held in entry.per_query.values())
    assert hardest.locator("td").nth(1).inner_text() == f"{least:.3f}"
    query_id = hardest.locator("th").inner_text()
    hardest.get_by_role("link").click()
    assert page.locator("h1").inner_text().endswith(query_id)
    assert page.locator(".card svg").count() == len(board.entries)  # a grid for each system
    keys = page.get_by_role("img", name="What the signs stand for")
    assert keys.count() == 1  # what is the same for all grids is said once
    assert not page.locator(".card svg").get_by_text("judged relevant").count()
    link = page.locator(".documents tbody th a").first
    assert link.get_attribute("href").startswith("https://github.com/acme/")


@browsed
def test_a_query_tells_by_word_and_mark_what_each_document_is(browse, board):
    page = browse(QUERY).page
    data = load(board.topics[0].dataset)
    judged = data.qrels["70000013"]
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    said = {"✓": "relevant", "✗": "not", "?": "unjudged"}
    seen = set()
    for place in page.locator(".places li").all():
        doc_id = place.locator("bdi").inner_text()
        expected = "unjudged" if doc_id not in judged else "relevant" if judged[doc_id] else "not"
        assert said[place.locator(".state").inner_text()[0]] == expected
        seen.add(expected)
    assert seen == {"relevant", "not", "unjudged"}


@browsed
def test_a_judgment_can_be_disputed_where_there_is_a_repository(browse, sites):
    page = browse(QUERY).page
    address = page.get_by_role("link", name="Dispute this judgment").first.get_attribute("href")
    assert address.startswith("https://git.example/acme/board/issues/new?title=")
    page = browse(QUERY, sites["hostile"]).page
    assert page.get_by_role("link", name="Dispute this judgment").count() == 0
    assert page.get_by_text("To dispute a judgment, tell").is_visible()


def test_texts_of_documents_are_in_a_site_that_asks_for_them_and_in_no_other(sites):
    text = re.compile(r"Text \d+ of alpha &lt;script&gt;")
    assert text.search((sites["hostile"] / QUERY).read_text())
    assert "MIT" in (sites["hostile"] / QUERY).read_text()
    assert not [path for path in sites["plain"].rglob("*") if path.is_file() and "Text 1" in path.read_text()]


def test_a_topic_whose_data_is_not_at_hand_has_no_pages_of_queries_and_no_links_to_them(sites):
    older = sites["plain"] / "made" / "2026-07"
    assert (older / "systems" / f"{TINY}.html").is_file()
    assert not (older / "queries").exists()
    assert "queries/" not in (older / "systems" / f"{TINY}.html").read_text()


# Side by side


def choose(page, text):
    page.get_by_label("System", exact=True).fill(text)
    page.keyboard.press("Enter")


def chosen(page):
    return [name.inner_text() for name in page.locator("#chosen bdi").all()]


@browsed
def test_two_to_five_systems_are_chosen_by_keyboard_and_no_more(browse):
    page = browse(COMPARE).page
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#said").inner_text() == "Choose at least two systems."
    for text in ("fused", "tiny", "large-embed", "closed-embed", "oracle"):
        choose(page, text)
    assert chosen(page) == ["fused", "tiny-embed", "large-embed", "closed-embed", "oracle"]
    choose(page, "bm25-2")
    assert "At most 5" in page.locator("#said").inner_text()
    page.get_by_role("button", name="Remove oracle").click()
    choose(page, "embed")
    assert page.locator("#said").inner_text().startswith("3 systems have embed in their name")
    choose(page, "nobody")
    assert page.locator("#said").inner_text() == "No system is called nobody."
    assert len(chosen(page)) == 4


@browsed
def test_a_comparison_shows_the_tests_and_the_values_of_each_query(browse, board):
    page = browse(f"{COMPARE}#systems={LARGE},{BM25}&measure=Recall@50").page
    one, other = board.entry(LARGE), board.entry(BM25)
    scores, tests, matrix = page.locator("#result table").all()
    assert (
        scores.locator("tbody tr td")
        .first.inner_text()
        .startswith(f"{one.topics['alpha'].measures['Recall@50'].value:.3f}")
    )
    row = one.per_query["alpha"].measures.index("Recall@50")
    values = {
        entry: dict(zip(entry.per_query["alpha"].query_ids, entry.per_query["alpha"].values[row], strict=True))
        for entry in (one, other)
    }
    difference = sum(values[one].values()) / 10 - sum(values[other].values()) / 10
    assert tests.locator("tbody td").nth(1).inner_text().replace("−", "-") == f"{difference:+.3f}"
    wins = sum(values[one][query] > values[other][query] + 1e-9 for query in values[one])
    losses = sum(values[one][query] < values[other][query] - 1e-9 for query in values[one])
    assert tests.locator("tbody td").nth(6).inner_text() == f"{wins} / {10 - wins - losses} / {losses}"
    spreads = []
    for line in matrix.locator("tbody tr").all():
        query = line.locator("th").inner_text()
        cells = [cell.inner_text() for cell in line.locator("td").all()]
        assert cells[:2] == [f"{values[entry][query]:.3f}" for entry in (one, other)]
        spreads.append(float(cells[2]))
    assert len(spreads) == 10
    assert spreads == sorted(spreads, reverse=True)


@browsed
def test_an_address_of_six_systems_shows_five_and_names_the_one_left_out(browse):
    asked = ",".join((BM25, TINY, LARGE, CLOSED, FUSED, BM25_2))
    page = browse(f"{COMPARE}#systems={asked}").page
    assert len(chosen(page)) == 5
    assert page.locator("#said").inner_text() == "At most 5 at once: bm25-2 left out."


@browsed
def test_names_above_the_values_of_each_query_stay_within_their_columns(browse, sites):
    page = browse(f"{COMPARE}#systems={BM25},{TINY}", sites["hostile"]).page
    wide = "heads => heads.map(head => head.scrollWidth - head.clientWidth)"
    assert page.locator(".matrix thead th").evaluate_all(wide) == [0, 0, 0, 0]


@browsed
def test_on_a_phone_what_the_numbers_stand_on_has_the_whole_width(browse):
    page = browse(QUERY, viewport=PHONE).page
    data = page.locator("footer dd").nth(1).bounding_box()
    assert data["width"] > 300


@browsed
def test_what_is_compared_is_in_the_address_and_comes_back_from_it(browse):
    window = browse(COMPARE)
    page = window.page
    page.get_by_role("button", name="Clear").click()
    choose(page, "large-embed")
    choose(page, "tiny-embed")
    page.get_by_label("Measure").select_option("Coverage@20")
    address = page.url
    assert address.endswith(f"#systems={LARGE},{TINY}&measure=Coverage@20")
    shown = page.locator("#result").inner_text()
    again = window.goto(address.removeprefix(f"{window.base}/"))
    assert chosen(again) == ["large-embed", "tiny-embed"]
    assert again.get_by_label("Measure").input_value() == "Coverage@20"
    assert again.locator("#result").inner_text() == shown
    again.get_by_role("link", name="Beta").click()  # what was chosen goes along to another topic
    again.locator("#chosen li").first.wait_for()
    assert chosen(again) == ["large-embed", "tiny-embed"]
    assert again.locator("h2", has_text="Beta, Coverage@20").count() == 1


@browsed
def test_an_address_that_names_nobody_is_told(browse):
    page = browse(f"{COMPARE}#systems=../../x,{BM25}&measure=<b>").page
    assert page.locator("#said").inner_text() == "Not on this page: ../../x."
    assert chosen(page) == ["bm25"]


@browsed
def test_an_oracle_is_shown_beside_others_and_not_tested(browse):
    page = browse(f"{COMPARE}#systems={FUSED},{ORACLE}").page
    assert page.locator("#result .note").inner_text().startswith("Not tested")
    assert page.locator("#result table").count() == 2  # scores and queries


@browsed
def test_the_table_leads_to_the_comparison_of_what_was_picked_there(browse):
    page = browse(f"{BOARD}/index.html").page
    for entry_id in (FUSED, BM25):
        page.locator(f"tr[data-id='{entry_id}'] .pick").check()
    page.locator(".picks").get_by_role("link").click()
    page.locator("#chosen li").first.wait_for()
    assert "/compare/macro.html#systems=" in page.url
    assert sorted(chosen(page)) == ["bm25", "fused"]


# Without a script


@browsed
def test_without_a_script_every_system_is_held_against_its_neighbours_and_the_baseline(browse, board):
    page = browse(COMPARE, java_script_enabled=False).page
    assert page.locator("#choose").is_hidden()
    ranked = [entry for entry in board.entries if entry.ranked]
    assert page.locator("section:has(#m1) table").count() == 2
    neighbours, against = page.locator("section:has(#m1) table").all()
    assert neighbours.locator("tbody tr").count() == len(ranked) - 1
    assert against.locator("tbody tr").count() == len(ranked) - 1
    assert against.locator("caption").inner_text().startswith("All others against the baseline, bm25.")


@browsed
def test_without_a_script_all_pages_say_the_same(browse):
    scripted, plain = browse(PAGES[0]), browse(PAGES[0], java_script_enabled=False)
    for path in PAGES:
        if "/compare/" not in path:
            page = scripted.goto(path)
            page.evaluate("document.getElementById('copying')?.remove()")  # a button that only a script can serve
            assert page.locator("main").inner_text() == plain.goto(path).locator("main").inner_text()


@browsed
def test_the_command_that_makes_a_system_again_is_copied_whole(browse, board):
    window = browse(PAGES[0])
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window.page.get_by_role("button", name="Copy the command").press("Enter")
    assert window.page.locator("#copying [role=status]").inner_text() == "The command was copied."
    command = board.entry(TINY).submission.reproduce.command
    assert window.page.evaluate("navigator.clipboard.readText()") == command


@browsed
def test_where_a_browser_does_not_let_pages_copy_the_command_is_selected(browse, board):
    page = browse(PAGES[0]).page
    page.evaluate("() => { navigator.clipboard.writeText = async () => { throw new Error('denied'); }; }")
    page.get_by_role("button", name="Copy the command").click()
    assert "does not let pages copy" in page.locator("#copying [role=status]").inner_text()
    assert page.evaluate("getSelection().toString()") == board.entry(TINY).submission.reproduce.command


@browsed
def test_without_a_script_there_is_no_button_that_copies(browse):
    page = browse(PAGES[0], java_script_enabled=False).page
    assert page.locator("#command").is_visible()
    assert page.get_by_role("button", name="Copy the command").count() == 0


# Quarters and verdicts


@browsed
def test_quarters_set_the_ranks_of_both_snapshots_beside_each_other(browse):
    page = browse("made/quarters.html").page
    table = page.locator("table").first
    assert [head.inner_text() for head in table.locator("thead th").all()] == ["System", "2026-07", "2026-10"]
    rows = {row.locator("th").inner_text().split()[0]: row for row in table.locator("tbody tr").all()}
    assert "oracle" not in rows
    assert rows["bm25-2"].locator("td").first.inner_text().startswith("–")  # it was not handed in then
    # The runs are the same, so the order of the five systems that both have is, too.
    assert rows["Kendall's"].locator("td").nth(1).inner_text().startswith("1.000")


@browsed
def test_verdicts_group_systems_into_tiers_on_each_topic_by_each_measure(browse):
    page = browse(f"{BOARD}/verdicts.html").page
    assert page.locator("table.tiers").count() == 3 * 3  # all topics, alpha and beta, by three measures
    for table in page.locator("table.tiers").all():
        numbers = [int(cell.text_content()) for cell in table.locator("tbody td:first-child").all()]
        assert numbers == sorted(numbers)
        assert numbers[0] == 1
        assert len(numbers) == 6  # an oracle has no rank
