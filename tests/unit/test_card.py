"""The card: what dataset tools read in it, and that foreign text stays text."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.card import card, texts_of
from freshstack_datasets.manifest import parse_manifest
from freshstack_datasets.tables.schema import TABLES

SHA = "0123456789abcdef" * 4


def manifest(**changes):
    told = {
        "format_version": 1,
        "dataset": "acme/toy",
        "snapshot": "2026-10",
        "created": "2026-10-31",
        "license": "CC-BY-SA-4.0",
        "generator": {"name": "tool", "version": "1.0"},
        "fingerprint": SHA,
        "tables": {
            name: {
                "rows": 1234,
                "digest": SHA,
                "files": [{"path": f"{name}/{t.split}-0.parquet", "size": 7, "sha256": SHA}],
            }
            for name, t in TABLES.items()
        },
        "sources": [{"url": "https://x.org/a_b?c=d", "commit": "abc", "license": "MIT", "counts": {"documents": 3000}}],
    }
    return parse_manifest(json.dumps(told | changes).encode())


def parts(text):
    """The front matter, parsed, and the Markdown."""
    before, front, body = text.split("---\n", 2)
    assert before == ""
    return yaml.safe_load(front), body


def test_the_front_matter_names_five_configs_with_qrels_the_default():
    front, _ = parts(card(manifest()))
    assert front["license"] == "cc-by-sa-4.0"
    found = {c["config_name"]: (c["data_files"][0]["split"], c["data_files"][0]["path"]) for c in front["configs"]}
    assert found == {
        "qrels": ("test", "qrels/test-*.parquet"),
        "corpus": ("corpus", "corpus/corpus-*.parquet"),
        "queries": ("test", "queries/test-*.parquet"),
        "nuggets": ("test", "nuggets/test-*.parquet"),
        "nugget_qrels": ("test", "nugget_qrels/test-*.parquet"),
    }
    assert [c["config_name"] for c in front["configs"] if c.get("default")] == ["qrels"]


def test_the_text_says_what_is_in_it_where_it_is_from_and_how_to_load_it():
    _, body = parts(card(manifest(), "Questions about toys."))
    assert body.startswith("# acme/toy@2026-10\n\nQuestions about toys.\n")
    assert "| `corpus` | 1,234 |" in body
    assert "- <https://x.org/a_b?c=d>, commit abc, licence MIT, 3,000 documents\n" in body
    assert "fsd.load(" in body
    assert SHA in body


HOSTILE = "---\n# Big\n\n<script>alert(1)</script> [x](javascript:y) `z` | w\n- item: {a: 1}"


@pytest.mark.parametrize("where", ["about", "license", "url", "name", "count"])
def test_foreign_text_stays_text(where):
    text = " ".join(HOSTILE.split())
    source = {"url": "https://x", "license": "MIT"}
    if where == "license":
        made = card(manifest(license=text))
    elif where == "about":
        made = card(manifest(), HOSTILE)
    else:
        made = card(manifest(sources=[source | ({"counts": {text: 1}} if where == "count" else {where: text})]))
    front, body = parts(made)
    assert front["license"] == (text.lower() if where == "license" else "cc-by-sa-4.0")
    assert len(front["configs"]) == 5
    assert "<script" not in body
    assert "[x]" not in body.replace(r"\[x\]", "")
    assert "`z`" not in body.replace(r"\`z\`", "")
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == ["# acme/toy@2026-10", "## Use", "## Sources and licences"]
    assert not [line for line in body.splitlines() if line.startswith(("---", "- item"))]


@pytest.mark.parametrize("about", ["- a list", "1. one", "+ plus", "# heading", "=====", "---"])
def test_an_about_that_begins_like_a_block_is_a_paragraph(about):
    _, body = parts(card(manifest(), about))
    assert "\n&#8203;" + about in body


def test_a_snapshot_without_sources_has_a_licence_and_no_empty_list():
    _, body = parts(card(manifest(sources=[])))
    assert body.endswith(
        "## Licence\n\nLicence of the whole: CC-BY-SA-4.0. Author, address and licence of a text, where "
        "known, stand\nin its row.\n"
    )
    assert "ources" not in body


def test_nobody_is_said_to_have_asked_what_may_be_invented():
    _, body = parts(card(manifest(sources=[])))
    assert "real" not in body
    assert "asked" not in body


def test_paragraphs_and_sections_stand_where_a_reader_looks_for_them():
    sections = {"How it was made": "By hand.\n \nTwice.", "What it *cannot* tell": "# 1"}
    _, body = parts(card(manifest(), "One.\n\nTwo,\nstill two.", sections))
    assert body.startswith("# acme/toy@2026-10\n\nOne.\n\nTwo, still two.\n\nA snapshot")
    said = "## How it was made\n\nBy hand.\n\nTwice.\n\n## What it \\*cannot\\* tell\n\n&#8203;# 1\n\n## Use\n"
    assert said in body


@pytest.mark.parametrize(
    "heading, written", [("In C #", r"In C \#"), ("F ##", r"F #\#"), ("C#", r"C\#"), ("# 1", "&#8203;# 1")]
)
def test_a_number_sign_at_the_end_of_a_heading_is_no_mark(heading, written):
    # CommonMark 0.31, 4.2: marks after a space at the end of a heading are left out, unless a backslash stands before
    _, body = parts(card(manifest(), "", {heading: "Text."}))
    assert f"\n## {written}\n\nText.\n" in body


LINES = st.one_of(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=20),
    st.sampled_from(
        ["https://x.org/a_b?c=d", "<https://x.org>", "## Use", "# 1", "1) a", "C #", "\\#", "&#8203;# a", "&amp;"]
    ),
)
TEXTS = st.lists(LINES, max_size=4)


@given(TEXTS, st.dictionaries(LINES, TEXTS, max_size=3))
def test_what_a_card_says_is_read_out_of_it_again(about, sections):
    given_sections = {heading: "\n\n".join(lines) for heading, lines in sections.items()}
    text = card(manifest(), "\n\n".join(about), given_sections)
    assert texts_of(text) == ("\n\n".join(about), given_sections)


@pytest.mark.parametrize(
    "text", ["", "# acme/toy\n\nMine.", "---\n---\n", card(manifest()).replace("## Use", "## Usage")]
)
def test_nothing_is_read_out_of_another_text(text):
    assert texts_of(text) == ("", {})
