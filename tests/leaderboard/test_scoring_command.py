"""``python -m leaderboard score``: what it writes, what it prints, and how it ends."""

import json
import shutil

import pytest

from freshstack_datasets.runs import read_run, write_run
from leaderboard.cli import main
from leaderboard.scoring import read_reproduction, read_scores
from tests.leaderboard import made


@pytest.fixture
def root(tmp_path):
    """A board of two topics and two submissions that were not scored."""
    return made.made_board(tmp_path, systems=2, topics=2, scored=False)


def folder(root, number=0):
    return root / made.BOARD / made.SNAPSHOT / made.entry_of(number)


def test_it_writes_scores_and_prints_the_means_over_all_topics(root, capsys):
    assert main(["score", str(folder(root))]) == 0
    scores = read_scores(folder(root))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "made 2026-10, means with 95 % intervals"
    assert lines[1].split() == ["submission", *made.MEASURES, "Judged@10", "scores.json"]
    told = [scores.macro.measures[name] for name in made.MEASURES]
    means = "  ".join(f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]" for one in told)
    assert " ".join(lines[2].split()) == " ".join(
        f"{made.entry_of(0)} {means} {scores.macro.judged['Judged@10']:.3f} new".split()
    )
    assert len(lines) == 3
    assert main(["score", str(folder(root))]) == 0
    assert capsys.readouterr().out.splitlines()[2].endswith("same")
    write_run({"70000000": {"x": 1.0}}, folder(root) / "alpha.trec")
    assert main(["score", str(folder(root))]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[2].endswith("changed")
    assert "alpha: scored 0, because the run does not have them: 23 of 24 queries" in said.err


@pytest.mark.parametrize("way", ["board", "above", "all", "each"])
def test_all_submissions_of_a_board_are_scored_at_once(root, way, capsys):
    typed = {
        "board": [str(root / made.BOARD / made.SNAPSHOT)],
        "above": [str(root)],
        "all": ["--all", "--root", str(root)],
        "each": [str(folder(root, 0)), str(folder(root, 1)), str(root)],
    }[way]
    assert main(["score", *typed, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["scores"]["submission"] for one in told["submissions"]] == [made.entry_of(0), made.entry_of(1)]
    assert told["failed"] == 0
    for number, one in enumerate(told["submissions"]):
        assert one["path"] == str(folder(root, number))
        assert one["before"] == "new"
        assert one["scores"] == json.loads((folder(root, number) / "scores.json").read_text())


def test_json_and_text_write_the_same_files(root):
    names = ("scores.json", "per_query.jsonl")
    assert main(["score", str(folder(root))]) == 0
    first = [(folder(root) / name).read_bytes() for name in names]
    assert main(["score", str(folder(root)), "--json"]) == 0
    assert [(folder(root) / name).read_bytes() for name in names] == first


def test_one_that_cannot_be_scored_does_not_keep_others_from_it(root, capsys):
    (folder(root, 0) / "alpha.trec").write_text("nothing of the kind\n")
    assert main(["score", str(root)]) == 2
    said = capsys.readouterr()
    assert said.err.count("error:") == 1
    assert "alpha.trec:1" in said.err
    assert made.entry_of(1) in said.out
    assert read_scores(folder(root, 0)) is None
    assert read_scores(folder(root, 1)) is not None


def test_a_missing_topic_is_said_and_no_mean_is_made_of_the_rest(root, capsys):
    (folder(root) / "beta.trec").unlink()
    assert main(["score", str(folder(root))]) == 0
    said = capsys.readouterr()
    assert "no run of beta, so there is no mean over all topics" in said.err
    assert said.out.splitlines()[2].split() == [made.entry_of(0), "n/a", "n/a", "n/a", "n/a", "new"]


def test_a_snapshot_that_is_not_at_hand_is_one_line_that_says_how_to_get_it(root, capsys):
    path = root / made.BOARD / made.SNAPSHOT / "board.yaml"
    path.write_text(path.read_text().replace(str(root.parent / "datasets" / "alpha"), "acme/nowhere"))
    assert main(["score", str(folder(root))]) == 2
    (line,) = [one for one in capsys.readouterr().err.splitlines() if one.startswith("error:")]
    assert "the topic alpha of made cannot be scored, expected the snapshot 'acme/nowhere@2026-10' at hand" in line
    assert line.endswith("freshstack download acme/nowhere@2026-10")


def test_data_of_another_fingerprint_ends_as_not_comparable(root, tmp_path, capsys):
    shutil.rmtree(tmp_path / "datasets" / "alpha")
    made.made_dataset(tmp_path / "datasets", "freshstack/alpha", seed=2)
    assert main(["score", str(folder(root))]) == 3
    assert "error: the topic alpha, freshstack/alpha@2026-10, expected the data " in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code", "word"), [(0, 0, "identical"), (1, 1, "failed")])
def test_a_second_run_is_told_from_another_system(root, tmp_path, capsys, number, code, word):
    again = tmp_path / "again"
    again.mkdir()
    for topic in ("alpha", "beta"):
        write_run(read_run(folder(root, number) / f"{topic}.trec"), again / f"{topic}.parquet")
    assert main(["score", str(folder(root)), "--rerun", str(again)]) == code
    assert f"{made.entry_of(0)}, run again: {word}, largest difference" in capsys.readouterr().out
    assert read_reproduction(folder(root)).verdict == word
    assert main(["score", str(folder(root)), "--rerun", str(again), "--json"]) == code
    (told,) = json.loads(capsys.readouterr().out)["submissions"]
    assert told["reproduction"] == json.loads((folder(root) / "reproduction.json").read_text())


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ([], "error: what to score, expected the folders of submissions, or --all, got neither"),
        (["{root}", "--all"], "or --all, got both"),
        (["{root}/nowhere"], "expected a folder with submission.yaml, or that of a board with such folders, got none"),
        (["{root}", "--rerun", "{root}"], "error: --rerun, expected one submission, got 2 submissions"),
    ],
)
def test_usage_that_makes_no_sense_is_one_line(root, typed, complaint, capsys):
    assert main(["score", *(word.format(root=root) for word in typed)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_validating_first_gives_the_same_scores_and_reads_each_run_once(root, capsys, monkeypatch):
    assert main(["score", str(root)]) == 0
    names = ("scores.json", "per_query.jsonl")
    expected = [(folder(root, number) / name).read_bytes() for number in (0, 1) for name in names]
    for number in (0, 1):
        for name in names:
            (folder(root, number) / name).unlink()
    table = capsys.readouterr().out

    def never(path):
        raise AssertionError(f"{path} is read a second time")

    monkeypatch.setattr("leaderboard.scoring.topics.read_run", never)
    assert main(["score", str(root), "--validate"]) == 0
    assert [(folder(root, number) / name).read_bytes() for number in (0, 1) for name in names] == expected
    assert capsys.readouterr().out == table


def test_what_has_an_error_is_not_scored_after_validating(root, capsys):
    run = folder(root, 0) / "alpha.trec"
    run.write_text(run.read_text().replace("alpha/docs/page_001", "alpha/docs/page_9999", 1))
    assert main(["score", str(root)]) == 0  # a document that there is not is no matter to scores
    scores = (folder(root, 0) / "scores.json").read_bytes()
    (folder(root, 1) / "scores.json").unlink()
    capsys.readouterr()
    assert main(["score", str(root), "--validate", "--json"]) == 1
    said = capsys.readouterr()
    first, second = said.err.splitlines()
    assert first.startswith(f"error: {run}:")
    assert "page_9999" in first
    assert second == "python -m leaderboard validate tells all that is wrong with them"
    told = json.loads(said.out)
    assert [one["scores"]["submission"] for one in told["submissions"]] == [made.entry_of(1)]
    assert told["failed"] == 1
    assert (folder(root, 0) / "scores.json").read_bytes() == scores
    assert read_scores(folder(root, 1)) is not None


def test_a_run_that_cannot_be_scored_is_told_once_after_validating(root, capsys):
    write_run({"of another dataset": {"alpha/docs/page_001.md_0_2048": 1.0}}, folder(root, 0) / "beta.jsonl")
    (folder(root, 0) / "beta.trec").unlink()
    assert main(["score", str(root), "--validate"]) == 1
    said = capsys.readouterr()
    assert [line.startswith("error: ") for line in said.err.splitlines()] == [True, False]
    assert "beta.jsonl" in said.err.splitlines()[0]
    assert read_scores(folder(root, 0)) is None
    assert made.entry_of(1) in said.out
