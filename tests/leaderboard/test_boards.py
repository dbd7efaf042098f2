"""Boards: how their folders are called, what board.yaml says, and what is read from a whole board."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from freshstack_datasets.errors import FreshStackError, InputError, NotComparableError, UnknownNameError
from leaderboard.boards.definition import read_definition
from leaderboard.boards.places import Place, place_of_board, place_of_submission, run_files, wrong_in_name
from leaderboard.boards.reading import board_named, boards_of, read_board
from leaderboard.boards.records import MACRO
from tests.leaderboard.made import BOARD, SNAPSHOT, entry_of, made_board


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_board(tmp_path_factory.mktemp("made"), systems=6, topics=2)


@pytest.fixture
def board(made, tmp_path):
    """A board of one's own, to change."""
    shutil.copytree(made, tmp_path / "submissions")
    return tmp_path / "submissions" / BOARD / SNAPSHOT


def changed(folder, **members):
    path = folder / "board.yaml"
    told = yaml.safe_load(path.read_text(encoding="utf-8")) | members
    path.write_text(yaml.safe_dump(told), encoding="utf-8")


def edited(path, *keys, value):
    told = json.loads(path.read_text(encoding="utf-8"))
    inner = told
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    path.write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["20261130-acme-bm25", "20240229-a-b", "20261130-acme-bm25-k1.2", "20261130-acme-a-b-c-1"]
)
def test_a_submission_is_called_by_day_team_and_system(name):
    assert wrong_in_name(name) is None
    folder = Path("anywhere/submissions/nimbus/2026-11") / name
    assert place_of_submission(folder) == Place("nimbus", "2026-11", name)


@pytest.mark.parametrize(
    "name",
    ["20261130-acme", "20261131-acme-bm25", "20230229-a-b", "2026-11-30-acme-bm25", "20261130-Acme-bm25",
     "20261130-acme-bm_25", "20261130-acme-..", "20261130-acme-.bm25", "20261130-acme-bm25.", "20261130--bm25",
     "20261130-acme-b m", "20261130-acme-bm25\n", "20261130-äcme-bm25", "٢0261130-acme-bm25", "", "..",
     "20261130-acme-" + "x" * 100],
)  # fmt: skip
def test_another_name_is_refused(name):
    assert wrong_in_name(name)
    with pytest.raises(InputError):
        place_of_submission(Path("submissions/nimbus/2026-11") / name)


@pytest.mark.parametrize("folder", ["Nimbus/2026-11", "nimbus/2026-13", "nimbus/2026", "nimbus/..", "/2026-11", "/"])
def test_a_board_is_called_by_name_and_snapshot(folder):
    with pytest.raises(InputError):
        place_of_board(Path(folder))
    assert place_of_board(Path("x/nimbus/2026-11.2")) == Place("nimbus", "2026-11.2")
    assert place_of_board(Path("x/nimbus/2026-11/../2026-12/")) == Place("nimbus", "2026-12")


def test_the_run_files_of_a_topic_are_those_of_its_name(tmp_path):
    for name in ("alpha.trec", "alpha.jsonl.gz", "alphabet.trec", "alpha.csv", "alpha", "beta.run"):
        (tmp_path / name).touch()
    (tmp_path / "alpha.parquet").mkdir()
    assert [path.name for path in run_files(tmp_path, "alpha")] == ["alpha.jsonl.gz", "alpha.trec"]
    assert not run_files(tmp_path, "gamma")


def test_the_definition_of_a_board_is_read_with_its_topics_and_measures_as_values(board):
    found = read_definition(board)
    assert found.topic_names == ("alpha", "beta")
    assert [str(measure) for measure in found.parsed_measures] == ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
    assert found.topic("beta").title == "Beta"
    assert [topic.name for topic in found.records()] == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"measures": ["alpha_ndcg@10"]}, "alpha_nDCG@10, as it is printed"),
        ({"measures": ["Best@10"]}, "a measure such as alpha_nDCG@10"),
        ({"measures": ["Recall@50", "Recall@50"]}, "each once"),
        ({"measures": []}, "measures"),
        ({"baseline": "bm25"}, "yyyymmdd-team-system"),
        ({"topics": []}, "topics"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"title": ""}, "title"),
        ({"title": "a\nb"}, "title"),
    ],
)
def test_a_definition_that_says_what_is_not_allowed_is_refused_with_its_line(board, members, said):
    changed(board, **members)
    with pytest.raises(InputError, match=r"board\.yaml:\d+") as refused:
        read_definition(board)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [("macro", "another name"), ("scores", "another name"), ("per_query", "another name"), ("beta", "each once"),
     ("../alpha", "a short name"), ("Alpha", "a short name"), ("alpha.trec", "a short name"), ("", "alpha")],
)  # fmt: skip
def test_a_topic_cannot_be_called_like_a_file_or_a_scope(board, name, said):
    told = yaml.safe_load((board / "board.yaml").read_text(encoding="utf-8"))
    told["topics"][0]["name"] = name
    changed(board, topics=told["topics"])
    with pytest.raises(InputError, match="topics") as refused:
        read_definition(board)
    assert said in str(refused.value) or name == ""


def test_a_folder_without_a_definition_is_no_board(tmp_path):
    with pytest.raises(InputError, match="the folder of a board"):
        read_definition(tmp_path)


def test_boards_are_found_by_name_and_by_folder(made):
    assert boards_of(made) == [made / BOARD / SNAPSHOT]
    assert board_named(f"{BOARD}/{SNAPSHOT}", made) == board_named(str(made / BOARD / SNAPSHOT), made)
    with pytest.raises(UnknownNameError, match=f"did you mean '{BOARD}/{SNAPSHOT}'"):
        board_named("mad/2026-10", made)


def test_a_board_has_every_scored_submission_by_falling_mean(made):
    board = read_board(made / BOARD / SNAPSHOT)
    assert (board.name, board.snapshot, board.scopes) == (BOARD, SNAPSHOT, (MACRO, "alpha", "beta"))
    assert {entry.entry_id for entry in board.entries} == {entry_of(number) for number in range(6)}
    means = [entry.macro.measures["alpha_nDCG@10"].value for entry in board.entries]
    assert means == sorted(means, reverse=True)
    assert board.updated == max(entry.date for entry in board.entries)
    assert board.baseline == entry_of(0)
    assert not board.warnings


def test_an_entry_says_what_scores_and_submission_say(made):
    folder = made / BOARD / SNAPSHOT / entry_of(2)
    entry = read_board(folder.parent).entry(entry_of(2))
    told = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    alpha = told["topics"]["alpha"]
    score = entry.topics["alpha"].measures["Recall@50"]
    assert {"value": score.value, "low": score.low, "high": score.high} == {
        key: alpha["measures"]["Recall@50"][key] for key in ("value", "low", "high")
    }
    assert entry.topics["alpha"].judged == alpha["judged"]
    assert entry.topics["alpha"].condensed == alpha["condensed"]
    assert entry.topics["alpha"].queries == 24
    assert entry.macro.queries == 48
    assert (entry.tier, entry.kind, entry.openness) == ("scored", "dense", "open")
    assert (entry.parameters, entry.size, entry.license) == (7_567_295_488, "7.57B", "Apache-2.0")
    assert entry.latency_ms == 85.0
    assert entry.tested
    assert entry.ranked
    assert entry.runs == {name: folder / f"{name}.trec" for name in ("alpha", "beta")}
    mean = entry.per_query["beta"].values[0].mean()
    assert mean == pytest.approx(told["topics"]["beta"]["measures"]["alpha_nDCG@10"]["value"], abs=1e-12)


def test_who_helped_to_choose_the_judged_documents_is_marked(made):
    board = read_board(made / BOARD / SNAPSHOT)
    marked = {entry.entry_id: entry.in_pool for entry in board.entries}
    # The pool of the made data is of bm25 and of dense:acme/tiny-embed.
    assert marked == {entry_of(n): n in (0, 1, 4, 5) for n in range(6)}


def test_an_oracle_has_no_rank_and_takes_part_in_no_test(made):
    oracle = read_board(made / BOARD / SNAPSHOT).entry(entry_of(5))
    assert oracle.setting == "oracle"
    assert not oracle.ranked
    assert not oracle.tested


def test_what_was_not_scored_is_left_out_with_a_warning(board):
    (board / entry_of(1) / "scores.json").unlink()
    (board / entry_of(2) / "submission.yaml").unlink()
    found = read_board(board)
    assert len(found.entries) == 4
    assert [warning.partition(" is left out")[0] for warning in found.warnings] == [entry_of(1), entry_of(2)]
    assert "python -m leaderboard score" in found.warnings[0]
    assert str(board) not in found.warnings[0]  # the page shows it: no place of this machine


def test_a_baseline_that_is_not_there_is_none(board):
    (board / entry_of(0) / "scores.json").unlink()
    found = read_board(board)
    assert found.baseline is None
    assert any("the baseline" in warning for warning in found.warnings)


def test_a_board_without_systems_is_a_board(board):
    for number in range(6):
        shutil.rmtree(board / entry_of(number))
    found = read_board(board)
    assert found.entries == ()
    assert found.updated.isoformat() == "2026-10-01"


def test_systems_scored_on_other_data_are_refused_and_both_are_named(board):
    changed(board, topics=[
        topic | {"fingerprint": None} for topic in yaml.safe_load((board / "board.yaml").read_text())["topics"]
    ])  # fmt: skip
    edited(board / entry_of(3) / "scores.json", "topics", "beta", "fingerprint", value="f" * 64)
    with pytest.raises(NotComparableError, match="f" * 64) as refused:
        read_board(board)
    assert entry_of(3) in str(refused.value)
    assert entry_of(0) in str(refused.value)
    assert refused.value.exit_code == 3


def test_scores_of_other_data_than_the_boards_are_refused(board):
    edited(board / entry_of(0) / "scores.json", "topics", "alpha", "fingerprint", value="e" * 64)
    with pytest.raises(NotComparableError, match="of the board"):
        read_board(board)


def test_a_system_that_lacks_a_topic_has_no_mean_over_all_of_them(board):
    from leaderboard.scoring import write_scores

    (board / entry_of(4) / "beta.trec").unlink()
    write_scores(board / entry_of(4), read_definition(board))
    found = read_board(board)
    assert found.entries[-1].entry_id == entry_of(4)
    assert found.entries[-1].macro is None
    assert list(found.entries[-1].topics) == ["alpha"]


def test_scores_by_other_measures_than_the_boards_are_refused(board):
    changed(board, measures=["nDCG@10"])
    with pytest.raises(InputError, match="score it again"):
        read_board(board)


def test_scores_of_a_topic_that_the_board_lost_are_refused(board):
    changed(board, topics=yaml.safe_load((board / "board.yaml").read_text(encoding="utf-8"))["topics"][:1])
    with pytest.raises(InputError, match="the board's topics, alpha, got beta"):
        read_board(board)


@pytest.mark.parametrize("name", ["alpha.trec", "submission.yaml"])
def test_what_was_changed_since_it_was_scored_is_left_out_with_a_warning(board, name):
    with (board / entry_of(1) / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    found = read_board(board)
    assert entry_of(1) not in {entry.entry_id for entry in found.entries}
    (warning,) = found.warnings
    assert warning.startswith(
        f"{entry_of(1)} is left out: {name} was changed since it was scored; python -m leaderboard"
    )


def test_a_run_that_is_gone_or_new_since_scoring_keeps_a_submission_off_the_board(board):
    (board / entry_of(1) / "beta.trec").unlink()
    (board / entry_of(2) / "beta.trec").rename(board / entry_of(2) / "beta.run")
    found = read_board(board)
    assert len(found.entries) == 4
    assert "beta.trec was scored, and there is no run file" in found.warnings[0]
    assert "beta.trec was scored, and there is beta.run" in found.warnings[1]


def test_a_second_run_that_agrees_makes_a_system_reproduced_until_its_run_changes(board):
    from leaderboard.scoring import write_reproduction, write_scores

    folder = board / entry_of(0)
    again = shutil.copytree(folder, board.parent.parent / "again")
    write_reproduction(folder, again, read_definition(board))
    entry = read_board(board).entry(entry_of(0))
    assert (entry.tier, entry.reproduced) == ("reproduced", 0.0)
    with (folder / "alpha.trec").open("a", encoding="utf-8") as run:
        run.write("\n")
    write_scores(folder, read_definition(board))
    assert read_board(board).entry(entry_of(0)).tier == "scored"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000, b"1" * 10_000]
)
def test_scores_that_cannot_be_read_are_an_error_of_ours(board, content):
    (board / entry_of(0) / "scores.json").write_bytes(content)
    with pytest.raises(FreshStackError, match=r"scores\.json"):
        read_board(board)
