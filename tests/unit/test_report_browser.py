"""Charts in a real browser, with its own fonts: on a desk and on a phone, light and dark.

It needs Chromium; ``.ci/run`` installs it where it can.
"""

import random
import shutil
from dataclasses import replace
from datetime import date

import pytest

from freshstack_datasets.report import (
    LATENCY,
    SIZE,
    Bar,
    Line,
    Part,
    Point,
    Ranked,
    Row,
    bars,
    bars_table,
    figure,
    grid_key,
    grid_table,
    heat_map,
    heat_table,
    history,
    matrix_table,
    nugget_grid,
    points_table,
    ranking,
    scatter,
    stylesheet,
    tau_matrix,
)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
KINDS = ["sparse", "dense", "late-interaction", "hybrid", "fusion", "rerank", "agentic", "llm", ""]
MEASURE = "alpha_nDCG@10"
NOTHING = "<p>The same as above.</p>"
POLICY = "default-src 'none'; style-src 'self' file:"

browsed = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; .ci/run installs it")

BOXES = """() => [...document.querySelectorAll("svg.fs-chart")].filter(svg => svg.checkVisibility()).map(svg => {
  const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
  return {svg: box(svg), texts: [...svg.querySelectorAll("text")].map(text => [text.lastChild.textContent, box(text)])};
})"""


def systems():
    """Thirty-five systems as crowded as those of a real board."""
    chance = random.Random(8)
    names = ["BM25", "<script>window.hacked = 1</script>", "Wwwwwww MMMMM (W)", "x" * 500, "嵌入模型 (大)"]
    for count in range(35):
        value = chance.gauss(0.27, 0.06)
        half = chance.choice([None, 0.02])
        yield Point(
            names[count] if count < len(names) else f"Embedding-{count * 37}M v{count % 4}",
            value,
            "f",
            value - half if half else None,
            value + half if half else None,
            KINDS[count % len(KINDS)],
            chance.choice([None, 0, 10 ** chance.uniform(7.5, 10.5)]),
            date(2024, 1 + count % 12, 1 + count % 28),
            f"rank {count} to {count + 9}",
        )


def figures():
    """A figure of each kind."""
    points = list(systems())
    lines = [Line(f"Oracle: retriever {n} (nuggets)", value) for n, value in enumerate((0.54, 0.49, 0.4, 0.39, 0.34))]
    rows = [
        Row(p.name, (p.value, *(p.value + n / 100 if n != p.value else None for n in range(5))), "f") for p in points
    ]
    topics = ["All topics", "LangChain", "Yolo v7 & v8", "Laravel", "Angular", "Godot"]
    names = ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
    taus = [[1.0, 0.85, -0.2], [0.85, 1.0, None], [-0.2, None, 1.0]]
    counts = [
        Bar(p.name, tuple(Part(n, i * 40, str(i * 40)) for i, n in enumerate(("wins", "ties")))) for p in points[:6]
    ]
    ranked = [Ranked(f"repo/doc {n}.md", n % 3 > 0, frozenset({n % 4} if n % 5 == 2 else ())) for n in range(20)]
    nuggets = ["Drop the foreign keys before the migration, in the same transaction", "x" * 300, "<b>bold</b>", "短い"]
    words = {"title": "A chart", "about": "What it shows"}
    twin = points_table("Numbers", points, MEASURE, SIZE, lines)
    yield lambda w: scatter(points, SIZE, MEASURE, lines=lines, groups=KINDS, width=w, **words), twin
    yield lambda w: scatter(points, LATENCY, MEASURE, groups=KINDS, width=w, **words), NOTHING
    yield lambda w: history(points, MEASURE, lines=lines, groups=KINDS, width=w, **words), NOTHING
    yield lambda w: ranking(points, MEASURE, lines=lines, groups=KINDS, width=w, **words), NOTHING
    yield lambda w: heat_map(rows, topics, MEASURE, width=w, **words), heat_table("Topics", rows, topics)
    yield lambda w: tau_matrix(names, taus, width=w, **words), matrix_table("Tau", names, taus)
    yield lambda w: bars(counts, width=w, **words), bars_table("Counts", counts)
    yield lambda w: nugget_grid(nuggets, ranked, width=w, **words), grid_table("Grid", nuggets, ranked)
    yield lambda w: nugget_grid(nuggets, ranked, key=False, width=w, **words) + grid_key(width=w), NOTHING
    same_day = [replace(p, day=date(2026, 11, 30)) for p in points[:12]]
    yield lambda w: history(same_day, MEASURE, width=w, **words), NOTHING
    yield lambda w: scatter([], SIZE, MEASURE, width=w, **words), NOTHING
    yield lambda w: history(points[:1], MEASURE, width=w, **words), NOTHING


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    page_style = "body { margin: 16px; background: var(--fs-paper); color: var(--fs-ink); }"
    (folder / "style.css").write_text(stylesheet() + page_style, encoding="utf-8")
    body = "".join(figure(draw, caption="Bars are 95 % intervals.", twin=twin) for draw, twin in figures())
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    head += '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Charts</title>'
    head += '<link rel="stylesheet" href="style.css">'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><main><h1>Charts</h1>{body}</main></body></html>'
    (folder / "page.html").write_text(page, encoding="utf-8")
    return folder / "page.html"


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(params=[(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")], ids=str)
def opened(chromium, written, request):
    width, scheme = request.param
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(written.as_uri())
    yield page
    context.close()


def overlaps(one, other):
    """Whether two boxes share more than a pixel both across and down."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 1 and down > 3  # a box of text has a little air above and below its letters


@browsed
def test_no_text_lies_on_another_or_leaves_its_chart(opened):
    drawn = opened.evaluate(BOXES)
    assert len(drawn) == 13
    for chart in drawn:
        left, top, right, bottom = chart["svg"]
        for text, box in chart["texts"]:
            assert box[0] >= left - 1, text
            assert box[2] <= right + 1, text
            assert box[1] >= top - 3, text
            assert box[3] <= bottom + 1, text
        level = [(text, box) for text, box in chart["texts"] if box[3] - box[1] < 20]  # turned ones have large boxes
        for place, (text, box) in enumerate(level):
            for other, second in level[place + 1 :]:
                assert not overlaps(box, second), (text, other)


@browsed
def test_the_page_obeys_no_text_asks_for_nothing_and_does_not_scroll_across(opened, written):
    assert opened.evaluate("window.hacked") is None
    assert opened.complaints == []
    assert opened.requests == [written.as_uri(), written.with_name("style.css").as_uri()]
    assert opened.evaluate("document.documentElement.scrollWidth") <= opened.viewport_size["width"]
    for summary in opened.locator("summary").all():
        summary.click()
    assert opened.evaluate("document.documentElement.scrollWidth") <= opened.viewport_size["width"]


@browsed
@pytest.mark.parametrize("opened", [(1400, "light"), (390, "dark")], ids=str, indirect=True)
def test_nobody_is_kept_out(opened):
    from axe_playwright_python.sync_playwright import Axe

    for summary in opened.locator("summary").all():
        summary.click()
    found = Axe().run(opened).response["violations"]
    assert [(violation["id"], violation["nodes"][0]["html"]) for violation in found] == []


@browsed
def test_letters_are_legible_at_both_widths(opened):
    sizes = opened.evaluate(
        """() => [...document.querySelectorAll("svg.fs-chart")].filter(svg => svg.checkVisibility())
             .map(svg => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"""
    )
    assert min(sizes) >= 11
