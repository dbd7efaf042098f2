"""The page of an audit in a real browser: it keeps answers, saves and loads them, and obeys no text.

It needs Chromium; ``.ci/run`` installs it where it can.
"""

import json
import re
import shutil
import sys

import pytest

import freshstack_datasets as fsd
from builders.auditing import page as page_module
from builders.auditing.page import page as page_of
from builders.auditing.reading import read_sheets
from builders.auditing.sampling import draw
from builders.auditing.writing import write_sheets
from builders.cli import main
from freshstack_datasets.errors import MissingExtraError
from tests.builders.audited import write

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<script>window.hacked = 2</script>",
    "\"><img src=x onerror='window.hacked = 3'>",
    "</div></section></main><h2>gone</h2><!-- <style>*{display:none}</style>",
    "]]> &amp; &lt;b&gt; {{ 7 * 7 }} {% raw %} ${window.hacked = 4} `x`",
    "<svg onload=window.hacked=5><a href='javascript:window.hacked=6'>x</a><base href=//evil.example>",
    "\u2028\u2029 \u202egnp.exe <meta http-equiv=refresh content=0;url=//evil.example>",
    "x" * 500,  # no place to break a line
]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}

browsed = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; .ci/run installs it")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Four questions whose every text is hostile, and their sheets."""
    folder = tmp_path_factory.mktemp("hostile")
    nuggets = {f"{'<q>'}{i}'\"": HOSTILE[i::4] for i in range(4)}
    write(
        folder / "data",
        nuggets,
        documents=[
            fsd.Document(f"{q} {kind}", HOSTILE[0], "\n".join(HOSTILE), {"url": "javascript:window.hacked=7"})
            for q in nuggets
            for kind in ("doc", "other")
        ],
        queries=[fsd.Query(q, "\n".join(HOSTILE), answer_text=HOSTILE[i]) for i, q in enumerate(nuggets)],
    )
    write_sheets(folder / "data", folder / "sheets", questions=4, seed=7)
    return folder


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


class Watched:
    """A page, and all that it complains about or asks for."""

    def __init__(self, context, made):
        self.page = context.new_page()
        self.url = (made / "sheets" / "sheet.html").as_uri()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.url)

    def state(self):
        return self.page.inner_text("#state")


@pytest.fixture
def opened(chromium, made):
    context = chromium.new_context()
    yield Watched(context, made)
    context.close()


def answer_all(page, relevance="relevant", minor="no"):
    """Answer every cell of every question with the mouse."""
    count = page.locator("main section").count()
    for number in range(1, count + 1):
        here = page.locator(f"#q{number}")
        for box in here.locator("[role=radiogroup]").all():
            asked = box.get_attribute("aria-label")
            value = {"Relevance": relevance, "Minor or redundant?": minor}.get(asked, "no")
            box.get_by_label(value, exact=True).check()
        here.get_by_label("Missing nuggets").fill(str(number))
        if number < count:
            page.get_by_role("button", name="Next").click()


def saved(page, path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save", exact=True).click()
    download.value.save_as(path)
    return download.value.suggested_filename


def test_the_page_names_nothing_outside_itself_and_allows_its_own_script_alone(made):
    text = page_of(draw(fsd.load(made / "data"), 4, 7))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.replace("&#39;", "'").split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", rules["script-src"])
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", rules["style-src"])
    assert text.count("<script") == text.count("</script") == 1
    markup = re.sub(r"(?s)<(script|style)>.*?</\1>", "", text)
    assert not re.search(r"<[^>]*\s(src|href|style|on\w+)\s*=", markup)
    assert "<img" not in markup
    assert "&lt;/script&gt;&lt;script&gt;window.hacked = 1" in markup


def test_without_the_library_that_fills_templates_the_extra_is_named(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(page_module, "_template", page_module._template.__wrapped__)
    with pytest.raises(MissingExtraError, match=r"jinja2 is not installed; pip install 'freshstack-datasets\[build\]'"):
        page_of(draw(fsd.load(made / "data"), 1, 7))


@browsed
def test_every_text_is_shown_as_it_is_and_none_is_obeyed(opened, made):
    sample = draw(fsd.load(made / "data"), 4, 7)
    shown = [element.text_content() for element in opened.page.locator("main .text").all()]
    expected = []
    for item in sample.items:
        document = item.document
        expected += [item.query.text, item.query.answer_text, *(nugget.text for nugget in item.nuggets)]
        expected.append(f"{document.title}\n\n{document.text}")
    assert shown == expected
    assert opened.page.evaluate("window.hacked") is None
    assert opened.page.locator("main section:visible").count() == 1
    assert opened.requests == [opened.url]
    assert opened.complaints == []


@browsed
def test_what_is_filled_in_is_kept_saved_and_scored(opened, made, tmp_path, capsys):
    page = opened.page
    # 8 nuggets with two cells, 4 questions and 4 documents with one
    assert opened.state() == "24 answers to go."
    page.get_by_label("Your name").fill("Ada <b>L'\"</b>")
    answer_all(page, relevance="partially", minor="yes")
    page.locator("#q4").get_by_label("Remark").first.fill("=really\u2028?")
    assert opened.state() == "All is answered: save it, and hand the file in."

    page.reload()
    assert opened.state() == "All is answered: save it, and hand the file in."
    assert page.locator("#q4 h2").is_visible()  # where one was
    assert page.get_by_label("Your name").input_value() == "Ada <b>L'\"</b>"

    assert saved(page, tmp_path / "ada.json") == "audit-Ada-b-L-b-.json"
    (annotation,) = read_sheets(fsd.load(made / "data"), [tmp_path / "ada.json"])
    assert annotation.annotator == "Ada <b>L'\"</b>"
    by_column = {}
    for unit, value in annotation.values.items():
        by_column.setdefault(unit.column, []).append(value)
    assert by_column == {
        "hallucinated": [False] * 8,
        "minor": [True] * 8,
        "missing": [1, 2, 3, 4],
        "relevance": ["partially"] * 4,
    }
    assert list(annotation.remarks.values()) == ["=really ?"]
    assert main(["audit", "score", str(made / "data"), str(tmp_path / "ada.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["measures"]["precision"]["by_question"]["value"] == 0.0  # all are minor
    assert told["relevance"]["partially"]["value"] == 1.0
    assert opened.complaints == []


@browsed
def test_a_file_that_was_saved_half_way_is_gone_on_with_in_another_browser(chromium, opened, made, tmp_path, capsys):
    opened.page.get_by_label("Your name").fill("ada")
    opened.page.locator("#q1").get_by_label("Missing nuggets").fill("2")
    saved(opened.page, tmp_path / "half.json")
    assert main(["audit", "score", str(made / "data"), str(tmp_path / "half.json")]) == 2
    assert "got 23 empty" in capsys.readouterr().err

    other = chromium.new_context()  # as another machine: nothing is kept there
    resumed = Watched(other, made)
    assert resumed.state() == "24 answers to go."
    resumed.page.locator("#load").set_input_files(tmp_path / "half.json")
    resumed.page.get_by_text("Loaded. 23 answers to go.").wait_for()
    assert resumed.page.get_by_label("Your name").input_value() == "ada"
    answer_all(resumed.page)
    saved(resumed.page, tmp_path / "ada.json")
    other.close()
    assert len(read_sheets(fsd.load(made / "data"), [tmp_path / "ada.json"])) == 1


@browsed
@pytest.mark.parametrize(
    "change, message",
    [
        (None, "That file is none that this page saved."),
        ({"format": "x"}, "That file is none that this page saved."),
        ({"answers": None}, "That file is none that this page saved."),
        ({"sheet": "other"}, "That file is of another sheet."),
    ],
)
def test_a_file_of_something_else_changes_nothing(opened, made, tmp_path, change, message):
    opened.page.locator("#q1").get_by_label("Missing nuggets").fill("2")
    opened.page.get_by_label("Your name").fill("ada")
    saved(opened.page, tmp_path / "x.json")
    told = json.loads((tmp_path / "x.json").read_text())
    (tmp_path / "x.json").write_text("{" if change is None else json.dumps(told | change))
    opened.page.locator("#load").set_input_files(tmp_path / "x.json")
    opened.page.get_by_text(message).wait_for()
    assert opened.page.locator("#q1").get_by_label("Missing nuggets").input_value() == "2"


@browsed
def test_a_hostile_file_fills_fields_with_what_they_may_hold_and_does_nothing_else(opened, tmp_path):
    page = opened.page
    page.get_by_label("Your name").fill("ada")
    saved(page, tmp_path / "x.json")
    told = json.loads((tmp_path / "x.json").read_text())
    markup = "<img src=x onerror='window.hacked=1'>"
    told["annotator"] = markup
    told["answers"] = {
        "__proto__": {"x": 1},
        "constructor": "x",
        "Q1 nuggets: missing": "1e5",
        "Q1 nugget 1: minor": markup,
        "Q1 nugget 1: remark": markup,
        "Q1 nugget 1: hallucinated": ["yes"],
        "Q1 document: relevance": "not",
    }
    (tmp_path / "x.json").write_text(json.dumps(told))
    page.locator("#load").set_input_files(tmp_path / "x.json")
    page.get_by_text("Loaded. 23 answers to go.").wait_for()
    assert page.get_by_label("Your name").input_value() == markup
    assert page.locator("#q1").get_by_label("Remark").first.input_value() == markup
    assert page.evaluate("window.hacked") is None
    assert opened.complaints == []


@browsed
def test_answers_that_are_here_are_replaced_only_when_one_says_so(opened, tmp_path):
    page = opened.page
    missing = page.locator("#q1").get_by_label("Missing nuggets")
    page.get_by_label("Your name").fill("ada")
    missing.fill("2")
    saved(page, tmp_path / "x.json")
    missing.fill("3")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.locator("#load").set_input_files(tmp_path / "x.json")
    page.get_by_text("Nothing was loaded.").wait_for()
    assert missing.input_value() == "3"
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#load").set_input_files(tmp_path / "x.json")
    page.get_by_text("Loaded.").wait_for()
    assert missing.input_value() == "2"


@browsed
def test_two_tabs_of_one_sheet_have_the_same_answers(opened, made):
    other = Watched(opened.page.context, made)
    opened.page.locator("#q1").get_by_label("Missing nuggets").fill("2")
    other.page.get_by_text("23 answers to go.").wait_for()
    assert other.page.locator("#q1").get_by_label("Missing nuggets").input_value() == "2"


@browsed
def test_without_a_name_nothing_is_saved_and_the_name_is_asked_for(opened):
    opened.page.get_by_role("button", name="Save", exact=True).click()
    assert opened.state().startswith("Write your name first.")
    assert opened.page.evaluate("document.activeElement.id") == "annotator"


@browsed
def test_a_browser_that_keeps_nothing_says_so(chromium, made):
    context = chromium.new_context()
    context.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }});")
    watched = Watched(context, made)
    assert watched.state().endswith("This browser does not keep answers: save them before you leave.")
    context.close()


@browsed
def test_a_question_is_answered_by_the_keyboard_alone(opened):
    page, press = opened.page, opened.page.keyboard.press
    focused = "(e => ({id: e.id, type: e.type, name: e.name, tag: e.tagName}))(document.activeElement)"
    for _ in range(60):
        press("Tab")
        here = page.evaluate(focused)
        if here["type"] == "radio":
            press("Space")
        elif here["type"] == "number":
            page.keyboard.type("3")
        elif here["id"] == "after":
            break
    else:
        pytest.fail("the button Next is out of reach")
    assert opened.state() == "18 answers to go."  # 24, less two nuggets of two cells, one number and one document
    press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Question 2 of 4"
    press("Shift+Tab")  # nothing traps the focus
    assert page.evaluate("document.activeElement.tagName") != "H2"


@browsed
def test_a_phone_shows_it_without_scrolling_sideways_and_with_room_for_fingers(chromium, made):
    context = chromium.new_context(**PHONE)
    watched = Watched(context, made)
    for _ in range(4):
        assert watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert watched.page.evaluate("visualViewport.scale") == 1
        for label in watched.page.locator(".choice label:visible, nav button:visible").all():
            assert label.bounding_box()["height"] >= 44
        watched.page.evaluate("document.getElementById('after').click()")
    assert watched.page.locator("#q4 h2").is_visible()
    bar = watched.page.locator("nav").bounding_box()
    assert bar["height"] < 740 / 4  # it leaves the texts most of the screen
    context.close()
