"""The commands about datasets on the Hub: download, list, info, verify."""

import json
import socket
import time

import pytest

import freshstack_datasets as fsd
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
    message += f"; if its publisher says that this is right: freshstack download {name} --accept-moved"
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
    assert nowhere[2].startswith(f"where the tag {OLDER} points was not looked at: no repository {REPO} on the Hub\n")
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


def test_a_tag_that_moved_is_taken_over_only_where_that_is_asked_for(published, client, freshstack, tmp_path):
    name = f"{REPO}@{OLDER}"
    first = published.repos[REPO].tags[OLDER]
    load(client, name, home=freshstack.home)
    still, again = freshstack(f"download {name} --accept-moved", f"download {name} --accept-moved --json")
    assert still[::2] == (0, f"{name}: no tag has moved\n")
    assert (again[0], again[1]["accepted"], again[1]["problems"]) == (0, None, [])
    old = again[1]["fingerprint"]

    asked = [fsd.Query(query_id, text.upper()) for query_id, text in snapshots.QUERIES[OLDER].items()]
    changed = snapshots.write(tmp_path / "changed", OLDER, queries=asked)
    second = published.put(REPO, changed)
    published.move_tag(REPO, OLDER, second)
    refused, used, other = freshstack(f"download {name} --json", f"info {name} --json", f"download {name}")
    assert (refused[0], refused[1]["fingerprint"], used[1]["fingerprint"], other[0]) == (1, old, old, 1)

    published.fail(f"{second}/corpus/", status=404, times=1)
    failed, kept = freshstack(f"download {name} --accept-moved", f"info {name} --json")
    assert (failed[0], kept[1]["fingerprint"]) == (2, old)  # what cannot be had whole replaces nothing

    taken, later, well = freshstack(f"download {name} --accept-moved", f"info {name} --json", f"verify {name}")
    assert (taken[0], taken[2]) == (0, f"{name}: the tag has moved from commit {first} to {second}\n")
    new = later[1]["fingerprint"]
    assert new == json.loads((changed / "snapshot.json").read_text())["fingerprint"] != old
    assert well[::2] == (0, f"{name}: all is well\n")

    published.move_tag(REPO, OLDER, first)
    (back,) = freshstack(f"download {name} --accept-moved --json")
    assert (back[0], back[1]["fingerprint"], back[1]["accepted"]) == (0, old, {"before": second, "now": first})
    published.repos[REPO].untag(OLDER)
    (gone,) = freshstack(f"download {name} --accept-moved")
    what = f"no other commit can be used for {name}, expected a tag that was moved, got no such tag"
    assert gone[::2] == (2, f"error: {what}; ask whoever published it\n")


@pytest.mark.slow  # three attempts, with one and two seconds between them
def test_a_hub_that_is_not_there_is_told_of_within_seconds(client):
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9"}  # the port of the discard service, where nobody listens
    started = time.monotonic()
    done = client(["freshstack", "download", "langchain@2024-10"], env=nowhere)
    assert time.monotonic() - started < 20  # alone, the client goes on for half a minute
    assert (done.returncode, done.stdout) == (2, "")
    wait, line = done.stderr.splitlines()
    assert wait == "warning: the Hub does not answer yet; trying again"
    assert line.startswith("error: freshstack/langchain@2024-10 cannot be downloaded, got the Hub does not answer")


@pytest.mark.parametrize(
    ("command", "fails"),
    [
        ("download langchain@2024-10", "freshstack/langchain@2024-10 cannot be downloaded"),
        ("info acme/x", "the snapshots of acme/x cannot be listed"),
        ("evaluate acme/x@2026-10 --retriever bm25", "acme/x@2026-10 is not on this machine"),
        ("download langchain-unfiltered@2024-10", "which commit of freshstack/queries-oct-2024-unfiltered to read is"),
    ],
)
def test_a_hub_that_says_nothing_is_given_up(client, command, fails):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections and never answers
        env = {"HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}", "HF_HUB_ETAG_TIMEOUT": "1"}
        done = client(["freshstack", *command.split()], env=env)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: {fails}")
    assert "got the Hub does not answer (ReadTimeout)" in line


def test_a_hub_that_fails_while_it_is_asked_whether_it_is_there_is_used(published, client, freshstack):
    load(client, f"{REPO}@{NEWER}", whole=False, home=freshstack.home)
    for fault in ({"drop": True}, {"status": 503}):
        heads = published.fail(f"/api/datasets/{REPO}$", method="HEAD", **fault)
        for corpus in freshstack.home.rglob("corpus/*.parquet"):
            corpus.unlink()
        found = load(client, f"{REPO}@{NEWER}", home=freshstack.home)[0]
        assert found["corpus"].keys() > snapshots.CORPUS[NEWER].keys()
        assert heads.left == 0
