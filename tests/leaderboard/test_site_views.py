"""What the pages of systems, queries, snapshots and changes show, held to values worked out by hand."""

import datetime
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from freshstack_datasets.evaluation import parse_measures
from freshstack_datasets.loading import load
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import write_run
from freshstack_datasets.snapshot import write_snapshot
from leaderboard.boards.records import MACRO, Board, Entry, PerQuery, Score, Scores, Topic
from leaderboard.site import addresses, changes, comparing, quarters, queries, systems, tiers
from leaderboard.site.pages import Published, Site
from leaderboard.site.query_views import TopicQueries
from leaderboard.verdicts.deciding import decide
from leaderboard.verdicts.records import Verdicts

ATOM = "{http://www.w3.org/2005/Atom}"
NO_VERDICTS = Verdicts({}, (), 100, 7)


def entry_with(entry_id, value, *, day="2026-10-01", scope="one", setting="inference", tier="reported", **more):
    scores = {} if value is None else {scope: Scores({"Recall@50": Score(value)})}
    told = {
        "entry_id": entry_id,
        "tier": tier,
        "name": entry_id.rpartition("-")[2],
        "team": "acme",
        "kind": "dense",
        "setting": setting,
        "parameters": None,
        "size": "-",
        "license": None,
        "openness": "",
        "trained_on_benchmark": "unknown",
        "date": datetime.date.fromisoformat(day),
        "url": None,
        "latency_ms": None,
        "in_pool": None,
        "topics": scores,
        "macro": None,
    }
    return Entry(**{**told, **more})


def board_of(entries, snapshot="2026-10", topics=("one",), name="made"):
    return Board(
        name=name,
        snapshot=snapshot,
        title="Made",
        about="Made up.",
        folder=Path("made") / snapshot,
        topics=tuple(Topic(topic, topic.capitalize(), f"made/{topic}", None) for topic in topics),
        measures=parse_measures("Recall@50"),
        baseline=None,
        entries=tuple(entries),
        updated=max(entry.date for entry in entries),
    )


def site_of(*boards, **options):
    published = tuple(Published(board, NO_VERDICTS) for board in boards)
    return Site(published, {}, lambda name, snapshot: None, **options)


# Addresses


def test_the_page_of_a_query_stays_in_its_folder_and_is_its_own_whatever_the_id():
    ids = [
        "76881099",
        "../../index",
        "A",
        "a",
        "",
        "con",
        "x" * 500,
        "x" * 501,
        "a/b",
        "a b",
        "é",
        "q#1",
        "%2e",
        "..",
        "index",
    ]
    files = [addresses.file_of(query_id) for query_id in ids]
    assert len({name.lower() for name in files}) == len(ids)
    assert all(
        name[:2] in ("q-", "h-") and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for name in files
    )
    assert files[0] == "q-76881099"
    assert max(map(len, files)) <= 102


@pytest.mark.parametrize(
    ("page", "target", "written"),
    [
        ("index.html", "about.html", "about.html"),
        ("a/b/index.html", "about.html", "../../about.html"),
        ("a/b/systems/x.html", "a/b/index.html", "../index.html"),
        ("a/b/index.html", "a/b/compare/macro.html#systems=x,y", "compare/macro.html#systems=x,y"),
    ],
)
def test_a_page_names_another_by_a_relative_address(page, target, written):
    assert addresses.between(page, target) == written


# Queries


@pytest.fixture
def held(tmp_path):
    """One query of two nuggets: d1 supports the first, d2 both, d3 was judged and supports none, d4 was not judged."""
    judged = {"d1": (1, 0), "d2": (1, 1), "d3": (0, 0)}
    write_snapshot(
        tmp_path / "one",
        dataset="made/one",
        snapshot="2026-10",
        license="CC0-1.0",
        documents=[
            Document(f"d{i}", f"T{i}", f"secret text {i}", {"url": f"https://x.example/{i}"}) for i in range(1, 6)
        ],
        queries=[Query("q", "How does it work?", title="How?", body="Really?")],
        nuggets=[Nugget("n2", "q", 1, "second"), Nugget("n1", "q", 0, "first")],
        judgments=[
            Judgment("q", n, d, score)
            for d, scores in judged.items()
            for n, score in zip(("n1", "n2"), scores, strict=True)
        ],
    )
    entries = []
    for name, ranking, value in (
        ("a", ["d3", "d4", "d2", "d1"], 1.0),
        ("b", ["d4", "d1"], 0.5),
        ("c", ["d5", "gone"], 0.0),
    ):
        path = tmp_path / f"{name}.jsonl"
        write_run({"q": {doc_id: -float(rank) for rank, doc_id in enumerate(ranking)}}, path)
        values = PerQuery(("q",), ("Recall@50", "Judged@10"), np.array([[value], [0.5]]))
        entries.append(
            entry_with(f"20261001-acme-{name}", value, tier="scored", per_query={"one": values}, runs={"one": path})
        )
    board = board_of(entries)
    return TopicQueries(board, board.topics[0], load(tmp_path / "one"))


def test_a_ranking_tells_what_each_document_is_and_where_each_nugget_is_first_supported(held):
    view = next(held.views())
    assert [nugget.text for nugget in view.nuggets] == ["first", "second"]
    assert view.supporting == (2, 1)  # d1 and d2; d2
    first, second, third = view.rankings
    assert [(place.doc_id, place.status) for place in first.places] == [
        ("d3", "not relevant"),
        ("d4", "not judged"),
        ("d2", "relevant"),
        ("d1", "relevant"),
    ]
    assert [first.first(0), first.first(1)] == [3, 3]
    assert [second.first(0), second.first(1)] == [2, None]
    assert [third.first(0), third.first(1)] == [None, None]
    assert first.values == {"Recall@50": 1.0, "Judged@10": 0.5}


def test_documents_that_support_something_come_first_and_then_the_best_ranked(held):
    documents = next(held.views()).documents
    # d1 is second for b, d2 third for a; then d3, d4 and d5 are first somewhere, and "gone" second.
    assert [one.place.doc_id for one in documents] == ["d1", "d2", "d3", "d4", "d5", "gone"]
    assert [(entry.name, rank) for entry, rank in documents[0].ranks] == [("b", 2), ("a", 4)]
    assert documents[1].numbers == (1, 2)
    assert documents[-1].document is None
    assert {one.document.text for one in documents if one.document} == {""}  # texts were not asked for


def test_every_system_has_a_grid_whose_signs_are_explained_once_and_the_first_have_their_documents_named(
    held, monkeypatch
):
    monkeypatch.setattr(queries, "LISTED", 2)
    site = Site((Published(held.board, NO_VERDICTS),), {}, lambda name, snapshot: held.dataset)
    made = queries.topic_pages(site, site.published[0], held.topic)
    text = next(page.text for page in made if page.path.endswith("q-q.html"))
    assert [text.count(f"<title>Nuggets by rank: {name}</title>") for name in "abc"] == [1, 1, 1]
    assert text.count('<ol class="places">') == 2
    assert text.count("judged relevant</text>") == 2  # for a desk and for a phone
    assert text.count("first</bdi>") == 1  # a nugget's text


def test_a_line_of_the_list_tells_how_hard_a_query_is(held):
    line = next(held.lines())
    assert (line.nuggets, line.supporting, line.mean, line.best, line.nothing) == (2, 2, 0.5, 1.0, 1)
    assert [entry.name for entry in line.leaders] == ["a"]


def test_a_dispute_names_the_judgment_whatever_the_ids_hold(held):
    view = next(held.views())
    assert queries.dispute(None, held.board, held.topic, view, view.documents[0]) is None
    address = queries.dispute("https://git.example/a/b/", held.board, held.topic, view, view.documents[1])
    parts = urlsplit(address)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://git.example/a/b/issues/new"
    asked = parse_qs(parts.query)
    assert "query q" in asked["title"][0]
    body = asked["body"][0]
    assert "Document: d2" in body
    assert "supports nugget 1, 2" in body
    assert "made/one@2026-10" in body


def test_a_question_without_a_title_is_shown_by_its_beginning():
    assert queries.asked("a\n b", None) == "a b"
    assert queries.asked("whole", "Title") == "Title"
    assert len(queries.asked("word " * 100, None)) <= queries.LONGEST + 1


# Systems


def test_the_hardest_queries_are_those_with_least_and_of_equal_ones_where_others_have_more():
    values = {"a": [0.0, 0.0, 0.5], "b": [0.2, 0.8, 1.0], "c": [0.4, 1.0, 0.0]}
    entries = [
        entry_with(
            f"20261001-acme-{name}",
            0.1,
            tier="scored",
            per_query={"one": PerQuery(("q1", "q2", "q3"), ("Recall@50",), np.array([row]))},
        )
        for name, row in values.items()
    ]
    view = next(systems.system_views(board_of(entries), NO_VERDICTS))
    # The others have 0.3 and 0.9 in the mean where a has nothing.
    assert [(hard.query_id, hard.value) for hard in view.hardest] == [("q2", 0.0), ("q1", 0.0), ("q3", 0.5)]
    assert view.hardest[0].others == pytest.approx(0.9)
    assert view.hardest[0].best == 1.0


def test_what_a_system_lacks_is_named_and_has_no_value():
    entry = entry_with("20261001-acme-a", 0.4)
    view = next(systems.system_views(board_of([entry], topics=("one", "two")), NO_VERDICTS))
    assert view.missing == ("Two",)
    assert [(line.scope, line.held[0].score) for line in view.scores] == [
        (MACRO, None),
        ("one", Score(0.4)),
        ("two", None),
    ]
    assert {fact.name: fact.value for fact in view.facts}["Licence of its models"] == ""  # shown as unknown


# Verdicts and comparisons


@pytest.fixture(scope="module")
def decided():
    """Four systems: two that are better by far than the other two on thirty queries, and alike among themselves."""
    noise = np.random.default_rng(5).normal(0, 0.05, (4, 30))
    rows = np.array([[0.8], [0.79], [0.2], [0.19]]) + noise
    query_ids = tuple(f"q{i}" for i in range(30))
    entries = [
        entry_with(
            f"20261001-acme-{name}",
            float(row.mean()),
            tier="scored",
            per_query={"one": PerQuery(query_ids, ("Recall@50",), row[None])},
        )
        for name, row in zip("abcd", rows, strict=True)
    ]
    board = board_of(entries)
    return Published(board, decide(board, resamples=500, seed=1))


def test_tiers_begin_where_a_system_can_be_told_from_the_first_of_the_one_before(decided):
    (scope,) = tiers.scope_tiers(decided)
    (found,) = scope.tiers
    assert [placed.standing.tier for placed in found.placed] == [1, 1, 2, 2]
    assert [placed.starts for placed in found.placed] == [True, False, True, False]
    assert {entry.name for entry in found.first} == {"a", "b"}


def test_each_system_is_compared_with_the_next_one_below_it(decided):
    view = comparing.compare_view(decided, "one", "made/2026-10/compare/one.html", with_queries=True)
    (part,) = view.compared
    order = sorted(decided.board.entries, key=lambda entry: -entry.topics["one"].measures["Recall@50"].value)
    names = [entry.name for entry in order]
    assert [(one.first.name, one.second.name) for one in part.neighbours] == list(pairwise(names))
    assert part.baseline is None
    assert part.against == ()


def test_the_script_is_given_every_pair_once_and_the_values_of_each_query(decided):
    data = comparing.compare_view(decided, "one", "made/2026-10/compare/one.html", with_queries=True).data
    pairs = data["pairs"]["Recall@50"]
    assert len({frozenset(pair[:2]) for pair in pairs}) == len(pairs) == 6  # of four systems
    by_id = {system["id"]: place for place, system in enumerate(data["systems"])}
    for entry in decided.board.entries:
        row = data["values"]["Recall@50"][by_id[entry.entry_id]]
        assert row == pytest.approx(entry.per_query["one"].values[0].tolist(), abs=1e-4)
    assert data["queries"][0] == ["q0", "../queries/one/q-q0.html"]
    assert data["systems"][0]["page"].startswith("../systems/2026")


def test_a_board_of_reported_rows_shows_how_far_its_topics_agree_and_no_tiers():
    values = {"a": (0.1, 0.3), "b": (0.2, 0.2), "c": (0.3, 0.1)}  # one topic turns the order of the other round
    entries = [
        entry_with(
            f"reported-{name}",
            None,
            topics={t: Scores({"Recall@50": Score(v)}) for t, v in zip(("one", "two"), both, strict=True)},
        )
        for name, both in values.items()
    ]
    board = board_of(entries, topics=("one", "two"))
    published = Published(board, decide(board, resamples=100))
    assert tiers.has_page(published)
    assert list(tiers.scope_tiers(published)) == []
    (found,) = tiers.alike(published)
    assert (found.title, found.systems) == ("Topics, by Recall@50", 3)
    assert "−1.00" in found.table
    assert "−1.00</text>" in found.chart
    assert not tiers.has_page(Published(board, NO_VERDICTS))


# Across quarters


def test_snapshots_stand_side_by_side_with_ranks_and_the_tau_of_each_and_the_one_before():
    before = board_of(
        [entry_with("20260701-acme-a", 0.3), entry_with("20260701-acme-b", 0.2), entry_with("20260701-acme-c", 0.1)],
        "2026-07",
    )
    after = board_of(
        [
            entry_with("20261001-acme-c", 0.9),
            entry_with("20261001-acme-b", 0.8),
            entry_with("20261001-acme-a", 0.7),
            entry_with("20261001-acme-new", 0.95),
            entry_with("20261001-acme-oracle", 0.99, setting="oracle"),
        ]
    )
    side = quarters.side([Published(before, NO_VERDICTS), Published(after, NO_VERDICTS)], "Recall@50")
    ranks = [(row.name, [cell and cell.rank for cell in row.cells]) for row in side.rows]
    assert ranks == [("new", [None, 1]), ("c", [3, 2]), ("b", [2, 3]), ("a", [1, 4])]
    assert side.tau[0] is None
    assert side.tau[1] == (-1.0, 3)  # the three that both have are turned round


# Changes


def test_events_come_newest_first_and_reported_rows_make_one():
    board = board_of(
        [
            entry_with("20261102-acme-b", 0.5, day="2026-11-02", tier="scored"),
            entry_with("20261101-acme-a", 0.6, day="2026-11-01", tier="scored"),
            entry_with("20261103-acme-none", None, day="2026-11-03", tier="scored"),
            entry_with("reported-x", 0.1, day="2026-01-05", source="arXiv 2504.13128"),
            entry_with("reported-y", 0.1, day="2026-01-06", source="arXiv 2504.13128"),
        ]
    )
    found = changes.events(site_of(board))
    assert [(event.day.isoformat(), event.title) for event in found] == [
        ("2026-11-03", "none by acme"),
        ("2026-11-02", "b by acme"),
        ("2026-11-01", "a by acme"),
        ("2026-01-06", "2 systems as they were reported"),
    ]
    assert found[0].detail.startswith("Incomplete")
    assert found[1].detail == "Recall@50 0.500."
    assert "arXiv 2504.13128" in found[3].detail


def test_the_feed_is_atom_whatever_names_hold_and_its_ids_last():
    name = "<script>&\"'\x00\x1b\ufffe \u202e ]]>"
    board = board_of([entry_with("20261101-acme-a", 0.6, tier="scored", name=name, team=name)])
    site = site_of(board, base_url="https://acme.example/b/")
    text = changes.feed(site, changes.events(site))
    root = ET.fromstring(text)
    assert root.tag == f"{ATOM}feed"
    (entry,) = root.findall(f"{ATOM}entry")
    assert "<script>&\"'" in entry.find(f"{ATOM}title").text
    assert entry.find(f"{ATOM}link").get("href") == "https://acme.example/b/made/2026-10/systems/20261101-acme-a.html"
    for needed in ("id", "title", "updated", "author"):
        assert root.find(f"{ATOM}{needed}") is not None
    assert entry.find(f"{ATOM}id").text.startswith("urn:uuid:")
    moved = site_of(board, base_url="https://elsewhere.example/")
    again = ET.fromstring(changes.feed(moved, changes.events(moved)))
    assert again.find(f"{ATOM}entry/{ATOM}id").text == entry.find(f"{ATOM}id").text
    assert root.find(f"{ATOM}id").text != entry.find(f"{ATOM}id").text
