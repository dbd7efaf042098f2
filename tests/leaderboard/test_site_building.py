"""The site as files: what it holds, where its links lead, what it may load, and how it takes the place of an older one."""

import json
import re
import shutil
import sys
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from freshstack_datasets.errors import InputError, MissingExtraError, UnknownNameError
from freshstack_datasets.evaluation import parse_measures
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.boards.records import MACRO, Board, Entry, PerQuery, Score, Scores, Topic
from leaderboard.cli import main
from leaderboard.site import charting, home, pages, writing
from leaderboard.site.facets import facets, size_class
from leaderboard.site.pages import Page, Published, address
from leaderboard.site.table import Axis, nearest_depth, table_of
from leaderboard.site.writing import MARK, build_site, site_of
from leaderboard.verdicts.deciding import decide
from tests.leaderboard.made import BOARD, SNAPSHOT, made_board

MEASURES = ("alpha_nDCG@10", "Recall@50")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return made_board(tmp_path_factory.mktemp("made"), systems=7, topics=2, hostile=True, queries=8)


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "site"
    build_site(root, out, resamples=100, base_url="https://example.com/board")
    return out


class Markup(HTMLParser):
    """The addresses, ids, elements and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.bare = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.ids |= {told["id"]} if "id" in told else set()
        if tag == "a":
            self.links.append(told["href"])
        elif told.get("src") or (tag == "link" and told["rel"] != "canonical"):
            self.loads.append(told.get("src") or told["href"])
        inline = tag == "script" and "src" not in told and told.get("type") != "application/json"
        if tag == "style" or inline or any(name == "style" or name.startswith("on") for name in told):
            self.bare.append((tag, attrs))


@pytest.fixture(scope="module")
def markup(site):
    return {path: Markup(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def entry(name, setting="inference", parameters=None, queries=None, **values):
    """A system of two topics; one with values for each query when they are given."""
    topics = {
        topic: Scores({m: Score(v) for m, v in zip(MEASURES, found, strict=True)}) for topic, found in values.items()
    }
    whole = {m: Score(float(np.mean([topics[t].measures[m].value for t in topics]))) for m in MEASURES}
    return Entry(
        entry_id=f"20261101-acme-{name}",
        tier="scored" if queries else "reported",
        name=name,
        team="Acme",
        kind="dense",
        setting=setting,
        parameters=parameters,
        size="-",
        license=None,
        openness="",
        trained_on_benchmark="unknown",
        date=date(2026, 11, 1),
        url=None,
        latency_ms=None,
        in_pool=None,
        topics=topics,
        macro=Scores(whole) if len(topics) == 2 else None,
        per_query=queries or {},
    )


def board_of(*entries, **changes):
    topics = tuple(Topic(name, name.upper(), f"freshstack/{name}", "0" * 64) for name in ("a", "b"))
    measures = tuple(parse_measures(MEASURES))
    about = "What it measures."
    board = Board("made", "2026-10", "Made", about, Path("nowhere"), topics, measures, None, entries, date(2026, 11, 1))
    return replace(board, **changes)


def published(*entries, **changes):
    board = board_of(*entries, **changes)
    return Published(board, decide(board, resamples=100))


def test_every_link_within_the_site_leads_to_something(site, markup):
    for path, page in markup.items():
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("http", "https"), (path, link)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_relative_to(site.resolve()), (path, link)
            assert target.is_file(), (path, link)
            if parts.fragment and target in markup and "=" not in parts.fragment:
                assert unquote(parts.fragment) in markup[target].ids, (path, link)


def test_every_page_can_be_reached_from_the_front_without_a_script(site, markup):
    seen, left = set(), [(site / "index.html").resolve()]
    while left:
        page = left.pop()
        if page not in seen and page in markup:
            seen.add(page)
            left += [(page.parent / unquote(urlsplit(link).path)).resolve() for link in markup[page].links]
    assert seen == set(markup)
    # two topics and both together, by three measures
    assert len(list((site / BOARD / SNAPSHOT).glob("table.*.html"))) == 3 * 3 - 1
    assert len(list((site / BOARD / SNAPSHOT).glob("charts.*.html"))) == 3 * 3 - 1


def test_a_page_may_load_its_own_style_script_and_images_and_holds_none_inline(site, markup):
    for path, page in markup.items():
        text = path.read_text(encoding="utf-8")
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert {rules[name] for name in ("default-src", "base-uri", "form-action")} == {"'none'"}
        assert {rules[name] for name in ("script-src", "style-src", "img-src")} == {"'self'"}
        assert page.bare == []
        assert not [one for one in page.loads if urlsplit(one).scheme or one.startswith("/")]


def test_all_pages_share_one_small_script(site, markup):
    scripts = {
        (path.parent / link).resolve() for path, page in markup.items() for link in page.loads if link.endswith(".js")
    }
    assert scripts == {site.resolve() / "site.js"} == {path.resolve() for path in site.rglob("*.js")}
    assert (site / "site.js").stat().st_size < 25_000


def test_every_page_says_when_it_was_updated_and_what_its_numbers_stand_on(site, markup, root):
    fingerprints = re.findall("fingerprint: ([0-9a-f]{12})", (root / BOARD / SNAPSHOT / "board.yaml").read_text())
    assert len(fingerprints) == 2
    for path in markup:
        text = path.read_text(encoding="utf-8")
        assert "2026-11-07" in text  # the seventh submission
        assert "freshstack-datasets" in text.partition("<footer")[2] or "evaluator" in text.lower()
        if path.parent.name == SNAPSHOT:
            assert all(fingerprint in text for fingerprint in fingerprints)


def test_the_same_submissions_give_the_same_bytes(root, site, tmp_path):
    build_site(root, tmp_path / "again", resamples=100, base_url="https://example.com/board/")
    files = {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    again = tmp_path / "again"
    assert {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()} == files


def test_an_older_site_is_replaced_as_a_whole_and_stays_when_the_new_one_fails(root, site, tmp_path, monkeypatch):
    out = tmp_path / "site"
    out.mkdir()
    (out / MARK).write_text('{"made_by": "python -m leaderboard build"}')
    (out / "old.html").write_text("old")

    def broken(_):
        yield Page("index.html", "new")
        raise InputError("a page that fails")

    with monkeypatch.context() as patched:
        patched.setattr(writing, "SECTIONS", (broken,))
        with pytest.raises(InputError, match="a page that fails"):
            build_site(root, out, resamples=100)
    assert sorted(path.name for path in out.iterdir()) == ["old.html", MARK]
    monkeypatch.setattr(writing, "SECTIONS", (lambda _: [Page("index.html", "new \ud800")],))
    built = build_site(root, out, resamples=100)
    assert sorted(path.name for path in out.glob("*.html")) == ["index.html"]
    assert (out / "index.html").read_text() == "new ?"
    assert json.loads((out / MARK).read_text())["boards"][0]["systems"] == 7
    assert built.files == len([path for path in out.rglob("*") if path.is_file()])
    assert built.size == sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert [path.name for path in tmp_path.iterdir()] == ["site"]  # nothing is left beside it


def test_what_is_no_site_is_never_replaced(root, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="a new folder, an empty one, or a site that was built before"):
        build_site(root, tmp_path / "mine", resamples=100)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="expected a folder"):
        build_site(root, tmp_path / "file", resamples=100)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("told", ["", "{}", "[]", '{"made_by": "hand"}', "[" * 100_000, "\ud800"])
def test_a_file_of_the_same_name_makes_no_folder_a_site(root, tmp_path, told):
    (tmp_path / MARK).write_text(told, errors="surrogatepass")
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="or a site that was built before, got other files"):
        build_site(root, tmp_path, resamples=100)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_of_two_builds_at_once_one_stays_and_nothing_is_left_beside_it(root, tmp_path, monkeypatch):
    out = tmp_path / "site"

    def section(text, before=lambda: None):
        def pages(_):
            before()
            yield Page("index.html", text)

        return (pages,)

    def build(text, before=lambda: None):
        monkeypatch.setattr(writing, "SECTIONS", section(text, before))
        build_site(root, out, resamples=100)

    def rename(path, target):
        monkeypatch.undo()  # this one alone is disturbed
        told = original(path, target)
        shutil.copytree(target, path)  # the other build, between the two renames of this one
        return told

    original = Path.rename
    build("old")
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(InputError, match=r"cannot replace the site .*, got .*; see whether another build writes there"):
        build("new")
    assert (out / "index.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_two_pages_at_one_place_are_an_error(root, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SECTIONS", (lambda _: [Page("a.html", "1"), Page("a.html", "2")],))
    with pytest.raises(InputError, match="two pages at"):
        build_site(root, tmp_path / "site", resamples=100)


def test_a_board_that_does_not_exist_is_named_with_the_nearest(root, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown board 'made/2026-1'; did you mean 'made/2026-10'"):
        build_site(root, tmp_path / "site", only=["made/2026-1"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"expected a board\.yaml"):
        build_site(tmp_path / "empty", tmp_path / "site")


def test_without_the_library_that_fills_templates_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'freshstack-datasets\[leaderboard\]'"):
        pages.environment.__wrapped__()


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example", "https://", "http://[", "", None, "ftp://x.org"],
)
def test_only_addresses_of_the_web_are_linked_to(url):
    assert address(url) is None
    assert address("https://example.com/a?b#c") == "https://example.com/a?b#c"


def test_snapshots_come_newest_first_and_corrections_by_number():
    boards = [
        board_of(entry("x", a=(0.5, 0.5), b=(0.5, 0.5)), snapshot=s) for s in ("2026-10.2", "2026-07", "2026-10.10")
    ]
    site = site_of(boards, None, resamples=100)
    assert [each.board.snapshot for each in site.published] == ["2026-10.10", "2026-10.2", "2026-07"]
    assert site.has_quarters("made")


def test_reported_systems_are_ranked_roughly_with_ties_and_oracles_without_a_rank():
    oracle, best = entry("oracle", "oracle", a=(0.9, 0.9), b=(0.9, 0.9)), entry("best", a=(0.5, 0.1), b=(0.7, 0.3))
    tied = [entry(name, a=(0.4, 0.9), b=(0.6, 0.9)) for name in ("one", "two")]
    last, partial = entry("last", a=(0.1, 0.1), b=(0.1, 0.1)), entry("partial", a=(1.0, 1.0))
    shown = table_of(published(partial, last, *tied, best, oracle), MACRO, "alpha_nDCG@10")
    # means over a and b: 0.9, 0.6, 0.5, 0.5, 0.1, and none for the one without b
    assert [(row.entry.name, row.place) for row in shown.rows] == [
        ("oracle", None),
        ("best", 1),
        ("one", 2),
        ("two", 2),
        ("last", 4),
        ("partial", None),
    ]
    assert shown.rows[-1].missing == ("B",)
    assert shown.rows[-1].strip is None
    ahead = home.lead(published(best, *tied, oracle))
    assert ([found.name for found in ahead.entries], ahead.tested) == (["best"], False)
    by_recall = table_of(published(best, *tied), MACRO, "Recall@50")
    assert [row.entry.name for row in by_recall.rows] == ["one", "two", "best"]


def test_tested_systems_have_an_interval_of_ranks_and_a_line_where_a_tier_begins():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.02, (3, 40))

    def made(name, mean, row):
        values = np.clip(mean + noise[row], 0, 1)
        queries = tuple(f"q{i}" for i in range(40))
        held = {t: PerQuery(queries, (MEASURES[0],), values[None, :]) for t in ("a", "b")}
        found = (float(values.mean()), 0.5)
        return entry(name, queries=held, a=found, b=found)

    good, twin, poor = made("good", 0.8, 0), made("twin", 0.8, 0), made("poor", 0.2, 2)
    reported = entry("reported", a=(0.99, 0.5), b=(0.99, 0.5))
    whole = published(reported, good, twin, poor, measures=tuple(parse_measures(MEASURES[:1])))
    shown = table_of(whole, MACRO, MEASURES[0])
    rows = {row.entry.name: row for row in shown.rows}
    assert rows["reported"].standing is None
    assert rows["reported"].place is None  # it was not tested, and others were
    assert {row.entry.name for row in shown.rows if row.starts} == {"poor"}
    assert {found.name for found in shown.first_tier} == {"good", "twin"}
    assert shown.untested == 1
    ahead = home.lead(whole)
    assert ahead.tested
    assert {found.name for found in ahead.entries} == {"good", "twin"}
    assert (rows["poor"].standing.rank, rows["poor"].standing.rank_low, rows["poor"].standing.rank_high) == (3, 3, 3)


def test_the_axis_of_intervals_ends_at_whole_twentieths():
    axis = Axis.of([Score(0.31, 0.26, 0.42), Score(0.5)])
    assert (axis.low, axis.high) == (0.25, 0.5)
    # 6 of 160 units stay free at each side: 0.25 at 6, 0.5 at 154, a half between at 80
    assert axis.grid == ("6.0", "80.0", "154.0")
    strip = axis.strip(Score(0.375, 0.25, 0.5))
    assert (strip.low, strip.place, strip.high) == ("6.0", "80.0", "154.0")
    assert (Axis.of([]).low, Axis.of([]).high) == (0, 1)
    assert Axis.of([Score(0.5)]).high > 0.5


@pytest.mark.parametrize(
    ("measure", "depth"), [("alpha_nDCG@10", 10), ("Coverage@20", 20), ("Recall@50", 50), ("P@1", 10)]
)
def test_what_was_judged_is_shown_at_the_depth_of_the_measure(measure, depth):
    assert nearest_depth(measure) == depth


def test_filters_have_a_place_for_what_is_not_known():
    sizes = [(None, "not known"), (0, "no model"), (149_999_999, "under 150M"), (150_000_000, "150M to 1B")]
    sizes += [(4_999_999_999, "1B to 5B"), (5_000_000_000, "5B and more")]
    assert [size_class(parameters) for parameters, _ in sizes] == [name for _, name in sizes]
    found = facets([entry(f"e{i}", parameters=parameters, a=(0.1, 0.1)) for i, (parameters, _) in enumerate(sizes)])
    options = {facet.key: facet.options for facet in found}
    assert [name for name, _ in options["size"]] == [
        "no model",
        "under 150M",
        "150M to 1B",
        "1B to 5B",
        "5B and more",
        "not known",
    ]
    assert options["license"] == options["weights"] == (("no model", 1), ("not known", 5))
    assert options["tier"] == (("reported", 6),)
    assert {"kind", "training", "setting"} <= set(options)


def test_charts_hold_every_system_that_takes_part_and_oracles_as_lines():
    oracle = entry("Oracle <b>", "oracle", a=(0.9, 0.9), b=(0.9, 0.9))
    sized, unknown = (
        entry("sized", parameters=10**9, a=(0.5, 0.1), b=(0.7, 0.3)),
        entry("none", a=(0.4, 0.1), b=(0.2, 0.3)),
    )
    drawn = {
        chart.key: chart.html for chart in charting.charts(published(oracle, sized, unknown), MACRO, MEASURES[0], None)
    }
    assert drawn["latency"] is None  # nobody measured it
    assert drawn["topics"] is None
    assert "0.900 Oracle &lt;b&gt;" in drawn["size"]
    assert drawn["size"].count("1B</td>") == 1
    assert drawn["size"].count("not known</td>") == 1
    about = {chart.key: chart.about for chart in charting.charts(published(sized), MACRO, MEASURES[0], None)}
    assert about["ranking"].startswith("Nothing here was tested")
    for key in ("ranking", "size", "history"):  # the lines of reference are in the tables as well
        assert drawn[key].count('<th scope="row">Oracle &lt;b&gt;</th><td>line of reference</td>') == 1


def test_a_chart_of_ranks_says_of_each_tested_system_how_sure_its_rank_is():
    queries = tuple(f"q{i}" for i in range(40))
    noise = np.random.default_rng(1).normal(0, 0.02, (2, 40))

    def made(name, mean, row):
        held = PerQuery(queries, (MEASURES[0],), (mean + noise[row])[None, :])
        found = (float(held.values.mean()), 0.5)
        return entry(name, queries={"a": held, "b": held}, a=found, b=found)

    whole = published(made("good", 0.8, 0), made("poor", 0.2, 1), measures=tuple(parse_measures(MEASURES[:1])))
    drawn = {chart.key: chart.html for chart in charting.charts(whole, MACRO, MEASURES[0], None)}["ranking"]
    # a lead of 0.6 with a deviation of 0.02 is there in every resample
    assert re.findall(r'<th scope="row">(\w+)</th>.*<td>(rank [^<]*)</td>', drawn) == [
        ("good", "rank 1, tier 1"),
        ("poor", "rank 2, tier 2"),
    ]


def test_the_boards_of_the_repository_become_a_site(tmp_path):
    built = build_site(SUBMISSIONS, tmp_path / "site", resamples=100)
    assert {f"{board.name}/{board.snapshot}" for board in built.boards} >= {"freshstack/2024-10", "nimbus/2026-11"}
    page = (tmp_path / "site" / "freshstack" / "2024-10" / "index.html").read_text(encoding="utf-8")
    assert page.count("<tr class=") == 40
    assert page.count('<tr class="reference"') == 5  # the rows of the published file that are called Oracle
    assert len(list((tmp_path / "site" / "freshstack" / "2024-10").glob("table.*.html"))) == 6 * 3 - 1
    nimbus = (tmp_path / "site" / "nimbus" / "2026-11" / "index.html").read_text(encoding="utf-8")
    assert nimbus.count("data-tested") >= 6
    assert nimbus.count('<tr class="reference"') == 2


def test_the_command_says_what_it_built(root, tmp_path, capsys):
    out = tmp_path / "site"
    assert main(["build", "--root", str(root), "--out", str(out), "--board", "made", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["out"] == str(out)
    assert [(one["board"], one["snapshot"], one["systems"]) for one in told["boards"]] == [("made", SNAPSHOT, 7)]
    assert told["files"] == sum(1 for path in out.rglob("*") if path.is_file())
    assert main(["build", "--root", str(root), "--out", str(tmp_path), "--json"]) == 2
    assert "error: the folder" in capsys.readouterr().err
    assert main(["build", "--root", str(root), "--out", str(tmp_path / "x"), "--repository", "javascript:x"]) == 2
    assert "--repository, expected an address" in capsys.readouterr().err
