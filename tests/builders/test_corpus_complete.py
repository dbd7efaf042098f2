"""Whatever a repository's files are called and hold: each is in its corpus, or listed with a reason, and none is both."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest

from builders.corpus import build
from builders.repositories import REASONS
from builders.topics import read_topic
from tests.builders import mixed_tree
from tests.builders.git_servers import commit, git, new

NAMES = (
    *("plain.md", "Plain.md", "PLAIN.MD", "caf\u00e9.md", "cafe\u0301.md"),  # one file each on some disks
    *("a#b.md", "a%b.md", "a%0Ab.md", "a b.md", '"a".md', "-rf.md", "q?.md", "star*.md", "back\\slash.md", "a:b.md"),
    *(
        "tab\there.md",
        "new\nline.md",
        "\u2028line.md",
        "next\x85line.md",
        "\u202elm.md",
        "\ufeffmark.md",
        "\U0001f600.md",
    ),
    *("x", "x_0_4", "x_0_4.md", "x" * 251 + ".md", "/".join(["d" * 200] * 3) + "/deep.md"),
)


@pytest.fixture
def repository(tmp_path):
    folder = new(tmp_path / "repository")
    files = {path: data for path, data in mixed_tree.files().items() if len(data) < 300_000}
    files |= {name: f"# {number}\n".encode() for number, name in enumerate(NAMES)}
    for name, target in (("link.md", "/etc/passwd"), ("up", "../.."), ("dangling.md", "nowhere")):
        (folder / name).symlink_to(target)
    (folder / "latin.md").write_text("# latin\n")
    first = commit(folder, files)
    blob = git(folder, "hash-object", "-w", "latin.md").decode()
    more = f"100644 {blob}\t".encode() + b"latin\xe9.md\0" + f"160000 {first}\tmodule\0".encode()
    git(folder, "update-index", "-z", "--index-info", data=more)
    git(folder, "commit", "--quiet", "-m", "more")
    return folder


def test_what_git_lists_is_in_the_corpus_or_left_out_with_a_reason(repository, tmp_path):
    listed = [path for path in git(repository, "ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0") if path]
    path = tmp_path / "topic.yaml"
    path.write_text(
        "name: mine/toys\ndomain: toys\ntags: []\nrepositories: [{url: repository, name: o/r, date: 2030-01-01}]\n"
    )
    built = build(read_topic(path), tmp_path / "out")
    table = pq.read_table(built.path / "corpus", columns=["_id", "metadata"]).to_pylist()
    left_out = [json.loads(line) for line in (built.path / "dropped.jsonl").read_text(encoding="utf-8").splitlines()]
    taken = {row["metadata"]["path"] for row in table}
    told = Counter([*taken, *(line["path"] for line in left_out)])
    assert told == Counter(path.decode("utf-8", "backslashreplace") for path in listed)
    assert len(listed) == built.counts["files"] == built.counts["files_in_the_corpus"] + len(left_out) > 80
    assert {line["reason"] for line in left_out} <= {*REASONS, "encoding", "notebook", "timeout"}
    assert {line["path"]: line["reason"] for line in left_out if line["path"] in ("link.md", "module")} == {
        "link.md": "symlink",
        "module": "submodule",
    }
    ids = [row["_id"] for row in table]
    assert len(set(ids)) == len(ids)
    assert not any(letter in doc_id for doc_id in ids for letter in "\t\n\r\x85\u2028\u2029")


@pytest.mark.slow
def test_of_all_the_files_to_stumble_over_only_those_without_text_and_the_largest_are_left_out(tmp_path):
    mixed_tree.write(tmp_path / "tree", large=True)
    path = tmp_path / "topic.yaml"
    path.write_text("name: mine/toys\ndomain: toys\ntags: []\ndocuments: [{path: tree, include: ['**']}]\n")
    built = build(read_topic(path), tmp_path / "out")
    lines = (built.path / "dropped.jsonl").read_text(encoding="utf-8").splitlines()
    left_out = {line["path"]: line["reason"] for line in map(json.loads, lines)}
    assert left_out == {
        "odd/binary.dat": "binary",
        "odd/blank.md": "empty",
        "odd/broken.ipynb": "notebook",
        "odd/empty.py": "empty",
        "odd/line.txt": "too-large",
        "odd/no_cells.ipynb": "notebook",
        "odd/photo.py": "binary",
        "odd/tab\tand\nbreak.md": "unsafe-path",
    }
    rows = pq.read_table(built.path / "corpus", columns=["metadata"]).column("metadata").to_pylist()
    assert {row["path"] for row in rows} == {*mixed_tree.files(), "odd/line.txt"} - set(left_out)
