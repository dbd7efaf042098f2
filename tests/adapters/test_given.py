"""What every adapter says to something that is no dataset, and to ids that a library would read only a part of."""

import resource
import signal
import sys
import threading

import ir_datasets
import ir_measures
import pytest

import freshstack_datasets as fsd
from freshstack_datasets.adapters import beir, hf, jsonl, mteb, pandas, ranx, sentence_transformers, trec
from freshstack_datasets.adapters import ir_datasets as irds
from freshstack_datasets.adapters import ir_measures as irm
from freshstack_datasets.errors import InputError, RecordError
from freshstack_datasets.records import Document, Judgment, Nugget, Query

OF_DATASETS = {
    "beir": beir.dictionaries,
    "datasets": hf.dataset_dict,
    "ir_measures": irm.qrels,
    "MTEB": mteb.task,
    "documents as a frame": pandas.documents,
    "nuggets as a frame": pandas.nuggets,
    "judgments as a frame": pandas.qrels,
    "queries as a frame": pandas.queries,
    "ranx": ranx.qrels,
    "sentence-transformers": sentence_transformers.evaluator,
}


@pytest.mark.parametrize("given", ["nimbus", None, {"q": {"d": 1}}])
@pytest.mark.parametrize("adapter", OF_DATASETS)
def test_what_is_no_dataset_is_said_to_be_none(adapter, given):
    with pytest.raises(InputError, match=r"^a dataset, expected one that was loaded, got .*; load makes one of a name"):
        OF_DATASETS[adapter](given)


@pytest.mark.parametrize("export", [beir.export, jsonl.export, trec.export])
def test_what_is_no_dataset_is_not_exported(export, tmp_path):
    with pytest.raises(InputError, match=r"^a dataset, expected one that was loaded, got 'nimbus' \(str\)"):
        export("nimbus", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def written(folder, query_id, doc_id):
    """A snapshot of one query and two documents, the second of which nobody judged."""
    fsd.write_snapshot(
        folder,
        dataset="test/nul",
        snapshot="2026-01",
        license="MIT",
        documents=[Document(doc_id, "", "one"), Document("other", "", "two")],
        queries=[Query(query_id, "which?")],
        nuggets=[Nugget("n", query_id, 1, "a fact")],
        judgments=[Judgment(query_id, "n", doc_id, 1)],
    )
    return fsd.load(folder)


FOR_C = {
    "beir": beir.dictionaries,
    "ir_datasets": lambda data: irds.register(data, f"nul/{data.path}") or qrels_of(f"nul/{data.path}"),
    "ir_measures": irm.qrels,
    "MTEB": lambda data: mteb.task(data).load_data(),
    "nuggets as a frame": pandas.nuggets,
    "judgments as a frame": pandas.qrels,
}


def qrels_of(name):
    return list(ir_datasets.load(name).qrels_iter())


@pytest.mark.parametrize(("query_id", "doc_id", "named"), [("q\0", "d", r"'q\\x00'"), ("q", "d\0e", r"'d\\x00e'")])
@pytest.mark.parametrize("adapter", FOR_C)
def test_ids_that_trec_eval_would_cut_off_do_not_reach_it(adapter, query_id, doc_id, named, tmp_path):
    data = written(tmp_path / "snapshot", query_id, doc_id)
    with pytest.raises(RecordError, match=rf"^the id {named}, expected no NUL"):
        FOR_C[adapter](data)
    assert fsd.evaluate({query_id: {doc_id: 1.0}}, data, intervals=False).mean["Recall@50"] == 1.0


@pytest.mark.parametrize("run", [{"q\0": {"d": 1.0}}, {"q": {"d\0": 1.0}}])
def test_runs_with_such_ids_are_not_replayed_either(run):
    with pytest.raises(RecordError, match=r"expected no NUL"):
        mteb.replay(run)


@pytest.fixture
def small_disk():
    """Files end at 1,000 bytes, as on a disk that is full; the limit is of the process and lifted afterwards."""
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("export", [beir.export, jsonl.export, trec.export])
def test_an_export_to_a_disk_that_fills_up_is_one_error_and_leaves_nothing(export, tmp_path, small_disk):
    with pytest.raises(InputError, match=r"^cannot write \S+, got file too large; free some space"):
        export(fsd.load("nimbus"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def at_once(call, threads=8):
    """Call something in many threads and return what went wrong."""
    wrong = []
    together = threading.Barrier(threads)

    def one():
        together.wait()
        try:
            call()
        except Exception as error:
            wrong.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # else a thread is mostly done before the next one begins
    try:
        running = [threading.Thread(target=one) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return wrong


def test_threads_may_register_at_once(monkeypatch):
    monkeypatch.setattr(ir_datasets, "registry", type(ir_datasets.registry)())
    monkeypatch.setattr(ir_measures.DefaultPipeline, "providers", list(ir_measures.DefaultPipeline.providers))
    data = fsd.load("nimbus")
    assert at_once(irds.register) == []
    assert sorted(ir_datasets.registry) == irds.names()
    assert len(ir_datasets.registry._patterns) == 1
    assert at_once(lambda: irds.register(data, "of threads")) == []
    assert ir_datasets.load("of threads").queries_count() == len(data.queries)
    assert at_once(irm.install) == []
    assert [provider.NAME for provider in ir_measures.DefaultPipeline.providers].count("freshstack_datasets") == 1


def test_threads_may_register_with_mteb_at_once():
    import mteb as library

    assert at_once(mteb.register) == []
    similar = sys.modules["mteb.get_tasks"]._SIMILAR_TASKS["FreshStackRetrieval"]
    assert len(similar) == len(set(similar)) == 5
    assert library.get_task("FreshStackNimbusRetrieval").metadata.name == "FreshStackNimbusRetrieval"
