"""What MTEB keeps: replayed runs, predictions, cached results, statistics."""

import errno
import io
import json
from pathlib import Path

import mteb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mteb.abstasks import AbsTask

from freshstack_datasets.adapters import mteb as adapter
from freshstack_datasets.errors import FreshStackError, InputError, RunError, RunFileError, UnknownNameError
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.loading import load
from freshstack_datasets.ranking import Run
from freshstack_datasets.retrieval import BM25
from tests.adapters.mteb_models import Words, coffee

NIMBUS = "FreshStackNimbusRetrieval"
MEASURES = {
    "alpha_ndcg_at_10": "alpha_nDCG@10",
    "coverage_at_20": "Coverage@20",
    "recall_at_50": "Recall@50",
    "ndcg_at_10": "nDCG@10",
    "judged_at_10": "Judged@10",
}


@pytest.fixture(autouse=True, scope="module")
def registered():
    adapter.register()


@pytest.fixture(scope="module")
def data():
    return load("nimbus")


@pytest.fixture(scope="module")
def run(data):
    return BM25().index(data.corpus).search(data.queries, k=150)


def evaluated(model, task, **options):
    return mteb.evaluate(model, task, **{"cache": None, "show_progress_bar": False} | options).task_results[0]


def entry_of(result):
    ((entry,),) = result.scores.values()
    return entry


def test_a_replayed_run_and_its_predictions_have_the_scores_of_the_run(data, run, tmp_path):
    ours = evaluate(run, data, list(MEASURES.values()), intervals=False)
    cache = mteb.ResultCache(tmp_path / "results")
    folder = tmp_path / "predictions"
    task = mteb.get_task(NIMBUS)
    found = entry_of(evaluated(adapter.replay(run), task, cache=cache, prediction_folder=folder))
    (file,) = (tmp_path / "results").rglob(f"{NIMBUS}.json")
    ((stored,),) = json.loads(file.read_text())["scores"].values()
    again = adapter.read_predictions(folder / f"{NIMBUS}_predictions.json", task)
    theirs = evaluate(again, data, list(MEASURES.values()), intervals=False)
    for name, measure in MEASURES.items():
        assert found[name] == pytest.approx(ours.mean[measure], abs=1e-12)
        assert stored[name] == round(ours.mean[measure], 6)
        assert theirs.mean[measure] == pytest.approx(ours.mean[measure], abs=1e-12)
    # Of the 150 documents of a query, those are kept that the deepest cutoff needs.
    cut = Run.from_dict({query_id: dict(list(docs.items())[:100]) for query_id, docs in run.to_dict().items()})
    assert again == cut
    assert again.name == "freshstack-run/bm25"


def test_a_run_with_ids_of_every_kind_comes_back_as_it_went(tmp_path):
    data = coffee(tmp_path / "coffee")
    run = {"q 1": {"docs/ñ#1%20.md": 0.1 + 0.2, "docs/a b.md": 1e-300}, "q2": {"d3": -1.0}}
    task = adapter.task(data)
    evaluated(adapter.replay(run), task, prediction_folder=tmp_path / "predictions")
    again = adapter.read_predictions(tmp_path / "predictions" / f"{task.metadata.name}_predictions.json")
    assert again.to_dict() == run


def test_two_runs_of_one_name_share_no_cached_result(data, run, tmp_path):
    cache = mteb.ResultCache(tmp_path)
    other = Run.from_dict(
        {query_id: dict(list(docs.items())[1:]) for query_id, docs in run.to_dict().items()}, run.name
    )
    task = mteb.get_task(NIMBUS)
    values = [evaluated(adapter.replay(each), task, cache=cache).get_score() for each in (run, other, run)]
    assert values[0] != pytest.approx(values[1], abs=0.01)
    assert values[2] == pytest.approx(values[0], abs=1e-6)  # from the cache, with six places
    revisions = {adapter.replay(each).mteb_model_meta.revision for each in (run, other, run.named("x"))}
    assert len(revisions) == 2
    shuffled = dict(reversed(run.to_dict().items()))
    assert adapter.replay(shuffled).mteb_model_meta.revision == adapter.replay(run).mteb_model_meta.revision


@pytest.mark.parametrize(
    ("name", "called"), [("bm25", "bm25"), ("a b/ñ", "a_b__"), ("", "run"), ("x" * 300, "x" * 100)]
)
def test_a_run_is_called_as_a_folder_may_be(name, called):
    meta = adapter.replay(Run.from_dict({"q": {"d": 1.0}}, name)).mteb_model_meta
    assert meta.name == f"freshstack-run/{called}"


def test_a_run_of_another_dataset_is_an_error(tmp_path):
    with pytest.raises(RunError) as told:
        evaluated(adapter.replay({"other": {"d": 1.0}}), adapter.task(coffee(tmp_path / "coffee")))
    assert str(told.value) == (
        "run 'run' has no query of the task, expected query ids such as 'q 1', got 'other'; "
        "was it made for another dataset?"
    )
    with pytest.raises(RunError, match=r"^a run, expected a Run or a mapping of mappings, got list; make one with "):
        adapter.replay([])


def predictions(folder, content, name="p.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_of_several_subsets_and_splits_one_must_be_chosen(tmp_path):
    content = {
        "mteb_model_meta": {"model_name": "a/b", "revision": None},
        "2026-11": {"test": {"q": {"d": 1}}, "dev": {"q": {"d": 2}}},
        "2026-12": {"test": {"q": {"d": 3}}},
    }
    path = predictions(tmp_path, content)

    def read(**chosen):
        return adapter.read_predictions(path, **chosen)["q"]["d"]

    assert read(task=NIMBUS) == read(task=mteb.get_task(NIMBUS)) == read(task=adapter.tasks()[-1]) == 1
    assert (read(subset="2026-12"), read(split="dev"), read(subset="2026-11", split="test")) == (3, 2, 1)
    for chosen in ({}, {"split": "test"}, {"subset": "2026-11"}, {"subset": "2026-13"}):
        with pytest.raises(InputError, match=r"; say which: task=, or subset= and split=$"):
            read(**chosen)
    with pytest.raises(InputError, match=r"expected subset 'default' and split 'test', got '2026-11' of 'dev', "):
        read(task="FreshStackYoloOct2024Retrieval")
    with pytest.raises(UnknownNameError, match=r"^unknown task 'FreshStackNimbus'; did you mean 'FreshStackNimbusRetr"):
        read(task="FreshStackNimbus")
    with pytest.raises(InputError, match=r"^a task, expected one of freshstack-datasets, or its name, got 7 \(int\)$"):
        read(task=7)


BAD = [
    ("", "expected JSON, got 'Expecting value'"),
    ("[]", "the predictions, expected an object of subset"),
    ("[" * 100_000, "expected JSON, got"),
    ('{"default": []}', "subset 'default', expected an object of subset"),
    ('{"default": {"test": []}}', "a run, expected a mapping of mappings, got"),
    ('{"default": {"test": {"q": 1}}}', "query 'q', expected a mapping from document id to score"),
    ('{"default": {"test": {"q": {"d": NaN}}}}', "expected JSON, got 'NaN'"),
    ('{"default": {"test": {"q": {"d": 1e999}}}}', "score, expected a finite number, got inf"),
    ('{"default": {"test": {"q": {"d": "1"}}}}', "score, expected a finite number, got '1'"),
    ('{"default": {"test": {"q": {"d": ' + "9" * 5000 + "}}}}", "expected JSON, got"),
    ('{"default": {"test": {"q": {"d": 1, "d": 2}}}}', "expected JSON, got \"'d' twice\""),
    ('{"default": {"test": {"q": {"\\ud800": 1}}}}', "expected"),
    ('{"default": {"test": {"": {"d": 1}}}}', "expected"),
    ('{"default": {"test": {"q": {"a\\tb": 1}}}}', "expected"),
]


@pytest.mark.parametrize(("content", "says"), BAD, ids=range(len(BAD)))
def test_what_are_no_predictions_is_an_error_in_words(tmp_path, content, says):
    path = predictions(tmp_path, content)
    with pytest.raises(RunFileError) as told:
        adapter.read_predictions(path)
    assert says in str(told.value)
    assert str(told.value).startswith(str(path))


def test_files_that_cannot_be_read_are_errors_in_words(tmp_path, monkeypatch):
    path = predictions(tmp_path, {"default": {"test": {"q": {"d": 1}}}})
    for bad in (tmp_path / "none.json", tmp_path, "a\0b"):
        with pytest.raises(RunFileError):
            adapter.read_predictions(bad)
    (tmp_path / "latin.json").write_bytes(b'{"\xff": {}}')
    with pytest.raises(RunFileError, match="expected JSON, got"):
        adapter.read_predictions(tmp_path / "latin.json")
    from freshstack_datasets.adapters.mteb import predictions as module

    monkeypatch.setattr(module, "_MOST_BYTES", 10)
    with pytest.raises(RunFileError, match=r"expected at most 10 bytes, got more"):
        adapter.read_predictions(path)
    monkeypatch.setattr(module, "opened", lambda path: Torn())
    with pytest.raises(RunFileError, match=r"predictions that cannot be read, got 'Input/output error'"):
        adapter.read_predictions(path)


class Torn(io.BytesIO):
    """A file on a disk that is damaged."""

    def read(self, size=-1):
        raise OSError(5, "Input/output error")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(content=JSON | st.dictionaries(st.text(max_size=3), st.dictionaries(st.text(max_size=3), JSON, max_size=2)))
def test_whatever_is_read_is_a_run_or_an_error_of_this_package(tmp_path_factory, content):
    path = predictions(tmp_path_factory.mktemp("hostile"), content)
    try:
        read = adapter.read_predictions(path)
    except FreshStackError as error:
        read = str(error)
    assert isinstance(read, Run) or "\n" not in read


def test_a_model_without_a_name_has_a_run_without(tmp_path):
    for meta in ({}, {"mteb_model_meta": 3}, {"mteb_model_meta": {"model_name": None}}):
        path = predictions(tmp_path, meta | {"default": {"test": {"q": {"d": 1}}}})
        assert adapter.read_predictions(path).name == "run"


def test_mteb_computes_nimbus_again_when_the_snapshot_is_another(tmp_path, monkeypatch):
    cache = mteb.ResultCache(tmp_path)
    known = adapter.tasks()[-1]
    old = known.metadata.model_copy(
        update={"eval_langs": {"2026-10": ["eng-Latn"]}, "dataset": {"path": "freshstack/nimbus", "revision": "0" * 64}}
    )
    model = Words()
    with monkeypatch.context() as patch:
        patch.setattr(known, "metadata", old)
        assert entry_of(evaluated(model, known(), cache=cache))["hf_subset"] == "2026-10"
    model.given.clear()
    result = evaluated(model, known(), cache=cache)
    assert model.given
    assert entry_of(result)["hf_subset"] == "2026-11"
    assert result.dataset_revision == known.metadata.revision
    model.given.clear()
    evaluated(model, known(), cache=cache)
    assert not model.given


def test_a_stored_result_is_stale_when_its_data_or_its_measures_are_others(tmp_path, monkeypatch):
    cache = mteb.ResultCache(tmp_path)
    result = evaluated(Words(), mteb.get_task(NIMBUS), cache=cache)
    (file,) = tmp_path.rglob(f"{NIMBUS}.json")
    stored = json.loads(file.read_text())
    for kept in (file, str(file), stored, result):
        for task in (NIMBUS, mteb.get_task(NIMBUS), adapter.tasks()[-1]):
            assert adapter.stale(kept, task) is None
    revision = stored["dataset_revision"]
    assert adapter.stale(stored | {"dataset_revision": "0" * 40}, NIMBUS) == (
        f"its data is of revision '{'0' * 40}', and that of the task of {revision}"
    )
    yolo = "FreshStackYoloOct2024Retrieval"
    assert adapter.stale(stored, yolo) == f"it is of the task '{NIMBUS}', and not of {yolo}"
    monkeypatch.setattr("freshstack_datasets.adapters.mteb.staleness.METRIC_VERSION", 2)
    assert adapter.stale(stored, NIMBUS) == "its measures are of version 1, and those of the task of 2"
    del stored["scores"]["test"][0]["metric_version"]
    assert adapter.stale(stored, NIMBUS) == "its measures are of version None, and those of the task of 2"


def test_a_stored_aggregate_is_stale_when_a_topic_moved():
    told = mteb.get_task("FreshStackOct2024Retrieval").metadata
    stored = {"task_name": told.name, "dataset_revision": told.revision, "scores": {"test": [{"metric_version": 1}]}}
    assert adapter.stale(stored, told.name) is None
    assert "of revision '1'" in adapter.stale(stored | {"dataset_revision": "1"}, told.name)


@pytest.mark.parametrize("content", ["", "[]", "{", "7", '{"task_name": "%s", "dataset_revision": "%s"}'])
def test_what_is_no_result_is_an_error_in_words(tmp_path, content):
    told = adapter.tasks()[-1].metadata
    file = predictions(tmp_path, content % (told.name, told.revision) if "%s" in content else content)
    with pytest.raises(InputError, match="result"):
        adapter.stale(file, NIMBUS)
    with pytest.raises(InputError, match="expected a JSON file of MTEB, got"):
        adapter.stale(tmp_path / "none.json", NIMBUS)
    with pytest.raises(InputError, match=r"^a result of MTEB, expected a JSON object, got 3 \(int\)$"):
        adapter.stale(3, NIMBUS)


def files_of_mteb():
    folder = Path(mteb.__file__).parent
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_statistics_go_where_the_user_says_and_never_among_mtebs_files(tmp_path, own_home):
    before = files_of_mteb()
    file = adapter.statistics(NIMBUS, tmp_path / "new" / "folder")
    assert file == tmp_path / "new" / "folder" / f"{NIMBUS}.json"
    told = json.loads(file.read_text())["test"]
    # 60 questions and 200 pages, as its card says; 1,049 judged pairs are in the table qrels.
    assert (told["num_queries"], told["num_documents"]) == (60, 200)
    assert not list(own_home.rglob("*.json"))

    task = mteb.get_task(NIMBUS)
    assert task.metadata.descriptive_stats is None
    assert task.calculate_descriptive_statistics()["test"]["num_samples"] == 260
    assert task.metadata.n_samples == {"test": 260}
    (kept,) = (own_home / "mteb").rglob("*.json")
    assert kept.name == f"{NIMBUS}-{task.metadata.revision[:12]}.json"
    assert files_of_mteb() == before


def test_statistics_of_a_loaded_task_leave_it_loaded(tmp_path):
    task = adapter.task(coffee(tmp_path / "coffee"))
    task.load_data()
    told = json.loads(adapter.statistics(task, tmp_path).read_text())["test"]
    assert (told["num_queries"], told["num_documents"], task.data_loaded) == (3, 4, True)
    # Seven judged pairs but two of one document and query: q 1 has three documents, q2 two, q3 one.
    assert told["relevant_docs_statistics"]["num_relevant_docs"] == 4


def test_statistics_of_what_has_none_and_where_nothing_can_be_written(tmp_path):
    with pytest.raises(InputError, match=r"expected a task on a snapshot, got a mean of tasks$"):
        adapter.statistics("FreshStackOct2024Retrieval", tmp_path)
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "folder", "nul\0"):
        with pytest.raises(InputError, match=r"^cannot write '"):
            adapter.statistics(NIMBUS, folder)


def test_statistics_replace_a_damaged_file_and_leave_it_where_the_disk_is_full(tmp_path, monkeypatch):
    file = tmp_path / f"{NIMBUS}.json"
    file.write_text("{")

    def full(task, **_):
        task.metadata.descriptive_stat_path.write_text('{"test"')
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(AbsTask, "calculate_descriptive_statistics", full)
        with pytest.raises(InputError, match=rf"^cannot write '.*/{NIMBUS}\.json', got .*No space left on device"):
            adapter.statistics(NIMBUS, tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["{"]
    adapter.statistics(NIMBUS, tmp_path)
    assert json.loads(file.read_text())["test"]["num_queries"] == 60
