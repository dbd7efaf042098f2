"""Judgments laid over a snapshot: what fits, what is refused, and what scores say then."""

import hashlib
import json
import shutil

import pytest

import freshstack_datasets as fsd
from freshstack_datasets.errors import InputError, SnapshotError
from freshstack_datasets.overlays import read_overlay, write_overlay
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from tests.unit.cli_tiny import Terminal

NUGGETS = [Nugget("q_0", "q", 0, "first"), Nugget("q_1", "q", 1, "second"), Nugget("p_0", "p", 0, "only")]
OWN = [Judgment("q", "q_0", "a", 1), Judgment("q", "q_1", "a", 0), Judgment("p", "p_0", "a", 1)]
MORE = [Judgment("q", "q_0", "b", 0, "call"), Judgment("q", "q_1", "b", 1, "call")]


def snapshot(folder, judgments=OWN):
    write_snapshot(
        folder,
        dataset="acme/toy",
        snapshot="2026-10",
        license="MIT",
        documents=[Document(doc_id, "", f"text {doc_id}") for doc_id in "abc"],
        queries=[Query("q", "how"), Query("p", "why")],
        nuggets=NUGGETS,
        judgments=judgments,
    )
    return folder


@pytest.fixture
def base(tmp_path):
    return snapshot(tmp_path / "base")


@pytest.fixture
def overlay(tmp_path, base):
    write_overlay(tmp_path / "overlay", fsd.load(base), MORE, runs=["mine"], k=20)
    return tmp_path / "overlay"


def test_a_dataset_with_an_overlay_has_the_judgments_of_both_in_the_order_of_their_table(base, overlay):
    data = fsd.load(base, overlay=overlay)
    keys = [(j.query_id, j.nugget_id, j.doc_id, j.score) for j in data.judgments]
    own = [("p", "p_0", "a", 1), ("q", "q_0", "a", 1), ("q", "q_1", "a", 0)]
    assert keys == sorted([*own, ("q", "q_0", "b", 0), ("q", "q_1", "b", 1)])
    assert data.qrels == {"p": {"a": 1}, "q": {"a": 1, "b": 1}}
    assert data.judgments["q", "q_1", "b"].call_id == "call"
    assert data.corpus["b"].text == "text b"


def test_its_fingerprint_is_made_of_the_snapshot_s_and_of_the_rows(base, overlay):
    def line(nugget, score):
        return f'{{"call-id":"call","corpus-id":"b","nugget-id":"{nugget}","query-id":"q","score":{score}}}\n'.encode()

    digest = hashlib.sha256(line("q_0", 0) + line("q_1", 1)).hexdigest()
    lines = f"base {fsd.load(base).fingerprint}\nnugget_qrels {digest}\n"
    expected = hashlib.sha256(lines.encode()).hexdigest()
    assert fsd.load(base, overlay=overlay).fingerprint == read_overlay(overlay).fingerprint == expected


def test_scores_with_it_are_those_of_a_snapshot_that_has_all_judgments_and_are_signed_by_it(tmp_path, base, overlay):
    whole = fsd.load(snapshot(tmp_path / "whole", OWN + MORE))
    data = fsd.load(base, overlay=overlay)
    run = {"q": {"b": 2.0, "a": 1.0}, "p": {"c": 1.0}}
    measures = "alpha_nDCG@10 Coverage@1 Recall@1 Judged@2"
    expected, found = fsd.evaluate(run, whole, measures), fsd.evaluate(run, data, measures)
    assert dict(found.mean) == dict(expected.mean)
    assert found.mean["Judged@2"] == 0.5  # both of q's two, and none of p's one
    assert f"acme/toy@2026-10#{data.fingerprint} |" in found.signature("Recall@1")


def test_it_is_refused_on_another_snapshot_and_on_another_overlay(tmp_path, base, overlay):
    other = snapshot(tmp_path / "other", [*OWN[:2], Judgment("p", "p_0", "b", 1)])
    with pytest.raises(SnapshotError, match=r"expected one of acme/toy@2026-10#\w{12}, got one of acme/toy@2026-10#"):
        fsd.load(other, overlay=overlay)
    with pytest.raises(SnapshotError, match="expected one without"):
        fsd.load(base, overlay=overlay).with_overlay(overlay)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "at least one judgment"),
        ([Judgment("q", "p_0", "b", 1)], "a nugget of the query"),
        ([Judgment("q", "none", "b", 1)], "a nugget of the query"),
        ([Judgment("q", "q_0", "a", 1), Judgment("q", "q_1", "a", 1)], "has not judged for the query"),
        ([*MORE, Judgment("q", "q_0", "b", 1)], "each judgment once"),
        (MORE[:1], "one for each of its 2 nuggets, got 1"),
        ([Judgment("p", "p_0", "z", 1)], "a document of the corpus"),
    ],
)
def test_judgments_that_do_not_fit_the_snapshot_are_not_written(tmp_path, base, rows, said):
    with pytest.raises(SnapshotError, match=said):
        write_overlay(tmp_path / "overlay", fsd.load(base), rows, runs=["mine"], k=20)
    assert not (tmp_path / "overlay").exists()


def test_a_dataset_of_judgments_alone_takes_none(overlay):
    with pytest.raises(SnapshotError, match="one made of judgments alone"):
        fsd.Dataset.from_nugget_qrels([("q", "q_0", "a", 1)]).with_overlay(overlay)


def test_rows_that_are_not_those_it_speaks_of_are_refused(tmp_path, base, overlay):
    flipped = [Judgment("q", "q_0", "b", 1, "call"), Judgment("q", "q_1", "b", 1, "call")]
    write_overlay(tmp_path / "other", fsd.load(base), flipped, runs=["mine"], k=20)
    file = "nugget_qrels/test-00000-of-00001.parquet"
    shutil.copyfile(tmp_path / "other" / file, overlay / file)
    with pytest.raises(SnapshotError, match="expected the digest"):
        fsd.load(base, overlay=overlay)


def test_a_description_that_does_not_follow_from_its_rows_is_refused(base, overlay):
    told = json.loads((overlay / "overlay.json").read_text())
    (overlay / "overlay.json").write_text(json.dumps({**told, "fingerprint": "0" * 64}))
    with pytest.raises(SnapshotError, match="which follows from its base and rows"):
        fsd.load(base, overlay=overlay)
    with pytest.raises(SnapshotError, match=r"is no overlay, expected a folder with an overlay\.json"):
        fsd.load(base, overlay=base)


def test_the_command_scores_with_an_overlay_and_says_so(tmp_path, base, overlay, capsys):
    terminal, run = Terminal(capsys), tmp_path / "mine.json"
    run.write_text(json.dumps({"q": {"b": 1.0}, "p": {"a": 1.0}}))
    words = ["evaluate", base, "--run", run, "--measures", "Coverage@5"]
    without = terminal.json(*words)["results"][0]
    result = terminal.json(*words, "--overlay", overlay)["results"][0]
    # Of q one of two nuggets, found by the overlay alone, of p the only one.
    assert without["measures"]["Coverage@5"]["value"] == 0.5
    assert result["measures"]["Coverage@5"]["value"] == 0.75
    assert result["fingerprint"] == read_overlay(overlay).fingerprint != without["fingerprint"]
    _, out, _ = terminal(*words, "--overlay", overlay)
    assert "acme/toy@2026-10, with 2 judgments of an overlay, fingerprint" in out


def test_two_runs_are_compared_with_an_overlay(tmp_path, base, overlay, capsys):
    runs = [tmp_path / "one.json", tmp_path / "two.json"]
    for path, doc_id in zip(runs, "bc", strict=True):
        path.write_text(json.dumps({query_id: {doc_id: 1.0} for query_id in "qp"}))
    told = Terminal(capsys).json("compare", base, *runs, "--measures", "Coverage@5", "--overlay", overlay)
    assert told["measures"]["Coverage@5"]["difference"] == 0.25  # half of q's nuggets, none of p's


def test_a_dataset_with_an_overlay_is_not_handed_to_what_would_open_its_folder_again(base, overlay):
    pytest.importorskip("ir_datasets")
    with pytest.raises(InputError, match="got one with an overlay"):
        fsd.adapters.ir_datasets.register(fsd.load(base, overlay=overlay), "toy")
