"""What check finds where something published no longer holds together."""

import json
import shutil

import pytest
import yaml

from freshstack_datasets import __version__
from leaderboard.boards.definition import read_definition
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.checking import check_boards
from leaderboard.cli import main
from leaderboard.scoring import write_reproduction
from tests.leaderboard.made import BOARD, SNAPSHOT, entry_of, made_board


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_board(tmp_path_factory.mktemp("made"), systems=3, topics=2)


@pytest.fixture
def root(made, tmp_path):
    return shutil.copytree(made, tmp_path / "submissions")


def errors(root, **options):
    folder = root / BOARD / SNAPSHOT
    return {(problem.code, problem.message) for problem in check_boards([folder], root, **options) if problem.is_error}


def test_a_board_where_all_is_well_has_no_error(root):
    assert errors(root, rescore=True) == set()


def test_a_submission_without_scores_is_found(root):
    (root / BOARD / SNAPSHOT / entry_of(1) / "scores.json").unlink()
    ((code, message),) = errors(root)
    assert code == "not-scored"
    assert "python -m leaderboard score" in message


def test_scores_of_a_run_that_was_changed_are_found(root):
    run = root / BOARD / SNAPSHOT / entry_of(1) / "beta.trec"
    lines = run.read_text(encoding="utf-8").splitlines(keepends=True)
    run.write_text("".join(lines[:-1]), encoding="utf-8")
    assert ("changed", "beta.trec was changed since it was scored") in errors(root)


def test_a_submission_that_was_edited_after_it_was_scored_is_found(root):
    path = root / BOARD / SNAPSHOT / entry_of(2) / "submission.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("large-embed", "huge-embed"), encoding="utf-8")
    assert ("changed", "submission.yaml was changed since it was scored") in errors(root)


def test_a_score_that_somebody_typed_is_found_by_scoring_again(root):
    path = root / BOARD / SNAPSHOT / entry_of(2) / "scores.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    told["topics"]["alpha"]["measures"]["Recall@50"]["value"] = 0.999
    path.write_text(json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    assert "rescored" in {code for code, _ in errors(root, rescore=True)}


def test_a_score_that_somebody_typed_is_found_without_scoring_again(root):
    path = root / BOARD / SNAPSHOT / entry_of(2) / "scores.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    told["macro"]["measures"]["Recall@50"]["value"] = 0.999
    path.write_text(json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    ((code, message),) = errors(root)
    assert code == "unreadable"
    assert "scores.json, macro: Recall@50 is 0.999, and the mean of its values is" in message


def test_values_per_query_that_were_changed_are_found(root):
    path = root / BOARD / SNAPSHOT / entry_of(2) / "per_query.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("0.0", "1.0", 1), encoding="utf-8")
    assert "unreadable" in {code for code, _ in errors(root)}


def test_another_version_of_the_evaluator_is_a_warning_when_its_scores_are_the_same(root):
    path = root / BOARD / SNAPSHOT / entry_of(2) / "scores.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(__version__, "0.1"), encoding="utf-8")  # as evaluator, and in each signature
    assert text.count(__version__) == 1 + 2 * 3
    found = [*check_boards([root / BOARD / SNAPSHOT], root, rescore=True)]
    assert [(one.code, one.is_error) for one in found if one.code == "rescored"] == [("rescored", False)]


def test_a_second_run_that_failed_or_is_of_another_run_is_a_warning(root, tmp_path):
    folder, path = root / BOARD / SNAPSHOT, root / BOARD / SNAPSHOT / entry_of(1) / "reproduction.json"

    def told():
        problems = [problem for problem in check_boards([folder], root) if problem.code == "reproduction"]
        assert not any(problem.is_error for problem in problems)
        return [(problem.file, problem.message) for problem in problems]

    def run_again(number):
        with_runs = shutil.copytree(folder / entry_of(number), tmp_path / "again", dirs_exist_ok=True)
        write_reproduction(folder / entry_of(1), with_runs, read_definition(folder))
        return json.loads(path.read_text(encoding="utf-8"))

    run_again(1)
    assert told() == []
    largest = run_again(2)["largest_difference"]
    assert told() == [(str(path), f"run again, it had a mean that was off by {largest:.4f}")]
    same = json.dumps(run_again(1))
    digests = [json.loads(same)["runs"]["beta"]["original"], "f" * 64]
    path.write_text(same.replace(*digests), encoding="utf-8")
    assert told() == [(str(path), "it is of other runs than those that were scored")]


def test_scores_on_other_data_are_found(root):
    path = root / BOARD / SNAPSHOT / "board.yaml"
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    told["topics"][0]["fingerprint"] = "f" * 64
    path.write_text(yaml.safe_dump(told), encoding="utf-8")
    assert "not-comparable" in {code for code, _ in errors(root)}


def test_an_invalid_submission_is_found_with_the_code_of_validate(root):
    folder = root / BOARD / SNAPSHOT / entry_of(2)
    (folder / "notes.html").write_text("<script>", encoding="utf-8")
    codes = {problem.code for problem in check_boards([root / BOARD / SNAPSHOT], root)}
    assert any(code.startswith("E") for code in codes)


def test_a_definition_that_cannot_be_read_does_not_keep_other_boards_from_being_checked(root):
    other = shutil.copytree(root / BOARD / SNAPSHOT, root / "aaa" / SNAPSHOT)
    (other / "board.yaml").write_text("title: [", encoding="utf-8")
    found = [*check_boards([other, root / BOARD / SNAPSHOT], root)]
    assert [problem.code for problem in found if problem.is_error] == ["unreadable"]


def test_a_published_mean_that_is_none_of_its_topics_is_told(root):
    info = {"name": "Odd", "size": "-", "type": "open_source", "date": "2026-01-01", "link": ""}
    values = {"alpha_ndcg_10": 0.5, "coverage_20": 0.5, "recall_50": 0.5}
    row = {"info": info, "datasets": {"alpha": values, "beta": values, "average": {**values, "recall_50": 0.502}}}
    source = {"url": "https://acme.dev", "commit": None, "date": "2026-01-01", "sha256": "0" * 64}
    told = {"schema_version": 1, "source": source, "rows": [row]}
    (root / BOARD / SNAPSHOT / "reported.json").write_text(json.dumps(told), encoding="utf-8")
    (found,) = (one for one in check_boards([root / BOARD / SNAPSHOT], root) if one.code == "average")
    assert not found.is_error
    assert "Recall@50 0.502" in found.message


def test_a_folder_without_any_board_is_an_error(tmp_path, capsys):
    assert main(["check", "--root", str(tmp_path)]) == 2
    assert "expected a board.yaml in <board>/<snapshot>, got none" in capsys.readouterr().err


def test_the_command_ends_with_1_when_something_is_wrong(root, capsys):
    assert main(["check", "--root", str(root)]) == 0
    assert "1 board checked: 0 errors" in capsys.readouterr().err
    (root / BOARD / SNAPSHOT / entry_of(1) / "scores.json").unlink()
    assert main(["check", f"{BOARD}/{SNAPSHOT}", "--root", str(root), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["ok"]
    assert [one["code"] for one in told["problems"] if one["severity"] == "error"] == ["not-scored"]


def test_the_command_spells_a_finding_as_validate_does(root, capsys):
    folder = root / BOARD / SNAPSHOT / entry_of(2)
    (folder / "notes.html").write_text("<script>", encoding="utf-8")
    assert main(["validate", str(folder), "--root", str(root)]) == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if ": error " in line)
    assert line.startswith(f"{folder / 'notes.html'}: error E105 odd-file: ")
    assert main(["check", "--root", str(root)]) == 1
    assert capsys.readouterr().out.splitlines()[0] == line  # before all warnings


def test_the_command_counts_warnings_of_one_code_in_one_line(root, capsys):
    for number in range(3):
        run = root / BOARD / SNAPSHOT / entry_of(number) / "alpha.trec"
        lines = [line.split("\t") for line in run.read_text(encoding="utf-8").splitlines()]
        run.write_text("".join("\t".join([*line[:4], "1.0", line[5]]) + "\n" for line in lines), encoding="utf-8")

    def ties(*options):
        assert main(["check", "--root", str(root), *options]) == 1  # the runs were changed after they were scored
        return [line for line in capsys.readouterr().out.splitlines() if ": warning W411 equal-scores: " in line]

    (line,) = ties()
    assert line.startswith(str(root / BOARD / SNAPSHOT / entry_of(0) / "alpha.trec"))
    assert line.endswith("(and 2 more of W411; --verbose lists them)")
    assert len(ties("--verbose")) == 3
    main(["check", "--root", str(root), "--json"])
    told = json.loads(capsys.readouterr().out)["problems"]
    assert [one["severity"] for one in told if one["code"] == "W411"] == ["warning"] * 3


def test_the_command_counts_faults_that_are_not_told_one_by_one(root, capsys):
    run = root / BOARD / SNAPSHOT / entry_of(1) / "beta.trec"
    text = run.read_text(encoding="utf-8")
    query = text.split("\t")[0]
    more = "".join(f"{query}\tQ0\tnobody-{number}\t{number}\t0.0\tx\n" for number in range(100))
    run.write_text(text + more, encoding="utf-8")
    main(["check", "--root", str(root), "--json"])
    told = json.loads(capsys.readouterr().out)["problems"]
    assert sum(one["count"] for one in told if one["code"] == "E402") == 100


def test_what_comes_with_the_project_holds_together():
    """Every digit of the scores on the boards here comes out again."""
    folders = [SUBMISSIONS / "nimbus" / "2026-11", SUBMISSIONS / "freshstack" / "2024-10"]
    found = [problem for problem in check_boards(folders, SUBMISSIONS, rescore=True) if problem.is_error]
    assert found == []
