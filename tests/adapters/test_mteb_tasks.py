"""What MTEB is told of the datasets, and how they become known to it by name."""

import importlib
import pickle
import sys
from dataclasses import replace
from datetime import date

import mteb
import pytest

from freshstack_datasets import catalog
from freshstack_datasets.adapters import mteb as adapter
from freshstack_datasets.adapters.mteb import aggregate, benchmark, metadata, registry
from freshstack_datasets.errors import InputError, MissingExtraError
from freshstack_datasets.loading import Dataset, load
from tests.adapters.mteb_models import DOCUMENTS, coffee

TOPICS = ("angular", "godot", "langchain", "laravel", "yolo")
NAMES = [f"FreshStack{topic.capitalize()}Oct2024Retrieval" for topic in TOPICS]
AGGREGATE, NIMBUS = "FreshStackOct2024Retrieval", "FreshStackNimbusRetrieval"


@pytest.fixture(autouse=True, scope="module")
def registered():
    adapter.register()


def test_tasks_are_known_by_name_and_registering_again_changes_nothing():
    tasks_module = importlib.import_module("mteb.get_tasks")
    before = tasks_module.TASK_LIST, dict(tasks_module._SIMILAR_TASKS), len(mteb.get_benchmarks())
    adapter.register()
    assert (tasks_module.TASK_LIST, dict(tasks_module._SIMILAR_TASKS), len(mteb.get_benchmarks())) == before
    assert [mteb.get_task(name).metadata.name for name in (*NAMES, NIMBUS, AGGREGATE)] == [*NAMES, NIMBUS, AGGREGATE]
    assert [known.metadata.name for known in adapter.tasks()] == [*NAMES, NIMBUS]
    assert [(known.dataset_name, known.snapshot) for known in adapter.tasks()] == [
        *((f"freshstack/{topic}", "2024-10") for topic in TOPICS),
        ("freshstack/nimbus", "2026-11"),
    ]
    spanish = mteb.get_tasks(languages=["spa"], domains=["Constructed"], task_types=["Retrieval"])
    assert NIMBUS in [task.metadata.name for task in spanish]


def test_the_benchmark_is_known_by_its_name_and_its_alias():
    dated = mteb.get_benchmark("FreshStack(oct-2024)")
    assert mteb.get_benchmark("FreshStack") is dated
    assert [task.metadata.name for task in dated.tasks] == NAMES
    assert mteb.get_task(AGGREGATE).metadata.tasks[0].metadata is dated.tasks[0].metadata


@pytest.mark.parametrize("name", [*NAMES, NIMBUS, AGGREGATE])
def test_metadata_is_valid_and_whole(name):
    told = mteb.get_task(name).metadata
    told._validate_metadata()
    assert told.is_filled()
    assert (told.type, told.category, told.main_score) == ("Retrieval", "t2t", "alpha_ndcg_at_10")
    assert told.eval_splits == ["test"]


def test_a_topic_is_described_as_it_was_published():
    # Figures, licence and commits as in the tests of the catalog; the language is that of Stack Overflow.
    told = mteb.get_task("FreshStackLangchainOct2024Retrieval").metadata
    assert told.dataset == {
        "path": "freshstack/queries-oct-2024",
        "revision": "023ac3a14caf9d6ebb13d01adcfb8fa05e5a9630",
    }
    assert "freshstack/corpus-oct-2024 at commit 069f66dc323e163b48b10d08408d282733d4393b" in told.description
    assert "203 questions, 49514 documents" in told.description
    assert told.date == ("2023-01-01", "2024-06-30")
    assert (told.eval_langs, told.license, told.reference) == (
        ["eng-Latn"],
        "cc-by-sa-4.0",
        "https://arxiv.org/abs/2504.13128",
    )
    assert told.intext_citation() == r"\cite{thakur2025freshstack}"
    assert list(told.prompt) == ["query"]
    assert told.adapted_from == ["FreshStackRetrieval"]


def test_nimbus_is_described_as_its_snapshot_says():
    told, data = mteb.get_task(NIMBUS).metadata, load("nimbus")
    assert told.dataset == {"path": "freshstack/nimbus", "revision": data.manifest.fingerprint}
    assert told.eval_langs == {"2026-11": ["eng-Latn", "spa-Latn"]}
    assert (told.license, told.date) == ("apache-2.0", ("2026-11-30", "2026-11-30"))
    assert "60 questions, 200 documents" in told.description


def test_what_was_trained_on_the_task_that_mteb_brings_has_seen_the_topics():
    model = mteb.get_model_meta("mteb/baseline-random-encoder").model_copy(
        update={"training_datasets": {"FreshStackRetrieval"}}
    )
    assert {*NAMES} <= model.get_training_datasets()


def test_a_task_on_a_folder_says_what_the_folder_says(tmp_path):
    data = coffee(tmp_path / "coffee")
    told = adapter.task(data).metadata
    told._validate_metadata()
    assert told.name == f"acme-coffee-2024-10-{data.fingerprint[:12]}"
    assert told.dataset == {"path": "acme/coffee", "revision": data.fingerprint}
    assert (told.eval_langs, told.license, told.is_public) == (["eng-Latn"], "cc-by-sa-4.0", False)
    assert told.date == ("2024-10-31", "2024-10-31")
    assert not adapter.task(data).data_loaded


@pytest.mark.parametrize(
    ("license", "spelled", "in_words"),
    [
        ("MIT", "mit", False),
        ("https://acme.example/terms", "https://acme.example/terms", False),
        ("LicenseRef-Internal", "not specified", True),
    ],
)
def test_a_licence_is_spelled_as_mteb_does_or_said_in_words(tmp_path, license, spelled, in_words):
    told = adapter.task(coffee(tmp_path / "coffee", license=license)).metadata
    assert told.license == spelled
    assert (f"Licence: {license}." in told.description) == in_words


def test_languages_that_mteb_does_not_know_are_undetermined():
    assert metadata.languages(["es", "en", "qq"]) == ["eng-Latn", "spa-Latn", "und-Zyyy"]
    assert metadata.languages([]) == ["und-Zyyy"]


def test_a_dataset_without_documents_is_no_task():
    data = Dataset.from_nugget_qrels([("q", "n", "d", 1)], name="judged")
    with pytest.raises(InputError, match=r"^dataset 'judged' as a task of MTEB, expected a dataset with documents"):
        adapter.task(data)


def test_names_of_corrections_and_of_other_datasets():
    assert metadata.task_name("freshstack/langchain", "2026-01.12") == "FreshStackLangchainJan2026Correction12Retrieval"
    assert metadata.task_name("freshstack/c-sharp_2", "2026-12") == "FreshStackCSharp2Dec2026Retrieval"
    assert metadata.months("2026-12") == ("Dec2026", "dec-2026")
    assert metadata.months("2026-12.1") == ("Dec2026Correction1", "dec-2026.1")


@pytest.fixture
def more(monkeypatch):
    """A catalog in which LangChain has a correction, and another month that is in the layout of this package."""
    known = dict(catalog.known())
    old = known["freshstack/langchain"]
    corrected = old.snapshots["2024-10"].model_copy(update={"layout": "snapshot", "commit": "a" * 40})
    later = corrected.model_copy(update={"commit": None, "period": (date(2025, 1, 1), date(2025, 6, 30))})
    snapshots = {**old.snapshots, "2024-10.1": corrected, "2026-01": later}
    known["freshstack/langchain"] = old.model_copy(update={"snapshots": snapshots})
    monkeypatch.setattr(catalog, "known", lambda: known)


@pytest.mark.usefixtures("more")
def test_an_edition_has_what_each_topic_had_of_that_month_by_then():
    others = {f"freshstack/{topic}": "2024-10" for topic in TOPICS if topic != "langchain"}
    assert aggregate.editions() == {
        "2024-10": {**others, "freshstack/langchain": "2024-10"},
        "2024-10.1": {**others, "freshstack/langchain": "2024-10.1"},
        "2026-01": {"freshstack/langchain": "2026-01"},
    }


@pytest.mark.usefixtures("more")
def test_a_snapshot_on_the_hub_has_its_commit_or_else_its_tag_for_a_revision():
    corrected = metadata.of_topic("freshstack/langchain", "2024-10.1")
    assert corrected.dataset == {"path": "freshstack/langchain", "revision": "a" * 40}
    assert corrected.adapted_from is None
    later = metadata.of_topic("freshstack/langchain", "2026-01")
    assert later.dataset == {"path": "freshstack/langchain", "revision": "2026-01"}
    assert later.date == ("2025-01-01", "2025-06-30")


@pytest.mark.usefixtures("more")
def test_the_newest_benchmark_alone_has_the_alias(monkeypatch):
    monkeypatch.setattr(benchmark, "tasks_of", lambda edition: [mteb.get_task(NAMES[0])])
    found = {made.name: made.aliases for made in benchmark.known_benchmarks()}
    assert found == {"FreshStack(oct-2024)": (), "FreshStack(oct-2024.1)": (), "FreshStack(jan-2026)": ("FreshStack",)}


def test_classes_of_tasks_are_pickled_by_name_and_others_are_not_there():
    for known in (*adapter.tasks(), *aggregate.known_aggregates()):
        assert pickle.loads(pickle.dumps(known)) is known
    for module in ("retrieval", "aggregate"):
        with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
            importlib.import_module(f"freshstack_datasets.adapters.mteb.{module}").Nothing  # noqa: B018  # the look is it


def test_a_task_of_others_of_the_same_name_is_told_of(monkeypatch):
    by_name = importlib.import_module("mteb.get_tasks")._TASKS_REGISTRY
    monkeypatch.setitem(by_name, NIMBUS, by_name["FreshStackRetrieval"])
    monkeypatch.delitem(by_name, NAMES[0])
    with pytest.raises(InputError, match=rf"^MTEB already has a task '{NIMBUS}', expected that of freshstack-datasets"):
        adapter.register()
    assert NAMES[0] not in by_name


def test_a_benchmark_of_others_of_the_same_name_is_told_of(monkeypatch):
    other = mteb.get_benchmark("NanoBEIR")
    with monkeypatch.context() as patch:
        patch.setattr(
            importlib.import_module("mteb.benchmarks.get_benchmark"), "_build_aliases_registry", Aliases(other)
        )
        with pytest.raises(InputError, match=r"^MTEB already has a benchmark 'FreshStack'"):
            adapter.register()


class Aliases:
    """A cached look-up that finds another benchmark."""

    def __init__(self, found):
        self.found = found

    def __call__(self):
        return {"FreshStack": self.found}

    def cache_clear(self):
        raise AssertionError("nothing is to be changed")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("mteb.get_tasks", "_TASKS_REGISTRY"),
        ("mteb.get_tasks", "_SIMILAR_TASKS"),
        ("mteb.get_tasks", "TASK_LIST"),
        ("mteb.benchmarks.get_benchmark", "_build_registry"),
        ("mteb.benchmarks.get_benchmark", "_build_aliases_registry"),
    ],
)
def test_a_registry_that_mteb_moved_is_told_of_with_the_versions_that_work(monkeypatch, module, name):
    monkeypatch.delattr(importlib.import_module(module), name)
    with pytest.raises(InputError) as told:
        registry.register()
    # The bounds are those of pyproject.toml.
    assert str(told.value) == (
        f"mteb {mteb.__version__} lacks what this package stands on ('{module}.{name}'), expected mteb>=2.22,<3, "
        f"got {mteb.__version__}; pip install 'freshstack-datasets[mteb]'"
    )


def test_a_module_that_mteb_moved_is_told_of(monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb.get_tasks", None)
    with pytest.raises(InputError, match=r"^mteb .* lacks .*mteb.get_tasks.*, expected mteb>=2.22,<3"):
        registry.register()


def test_without_mteb_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mteb", None)
    with pytest.raises(
        MissingExtraError, match=r"^the package mteb is not installed; pip install 'freshstack-datasets"
    ):
        adapter.tasks()


def test_the_task_of_a_dataset_is_told_apart_by_its_content(tmp_path):
    other = [*DOCUMENTS[:-1], replace(DOCUMENTS[-1], text="milk is foamed first")]
    tasks = [adapter.task(coffee(tmp_path / "first")), adapter.task(coffee(tmp_path / "second", documents=other))]
    assert len({task.metadata.name for task in tasks}) == len({task.metadata.revision for task in tasks}) == 2
