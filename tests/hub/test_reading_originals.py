"""The release of October 2024 on the Hub, loaded as the datasets that it holds."""

import json
from dataclasses import replace

import pytest

from tests import originals
from tests.hub.reading import commands, load, says

# The repositories and commits of the paper's evaluations; of the unfiltered queries none is known.
CORPUS = ("freshstack/corpus-oct-2024", "069f66dc323e163b48b10d08408d282733d4393b")
QUERIES = ("freshstack/queries-oct-2024", "023ac3a14caf9d6ebb13d01adcfb8fa05e5a9630")
UNFILTERED = "freshstack/queries-oct-2024-unfiltered"
NAME = "freshstack/langchain"

DOCUMENTS = [originals.document("docs/a.md_0_5", "alpha"), originals.document("docs/b.md_0_4", "beta")]
ASKED = originals.query(
    "77", originals.nugget("77_0", ["docs/a.md_0_5", "lost.md_0_1"], ["docs/b.md_0_4"]), query_title="T", query_text="B"
)
LEFT_OUT = originals.query("78", originals.nugget("78_0", ["docs/b.md_0_4"], ["docs/b.md_0_4"]))


def put(hub, tmp_path, repository, files, commit=None):
    """Put files into a repository, at a commit that is called as the real one."""
    folder = tmp_path / repository.partition("/")[2]
    for path, (rows, write) in files.items():
        write(folder / path, rows)
    made = hub.put(repository, folder)
    if commit:
        kept = hub.repos[repository]
        kept.commits[commit] = replace(kept.at(made), id=commit)
        hub.put(repository, {"README.md": b"main went on"})
    return made


@pytest.fixture
def released(hub, tmp_path):
    """The three repositories, with one topic and a file of another, corpora in two files."""
    corpus, asked = originals.write_corpus, originals.write_queries
    files = {
        "langchain/train-00000-of-00002.parquet": (DOCUMENTS[:1], corpus),
        "langchain/train-00001-of-00002.parquet": (DOCUMENTS[1:], corpus),
        "yolo/train-00000-of-00001.parquet": (DOCUMENTS, corpus),
    }
    put(hub, tmp_path, CORPUS[0], files, CORPUS[1])
    put(hub, tmp_path, QUERIES[0], {"langchain/test-00000-of-00001.parquet": ([ASKED], asked)}, QUERIES[1])
    put(hub, tmp_path, UNFILTERED, {"langchain/test-00000-of-00001.parquet": ([ASKED, LEFT_OUT], asked)})
    return hub


def check(found, name=NAME):
    """Compare what was loaded with the rows above: a document in both lists is relevant, a missing one counts."""
    left_out = [["78", "78_0", "docs/b.md_0_4", 1]] if name != NAME else []
    assert found["is"] == f"{name}@2024-10"
    assert found["corpus"] == {"docs/a.md_0_5": "alpha", "docs/b.md_0_4": "beta"}
    assert found["queries"] == {"77": "T B"} | ({"78": "title body"} if left_out else {})
    assert found["judgments"] == [
        ["77", "77_0", "docs/a.md_0_5", 1],
        ["77", "77_0", "docs/b.md_0_4", 0],
        ["77", "77_0", "lost.md_0_1", 1],
        *left_out,
    ]
    assert found["missing"] == ["lost.md_0_1"]


def test_the_originals_are_loaded_as_they_were_published_and_kept(released, client, tmp_path):
    home = tmp_path / "home"
    names = [f"{NAME}@2024-10", f"{NAME}-unfiltered@2024-10"]
    filtered, unfiltered = load(client, *names, home=home)
    check(filtered)
    check(unfiltered, f"{NAME}-unfiltered")
    assert not released.asked("yolo")
    assert {one.path.split("/")[-1].partition("?")[0] for one in released.asked("/tree/")} == {
        CORPUS[1],
        QUERIES[1],
        released.repos[UNFILTERED].head,
    }
    sources = json.loads((home / filtered["path"] / "snapshot.json").read_text())["sources"]
    assert [(source["name"], source["commit"]) for source in sources] == [CORPUS, QUERIES]
    assert str(home / "freshstack" / "converted") in filtered["path"]

    released.log.clear()
    released.put(UNFILTERED, {"README.md": b"main went on"})  # recorded at its first use, and used from then on
    for options in ({}, {"offline": True}):
        filtered, unfiltered = load(client, *names, home=home, **options)
        check(filtered)
        check(unfiltered, f"{NAME}-unfiltered")
    assert released.log == []
    check(load(client, NAME, home=home)[0])
    assert len(released.log) == len(released.asked(f"{NAME}/refs")) == 1  # is there a newer one?


def test_what_is_newest_is_taken_from_the_datasets_own_repository(released, client, two_snapshots):
    released.put(NAME, two_snapshots[1], tag=two_snapshots[1].name)
    assert [found["is"] for found in load(client, NAME, f"{NAME}@2024-10")] == [f"{NAME}@2026-10", f"{NAME}@2024-10"]


def test_originals_that_lack_or_changed_are_errors_in_words(released, client, tmp_path):
    home = tmp_path / "home"
    (said,) = says(client, "freshstack/yolo@2024-10", home=home)
    assert said == (
        f"HubError: freshstack/yolo@2024-10: commit {QUERIES[1][:12]} of {QUERIES[0]}, expected the files "
        "yolo/*.parquet, got none; tell whoever published it"
    )
    load(client, f"{NAME}@2024-10", home=home, whole=False)
    for folder in (home / "freshstack" / "converted").iterdir():
        folder.rename(tmp_path / folder.name)
    first = next((home / "hf").rglob("train-00000-of-00002.parquet"))
    data, blob = first.read_bytes(), first.resolve()
    blob.write_bytes(data[:-1] + b"x")
    (said,) = says(client, f"{NAME}@2024-10", home=home, offline=True)
    assert said.startswith(
        f"HubError: langchain/train-00000-of-00002.parquet of {NAME}@2024-10 is damaged, expected sha"
    )
    blob.unlink()
    (said,) = says(client, f"{NAME}@2024-10", home=home, offline=True)
    assert said == (
        f"HubError: {NAME}@2024-10 is not whole on this machine, expected langchain/*.parquet, got 1 of the files that "
        f"are needed; HF_HUB_OFFLINE is set: unset it, then freshstack download {NAME}@2024-10"
    )
    check(load(client, f"{NAME}@2024-10", home=home)[0])
    del released.repos[CORPUS[0]]
    (said,) = says(client, f"{NAME}@2024-10")
    assert said.startswith(
        f"HubError: {NAME}@2024-10 cannot be downloaded, got no repository {CORPUS[0]} on the Hub; a private one needs"
    )


def test_the_originals_are_downloaded_listed_verified_and_converted(released, client, tmp_path):
    home, out, name = tmp_path / "home", tmp_path / "out", f"{NAME}@2024-10"
    ((code, facts, errors),) = commands(client, f"download {name} --json", home=home)
    assert (code, errors, facts["renewed"]) == (0, "", [])
    files = [path for path in (tmp_path / facts["path"]).rglob("*") if path.is_file()]
    assert facts["bytes"] == sum(path.stat().st_size for path in files)
    released.log.clear()
    listed, verified, info = commands(client, "list --json", f"verify {name}", f"info {name} --json", home=home)
    snapshots = {dataset["name"]: dataset["snapshots"] for dataset in listed[1]["datasets"]}
    assert snapshots[NAME] == [{"name": "2024-10", "cached": True, "bytes": facts["bytes"]}]
    assert snapshots[f"{NAME}-unfiltered"] == [{"name": "2024-10", "cached": False, "bytes": None}]
    assert verified == (0, "", f"{name}: all is well\n")
    assert (info[1]["statistics"]["missing_documents"], len(info[1]["repositories"])) == (1, 10)
    assert (info[1]["language"], info[1]["languages"]) == ("en", ["en"])  # no query says it, the catalog does
    builders = ["python", "-m", "builders", "convert-oct-2024", "langchain", "--out", str(out), "--json"]
    assert json.loads(client(builders, home=home).stdout)["fingerprint"] == facts["fingerprint"]
    sources = json.loads((out / "snapshot.json").read_text())["sources"]
    assert [source["commit"] for source in sources] == [CORPUS[1], QUERIES[1]]
    assert released.log == []

    file, message = "langchain/train-00000-of-00002.parquet", "is not what it was when it was downloaded"
    first = next((home / "hf").rglob(file))
    first.resolve().write_bytes(first.read_bytes()[:-1] + b"x")
    found, renewed = commands(client, f"verify {name} --json", f"download {name}", home=home)
    problem = {"code": "changed-file", "file": file, "id": "", "message": message}
    assert found[:2] == (1, {"ok": False, "problems": [problem]})
    assert renewed[::2] == (0, f"{file} was damaged and has been fetched again\n")


@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("path", ["snapshot.json", "queries/test-00000-of-00001.parquet"])
def test_what_was_made_of_the_originals_is_made_again_when_it_is_damaged(client, tmp_path, path):
    home, name = tmp_path / "home", f"{NAME}@2024-10"
    load(client, name, home=home)
    (file,) = home.glob(f"freshstack/converted/*/*/{path}")
    file.write_bytes(file.read_bytes()[:-9])
    (code, told, _), again = commands(client, f"download {name} --json", f"download {name} --json", home=home)
    assert (code, told["renewed"]) == (0, [path])
    assert again[1]["renewed"] == []
    check(load(client, name, home=home)[0])
