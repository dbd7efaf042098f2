"""What MAINTAINING.md tells people to do works, and what it says that they will see is what they see."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from freshstack_datasets.catalog import KnownSnapshot
from tests.docs import maintaining, named, readme
from tests.hub.server import TestHub

TEXT = maintaining.FILE.read_text(encoding="utf-8")
REPO = maintaining.REPO


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory):
    """The Hub after everything in the document was done, and each block with what it printed and should print."""
    folder = tmp_path_factory.mktemp("maintaining")
    (folder / "hub").mkdir()
    with TestHub(folder / "hub") as hub:
        maintaining.furnish(hub, folder)
        yield hub, list(maintaining.rehearse(TEXT, hub, folder / "work"))
    assert not hub.bugs, hub.bugs[0]


def test_every_block_of_commands_works_and_prints_what_the_document_shows(rehearsal):
    _, blocks = rehearsal
    assert len(blocks) > 10
    for code, printed, expected in blocks:
        assert maintaining.shows(expected, printed), f"{code}\nprinted\n{printed}"


def test_afterwards_the_hub_has_each_snapshot_once_under_its_tag(rehearsal):
    hub, _ = rehearsal
    bread = hub.repos[REPO]
    assert sorted(bread.tags) == ["2024-03", "2024-04", "2024-04.1"]
    assert list(bread.refs) == ["refs/heads/main", *(f"refs/tags/{name}" for name in sorted(bread.tags))]
    assert bread.head == bread.tags["2024-04.1"]
    assert len(bread.commits) - 1 == 3  # the first is the Hub's own
    assert list(hub.repos["freshstack/langchain"].tags) == ["2024-10"]


def test_a_conversion_has_the_fingerprint_that_loading_by_name_has(rehearsal):
    _, blocks = rehearsal
    (printed,) = (printed for code, printed, _ in blocks if "convert-oct-2024" in code)
    found = re.findall(r"freshstack/langchain@2024-10.*?fingerprint (\w{12})\n", printed)
    assert len(found) >= 3  # of the conversion, of loading by name, of publishing
    assert len(set(found)) == 1


def test_every_block_is_run_or_is_data_or_the_output_of_one():
    blocks = list(readme.blocks(TEXT))
    assert TEXT.count("```") == 2 * len(blocks)
    languages = [block[1] for block in blocks]
    assert languages.count("csv") == languages.count("toml") == 1
    assert set(languages) == {"sh", "text", "csv", "toml"}


def test_every_command_and_option_that_is_named_exists():
    scripts = [block[2] for block in readme.blocks(TEXT) if block[1] == "sh"]
    spans = named.in_line(TEXT)
    assert [problem for script in [*scripts, *spans] for problem in named.wrong(script)] == []
    assert sum(len(list(named.commands(script))) for script in [*scripts, *spans]) > 20
    bare = {word for span in spans if span.startswith("--") for word in span.split() if word.startswith("--")}
    assert bare
    assert bare <= named.options()


def test_commands_that_do_not_exist_are_found():
    script = "freshstack polish x; python -m builders publish x --hard && A=1 make gold\nfreshstack list --json > x"
    assert [problem.rpartition(": ")[2] for problem in named.wrong(script)] == [
        "no command polish",
        "no option --hard",
        "no such target",
    ]


@pytest.mark.parametrize("command", sorted({span for span in named.in_line(TEXT) if re.match(r"hf \w", span)}))
def test_the_commands_of_the_client_of_the_hub_exist(command):
    program = Path(sys.executable).parent / "hf"
    done = subprocess.run(
        [program, *command.split()[1:], "--help"], capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"Usage: {command} " in done.stdout


def test_what_must_never_be_called_is_what_it_is_called():
    import huggingface_hub
    from datasets import Dataset

    section = TEXT.split("\n## Never\n")[1].split("\n## ")[0]
    functions = {span for span in named.in_line(section) if re.fullmatch(r"[a-z]+(_[a-z]+)+", span)}
    assert functions == {"delete_tag", "super_squash_history", "upload_folder", "push_to_hub"}
    for name in functions:
        assert callable(getattr(huggingface_hub.HfApi if name != "push_to_hub" else Dataset, name))


def test_links_lead_to_files_and_headings_that_are_there():
    headings = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(([^):]+)\)", TEXT)
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        assert (readme.ROOT / path).exists()
        assert path or anchor in anchors, link
    for span in named.in_line(TEXT):
        if re.fullmatch(r"[\w./-]+/[\w.-]+\.(py|yml|toml|md)", span):
            assert (readme.ROOT / span).is_file(), span
    contributing = (readme.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "](MAINTAINING.md)" in contributing


def test_the_entry_of_the_catalog_is_one_that_the_catalog_takes():
    (entry,) = (block[2] for block in readme.blocks(TEXT) if block[1] == "toml")
    told = tomllib.loads(entry)["datasets"]["langchain"]["snapshots"]["2026-10"]
    assert KnownSnapshot.model_validate(told).layout == "snapshot"


def test_the_steps_are_numbered_and_each_has_something_to_tick_off_on_one_line():
    steps = re.findall(r"^### (\d+)\. (.+)\n\n((?:- \[ \] .+\.\n)+)", TEXT, re.MULTILINE)
    assert [int(number) for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert TEXT.count("\n### ") == len(steps)
    assert TEXT.count("- [ ]") == sum(ticks.count("- [ ]") for _, _, ticks in steps)
