"""The published rows: imported as they are, put right where they are wrong, and exported again."""

import copy
import datetime
import hashlib
import json
import os
import threading
from pathlib import Path

import pytest
import yaml

from freshstack_datasets.errors import InputError
from leaderboard.boards.importing import import_rows
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.boards.reading import read_board
from leaderboard.cli import main

OURS = SUBMISSIONS / "freshstack" / "2024-10"
FROM = {"url": "https://github.com/acme/board", "commit": "abfdf08", "date": "2026-04-08"}


def row(name="BM25", value=0.25, **info):
    told = {"name": name, "size": "-", "type": "open_source", "date": "2024-11-01", "link": "https://acme.dev/bm25"}
    values = {"alpha_ndcg_10": value, "coverage_20": 0.5, "recall_50": 0}
    return {"info": told | info, "datasets": {topic: dict(values) for topic in ("alpha", "beta", "average")}}


@pytest.fixture
def board(tmp_path):
    folder = tmp_path / "submissions" / "made" / "2026-10"
    folder.mkdir(parents=True)
    topics = [{"name": n, "title": n, "dataset": f"freshstack/{n}", "fingerprint": None} for n in ("alpha", "beta")]
    told = {"title": "Made", "about": "Made up.", "measures": ["alpha_nDCG@10", "Coverage@20", "Recall@50"],
            "baseline": None, "topics": topics}  # fmt: skip
    (folder / "board.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return folder


@pytest.fixture
def given(tmp_path):
    def write(*rows):
        path = tmp_path / "leaderboard_data.json"
        path.write_text(json.dumps({"leaderboardData": list(rows)}, indent="\t"), encoding="utf-8")
        return path

    return write


def corrected(board, *details):
    (board / "reported-details.yaml").write_text(yaml.safe_dump({"details": list(details)}), encoding="utf-8")


def test_the_forty_published_rows_are_on_the_board_with_their_published_means():
    board = read_board(OURS)
    assert len(board.entries) == 40
    assert {entry.tier for entry in board.entries} == {"reported"}
    # As published: https://github.com/fresh-stack/fresh-stack.github.io at abfdf08.
    qwen = board.entry("reported-qwen3-8b-emb")
    assert {name: score.value for name, score in qwen.macro.measures.items()} == {
        "alpha_nDCG@10": 0.365, "Coverage@20": 0.689, "Recall@50": 0.525,
    }  # fmt: skip
    assert qwen.topics["laravel"].measures["Recall@50"].value == 0.615
    assert qwen.topics["laravel"].measures["Recall@50"].low is None
    assert (board.entry("reported-bm25").topics["godot"].measures["alpha_nDCG@10"].value) == 0.144
    assert not any(entry.tested for entry in board.entries)


def test_the_five_oracles_are_lines_of_reference():
    oracles = [entry for entry in read_board(OURS).entries if not entry.ranked]
    assert len(oracles) == 5
    assert {entry.name.partition(":")[0] for entry in oracles} == {"Oracle"}


def test_who_chose_the_judged_documents_is_marked_and_nobody_else():
    marked = {entry.name for entry in read_board(OURS).entries if entry.in_pool and entry.ranked}
    # arXiv:2504.13128, section 3.4
    assert marked == {"BM25", "BGE (Gemma-2)", "E5 (Mistral-7B)", "Voyage Large 2", "Fusion (BM25, BGE, E5, Voyage)"}
    assert not [entry.name for entry in read_board(OURS).entries if entry.in_pool is None]


def test_what_is_wrong_in_the_published_rows_is_put_right():
    board = read_board(OURS)
    # By MTEB's metadata of the models; the page says 109M, 2024-07-29 and 2025-01-01.
    arctic = board.entry("reported-arctic-embed-m-v2-0")
    assert (arctic.parameters, arctic.size) == (305_000_000, "305M")
    assert board.entry("reported-granite-embedding-english-r2").date == datetime.date(2025, 8, 15)
    assert board.entry("reported-stella-400m-v5").date == datetime.date(2024, 7, 12)
    assert board.entry("reported-jina-v3-emb").license == "CC-BY-NC-4.0"
    assert board.entry("reported-voyage-large-2").openness == "closed"


def test_every_row_has_a_kind_and_every_detail_its_source():
    assert all(entry.kind for entry in read_board(OURS).entries)
    details = yaml.safe_load((OURS / "reported-details.yaml").read_text(encoding="utf-8"))["details"]
    assert all(len(detail["source"]) > 10 for detail in details)


def test_importing_again_gives_the_same_bytes(board, given):
    path = given(row(), row("Other", 0.3))
    import_rows(path, board, **FROM)
    before = (board / "reported.json").read_bytes()
    again = import_rows(path, board)
    assert (board / "reported.json").read_bytes() == before
    assert (again.rows, again.added, again.changed, again.gone) == (2, (), (), ())


def test_a_pipe_is_imported_as_the_file_that_goes_through_it(board, given, tmp_path):
    path, pipe = given(row()), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    import_rows(pipe, board, **FROM)
    writer.join()
    told = json.loads((board / "reported.json").read_text(encoding="utf-8"))
    assert told["source"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_importing_says_what_came_changed_and_went(board, given):
    import_rows(given(row(), row("Old")), board, **FROM)
    found = import_rows(given(row(value=0.26), row("New")), board, date="2026-05-01")
    assert (found.added, found.changed, found.gone) == (("New",), ("BM25",), ("Old",))
    told = json.loads((board / "reported.json").read_text(encoding="utf-8"))
    assert told["source"]["date"] == "2026-05-01"
    assert told["source"]["commit"] is None  # that of another file is not this one's


@pytest.mark.parametrize("day", ["2026-13-45", "2026-02-30", "today", "2026"])
def test_a_day_that_there_is_not_is_refused(board, given, day):
    with pytest.raises(InputError, match=f"--date, expected a day of the calendar, such as 2026-10-24, got '{day}'"):
        import_rows(given(row()), board, **FROM | {"date": day})
    assert not (board / "reported.json").exists()


@pytest.mark.parametrize("url", ["javascript:alert(1)", "acme.dev", "https://", "https://acme.dev/a b"])
def test_a_source_that_is_no_address_is_refused(board, given, url):
    with pytest.raises(InputError, match="--source, expected an address that begins with https:// or http://, got "):
        import_rows(given(row()), board, **FROM | {"url": url})


def test_more_rows_than_can_be_read_again_are_refused(board, given):
    import_rows(given(row()), board, **FROM)
    before = (board / "reported.json").read_bytes()
    path = given(*(row(f"System {number}") for number in range(5_500)))
    path.write_text(json.dumps(json.loads(path.read_text()), separators=(",", ":")))
    assert path.stat().st_size < 2_000_000
    with pytest.raises(
        InputError, match=r"expected rows of at most 2,000,000 bytes, as they are kept, got 2,\d{3},\d{3}"
    ):
        import_rows(path, board, **FROM)
    assert (board / "reported.json").read_bytes() == before


def test_rows_without_an_origin_are_refused(board, given):
    with pytest.raises(InputError, match="--source"):
        import_rows(given(row()), board)
    with pytest.raises(InputError, match="--source"):
        import_rows(given(row()), board, url="javascript:alert(1)", date="2026-04-08")
    assert not (board / "reported.json").exists()


def broken(change):
    told = copy.deepcopy(row())
    change(told)
    return told


@pytest.mark.parametrize(
    "wrong",
    [
        broken(lambda told: told["info"].pop("size")),
        broken(lambda told: told["info"].update(colour="red")),
        broken(lambda told: told["info"].update(size="8 billion")),
        broken(lambda told: told["info"].update(type="free")),
        broken(lambda told: told["info"].update(date="2024-02-30")),
        broken(lambda told: told["info"].update(name="")),
        broken(lambda told: told["info"].update(name="a\nb")),
        broken(lambda told: told["datasets"].pop("average")),
        broken(lambda told: told["datasets"].update(gamma={})),
        broken(lambda told: told["datasets"]["alpha"].pop("recall_50")),
        broken(lambda told: told["datasets"]["alpha"].update(recall_50=1.01)),
        broken(lambda told: told["datasets"]["alpha"].update(recall_50="0.5")),
        broken(lambda told: told["datasets"]["alpha"].update(recall_50=True)),
    ],
)
def test_rows_of_another_schema_are_refused(board, given, wrong):
    with pytest.raises(InputError, match=r"leaderboard_data\.json"):
        import_rows(given(row("Good"), wrong), board, **FROM)
    assert not (board / "reported.json").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"\xff", b"{}", b'{"leaderboardData": NaN}', b"[" * 200_000,
     b'{"leaderboardData": [], "leaderboardData": []}', b" " * 3_000_000, b"9" * 5_000],
)  # fmt: skip
def test_a_file_that_is_none_is_an_error_of_ours(board, tmp_path, content):
    path = tmp_path / "leaderboard_data.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"leaderboard_data\.json"):
        import_rows(path, board, **FROM)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ":1, expected JSON, got an empty file; name a file leaderboard_data.json as it is published"),
        (b"\n\n<!DOCTYPE html>\n<title>Board</title>", ":3, expected JSON, got '<!DOCTYPE html>' instead of a value; "),
        (b'{"leaderboardData": [', ":1, expected JSON, got the end of the file instead of a value; "),
        (b'{"leaderboardData" []}', ":1, expected JSON, got '[]}' instead of a ':' delimiter; "),
        (b'{"leaderboardData": []} x', ":1, expected JSON, got 'x' (extra data); "),
        (b"\xff\xfe\x00", ", expected JSON, got bytes that are no text; "),
    ],
)
def test_a_file_that_is_no_json_is_told_by_what_stands_there(board, tmp_path, capsys, content, said):
    path = tmp_path / "leaderboard_data.json"
    path.write_bytes(content)
    assert main(["import", str(path), "--board", "made/2026-10", "--root", str(board.parents[1])]) == 2
    assert f"leaderboard_data.json{said}" in capsys.readouterr().err


def test_a_name_comes_once(board, given):
    with pytest.raises(InputError, match="each name once"):
        import_rows(given(row(), row()), board, **FROM)


def test_names_that_look_alike_get_ids_of_their_own(board, given):
    names = ["A b", "A-b", "a_B", "äb!", "日本", "検索", "<script>alert(1)</script>"]
    import_rows(given(*map(row, names)), board, **FROM)
    found = {entry.name: entry.entry_id for entry in read_board(board).entries}
    assert found["A b"] == "reported-a-b"
    assert len(set(found.values())) == len(names)
    assert all(set(entry_id) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for entry_id in found.values())


def test_an_address_that_is_none_of_the_web_is_no_link(board, given):
    links = ["javascript:alert(1)", "", "https://acme.dev/a b", "http://acme.dev"]
    import_rows(given(*(row(f"S{n}", link=link) for n, link in enumerate(links))), board, **FROM)
    assert {entry.name: entry.url for entry in read_board(board).entries} == {
        "S0": None, "S1": None, "S2": None, "S3": "http://acme.dev",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("size", "parameters"), [("-", None), ("8B", 8_000_000_000), ("1.5B", 1_500_000_000), ("596M", 596_000_000),
                             ("0.6K", 600)]
)  # fmt: skip
def test_a_size_is_a_number_of_parameters(board, given, size, parameters):
    import_rows(given(row(size=size)), board, **FROM)
    (entry,) = read_board(board).entries
    assert (entry.parameters, entry.size) == (parameters, size)


def test_details_are_added_with_their_source(board, given):
    import_rows(given(row(), row("Other", size="8B")), board, **FROM)
    corrected(
        board,
        {"rows": ["BM25", "Other"], "in_pool": False, "source": "the paper"},
        {"rows": ["Other"], "parameters": 7_567_295_488, "license": "MIT", "source": "the model's page"},
    )
    other = read_board(board).entry("reported-other")
    assert (other.in_pool, other.parameters, other.size, other.license) == (False, 7_567_295_488, "7.57B", "MIT")


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ([{"rows": ["BM52"], "kind": "sparse", "source": "s"}], "did you mean 'BM25'"),
        ([{"rows": ["BM25"], "kind": "sparse"}], "source"),
        ([{"rows": [], "kind": "sparse", "source": "s"}], "rows"),
        ([{"rows": ["BM25"], "kind": "clever", "source": "s"}], "kind"),
        ([{"rows": ["BM25"], "license": "Best License", "source": "s"}], "license"),
        ([{"rows": ["BM25"], "recall_50": 0.9, "source": "s"}], "unknown key 'recall_50'"),
        ([{"rows": ["BM25"], "in_pool": flag, "source": f"{flag}"} for flag in (True, False)], "in_pool once"),
    ],
)
def test_details_that_fit_no_row_are_refused(board, given, details, said):
    import_rows(given(row()), board, **FROM)
    corrected(board, *details)
    with pytest.raises(InputError, match=r"reported-details\.yaml") as refused:
        read_board(board)
    assert said in str(refused.value)


def test_the_command_imports_and_tells_what_it_did(board, given, capsys):
    root = str(board.parent.parent)
    typed = ["import", str(given(row())), "--board", "made/2026-10", "--root", root]
    assert main([*typed]) == 2
    assert "--source" in capsys.readouterr().err
    assert main([*typed, "--source", FROM["url"], "--date", FROM["date"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["added"] == ["BM25"]
    assert main(typed) == 0
    assert "reported.json: 1 row\n" in capsys.readouterr().out


def test_what_is_published_here_satisfies_the_schema_that_it_was_published_by():
    told = json.loads((OURS / "reported.json").read_text(encoding="utf-8"))
    assert told["source"]["commit"] == "abfdf08"
    assert [list(row["datasets"]) for row in told["rows"]] == [
        ["langchain", "yolo", "laravel", "angular", "godot", "average"]
    ] * 40
    assert Path(OURS / "board.yaml").is_file()
