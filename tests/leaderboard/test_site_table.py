"""The table and the charts of a board in a real browser: from a folder, with and without a script, for every reader.

They need Chromium; ``.ci/run`` installs it where it can.
"""

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from leaderboard.boards.reading import boards_of, read_board
from leaderboard.site.writing import build_site
from tests.leaderboard.made import entry_of, made_board

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; .ci/run installs it")

DESK, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
TABLE, CHARTS, TOPIC = "made/2026-10/index.html", "made/2026-10/charts.html", "made/2026-10/table.beta.recall-50.html"
PAGES = ["index.html", TABLE, TOPIC, CHARTS]
BM25, TINY, LARGE, CLOSED, FUSED, ORACLE, BM25_2, TINY_2 = map(entry_of, range(8))


@pytest.fixture(scope="module", params=["plain", "hostile"])
def any_site(request, sites):
    return sites[request.param]


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """Two sites of eight systems and two topics: one as it should be, one whose every text is hostile."""
    made = {}
    for kind in ("plain", "hostile"):
        folder = tmp_path_factory.mktemp(kind)
        root = made_board(folder, systems=8, topics=2, hostile=kind == "hostile", queries=12)
        build_site(root, folder / "site", resamples=200)
        made[kind] = folder / "site"
    return made


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


class Opened:
    """A browser's window, all that its pages complain about, and all that they ask for."""

    def __init__(self, chromium, base, **options):
        self.context = chromium.new_context(**{"viewport": DESK, **options})
        self.page = self.context.new_page()
        self.base = base
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def goto(self, path):
        self.page.goto(f"{self.base}/{path}")
        return self.page


@pytest.fixture
def browse(chromium, sites):
    """Open a page of a site, the plain one when not given."""
    opened = []

    def open_page(path, site=None, **options):
        window = Opened(chromium, (site or sites["plain"]).as_uri(), **options)
        opened.append(window)
        window.goto(path)
        return window

    yield open_page
    for window in opened:
        assert window.complaints == []
        assert all(url.startswith(window.base) for url in window.requests)
        window.context.close()


def order(page):
    """Return the systems that are visible, from top to bottom."""
    return [row.get_attribute("data-id") for row in page.locator("#board tbody tr:visible").all()]


def status(page):
    return page.locator("#status").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing_that_keeps_people_out(browse, any_site, viewport, scheme):
    from axe_playwright_python.sync_playwright import Axe

    window = browse("index.html", any_site, viewport=viewport, color_scheme=scheme)
    for path in PAGES:
        page = window.goto(path)
        if path == TABLE:
            page.evaluate("document.querySelectorAll('.menu').forEach(menu => { menu.open = true; })")
        options = {
            "resultTypes": ["violations"],
            "preload": False,
        }  # it would load styles again, which the policy forbids
        found = Axe().run(page, options=options).response["violations"]
        assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_a_phone_scrolls_tables_and_never_the_page_sideways(browse, any_site):
    window = browse("index.html", any_site, viewport=PHONE, has_touch=True, is_mobile=True)
    for path in PAGES:
        page = window.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("visualViewport.scale") == 1
    page = window.goto(TABLE)
    page.get_by_role("button", name="Filters").click()
    for menu in page.locator(".menu summary").all():
        menu.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        menu.click()
    assert page.evaluate("(r => r.scrollWidth > r.clientWidth)(document.querySelector('.scroll'))")


def test_names_that_hold_markup_are_shown_as_text(browse, sites):
    page = browse(TABLE, sites["hostile"]).page
    root = sites["hostile"].parent / "submissions"
    names = {entry.entry_id: entry.name for entry in read_board(boards_of(root)[0]).entries}
    assert any("<script>" in name for name in names.values())
    shown = {row.get_attribute("data-id"): row.locator("th a").text_content() for row in page.locator("tbody tr").all()}
    assert shown == names
    assert page.locator("main script, main img").count() == 0


@pytest.mark.parametrize("path", [TABLE, TOPIC])
def test_without_a_script_everything_is_there_and_nothing_that_does_not_work(browse, path):
    page = browse(path, java_script_enabled=False).page
    assert page.locator("#board tbody tr:visible").count() == 8
    assert page.locator("#board thead th:visible").count() == page.locator("#board thead th").count() == 18
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    page.get_by_role("navigation", name="Topic").get_by_role("link", name="Alpha").click()
    page.get_by_role("navigation", name="Measure").get_by_role("link", name="Coverage@20").click()
    assert page.locator("h1").inner_text() == "Alpha, by Coverage@20"
    page.get_by_role("link", name="Charts").click()
    assert page.locator("h1").inner_text() == "Alpha, by Coverage@20"
    assert page.locator("figure svg:visible").count() >= 3


def test_filters_leave_what_fits_all_of_them_and_say_how_much(browse):
    page = browse(TABLE).page
    assert status(page) == "8 of 8 systems shown, sorted by Rank, best first."
    page.locator("[data-facet=kind] summary").click()
    page.get_by_label("dense").check()
    assert set(order(page)) == {TINY, LARGE, CLOSED, TINY_2}
    page.locator("[data-facet=size] summary").click()
    page.locator("[data-facet=size]").get_by_label("not known").check()
    assert order(page) == [CLOSED]
    page.get_by_label("under 150M").check()  # several of one filter: any of them
    assert set(order(page)) == {TINY, CLOSED, TINY_2}
    assert status(page).startswith("3 of 8 systems shown")
    page.keyboard.press("Escape")
    assert page.locator(".menu[open]").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "Size"
    page.get_by_label("Search systems and teams").fill("TINY acme")
    assert set(order(page)) == {TINY, TINY_2}
    page.get_by_label("Search systems and teams").fill("nothing of the kind")
    assert status(page).startswith("0 of 8 systems shown")
    page.get_by_role("button", name="Clear").click()
    assert len(order(page)) == 8
    assert page.url.endswith("index.html")


def test_columns_are_sorted_by_the_keyboard_with_what_is_not_known_at_the_end(browse):
    page = browse(f"{TABLE}#cols=alpha-ndcg-10 recall-50 latency").page
    ranked = order(page)
    unknown = [entry for entry in ranked if entry in (CLOSED, ORACLE)]
    button = page.get_by_role("button", name="Latency")
    button.focus()
    page.keyboard.press("Enter")
    # 2.5, 3.5, 9, 10, 85 and 90 ms in the submissions
    assert order(page) == [BM25, BM25_2, TINY, TINY_2, LARGE, FUSED, *unknown]
    assert page.locator("th[aria-sort]").all_inner_texts() == ["Latency"]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    assert status(page) == "8 of 8 systems shown, sorted by Latency, rising."
    page.keyboard.press("Space")
    assert order(page) == [FUSED, LARGE, TINY_2, TINY, BM25_2, BM25, *unknown]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    assert page.evaluate("document.activeElement.textContent") == "Latency"
    page.get_by_role("button", name="Recall@50").press("Enter")  # the largest first, as one wants it
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="System").press("Enter")
    names = [page.locator(f"tr[data-id='{entry}'] a").text_content() for entry in order(page)]
    assert names == ["bm25", "bm25-2", "closed-embed", "fused", "large-embed", "oracle", "tiny-embed", "tiny-embed-2"]


def test_a_permalink_brings_back_the_same_view_on_other_topics_too(browse):
    page = browse(TABLE).page
    page.get_by_label("Search systems and teams").fill("e")
    page.locator("[data-facet=kind] summary").click()
    page.get_by_label("dense").check()
    page.locator("#columns summary").click()
    page.get_by_label("Judged@50").check()
    page.get_by_label("Licence", exact=True).uncheck()
    page.keyboard.press("Escape")  # the menu lies over the table
    page.get_by_role("button", name="Size").click()
    page.get_by_label("Compare large-embed").check()
    view, url = order(page), page.url
    assert len(view) == 4
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link to this view was copied.").or_(
        page.get_by_text("the link is in its address bar")
    ).wait_for()

    def check(other):
        assert other.get_by_label("Search systems and teams").input_value() == "e"
        assert other.locator("th[aria-sort=descending]").get_attribute("data-key") == "size"
        assert other.locator("th[data-key=judged-50]").is_visible()
        assert not other.locator("th[data-key=license]").is_visible()
        assert other.get_by_label("Compare large-embed").is_checked()
        assert order(other) == view

    fresh = browse("index.html").page
    fresh.goto(url)
    check(fresh)
    fresh.get_by_role("navigation", name="Topic").get_by_role("link", name="Beta").click()
    assert "table.beta." in fresh.url
    check(fresh)
    fresh.evaluate("location.hash = 'kind=fusion'")  # typed over
    fresh.wait_for_function("document.querySelectorAll('#board tbody tr:not([hidden])').length === 1")
    assert order(fresh) == [FUSED]


def test_a_hostile_permalink_says_nothing_that_the_page_does_not_know(browse):
    page = browse(
        f"{TABLE}#q=%3Cimg%20src=x%3E&kind=__proto__&sort=constructor&cols=&systems=../x,{ORACLE},{TINY}"
    ).page
    assert order(page) == []
    assert page.locator("th[aria-sort]").get_attribute("data-key") == "rank"
    assert page.locator("#picks a").get_attribute("href") == f"compare/macro.html#systems={TINY}"
    assert page.locator("main img").count() == 0


def test_two_to_five_systems_are_chosen_and_set_side_by_side(browse):
    page = browse(TABLE).page
    assert page.locator(".pick").count() == 7  # no oracle
    for name in ("fused", "large-embed", "closed-embed", "tiny-embed", "bm25"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    assert page.get_by_label("Compare tiny-embed-2").is_disabled()
    page.get_by_role("link", name="Compare side by side").click()
    assert page.url.endswith(f"compare/macro.html#systems={FUSED},{LARGE},{CLOSED},{TINY},{BM25}")
    page.go_back()
    page.get_by_role("button", name="Choose none").click()
    assert not page.locator("#picks").is_visible()


def test_on_a_desk_the_columns_of_the_start_are_all_in_sight_and_others_can_be_chosen(browse):
    page = browse(TABLE).page
    assert page.evaluate("(r => r.scrollWidth - r.clientWidth)(document.querySelector('.scroll'))") == 0
    page.locator("#columns summary").click()
    page.get_by_label("Latency").check()
    assert page.get_by_role("button", name="Latency").is_visible()
    assert page.locator("th[data-key=latency]").get_attribute("title")


def test_the_head_and_the_first_column_stay_in_sight(browse):
    page = browse(TABLE, viewport={"width": 900, "height": 500}).page
    page.evaluate("document.querySelector('.scroll').scrollTo(300, 200)")
    region = page.locator(".scroll").bounding_box()
    corner = page.locator("thead .first").bounding_box()
    head = page.locator("thead th[data-key=recall-50]").bounding_box()
    first = page.locator("tbody tr").nth(4).locator("th").bounding_box()
    assert abs(corner["x"] - region["x"]) <= 2
    assert abs(corner["y"] - region["y"]) <= 2
    assert abs(head["y"] - region["y"]) <= 2
    assert abs(first["x"] - region["x"]) <= 2


def test_dark_mode_is_chosen_and_kept_or_as_the_system_has_it(browse, chromium):
    window = browse(TABLE)
    page = window.page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    button = page.get_by_role("button", name="Dark mode")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    dark = page.evaluate(paper)
    assert dark != light
    assert window.goto(CHARTS).evaluate(paper) == dark
    assert browse(TABLE, color_scheme="dark").page.evaluate(paper) == dark
    window.context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }});")
    page = window.goto(TABLE)  # a browser that keeps nothing
    assert page.evaluate(paper) == light
    page.get_by_role("button", name="Dark mode").click()
    assert page.evaluate(paper) == dark


def test_on_paper_there_is_the_whole_table_in_black_on_white_and_no_control(browse):
    page = browse(TABLE, color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.locator("#tools:visible, nav .tabs:visible, .pick:visible").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("(r => r.scrollHeight <= r.clientHeight + 1)(document.querySelector('.scroll'))")


def test_on_paper_the_head_of_the_table_is_on_each_of_its_pages(browse):
    import pypdfium2

    page = browse(TABLE).page
    rows = "document.querySelector('#board tbody')"
    page.evaluate(
        f"for (const row of [...{rows}.rows, ...{rows}.rows, ...{rows}.rows]) {rows}.append(row.cloneNode(true))"
    )
    printed = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    held = [text for sheet in printed if "tiny-embed" in (text := sheet.get_textpage().get_text_range())]
    assert len(held) > 1
    assert all("Recall@50" in text and "Evidence" in text for text in held)


def test_served_by_a_host_it_asks_that_one_alone(chromium, sites):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(sites["plain"])))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        window = Opened(chromium, f"http://127.0.0.1:{server.server_port}")
        for path in PAGES:
            window.goto(path)
        assert window.page.locator("figure svg:visible").count() >= 3
        assert window.complaints == []
        assert {url.split("/")[2] for url in window.requests} == {f"127.0.0.1:{server.server_port}"}
        window.context.close()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
