"""The commands about datasets on the Hub: download, list, info, verify."""

import json

import pytest

from tests.hub import snapshots
from tests.hub.reading import load

REPO = "freshstack/langchain"
OLDER, NEWER = snapshots.SNAPSHOTS
CORPUS = "corpus/corpus-00000-of-00001.parquet"


@pytest.fixture
def freshstack(published, client, tmp_path):
    """Run a command in one home: its exit code, what it printed, and its messages."""

    def run(*arguments, **options):
        done = client(["freshstack", *arguments], home=tmp_path / "home", **options)
        said = json.loads(done.stdout) if "--json" in arguments and done.stdout else done.stdout
        return done.returncode, said, done.stderr

    run.home = tmp_path / "home"
    return run


@pytest.fixture
def published(hub, two_snapshots):
    for folder in two_snapshots:
        hub.put(REPO, folder, tag=folder.name)
    return hub


def here(freshstack, name=REPO):
    """Return what the list says of a dataset's snapshots."""
    code, listed, errors = freshstack("list", "--json")
    assert (code, errors) == (0, "")
    (found,) = [dataset["snapshots"] for dataset in listed["datasets"] if dataset["name"] == name]
    return {snapshot["name"]: (snapshot["cached"], snapshot["bytes"]) for snapshot in found}


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def damage(home, path):
    """Change a byte of a file in the Hub's cache of one snapshot, and return the file."""
    (file,) = home.rglob(f"snapshots/*/{path}")
    data = file.read_bytes()
    file.resolve().write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    return file


def test_a_snapshot_is_downloaded_whole_listed_and_used_offline(published, client, freshstack, two_snapshots):
    load(client, f"{REPO}@{NEWER}", whole=False, home=freshstack.home)
    cached, part = here(freshstack)[NEWER]
    assert (cached, here(freshstack)["2024-10"]) == (False, (False, None))
    assert 0 < part < size(two_snapshots[1])
    assert f"{REPO}             {NEWER}   a part" in freshstack("list")[1]
    code, facts, errors = freshstack("download", f"{REPO}@{OLDER}", "--json")
    assert (code, errors) == (0, "")
    assert (facts["dataset"], facts["snapshot"]) == (REPO, OLDER)
    assert (facts["bytes"], facts["renewed"], facts["problems"]) == (size(two_snapshots[0]), [], [])
    assert str(freshstack.home) in facts["path"]
    assert here(freshstack)[OLDER] == (True, facts["bytes"])
    code, said, errors = freshstack("download", "langchain")
    assert (code, errors) == (0, "")
    assert said.startswith(f"{REPO}@{NEWER}, fingerprint ")
    assert here(freshstack) == {
        NEWER: (True, size(two_snapshots[1])),
        OLDER: (True, size(two_snapshots[0])),
        "2024-10": (False, None),
    }
    published.log.clear()
    for snapshot in (OLDER, NEWER):
        code, said, errors = freshstack("verify", f"{REPO}@{snapshot}", offline=True)
        assert (code, said) == (0, "")
        assert errors == (
            f"where the tag {snapshot} points was not looked at: HF_HUB_OFFLINE is set\n{REPO}@{snapshot}: all is well\n"
        )
        assert freshstack("download", f"{REPO}@{snapshot}", offline=True)[0] == 0
    assert published.log == []


def test_verify_downloads_what_lacks_and_looks_into_all_of_it(published, freshstack):
    assert freshstack("verify", REPO, "--json") == (0, {"ok": True, "problems": []}, "")
    assert len(published.asked("/resolve/", "HEAD")) == 7  # five tables, the description, the card


def test_a_file_that_is_damaged_here_is_found_and_fetched_again(published, freshstack):
    assert freshstack("download", REPO)[0] == 0
    for path in (CORPUS, "README.md"):
        damage(freshstack.home, path)
    code, found, _ = freshstack("verify", REPO, "--json")
    assert code == 1
    codes = [(problem["code"], problem["file"]) for problem in found["problems"]]
    assert codes[0] == ("changed-file", CORPUS)
    assert codes[-1] == ("changed-file", "README.md")
    published.log.clear()
    code, _, errors = freshstack("download", f"{REPO}@{NEWER}")
    assert code == 0
    assert errors.splitlines() == [f"{path} was damaged and has been fetched again" for path in ("README.md", CORPUS)]
    assert len(published.asked("/objects/")) == 1
    assert freshstack("verify", REPO)[0] == 0
    damage(freshstack.home, "snapshot.json")  # it may not even be JSON any more
    code, facts, _ = freshstack("download", REPO, "--json")
    assert (code, facts["renewed"]) == (0, ["snapshot.json"])


def test_a_file_that_is_damaged_on_the_hub_is_found(published, freshstack):
    published.corrupt(REPO, CORPUS)
    code, said, errors = freshstack("download", REPO)
    assert (code, said) == (2, "")
    assert errors.startswith(f"error: {CORPUS} of {REPO}@{NEWER} is damaged, expected sha256 ")
    assert errors.endswith("; so it is on the Hub: tell whoever published it\n")
    code, found, _ = freshstack("verify", REPO, "--json")
    assert (code, found["problems"][0]["code"], found["problems"][0]["file"]) == (1, "changed-file", CORPUS)


def test_a_file_that_the_hub_lost_is_found(published, freshstack):
    published.remove(REPO, CORPUS)
    code, found, _ = freshstack("verify", REPO, "--json")
    assert (code, found["problems"][0]["code"], found["problems"][0]["file"]) == (1, "missing-file", CORPUS)
    code, _, errors = freshstack("download", REPO)
    assert code == 2
    assert f"expected the file {CORPUS}, got none there" in errors


def test_a_tag_that_moved_is_found_and_changes_nothing(published, client, freshstack):
    older, newer = (published.repos[REPO].tags[snapshot] for snapshot in (OLDER, NEWER))
    assert freshstack("download", f"{REPO}@{OLDER}")[0] == 0
    published.move_tag(REPO, OLDER, newer)
    message = f"expected commit {older[:12]}, as when it was first used, got {newer[:12]}, which is not used"
    problem = {"code": "moved-tag", "file": REPO, "id": OLDER, "message": message}
    code, found, _ = freshstack("verify", f"{REPO}@{OLDER}", "--json")
    assert (code, found) == (1, {"ok": False, "problems": [problem]})
    code, said, _ = freshstack("download", f"{REPO}@{OLDER}")
    assert (code, said.splitlines()[0]) == (1, f"{REPO}: moved-tag '{OLDER}': {message}")
    assert load(client, f"{REPO}@{OLDER}", home=freshstack.home)[0]["queries"] == snapshots.QUERIES[OLDER]
    published.repos[REPO].untag(OLDER)
    assert freshstack("verify", f"{REPO}@{OLDER}")[1].endswith("as when it was first used, got no such tag\n")


def test_info_needs_no_corpus(published, freshstack):
    code, facts, _ = freshstack("info", f"{REPO}@{OLDER}", "--json")
    assert code == 0
    assert not published.asked("corpus/")
    # two queries, of which q1 has two nuggets, each supported by the guide; q2 has one, supported by the code
    assert facts["statistics"] | {"characters_per_query": 0} == {
        "queries": 2,
        "documents": 4,
        "missing_documents": 0,
        "nuggets_per_query": 1.5,
        "relevant_per_nugget": 1.0,
        "relevant_per_query": 1.0,
        "judged_per_query": 1.5,
        "characters_per_query": 0,
        "characters_per_answer": None,
    }
    assert facts["domain"] == "Machine Learning"
    assert "2504.13128" in facts["citation"]
    assert facts["repositories"] == []  # known of the release of October 2024 alone


def test_a_folder_is_verified_and_not_downloaded(freshstack, two_snapshots):
    assert freshstack("verify", f"{two_snapshots[0]}@{OLDER}")[0] == 0
    code, _, errors = freshstack("verify", f"{two_snapshots[0]}@{NEWER}")
    assert (code, errors) == (2, f"error: {two_snapshots[0]}: snapshot, expected '{NEWER}', got {OLDER}\n")
    code, _, errors = freshstack("download", str(two_snapshots[0]))
    assert code == 2
    assert errors.endswith(
        f"expected a name, got a folder; freshstack verify {two_snapshots[0]} looks through a folder\n"
    )
