"""Cards: what they say of a snapshot, in words and in YAML, whatever it holds; and those that are kept here."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import freshstack_datasets as fsd
from builders.cards import facts
from builders.cards.collection import collection
from builders.cards.front_matter import LICENSES, front_matter, licensed, size_category
from builders.cards.history import same_but_for_history
from builders.cards.render import CANARY, render, written
from builders.cli import main
from builders.correcting.corrections import COLUMNS
from freshstack_datasets import catalog
from freshstack_datasets.card import texts_of
from freshstack_datasets.errors import InputError, SnapshotError
from tests.builders import small_dataset

KEPT = Path(__file__).parents[2] / "dataset_cards"


def parts(card):
    """The YAML of a card, and the text below it."""
    _, front, body = card.split("---\n", 2)
    return yaml.safe_load(front), body


def section(card, heading):
    """The text below a heading of a card."""
    return parts(card)[1].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("toy") / "toy")


@pytest.fixture(scope="module")
def card(toy):
    return render(toy)[0]


def test_the_yaml_says_what_the_hub_and_datasets_ask(card):
    front, _ = parts(card)
    assert list(front) == [
        "license",
        "language",
        "pretty_name",
        "size_categories",
        "task_categories",
        "task_ids",
        "tags",
        "configs",
        "dataset_info",
    ]
    assert front["license"] == "cc-by-sa-4.0"
    assert front["language"] == ["en", "es"]
    assert front["size_categories"] == ["n<1K"]
    assert front["tags"] == ["freshstack", "retrieval", "nuggets"]
    configs = {config["config_name"]: config for config in front["configs"]}
    assert [name for name, config in configs.items() if config.get("default")] == ["qrels"]
    for name, config in configs.items():
        split = "corpus" if name == "corpus" else "test"
        assert config["data_files"] == [{"split": split, "path": f"{name}/{split}-*.parquet"}]


def test_the_counts_are_those_that_one_counts_by_hand(card, toy):
    # qrels: q1 d1, d2; q2 d3; q3 d1, d3
    expected = {"qrels": 5, "corpus": 3, "queries": 3, "nuggets": 4, "nugget_qrels": 7}
    front, body = parts(card)
    found = {}
    for told in front["dataset_info"]:
        (split,) = told["splits"]
        found[told["config_name"]] = split["num_examples"]
        (file,) = (toy / told["config_name"]).iterdir()
        assert told["download_size"] == file.stat().st_size
        assert told["dataset_size"] == split["num_bytes"] > 0
    assert found == expected
    for table, rows in expected.items():
        assert f"\n| `{table}` | {rows} | " in body


def test_the_statistics_are_those_that_one_counts_by_hand(card):
    assert section(card, "Statistics").startswith(
        "\nAs counted in this snapshot. Tokens are those of `o200k_base`.\n\n"
        "| mean, or number | counted |\n|---|--:|\n"
        "| questions | 3 |\n"
        "| documents | 3 |\n"
        "| nuggets a question | 1.3 |\n"  # 4 / 3
        "| tokens of a question | 11.7 |\n"  # 2, 31 and 2
        "| tokens of an accepted answer | 1.5 |\n"  # 1 and 2
        "| tokens of a document | 14.0 |\n"  # 2, 0 and 40
        "| relevant documents a nugget | 1.2 |\n"  # 5 / 4, and half goes to the even digit
        "| relevant documents a question | 1.3 |\n"
        "| judged documents a question | 1.7 |\n\n"
        "Questions by type: easy 1, hard 1.\n\n"
        "Questions by language: en 2, es 1.\n\n"
    )


def test_the_pictures_of_a_card_are_those_that_come_with_it(card, toy):
    _, pictures = render(toy)
    shown = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", card, re.MULTILINE)
    assert shown == list(pictures) == ["pictures/questions-per-quarter.svg", "pictures/token-lengths.svg"]
    assert "1 of the questions have no date and are in no quarter." in card
    assert b"Questions by quarter: 2. 2023 Q1: 1, 2023 Q2: 0, 2023 Q3: 0, 2023 Q4: 1" in pictures[shown[0]]
    assert b"Questions: 3, mean 11.7, median 2.0 tokens." in pictures[shown[1]]


def test_what_its_makers_say_stays_and_can_be_read_out_again(card, toy):
    said = ("Three toy questions.\n\nNobody asked them.", {"How it *was* made": "By hand."})
    assert texts_of(card) == texts_of((toy / "README.md").read_text()) == said
    assert card.index("Nobody asked them.") < card.index("\n## How it \\*was\\* made\n\nBy hand.\n")


def test_a_card_made_of_a_published_folder_is_the_same(card, toy, tmp_path):
    folder = small_dataset.write(tmp_path / "again")
    text, pictures = render(folder)
    (folder / "README.md").write_text(text)
    (folder / "pictures").mkdir()
    for path, content in pictures.items():
        (folder / path).write_bytes(content)
    assert render(folder) == (text, pictures) == render(toy)
    assert fsd.verify(folder) == []
    (folder / "pictures" / "corpus.parquet").write_bytes(b"")
    (problem,) = fsd.verify(folder)
    assert (problem.code, problem.file) == ("extra-file", "pictures/corpus.parquet")


def test_a_card_of_another_makes_no_section_of_ours(toy, tmp_path):
    folder = small_dataset.write(tmp_path / "toy")
    (folder / "README.md").write_text("# Mine\n\n## Use\n\nAs you like.\n")
    text, _ = render(folder)
    assert "As you like" not in text
    (folder / "README.md").unlink()
    assert render(folder)[0] == text


def test_there_is_no_picture_where_there_are_no_dates(tmp_path):
    queries = [
        fsd.Query(query_id, "hello", date=day) for query_id, day in (("q1", None), ("q2", ""), ("q3", "long ago"))
    ]
    text, pictures = render(small_dataset.write(tmp_path / "toy", queries=queries))
    assert list(pictures) == ["pictures/token-lengths.svg"]
    assert "The questions have no dates, so there is no picture of them by quarter." in text
    far = [fsd.Query("q1", "a", date="0001-01-01"), fsd.Query("q2", "b", date="9999-12-31"), fsd.Query("q3", "c")]
    text, pictures = render(small_dataset.write(tmp_path / "far", queries=far))
    assert len(pictures) == 2
    assert "![Questions by quarter: 2 (not shown: 1 before 9999 Q4). 9999 Q4: 1](" in text


def test_documents_that_are_missing_are_said(tmp_path):
    documents = [fsd.Document("d1", "", "one"), fsd.Document("d2", "", "two")]
    text, _ = render(small_dataset.write(tmp_path / "toy", documents=documents, missing=["d3"]))
    assert "\n- 1 judged document is not in the corpus. It counts among" in section(text, "Known limits")


@pytest.mark.parametrize(
    "where", ["about", "heading", "section", "license", "source", "builder", "model", "filter", "type", "language"]
)
def test_foreign_text_stays_text(where, tmp_path):
    hostile = small_dataset.HOSTILE
    recipe = {"builder": "b", "models": {"judge": "m"}, "filters": [{"name": "f", "dropped": 1, "reason": "r"}]}
    queries = [fsd.Query(name, "hello") for name in ("q1", "q2", "q3")]
    changes = {
        "about": {"about": hostile},
        "heading": {"sections": {hostile: "Text."}},
        "section": {"sections": {"Name": hostile}},
        "license": {"license": hostile},
        "source": {"sources": [fsd.Source(url=hostile, name=hostile, license=hostile, counts={hostile: 1})]},
        "builder": {"recipe": recipe | {"builder": hostile, "parameters": {hostile: [hostile]}}},
        "model": {"recipe": recipe | {"models": {hostile: hostile}, "prompts": {hostile: "a" * 64}}},
        "filter": {"recipe": recipe | {"filters": [{"name": hostile, "dropped": 1, "reason": hostile}]}},
        "type": {"queries": [fsd.Query("q1", "hello", type=hostile), *queries[1:]]},
        "language": {"queries": [fsd.Query("q1", "hello", language=hostile), *queries[1:]]},
    }
    text, pictures = render(small_dataset.write(tmp_path / "toy", **changes[where]))
    front, body = parts(text)
    assert len(front["configs"]) == 5
    assert "alert(1)" in body  # it is there, as text
    assert "{{ 1 + 1 }} {% raw %}" in body
    assert "<script" not in text
    assert "[x](" not in text.replace(r"\[x\](", "")
    assert "`z`" not in text.replace(r"\`z\`", "")
    assert [line for line in body.splitlines() if line.startswith("# ")] == ["# acme/toy@2026-10"]
    cells = [line for line in body.splitlines() if line.startswith("|")]
    assert all(cell.replace(r"\|", "").endswith("|") for cell in cells)
    assert all(b"<script" not in picture for picture in pictures.values())


def test_a_card_says_how_a_snapshot_was_made(tmp_path):
    text, _ = render(
        small_dataset.write(
            tmp_path / "toy",
            sources=[fsd.Source(url="https://example.org/r", name="o/r", commit="ab" * 20, license="MIT")],
            recipe={
                "builder": "made-up",
                "parameters": {"tags": ["a", "b"], "from": "2023"},
                "chunker": {"name": "lines", "version": "1.2.3", "parameters": {"tokens": 2048}},
                "models": {"judge": "gpt-4o"},
                "prompts": {"support": "cd" * 32},
                "pool": {"depth": 20},
                "filters": [{"name": "short", "dropped": 1200, "reason": "fewer than 3 words"}],
            },
        )
    )
    lines = section(text, "Sources and recipe").strip().splitlines()
    assert lines == [
        "- builder: made-up (from = 2023, tags = a + b)",
        "- chunker: lines 1.2.3 (tokens = 2048)",
        "- model of judge: gpt-4o",
        f"- prompt support: sha256 `{'cd' * 32}`",
        "- documents to judge (depth = 20)",
        "- left out by short: 1,200: fewer than 3 words",
        f"- written by freshstack-datasets {fsd.__version__} on 2026-10-31",
        "",
        "Made from:",
        "",
        f"- o/r: <https://example.org/r>, commit {'ab' * 20}, licence MIT",
    ]


def test_a_catalogued_topic_has_the_published_figures_beside_those_that_are_counted(tmp_path):
    folder = small_dataset.write(tmp_path / "langchain", dataset="freshstack/langchain", snapshot="2024-10")
    text, _ = render(folder)
    # arXiv:2504.13128, table 1
    assert "| mean, or number | published | counted |\n|---|--:|--:|\n| questions | 203 | 3 |\n" in text
    assert "\n| documents | 49,514 | 3 |\n| repositories | 10 |  |\n| nuggets a question | 3.1 | 1.3 |\n" in text
    assert "\n| tokens of a question | 473.4 | 11.7 |\n" in text
    assert "\n| questions with code | 83.3 % |  |\n" in text
    assert "| [huggingface/transformers](https://github.com/huggingface/transformers) | Apache-2.0 |" in text
    assert parts(text)[0]["tags"] == ["freshstack", "retrieval", "nuggets", "langchain"]


def test_an_unfiltered_twin_has_the_repositories_and_not_the_figures_of_the_filtered(tmp_path):
    name = "freshstack/langchain-unfiltered"
    text, _ = render(small_dataset.write(tmp_path / "langchain", dataset=name, snapshot="2024-10"))
    assert "huggingface/transformers" in text
    assert "473.4" not in text
    assert "203" not in text
    assert "This one keeps the questions that were left out of its twin" in text


def test_the_snapshots_of_a_dataset_are_listed_the_newest_first(toy, tmp_path):
    text, _ = render(toy, snapshots={"2026-10": (9, 9), "2026-07": (1200, 5), "2026-10.1": None})
    assert section(text, "Snapshots").startswith(
        "\n| snapshot | questions | documents | |\n|---|--:|--:|---|\n"
        "| `2026-10.1` | – | – |  |\n| `2026-10` | 3 | 3 | this one |\n| `2026-07` | 1,200 | 5 |  |\n"
    )
    assert "a correction is a new one, `2026-10.1`," in text
    folder = small_dataset.write(tmp_path / "langchain", dataset="freshstack/langchain", snapshot="2026-10.9")
    text, _ = render(folder)
    assert "| `2026-10.9` | 3 | 3 | this one |\n| `2024-10` | 203 | 49,514 |  |\n" in text
    assert "`2026-10.10`," in text


def test_of_the_snapshots_of_an_unfiltered_twin_no_questions_are_counted(tmp_path):
    name = "freshstack/langchain-unfiltered"
    text, _ = render(small_dataset.write(tmp_path / "langchain", dataset=name))
    # arXiv:2504.13128, table 1: 49,514 documents; its 203 questions are of those that were kept
    assert "| `2026-10` | 3 | 3 | this one |\n| `2024-10` | – | 49,514 |  |\n" in text


def test_cards_that_list_other_snapshots_are_the_same_but_for_history(toy, tmp_path):
    text, _ = render(toy)
    longer, _ = render(toy, snapshots={"2026-07": (1, 2), "2026-10.1": None})
    assert text != longer
    assert same_but_for_history(text, longer)
    assert not same_but_for_history(text, text.replace("| `2026-10` | 3 |", "| `2026-10` | 4 |"))
    assert not same_but_for_history(text, longer.replace("Nobody asked them.", "Somebody asked them."))
    assert not same_but_for_history(text, "")
    # a text of its makers that looks like the list is none
    folder = small_dataset.write(tmp_path / "toy", sections={"Snapshots": "| `2026-07` | 1 | 2 | |"})
    other = small_dataset.write(tmp_path / "other", sections={"Snapshots": "| `2026-08` | 1 | 2 | |"})
    assert not same_but_for_history(render(folder)[0], render(other)[0])


def test_examples_name_the_repository_that_it_is_published_in(toy, tmp_path):
    assert 'load_dataset("acme/toy", "queries", revision="2026-10", split="test")' in render(toy)[0]
    text, _ = render(toy, repository="else/where")
    assert 'fsd.load("else/where", snapshot="2026-10")' in text
    assert "acme/toy/discussions" not in text
    local, _ = render(small_dataset.write(tmp_path / "toy", dataset="toy"))
    assert "hf://datasets/ORG/toy@2026-10/queries" in local
    for wrong in ("toy", "a/b/c", 'a/b"', ""):
        with pytest.raises(InputError, match=r"^a repository, expected ORG/NAME, got"):
            render(toy, repository=wrong or "/")


def test_the_table_for_disputes_has_the_columns_that_are_read(card):
    table = card.partition("```csv\n")[2].partition("```")[0]
    header, row = csv.reader(io.StringIO(table))
    assert tuple(header) == COLUMNS
    assert len(row) == len(COLUMNS)


def test_a_folder_that_is_no_snapshot_has_no_card(tmp_path):
    with pytest.raises(SnapshotError, match="is no snapshot"):
        render(tmp_path)


@pytest.mark.parametrize(
    "license, told",
    [
        ("Apache-2.0", {"license": "apache-2.0"}),
        ("CC-BY-SA-3.0 AND CC-BY-SA-4.0", {"license": ["cc-by-sa-3.0", "cc-by-sa-4.0"]}),
        ("Modified BSD", {"license": "other", "license_name": "modified-bsd"}),
        ("CC-BY-SA-2.5 AND CC-BY-SA-4.0", {"license": "other", "license_name": "cc-by-sa-2.5-and-cc-by-sa-4.0"}),
        ("私有", {"license": "other", "license_name": "unnamed"}),
    ],
)
def test_the_hub_is_told_of_licences_that_it_knows_and_of_others_by_name(license, told):
    assert licensed(license) == told


@given(st.text(min_size=1))
def test_any_licence_is_told_in_words_that_the_hub_takes(license):
    front = yaml.safe_load(front_matter("acme/toy 2026-10", license, ["en"], ["a tag"], 1))
    told = front["license"] if isinstance(front["license"], list) else [front["license"]]
    assert set(told) <= {*LICENSES, "other"}
    assert ("license_name" in front) == (told == ["other"])
    assert re.fullmatch(r"[a-z0-9][a-z0-9.-]*", front.get("license_name", "none"))
    assert front["tags"] == ["freshstack", "retrieval", "nuggets", "a tag"]
    assert front["language"] == ["en"]


def test_the_licences_of_all_that_is_catalogued_are_known_to_the_hub():
    assert {known.license for known in catalog.known().values()} <= LICENSES


@pytest.mark.parametrize(
    "documents, name",
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (99_999, "10K<n<100K"),
        (117_288, "100K<n<1M"),
        (9_999_999, "1M<n<10M"),
        (10**8, "100M<n<1B"),
        (10**10, "1B<n<10B"),
    ],
)
def test_the_hub_has_a_word_for_every_size(documents, name):
    assert size_category(documents) == name


def test_the_cards_that_are_kept_are_those_that_are_made():
    made = collection()
    kept = {path.relative_to(KEPT).as_posix(): path.read_bytes() for path in KEPT.rglob("*") if path.is_file()}
    del kept["_template.md"]
    assert sorted(kept) == sorted(made)
    stale = [path for path in made if kept[path] != made[path]]
    assert not stale, "make cards writes them anew"


def test_every_known_dataset_has_a_card_with_the_canary_and_only_true_links():
    published = ["angular", "godot", "langchain", "laravel", "yolo"]
    topics = [*published, *(f"{topic}-unfiltered" for topic in published), "nimbus"]
    assert sorted(path.stem for path in KEPT.glob("[a-z]*.md")) == sorted(topics)
    for topic in topics:
        text = (KEPT / f"{topic}.md").read_text()
        assert text.count(CANARY) == 1
        for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text):
            assert (KEPT / path).is_file()
        front, body = parts(text)
        assert ("dataset_info" in front) == (topic == "nimbus")  # counts are right, or not there
        assert len(re.findall("^## ", body, re.MULTILINE)) >= 9


def test_the_canary_stays_what_it_is():
    assert CANARY == "freshstack-datasets canary b0b3dc74-dc24-46cc-a675-7d2168382251"


def test_a_card_of_the_catalog_alone_says_so():
    text, pictures = written(facts.of_catalog("freshstack/godot"), in_clone=True)
    assert not pictures
    assert "![" not in text
    assert "There are no pictures, since the\nsnapshot was not at hand." in text
    assert "| `corpus` | 25,482 |" in text
    assert "| `qrels` | – |" in text
    # arXiv:2504.13128, tables 1 and 7
    assert "| tokens of an accepted answer | 263.0 |" in text
    assert "| [godotengine/godot-docs](https://github.com/godotengine/godot-docs) | CC BY 3.0 |" in text
    assert parts(text)[0]["size_categories"] == ["10K<n<100K"]


def test_the_command_writes_what_is_not_as_it_should_be(tmp_path, capsys):
    assert main(["cards", "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"path": str(tmp_path), "written": sorted(collection())}
    for path, content in collection().items():
        assert (tmp_path / path).read_bytes() == content
    (tmp_path / "yolo.md").write_text("old")
    (tmp_path / "mine.md").write_text("mine")
    assert main(["cards", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'yolo.md'}\n"
    assert main(["cards", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}: all cards are as they should be\n"
    assert (tmp_path / "mine.md").read_text() == "mine"
