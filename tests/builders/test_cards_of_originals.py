"""How the authors of FreshStack made their datasets is said of the originals of October 2024, and of no later snapshot."""

import pytest

import freshstack_datasets as fsd
from builders.cards import facts
from builders.cards.render import render, written
from freshstack_datasets import catalog
from freshstack_datasets.card import texts_of
from freshstack_datasets.catalog import KnownSnapshot, Repository
from tests.builders import small_dataset

NAME = "freshstack/langchain"
# words of the template on the originals: authors, period, model, filters, expert, site
OF_THE_ORIGINALS = [
    "authors of [FreshStack]",
    "January 2023",
    "June 2024",
    "GPT-4o",
    "11.8 %",
    "34.2 %",
    "One expert",
    "Stack\nOverflow",
    "Stack Overflow",
    "Their commits were not recorded",
    "Addresses of documents name a branch",
    "This dataset is part of FreshStack",
]
RECIPE = {"builder": "pipeline", "models": {"nuggets": "some-model-7"}, "prompts": {"nuggets": "ab" * 32}}
SOURCES = [fsd.Source(url="https://example.org/docs", name="docs", commit="cd" * 20, license="MIT")]


def section(text, heading):
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture
def catalogued(monkeypatch):
    """Put a snapshot of langchain into the catalog."""

    def put(name):
        known = dict(catalog.known())
        entry = KnownSnapshot(
            source="snapshot.json",
            queries=77,
            documents=8_888,
            nuggets_per_query=9.9,
            repositories=(Repository(name="acme/docs", license="Zlib"),),
        )
        dataset = known[NAME]
        known[NAME] = dataset.model_copy(update={"snapshots": {**dataset.snapshots, name: entry}})
        monkeypatch.setattr(catalog, "known", lambda: known)

    return put


@pytest.mark.parametrize("name", [NAME, f"{NAME}-unfiltered"])
@pytest.mark.parametrize("in_catalog", [False, True], ids=["unknown", "catalogued"])
def test_the_card_of_a_new_snapshot_has_only_what_the_snapshot_says_of_its_making(
    tmp_path, catalogued, name, in_catalog
):
    if in_catalog:
        catalogued("2026-10")
    folder = small_dataset.write(tmp_path / "new", dataset=name, recipe=RECIPE, sources=SOURCES)
    text, _ = render(folder)
    assert [words for words in OF_THE_ORIGINALS if words in text] == []
    assert "huggingface/transformers" not in text  # a repository of the original
    assert "acme/docs" not in text  # the catalog's word, where the snapshot has its own
    assert section(text, "Sources and recipe").strip().splitlines() == [
        "- builder: pipeline",
        "- model of nuggets: some-model-7",
        f"- prompt nuggets: sha256 `{'ab' * 32}`",
        f"- written by freshstack-datasets {fsd.__version__} on 2026-10-31",
        "",
        "Made from:",
        "",
        f"- docs: <https://example.org/docs>, commit {'cd' * 20}, licence MIT",
    ]
    assert section(text, "Statistics").startswith("\nAs counted in this snapshot. ")
    assert "| mean, or number | counted |" in text
    assert "- Language models had a part in making it" in section(text, "Known limits")
    assert "Tables and measures follow FreshStack:" in text


def test_a_new_snapshot_that_no_model_made_says_nothing_of_models(tmp_path):
    text, _ = render(small_dataset.write(tmp_path / "new", dataset=NAME))
    assert "anguage model" not in section(text, "Known limits")


@pytest.mark.parametrize("in_catalog", [False, True], ids=["unknown", "catalogued"])
def test_a_correction_of_an_original_was_made_as_it_was_and_has_its_own_figures(tmp_path, catalogued, in_catalog):
    if in_catalog:
        catalogued("2024-10.1")
    text, _ = render(small_dataset.write(tmp_path / "corrected", dataset=NAME, snapshot="2024-10.1"))
    assert "Made by the authors of [FreshStack]" in text
    assert "| [huggingface/transformers](https://github.com/huggingface/transformers) | Apache-2.0 |" in text
    assert "This dataset is part of FreshStack:" in text
    assert "| mean, or number | counted |\n|---|--:|\n| questions | 3 |\n" in text
    assert "473.4" not in text
    # arXiv:2504.13128, table 1
    assert "| `2024-10.1` | 3 | 3 | this one |\n| `2024-10` | 203 | 49,514 |  |\n" in text


def test_the_card_of_the_catalog_alone_is_of_the_newest_snapshot_and_says_only_what_is_there(catalogued):
    catalogued("2026-10")
    text, pictures = written(facts.of_catalog(NAME), in_clone=True)
    assert pictures == {}
    assert [words for words in OF_THE_ORIGINALS if words in text] == []
    assert "What `fsd.load` reads under its name are the originals" not in text
    assert "| [acme/docs](https://github.com/acme/docs) | Zlib |" in section(text, "Sources and recipe")
    assert "As published (snapshot.json);" in section(text, "Statistics")
    assert "| questions | 77 |\n| documents | 8,888 |\n" in text
    assert "| `2026-10` | 77 | 8,888 | this one |\n| `2024-10` | 203 | 49,514 |  |\n" in text


@pytest.mark.parametrize("name", [NAME, f"{NAME}-unfiltered"])
@pytest.mark.parametrize("snapshot", ["2024-10", "2024-10.1", "2026-10"])
def test_what_the_makers_say_is_read_out_of_a_card_that_was_published(tmp_path, name, snapshot):
    folder = small_dataset.write(tmp_path / "new", dataset=name, snapshot=snapshot)
    text, _ = render(folder)
    assert texts_of(text) == (small_dataset.ABOUT, small_dataset.SECTIONS)
    (folder / "README.md").write_text(text, "utf-8")
    assert render(folder)[0] == text


@pytest.mark.parametrize("topic", ["angular", "godot", "langchain", "laravel", "yolo"])
def test_the_card_of_an_unfiltered_dataset_has_its_corpus_and_no_figures_of_its_twin(topic):
    twin = catalog.known()[f"freshstack/{topic}"].snapshots["2024-10"]
    text, pictures = written(facts.of_catalog(f"freshstack/{topic}-unfiltered"), in_clone=True)
    assert pictures == {}
    assert f"# freshstack/{topic}-unfiltered@2024-10\n" in text
    assert f"This one has the questions of `freshstack/{topic}` and those that were left out there" in text
    assert "This one keeps the questions that were left out of its twin" in text
    assert section(text, "Statistics").partition("|---|")[2] == (
        f"--:|\n| documents | {twin.documents:,} |\n| repositories | {len(twin.repositories)} |\n"
    )
    assert "| `queries` | – |" in text
    assert f"| `2024-10` | – | {twin.documents:,} | this one |" in text
    assert f"{twin.queries} question" not in text
    assert "- Small differences between systems are chance;" in text
