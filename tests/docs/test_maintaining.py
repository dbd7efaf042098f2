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

pytestmark = pytest.mark.slow

TEXT = maintaining.FILE.read_text(encoding="utf-8")
REPO = maintaining.REPO


def test_every_block_of_commands_works_prints_what_is_shown_and_leaves_each_snapshot_once(tmp_path):
    (tmp_path / "hub").mkdir()
    with TestHub(tmp_path / "hub") as hub:
        maintaining.furnish(hub, tmp_path)
        printed = {}
        for code, printed[code], expected in maintaining.rehearse(TEXT, hub, tmp_path / "work"):
            assert maintaining.shows(expected, printed[code]), f"{code}\nprinted\n{printed[code]}"
    assert not hub.bugs, hub.bugs[0]
    assert len(printed) > 10
    check_bread(hub.repos[REPO])
    assert list(hub.repos["freshstack/langchain"].tags) == ["2024-10"]
    check_conversion(next(text for code, text in printed.items() if "convert-oct-2024" in code))


def check_bread(repository):
    """Check that the example has three snapshots, one commit and one tag each, and nothing else."""
    tags = ["2024-03", "2024-04", "2024-04.1"]
    assert list(repository.refs) == ["refs/heads/main", *(f"refs/tags/{name}" for name in tags)]
    assert repository.head == repository.tags["2024-04.1"]
    assert len(repository.commits) - 1 == 3  # the first is the Hub's own


def check_conversion(printed):
    """Check that the folder, loading by name and publishing all tell the same fingerprint."""
    found = re.findall(r"freshstack/langchain@2024-10.*?fingerprint (\w{12})\n", printed)
    assert len(found) >= 3
    assert len(set(found)) == 1


def test_every_block_is_run_or_is_data_or_the_output_of_one():
    blocks = list(readme.blocks(TEXT))
    assert TEXT.count("```") == 2 * len(blocks)
    languages = [block[1] for block in blocks]
    assert languages.count("csv") == languages.count("toml") == 1
    assert languages.count("bash") == 1  # of the leaderboard: tests/leaderboard/test_handing_on.py runs it
    assert set(languages) == {"sh", "bash", "text", "csv", "toml"}


def test_every_command_and_option_that_is_named_exists():
    scripts = [block[2] for block in readme.blocks(TEXT) if block[1] in ("sh", "bash")]
    spans = named.in_line(TEXT)
    assert [problem for script in [*scripts, *spans] for problem in named.wrong(script)] == []
    assert sum(len(list(named.commands(script))) for script in [*scripts, *spans]) > 20
    bare = {word for span in spans if span.startswith("--") for word in span.split() if word.startswith("--")}
    assert bare
    assert bare <= named.options()


def test_commands_that_do_not_exist_are_found():
    script = "freshstack polish x; python -m builders publish x --hard && A=1 make gold\nfreshstack list --json > x"
    script += "\npython -m leaderboard check --rescore; python -m leaderboard score x --twice"
    assert [problem.rpartition(": ")[2] for problem in named.wrong(script)] == [
        "no command polish",
        "no option --hard",
        "no such target",
        "no option --twice",
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
