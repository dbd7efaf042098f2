"""A card on the Hub: the Hub takes it, ``datasets`` reads its YAML, and each of its examples runs as it is written."""

import json
import re

import pytest

import freshstack_datasets as fsd
from builders.cards.render import render
from freshstack_datasets.catalog import bundled
from tests.hub.clients import Client
from tests.hub.server import TestHub

REPO = "acme/clouds"
NIMBUS = bundled()["freshstack/nimbus"]


@pytest.fixture(scope="module")
def card():
    return render(NIMBUS, repository=REPO)


@pytest.fixture(scope="module")
def client(tmp_path_factory, card):
    """Clients of a Hub that has Nimbus with its card and pictures."""
    text, pictures = card
    files = {path.relative_to(NIMBUS).as_posix(): path.read_bytes() for path in NIMBUS.rglob("*") if path.is_file()}
    folder = tmp_path_factory.mktemp("hub")
    (folder / "hub").mkdir()
    with TestHub(folder / "hub") as hub:
        hub.put(REPO, files | pictures | {"README.md": text.encode()}, tag="2026-11")
        yield Client(hub, folder)
    assert not hub.bugs, hub.bugs[0]


@pytest.fixture
def example(card, client, tmp_path):
    """Run the example of a library as it is written, and then what prints JSON of its names."""

    def run(library, then):
        there = f"import os\nos.chdir({str(tmp_path)!r})\n"
        # pandas leaves Arrow's threads reading ahead, which may abort an interpreter that ends under them
        end = "os._exit(0)" if library == "pandas" else ""
        told = f"import json\nprint(json.dumps({then}), flush=True)\n{end}\n"
        done = client(f"{there}{examples(card[0])[library]}\n{told}")
        assert done.returncode == 0, done.stderr
        *printed, told = done.stdout.splitlines()
        return json.loads(told), "\n".join(printed), done.stderr

    return run


def examples(text):
    """The examples of a card by the library that each imports first."""
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return {re.match(r"(?:import|from) (\w+)", block)[1]: block for block in blocks}


def test_there_are_examples_of_six_libraries(card):
    assert list(examples(card[0])) == ["freshstack_datasets", "datasets", "ir_datasets", "mteb", "beir", "pandas"]


def test_this_package_prints_the_scores_of_bm25(example):
    data = fsd.load("nimbus")
    expected = fsd.evaluate(fsd.BM25().index(data.corpus).search(data.queries, k=100), data)
    found, printed, _ = example("freshstack_datasets", "data.fingerprint")
    assert (found, printed) == (data.fingerprint, str(expected))


def test_datasets_loads_the_tables(example):
    found, _, errors = example("datasets", "[corpus[:]['_id'], queries[:]['text'], qrels[:]['score']]")
    data = fsd.load("nimbus")
    assert found[0] == list(data.corpus.ids)
    assert found[1] == data.queries.columns("text")[0]
    assert sum(found[2]) == sum(data.judgments.columns("score")[0])
    assert "dataset_info" not in errors  # what it cannot read there it says, and leaves out


def test_datasets_knows_the_number_of_rows_before_it_loads_any(client):
    code = """
        import json, sys
        from datasets import get_dataset_config_names, load_dataset_builder
        repo = sys.argv[1]
        told = {}
        for config in get_dataset_config_names(repo):
            splits = load_dataset_builder(repo, config).info.splits
            told[config] = {name: split.num_examples for name, split in splits.items()}
        print(json.dumps(told))
    """
    # counted in the tables of Nimbus; its card says the same of documents, questions and nuggets
    assert client.result(code, REPO) == {
        "qrels": {"test": 1049},
        "corpus": {"corpus": 200},
        "queries": {"test": 60},
        "nuggets": {"test": 128},
        "nugget_qrels": {"test": 2295},
    }


def test_the_hub_finds_nothing_wrong_with_the_card(client, card):
    code = """
        import json, sys
        from huggingface_hub import DatasetCard
        card = DatasetCard(sys.argv[1])
        card.validate()
        print(json.dumps([card.data.license, card.data.language, card.data.size_categories]))
    """
    assert client.result(code, card[0]) == ["apache-2.0", ["es", "en"], ["n<1K"]]


def test_pandas_reads_a_table(example):
    found, _, _ = example("pandas", "queries['_id'].tolist()")
    assert found == fsd.load("nimbus").queries.columns("query_id")[0]


def test_ir_datasets_has_the_judgments(example):
    found, printed, _ = example("ir_datasets", "dataset.qrels_dict()")
    assert printed == "60"
    relevant = {q: {d: min(n, 1) for d, n in documents.items()} for q, documents in fsd.load("nimbus").qrels.items()}
    assert found == relevant  # a judgment of a nugget is 1 or 0, and the last of a document is kept


def test_mteb_scores_a_model(example):
    found, _, _ = example("mteb", "task.metadata.dataset")
    assert found == {"path": "freshstack/nimbus", "revision": fsd.load("nimbus").fingerprint}


def test_beir_loads_the_newest_snapshot(example):
    found, _, _ = example("beir", "[len(corpus), len(queries), qrels]")
    expected = {query_id: dict(documents) for query_id, documents in fsd.load("nimbus").qrels.items()}
    assert found == [200, 60, expected]
