"""What the documents say is what happens."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from freshstack_datasets import load
from freshstack_datasets.evaluation import hypotheses_of
from freshstack_datasets.evaluation.measures import DEFAULTS, Measure
from tests.docs import commands, readme

README = readme.FILE.read_text(encoding="utf-8")


def test_the_code_of_the_readme_runs_and_prints_what_the_readme_shows(tmp_path: Path):
    readme.like_a_clone(tmp_path)
    # snapshots say on which day they were made
    shown, printed = (
        re.sub(r"\bmade \d{4}-\d\d-\d\d\b", "made today", t) for t in (README, readme.rendered(README, tmp_path))
    )
    assert printed == shown, "python -m tests.docs.readme brings it up to date"


def test_every_block_of_the_readme_is_run_or_is_the_output_of_one():
    languages = [block[1] for block in readme.blocks(README)]
    assert README.count("```") == 2 * len(languages)
    assert set(languages) <= {*readme.RUNNERS, "text"}
    assert all(before != "text" for before, after in pairwise(languages) if after == "text")


def test_the_reference_of_the_commands_is_up_to_date():
    assert commands.FILE.read_text(encoding="utf-8") == commands.reference(), "python -m tests.docs.commands"


def test_the_reference_has_the_commands_of_the_builders_with_all_their_options():
    section = commands.reference().split("\n### python -m builders accepted-answers\n")[1]
    options = ["--site", "--snapshot", "--out", "--tags", "--from", "--to", "--min-score", "--json", "--verbose"]
    assert [option for option in options if f"| `{option}" not in section] == []
    assert "| `DUMP` |" in section


def test_every_command_has_an_example_json_and_verbose():
    sections = commands.reference().split("\n### ")[1:]
    assert len(sections) > 2
    for section in sections:
        name = section.split("\n")[0]
        assert f"```text\n{name}" in section
        if name in ("freshstack mteb", "freshstack irds"):
            continue  # they keep the options of the tools that they run
        assert "| `--json` |" in section
        assert "| `--verbose` |" in section


def test_the_readme_names_every_measure_and_only_measures():
    section = README.split("## Measures")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [measure for cell in cells for measure in re.findall(r"`([^`]+)`", cell)]
    for measure in named:
        assert str(Measure.parse(measure)) == measure
    assert {Measure.parse(measure).name for measure in named} == set(DEFAULTS)


def test_the_readme_links_only_to_files_that_are_there():
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert not [link for link in links if not (readme.ROOT / link).exists()]


def test_the_readme_opens_with_one_sentence_and_names_the_test_command():
    lines = README.splitlines()
    assert lines[0].startswith("# ")
    sentence = README.split("\n\n")[1]
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0
    assert "`make test`" in README


def test_commands_and_six_lines_of_python_follow_the_first_sentence_of_the_readme():
    first, shown, python, result = list(readme.blocks(README))[:4]
    assert [block[1] for block in (first, shown, python, result)] == ["sh", "text", "python", "text"]
    assert README[: first.start()].count("\n\n") == 3  # the heading, the sentence, and what to do before
    assert len(python[2].splitlines()) == 6


def test_the_readme_tells_the_traps_of_nimbus_as_they_are():
    section = README.split("## Nimbus")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    assert {row[0].strip("`"): int(row[1]) for row in rows} == Counter(load("nimbus").queries.columns("type")[0])
    expected = {row[0].strip("`"): row[4] for row in rows}
    for hypothesis in hypotheses_of("nimbus"):
        assert hypothesis.better in expected[hypothesis.type]
    assert expected.keys() == {hypothesis.type for hypothesis in hypotheses_of("nimbus")}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_demo_scores_bm25_by_type_and_names_three_commands_that_work(tmp_path):
    beside = Path(sys.executable).parent
    env = {**os.environ, "PATH": os.pathsep.join([str(beside), os.environ["PATH"]])}

    def ran(*command, cwd=tmp_path):
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=True).stdout

    shown = ran("make", "demo", f"BIN={beside}", cwd=readme.ROOT)
    table, after = shown.split("Three things to try next")
    for trap in Counter(load("nimbus").queries.columns("type")[0]):
        assert len(re.findall(rf"^ .* {trap} ", table, re.MULTILINE)) == 3  # measures
    commands = [line.strip() for line in after.splitlines() if line.startswith("  freshstack ")]
    assert len(commands) == 3
    for command in commands:
        assert ran(*shlex.split(command))
