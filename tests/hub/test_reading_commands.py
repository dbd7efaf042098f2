"""The commands about datasets on the Hub: download, list, info, verify."""

import pytest

from tests.hub import snapshots
from tests.hub.reading import commands, load

REPO = "freshstack/langchain"
OLDER, NEWER = snapshots.SNAPSHOTS
CORPUS = "corpus/corpus-00000-of-00001.parquet"


@pytest.fixture
def published(hub, two_snapshots):
    for folder in two_snapshots:
        hub.put(REPO, folder, tag=folder.name)
    return hub


@pytest.fixture
def freshstack(published, client, tmp_path):
    """Run commands in one home: each one's exit code, what it printed, and its messages."""

    def run(*lines, **options):
        return commands(client, *lines, home=tmp_path / "home", **options)

    run.home = tmp_path / "home"
    return run


def here(listed):
    """Return what a list says of the dataset's snapshots."""
    code, told, errors = listed
    assert (code, errors) == (0, "")
    (found,) = [dataset["snapshots"] for dataset in told["datasets"] if dataset["name"] == REPO]
    return {snapshot["name"]: (snapshot["cached"], snapshot["bytes"]) for snapshot in found}


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def damage(home, path):
    """Change a byte of a file in the Hub's cache."""
    (file,) = home.rglob(f"snapshots/*/{path}")
    data = file.read_bytes()
    file.resolve().write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])


def test_a_snapshot_is_downloaded_whole_listed_and_used_offline(published, client, freshstack, two_snapshots):
    load(client, f"{REPO}@{NEWER}", whole=False, home=freshstack.home)
    first, shown, older, second, newer, third = freshstack(
        "list --json",
        "list",
        f"download {REPO}@{OLDER} --json",
        "list --json",
        "download freshstack/langchain",
        "list --json",
    )
    cached, part = here(first)[NEWER]
    assert (cached, here(first)["2024-10"]) == (False, (False, None))
    assert 0 < part < size(two_snapshots[1])
    assert f"{REPO}             {NEWER}   a part" in shown[1]
    code, facts, errors = older
    assert (code, errors, facts["dataset"], facts["snapshot"]) == (0, "", REPO, OLDER)
    assert (facts["bytes"], facts["renewed"], facts["problems"]) == (size(two_snapshots[0]), [], [])
    assert str(freshstack.home) in facts["path"]
    assert here(second)[OLDER] == (True, facts["bytes"])
    assert (newer[0], newer[2]) == (0, "")
    assert newer[1].startswith(f"{REPO}@{NEWER}, fingerprint ")
    whole = {NEWER: (True, size(two_snapshots[1])), OLDER: (True, size(two_snapshots[0])), "2024-10": (False, None)}
    assert here(third) == whole

    published.log.clear()
    *verified, downloaded, last = freshstack(
        *(f"verify {REPO}@{snapshot}" for snapshot in (OLDER, NEWER)),
        f"download {REPO}@{OLDER}",
        "list --json",
        offline=True,
    )
    for snapshot, (code, said, errors) in zip((OLDER, NEWER), verified, strict=True):
        assert (code, said) == (0, "")
        assert errors == (
            f"where the tag {snapshot} points was not looked at: HF_HUB_OFFLINE is set\n{REPO}@{snapshot}: all is well\n"
        )
    assert downloaded[0] == 0
    assert here(last) == whole
    assert published.log == []


def test_verify_downloads_what_lacks_and_looks_into_all_of_it(published, freshstack):
    (done,) = freshstack(f"verify {REPO} --json")
    assert done == (0, {"ok": True, "problems": []}, "")
    assert len(published.asked("/resolve/", "HEAD")) == 7  # five tables, the description, the card


def test_a_file_that_is_damaged_here_is_found_and_fetched_again(published, freshstack):
    assert freshstack(f"download {REPO}")[0][0] == 0
    for path in (CORPUS, "README.md"):
        damage(freshstack.home, path)
    published.log.clear()
    found, renewed, well = freshstack(f"verify {REPO} --json", f"download {REPO}@{NEWER}", f"verify {REPO}")
    codes = [(problem["code"], problem["file"]) for problem in found[1]["problems"]]
    assert (found[0], codes[0], codes[-1]) == (1, ("changed-file", CORPUS), ("changed-file", "README.md"))
    assert renewed[0] == 0
    again = [f"{path} was damaged and has been fetched again" for path in ("README.md", CORPUS)]
    assert renewed[2].splitlines() == again
    assert len(published.asked("/objects/")) == 1
    assert well[0] == 0
    damage(freshstack.home, "snapshot.json")  # it may not even be JSON any more
    ((code, facts, _),) = freshstack(f"download {REPO} --json")
    assert (code, facts["renewed"]) == (0, ["snapshot.json"])


def test_a_file_that_is_damaged_on_the_hub_or_lost_there_is_found(hub, freshstack, tmp_path):
    for name in ("acme/damaged", "acme/lost"):
        hub.put(name, snapshots.write(tmp_path / name, NEWER, name), tag=NEWER)
    hub.corrupt("acme/damaged", CORPUS)
    hub.remove("acme/lost", CORPUS)
    damaged, seen_damaged, lost, seen_lost = freshstack(
        "download acme/damaged", "verify acme/damaged --json", "download acme/lost", "verify acme/lost --json"
    )
    assert damaged[:2] == lost[:2] == (2, "")
    assert damaged[2].startswith(f"error: {CORPUS} of acme/damaged@{NEWER} is damaged, expected sha256 ")
    assert damaged[2].endswith("; so it is on the Hub: tell whoever published it\n")
    assert f"expected the file {CORPUS}, got none there; tell whoever published it" in lost[2]
    for (code, found, _), expected in ((seen_damaged, "changed-file"), (seen_lost, "missing-file")):
        assert (code, found["ok"]) == (1, False)
        assert (found["problems"][0]["code"], found["problems"][0]["file"]) == (expected, CORPUS)


def test_a_tag_that_moved_is_found_and_changes_nothing(published, client, freshstack):
    older, newer = (published.repos[REPO].tags[snapshot] for snapshot in (OLDER, NEWER))
    name = f"{REPO}@{OLDER}"
    load(client, name, home=freshstack.home)
    published.move_tag(REPO, OLDER, newer)
    message = f"expected commit {older[:12]}, as when it was first used, got {newer[:12]}, which is not used"
    problem = {"code": "moved-tag", "file": REPO, "id": OLDER, "message": message}
    verified, downloaded, again = freshstack(f"verify {name} --json", f"download {name}", f"verify {name}")
    assert verified[:2] == (1, {"ok": False, "problems": [problem]})
    assert (downloaded[0], downloaded[1].splitlines()[0]) == (1, f"{REPO}: moved-tag '{OLDER}': {message}")
    assert again[1].splitlines() == [f"{REPO}: moved-tag '{OLDER}': {message}"]
    published.repos[REPO].untag(OLDER)
    (gone,) = freshstack(f"verify {name}")
    assert gone[1].endswith("as when it was first used, got no such tag\n")
    del published.repos[REPO]
    (nowhere,) = freshstack(f"verify {name}")
    assert nowhere[0] == 0
    assert nowhere[2].startswith(f"where the tag {OLDER} points was not looked at: unknown dataset '{REPO}'")
    assert load(client, name, home=freshstack.home)[0]["queries"] == snapshots.QUERIES[OLDER]


def test_info_needs_no_corpus(published, freshstack):
    ((code, facts, _),) = freshstack(f"info {REPO}@{OLDER} --json")
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
    folder = two_snapshots[0]
    well, other, refused = freshstack(f"verify {folder}@{OLDER}", f"verify {folder}@{NEWER}", f"download {folder}")
    assert well[0] == 0
    assert other[::2] == (2, f"error: {folder}: snapshot, expected '{NEWER}', got {OLDER}\n")
    assert refused[0] == 2
    assert refused[2].endswith(f"expected a name, got a folder; freshstack verify {folder} looks through a folder\n")


def test_a_tag_on_another_snapshot_is_refused_by_every_command_and_forgotten(published, freshstack):
    published.move_tag(REPO, NEWER, OLDER)
    name = f"{REPO}@{NEWER}"
    for code, out, error in freshstack(f"download {name}", f"verify {name}", f"info {name}"):
        assert (code, out) == (2, "")
        assert error.endswith(f"snapshot, expected '{NEWER}', got {OLDER}\n")
    published.move_tag(REPO, NEWER, "main")  # its publisher puts it right
    code, told, _ = freshstack(f"download {name} --json")[0]
    assert (code, told["snapshot"]) == (0, NEWER)


@pytest.mark.slow  # the client goes on trying for half a minute
def test_a_hub_that_is_not_there_is_told_of_in_one_line(client):
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9"}  # the port of the discard service, where nobody listens
    done = client(["freshstack", "download", "langchain@2024-10"], env=nowhere)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("error: freshstack/langchain@2024-10 cannot be downloaded, got the Hub does not answer")
