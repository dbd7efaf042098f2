"""``python -m builders fetch``: what it prints, where, and how it ends."""

import json
from pathlib import Path

import pytest

from builders.cli import main
from builders.repositories import REASONS, opened, rules
from builders.repositories.git import Git, GitError
from builders.topics import read_topic
from tests.builders.git_servers import commit, git, new


@pytest.fixture
def topic(tmp_path):
    work = new(tmp_path / "sources" / "docs")
    made = commit(work, {"a.md": b"# A\n"})
    git(work, "tag", "v1")
    path = tmp_path / "topic.yaml"
    path.write_text(f"""name: toy
domain: toys
tags: [toy]
repositories:
  - url: sources/docs
    name: owner/docs
    commit: {made}
  - url: sources/docs
    name: owner/older
    tag: v1
""")
    return path, made


def test_it_says_what_it_fetches_and_what_there_is_now(topic, tmp_path, capsys):
    path, made = topic
    assert main(["fetch", str(path), "--into", str(tmp_path / "into")]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [f"fetching owner/docs, commit {made}", "fetching owner/older, tag v1"]
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["owner/docs", made[:12], "2024-10-24", "0.0", "no"],
        ["owner/older", made[:12], "2024-10-24", "0.0", "no"],
    ]
    with opened(read_topic(path).repositories[1], bundles=tmp_path / "into") as checkout:
        assert [file.path for file in checkout.files()] == ["a.md"]


def test_a_folder_may_be_named_from_the_working_folder(topic, tmp_path, capsys, monkeypatch):
    path, made = topic
    monkeypatch.chdir(tmp_path)
    assert main(["fetch", path.name, "--into", "into"]) == 0
    assert made[:12] in capsys.readouterr().out
    with opened(read_topic(path).repositories[0], bundles=Path("into")) as checkout:
        assert [file.path for file in checkout.files()] == ["a.md"]


def test_json_is_one_object_and_says_what_was_there(topic, tmp_path, capsys):
    path, made = topic
    into = tmp_path / "into"
    for was_there in (False, True):
        assert main(["fetch", str(path), "--into", str(into), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["path"] == str(into)
        assert [(s["name"], s["commit"], s["was_there"]) for s in told["sources"]] == [
            ("owner/docs", made, was_there),
            ("owner/older", made, was_there),
        ]
        assert all((into / source["bundle"]).stat().st_size == source["size"] for source in told["sources"])


def test_what_goes_wrong_is_one_line_and_exit_code_2(topic, tmp_path, capsys):
    path, _ = topic
    path.write_text(path.read_text().replace("tag: v1", "tag: v2"))
    assert main(["fetch", str(path), "--into", str(tmp_path / "into")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("error: owner/older: '")
    assert lines[-1].endswith("has no tag 'v2'")


def test_without_a_network_the_way_to_do_without_is_told(topic, tmp_path, capsys, monkeypatch):
    path, _ = topic
    path.write_text(path.read_text().replace("sources/docs", "https://forge.invalid/owner/docs"))

    def run(*_, **__):
        raise GitError(
            "fetch", "fatal: unable to access 'https://forge.invalid/': Could not resolve host: forge.invalid"
        )

    monkeypatch.setattr(Git, "run", run)
    assert main(["fetch", str(path), "--into", str(tmp_path / "into")]) == 2
    *_, first, second, last = capsys.readouterr().err.splitlines()
    for line in (first, second):
        assert line.endswith(
            "; check the address and the network; corpus --sources needs none, with what fetch brought elsewhere"
        )
    assert last == "error: 2 of 2 repositories cannot be fetched; see to these, and run the same command again"


def test_every_reason_stands_in_the_table_of_rules():
    rows = [line.split("|")[1].strip() for line in rules.__doc__.splitlines() if line.startswith("| `")]
    assert {row.strip("`") for row in rows} == set(REASONS)
