"""``python -m builders publish`` against the test Hub: what it does, and what it refuses to do."""

import shutil

import pytest
import yaml

from freshstack_datasets.recipe import Source
from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.published import check, files_at, files_of
from tests.hub.publisher import Publisher
from tests.hub.server import ALWAYS
from tests.hub.server.repository import GIT_ATTRIBUTES, regular

OLDER, NEWER = snapshots.SNAPSHOTS


@pytest.fixture(scope="module")
def publish_either(lasting_hub, tmp_path_factory, xet):
    """The same, over LFS and over xet."""
    folder = tmp_path_factory.mktemp("publisher")
    with Publisher(Client(lasting_hub, folder), folder / "home", xet=xet) as publisher:
        yield publisher


@pytest.fixture
def hub(healed_hub):
    """The Hub that lasts, in place of one for each test."""
    return healed_hub


def writes(hub, repo):
    return [asked for asked in hub.asked(repo) if asked.method not in ("GET", "HEAD")]


def test_a_snapshot_is_one_commit_with_one_tag_and_is_read_back(hub, publish_either, two_snapshots, repo, xet):
    older, _ = two_snapshots
    done = publish_either(older, "--repo", repo)
    assert (done.code, done.waits) == (0, [])
    check(hub, repo, older)
    commit = hub.repos[repo].head
    assert f"{repo}@{OLDER}: published, fingerprint " in done.out
    assert f"commit {commit}, tag {OLDER}\nread back, every row: all is well\n" in done.out
    assert done.out.endswith(f"{hub.url}/datasets/{repo}/tree/{OLDER}\n")
    assert [path for path in files_of(older, repo) if not hub.asked(f"{repo}/resolve/{commit}/{path}", "HEAD")] == []
    assert bool(hub.asked(f"{repo}/xet-write-token/")) == xet


def test_publishing_again_changes_nothing(hub, publish_either, two_snapshots, repo):
    older, _ = two_snapshots
    publish_either(older, "--repo", repo)
    before = writes(hub, repo)
    done = publish_either(older, "--repo", repo, "--json")
    assert (done.code, done.told["state"], done.told["ok"]) == (0, "unchanged", True)
    assert {entry["operation"] for entry in done.told["operations"]} == {"keep"}
    assert writes(hub, repo) == before
    check(hub, repo, older)


def test_the_next_snapshot_replaces_the_files_of_the_one_before(hub, publish_either, two_snapshots, repo, tmp_path):
    _, newer = two_snapshots
    traced = snapshots.write(tmp_path / OLDER, OLDER, dropped=[{"id": "q9", "why": "too short"}])
    assert publish_either(traced, "--repo", repo).code == 0
    assert "provenance/dropped.jsonl" in files_at(hub, repo)
    done = publish_either(newer, "--repo", repo, "--json")
    assert (done.code, done.told["state"]) == (0, "published")
    deleted = [entry["path"] for entry in done.told["operations"] if entry["operation"] == "delete"]
    assert deleted == ["provenance/dropped.jsonl"]
    check(hub, repo, traced, newer)
    assert hub.repos[repo].at("main").parent == hub.repos[repo].tags[OLDER]


def test_a_file_that_stays_the_same_is_kept(hub, publish, repo, tmp_path):
    trace = {"dropped": [{"id": "q9", "why": "too short"}]}
    older, newer = (snapshots.write(tmp_path / name, name, **trace) for name in snapshots.SNAPSHOTS)
    assert publish(older, "--repo", repo).code == 0
    told = publish(newer, "--repo", repo, "--json").told
    kept = [entry["path"] for entry in told["operations"] if entry["operation"] == "keep"]
    assert kept == ["provenance/dropped.jsonl"]
    check(hub, repo, older, newer)


def test_what_json_tells(hub, publish, two_snapshots, repo):
    older, _ = two_snapshots
    told = publish(older, "--repo", repo, "--json").told
    operations = told.pop("operations")
    assert [(entry["path"], entry["operation"], entry["bytes"]) for entry in operations] == sorted(
        (path, "add", len(content)) for path, content in files_of(older, repo).items()
    )
    assert told == {
        "ok": True,
        "state": "published",
        "repository": repo,
        "dataset": "freshstack/langchain",
        "snapshot": OLDER,
        "fingerprint": told["fingerprint"],
        "branch": "main",
        "commit": hub.repos[repo].head,
        "tag": OLDER,
        "pull_request": None,
        "address": f"{hub.url}/datasets/{repo}",
        "new": False,
        "unknown": None,
        "problems": [],
    }
    assert f'"fingerprint": "{told["fingerprint"]}"' in (older / "snapshot.json").read_text()


def test_a_snapshot_goes_where_its_name_says_unless_another_place_is_named(hub, publish, tmp_path):
    here = snapshots.write(tmp_path / OLDER, OLDER, "acme/own-name")
    assert publish(here).code == 0
    check(hub, "acme/own-name", here)
    alone = snapshots.write(tmp_path / "alone" / OLDER, OLDER, "alone")
    done = publish(alone)
    assert (done.code, done.error) == (2, "repository, expected ORGANIZATION/NAME, got 'alone'; --repo ORG/NAME")


def test_a_dry_run_prints_the_operations_and_writes_nothing(hub, publish, two_snapshots, repo, tmp_path):
    older, newer = two_snapshots
    done = publish(older, "--repo", repo, "--dry-run")
    assert done.code == 0
    assert repo not in hub.repos
    sizes = {path: len(content) for path, content in files_of(older, repo).items()}
    rows = [line.split() for line in done.out.splitlines() if line.startswith("add ")]
    assert rows == [["add", path, f"{size:,}"] for path, size in sorted(sizes.items())]
    assert f"the repository {repo} would be made\n" in done.out
    told = publish(older, "--repo", repo, "--dry-run", "--json").told
    assert (told["new"], told["unknown"]) == (True, None)
    assert done.out.endswith(f"one commit on main: 8 files added ({sum(sizes.values()):,} bytes), tagged {OLDER}\n")
    assert writes(hub, repo) == []

    traced = snapshots.write(tmp_path / OLDER, OLDER, dropped=[{"id": "q9"}])
    assert publish(traced, "--repo", repo).code == 0
    before = writes(hub, repo)
    done = publish(newer, "--repo", repo, "--dry-run")
    size = len(files_of(traced, repo)["provenance/dropped.jsonl"])
    assert ["delete", "provenance/dropped.jsonl", str(size)] in [line.split() for line in done.out.splitlines()]
    assert f", 1 deleted ({size} bytes), tagged {NEWER}\n" in done.out
    assert "nothing would be changed: " in publish(traced, "--repo", repo, "--dry-run").out
    assert writes(hub, repo) == before


def test_a_dry_run_without_the_hub_says_what_it_does_not_know(hub, two_snapshots, repo, tmp_path):
    with Publisher(Client(hub, tmp_path), tmp_path / "home", offline=True) as publish:
        done = publish(two_snapshots[0], "--repo", repo, "--dry-run")
        assert done.code == 0
        assert f"warning: what {repo} holds is not known: " in done.err
        assert "one commit on main: 8 files added " in done.out
        told = publish(two_snapshots[0], "--repo", repo, "--dry-run", "--json").told
        assert (told["state"], told["new"]) == ("planned", False)
        assert "got HF_HUB_OFFLINE is set" in told["unknown"]
        done = publish(two_snapshots[0], "--repo", repo)
        assert (done.code, done.out, done.waits) == (2, "", [])
        assert done.error.endswith("HF_HUB_OFFLINE is set; unset it and try again")
    assert hub.asked(repo) == []


def test_a_repository_is_made_private_when_asked_for_and_never_by_accident_public(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo, "--private").code == 0
    assert hub.repos[repo].private
    assert publish(newer, "--repo", repo, "--private").code == 0
    hub.repos[repo].private = False
    before = writes(hub, repo)
    done = publish(older, "--repo", repo, "--private")
    assert (done.code, writes(hub, repo)) == (2, before)
    assert done.error == (
        f"{repo}, expected a private repository, got a public one; make it private at {hub.url}/datasets/{repo}/settings,"
        " or leave out --private"
    )


def test_a_name_that_is_taken_stays_and_the_next_free_one_is_told(hub, publish, two_snapshots, repo, tmp_path):
    older, _ = two_snapshots
    assert publish(older, "--repo", repo).code == 0
    other = snapshots.write(tmp_path / OLDER, NEWER, name=OLDER)
    done = publish(other, "--repo", repo)
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith(f"{OLDER} of {repo} is published already, expected its fingerprint ")
    assert done.error.endswith(f"publish this one as a correction, {OLDER}.1")
    check(hub, repo, older)

    correction = snapshots.write(tmp_path / f"{OLDER}.1", NEWER, name=f"{OLDER}.1")
    assert publish(correction, "--repo", repo).code == 0
    check(hub, repo, older, correction)
    assert publish(other, "--repo", repo).error.endswith(f"publish this one as a correction, {OLDER}.2")
    another = snapshots.write(tmp_path / "other" / f"{OLDER}.1", OLDER, name=f"{OLDER}.1")
    assert publish(another, "--repo", repo).error.endswith(f"publish this one as a correction, {OLDER}.2")
    check(hub, repo, older, correction)


def test_another_card_does_not_change_what_is_published(hub, publish, two_snapshots, repo, tmp_path):
    older, _ = two_snapshots
    assert publish(older, "--repo", repo).code == 0
    done = publish(snapshots.write(tmp_path / OLDER, OLDER, about="Other words."), "--repo", repo)
    assert done.code == 0
    assert "published already, nothing was changed" in done.out
    assert "README.md on the Hub is another one than here, and stays\n" in done.out
    check(hub, repo, older)


def test_a_tag_on_something_else_is_not_taken_for_a_snapshot(hub, publish, two_snapshots, repo):
    hub.put(repo, {"README.md": b"x"}, tag=OLDER)
    done = publish(two_snapshots[0], "--repo", repo)
    assert done.code == 2
    assert "expected no snapshot at its tag" in done.error
    assert files_at(hub, repo) == {"README.md": b"x"}


@pytest.mark.parametrize("name", [f"{OLDER}.1", "2025-12"])
def test_a_snapshot_older_than_that_of_main_is_published_beside_it(hub, publish, two_snapshots, repo, tmp_path, name):
    older, newer = two_snapshots
    late = snapshots.write(tmp_path / name, OLDER, name=name, dropped=[{"id": "q9"}])
    for folder in (older, newer):
        assert publish(folder, "--repo", repo).code == 0
    done = publish(late, "--repo", repo)
    assert done.code == 0
    assert f"main has a newer snapshot and stays what it is; this one is on the branch snapshot-{name}\n" in done.out
    check(hub, repo, late, older, newer)
    before = writes(hub, repo)
    again = publish(late, "--repo", repo, "--json")
    assert (again.code, again.told["state"], again.told["branch"]) == (0, "unchanged", f"snapshot-{name}")
    assert writes(hub, repo) == before


def test_a_late_snapshot_whose_tag_failed_gets_it_without_a_second_commit(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(newer, "--repo", repo).code == 0
    hub.fail(f"{repo}/tag/", status=403)
    assert publish(older, "--repo", repo).code == 2
    assert list(hub.repos[repo].tags) == [NEWER]
    assert publish(older, "--repo", repo).code == 0
    check(hub, repo, older, newer)


def test_a_commit_that_lacks_its_tag_gets_it_when_main_went_on(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    hub.fail(f"{repo}/tag/", status=403)
    assert publish(older, "--repo", repo).code == 2
    assert publish(newer, "--repo", repo).code == 0
    done = publish(older, "--repo", repo)
    assert done.code == 0
    check(hub, repo, older, newer)
    assert list(hub.repos[repo].refs) == ["refs/heads/main", f"refs/tags/{NEWER}", f"refs/tags/{OLDER}"]


@pytest.mark.parametrize(
    "held, message",
    [
        ({"data/train.csv": b"a\n"}, "holds no snapshot, expected an empty repository, or one of snapshots"),
        ({"snapshot.json": b"{}", "a.txt": b""}, "holds no snapshot"),
    ],
)
def test_files_that_are_no_snapshot_are_not_deleted(hub, publish, two_snapshots, repo, held, message):
    hub.put(repo, held)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, files_at(hub, repo)) == (2, held)
    assert f"{repo} {message}" in done.error


def test_a_card_alone_is_replaced(hub, publish, two_snapshots, repo):
    hub.put(repo, {".gitattributes": GIT_ATTRIBUTES.encode(), "README.md": b"---\nlicense: mit\n---\n"})
    assert publish(two_snapshots[0], "--repo", repo).code == 0
    check(hub, repo, two_snapshots[0], commits=2)


def test_snapshots_of_another_dataset_are_not_replaced(hub, publish, two_snapshots, repo, tmp_path):
    older, _ = two_snapshots
    assert publish(older, "--repo", repo).code == 0
    done = publish(snapshots.write(tmp_path / NEWER, NEWER, "freshstack/yolo"), "--repo", repo)
    assert done.code == 2
    assert f"{repo} holds another dataset, expected freshstack/yolo, got freshstack/langchain" in done.error
    check(hub, repo, older)


def test_a_snapshot_with_problems_is_not_sent(hub, publish, two_snapshots, repo, tmp_path):
    broken = shutil.copytree(two_snapshots[0], tmp_path / OLDER)
    corpus = broken / "corpus" / "corpus-00000-of-00001.parquet"
    corpus.write_bytes(corpus.read_bytes() + b"x")
    (broken / "more.txt").write_text("x")
    done = publish(broken, "--repo", repo, "--json")
    assert (done.code, done.told["ok"]) == (1, False)
    codes = [problem["code"] for problem in done.told["problems"]]
    assert codes[:2] == ["changed-file", "extra-file"]
    assert "more.txt: extra-file: not in snapshot.json\n" in done.err
    assert f"expected a snapshot without problems, got {len(codes)}, the first " in done.error
    assert hub.asked(repo) == []


@pytest.mark.parametrize("model", ["stand-in", "stand-in/scripted", "Stand-In 2", "fake"])
def test_what_a_stand_in_for_a_model_made_is_not_published(hub, publish, repo, tmp_path, model):
    folder = snapshots.write(tmp_path / OLDER, OLDER, recipe={"models": {"judge": "gpt-4o", "nuggets": model}})
    done = publish(folder, "--repo", repo)
    assert (done.code, hub.asked(repo)) == (2, [])
    assert f"got the stand-in '{model}' as the model of 'nuggets'" in done.error


@pytest.mark.parametrize("model", ["gpt-4o-2024-08-06", "acme/stand-in-tuned", "fakery-7b"])
def test_what_a_model_made_is_published(hub, publish, repo, tmp_path, model):
    folder = snapshots.write(tmp_path / OLDER, OLDER, recipe={"models": {"nuggets": model}})
    assert publish(folder, "--repo", repo, "--dry-run").code == 0


@pytest.mark.parametrize("name", ["acme", "a/b/c", "acme/", "acme/a..b", "acme/a b", "acme/" + "x" * 100, "/x"])
def test_a_name_that_no_repository_can_have_is_refused_at_once(hub, publish, two_snapshots, name):
    hub.log.clear()
    done = publish(two_snapshots[0], "--repo", name)
    assert (done.code, hub.log) == (2, [])
    assert done.error.startswith("repository, expected ORGANIZATION/NAME, got ")


def test_a_folder_without_a_card_is_published_with_one_and_one_without_a_snapshot_is_refused(
    hub, publish, two_snapshots, repo, tmp_path
):
    bare = shutil.copytree(two_snapshots[0], tmp_path / OLDER)
    (bare / "README.md").unlink()
    assert publish(bare, "--repo", repo).code == 0
    assert b"## Disputing a judgment" in hub.read(repo, "README.md", OLDER)
    assert f"{tmp_path} is no snapshot" in publish(tmp_path, "--repo", repo).error


def test_a_licence_that_the_hub_has_no_word_for_is_told_as_another_one(hub, publish, repo, tmp_path):
    assert publish(snapshots.write(tmp_path / OLDER, OLDER, license="CC BY"), "--repo", repo).code == 0
    front = yaml.safe_load(hub.read(repo, "README.md", OLDER).decode().split("---\n")[1])
    assert (front["license"], front["license_name"]) == ("other", "cc-by")


def test_what_comes_back_damaged_is_told(hub, publish, repo, tmp_path):
    older = snapshots.write(tmp_path / OLDER, OLDER, "acme/damaged")  # bytes of its own, as all others share theirs
    assert publish(older, "--repo", repo).code == 0
    hub.corrupt(repo, "corpus/corpus-00000-of-00001.parquet")
    hub.remove(repo, "nuggets/test-00000-of-00001.parquet")
    done = publish(older, "--repo", repo, "--json")
    assert (done.code, done.told["ok"]) == (1, False)
    found = {(problem["code"], problem["file"]) for problem in done.told["problems"]}
    assert ("changed-file", "corpus/corpus-00000-of-00001.parquet") in found
    assert ("missing-file", "nuggets/test-00000-of-00001.parquet") in found
    assert "corpus-00000-of-00001.parquet: changed-file" in publish(older, "--repo", repo).out


def test_what_comes_back_as_another_snapshot_or_as_none_is_told(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    other = regular((newer / "snapshot.json").read_bytes())
    hub.before(f"{repo}/tag/", lambda: hub.repos[repo].replace_file("main", "snapshot.json", other))
    done = publish(older, "--repo", repo, "--json")
    codes = [problem["code"] for problem in done.told["problems"]]
    assert (done.code, codes.count("changed-file"), codes[-1]) == (1, 5, "fingerprint")
    hub.before(f"{repo}/tag/", lambda: hub.remove(repo, "snapshot.json"))
    done = publish(newer, "--repo", repo, "--json")
    assert (done.code, [problem["code"] for problem in done.told["problems"]]) == (1, ["unreadable"])
    assert "is no snapshot" in done.told["problems"][0]["message"]


def test_a_pull_request_has_no_tag_and_leaves_main_alone(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    publish(older, "--repo", repo)
    done = publish(newer, "--repo", repo, "--pull-request")
    assert done.code == 0
    assert f"\n{hub.url}/datasets/{repo}/discussions/1\nonce it is merged, run the same command without" in done.out
    check(hub, repo, older, commits=2)
    assert files_at(hub, repo, "refs/pr/1") == files_of(newer, repo, (older,))

    again = publish(newer, "--repo", repo, "--pull-request", "--json")
    assert again.told["pull_request"] == f"{hub.url}/datasets/{repo}/discussions/1"
    check(hub, repo, older, commits=2)

    hub.repos[repo].add("refs/heads/main", hub.repos[repo].at("refs/pr/1").files, "Merge")
    assert publish(newer, "--repo", repo, "--pull-request", "--json").told["state"] == "merged"
    done = publish(newer, "--repo", repo, "--pull-request")
    assert "on main already, without its tag" in done.out
    assert "run the same command without --pull-request: it sets the tag" in done.out
    done = publish(newer, "--repo", repo, "--pull-request", "--dry-run")
    assert done.out.endswith(f"no pull request would be opened: main has it, at {hub.repos[repo].head}\n")
    assert publish(newer, "--repo", repo).code == 0
    check(hub, repo, older, newer, commits=3)
    assert publish(newer, "--repo", repo, "--pull-request", "--json").told["state"] == "unchanged"


def test_other_pull_requests_are_no_hindrance(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    publish(older, "--repo", repo)
    hub.repos[repo].new_pull_request(hub.repos[repo].head)
    done = publish(newer, "--repo", repo, "--pull-request", "--dry-run")
    assert done.out.endswith(" bytes)\n")  # it says nothing of a tag
    assert "one pull request: 8 files added " in done.out
    told = publish(newer, "--repo", repo, "--pull-request", "--json").told
    assert (told["state"], told["tag"], told["commit"]) == ("proposed", None, None)
    assert told["pull_request"].endswith("/discussions/2")
    assert files_at(hub, repo, "refs/pr/2") == files_of(newer, repo, (older,))


def test_a_pull_request_needs_a_repository_and_never_brings_an_older_snapshot(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    done = publish(older, "--repo", repo, "--pull-request")
    assert (done.code, repo in hub.repos) == (2, False)
    assert f"there is no dataset {repo} that this token may see" in done.error
    publish(newer, "--repo", repo)
    done = publish(older, "--repo", repo, "--pull-request")
    assert done.code == 2
    assert f"a pull request with {OLDER}, once merged, would replace a newer snapshot" in done.error
    assert [ref for ref in hub.repos[repo].refs if "pr" in ref] == []


def test_an_answer_to_a_pull_request_that_is_lost_makes_no_second_one(hub, publish, two_snapshots, repo):
    publish(two_snapshots[0], "--repo", repo)
    hub.fail(f"{repo}/commit/", drop=True, after=True)
    done = publish(two_snapshots[1], "--repo", repo, "--pull-request", "--json")
    assert (done.code, done.told["pull_request"]) == (0, f"{hub.url}/datasets/{repo}/discussions/1")
    assert [ref for ref in hub.repos[repo].refs if "pr" in ref] == ["refs/pr/1"]


def test_a_dry_run_names_sources_of_which_no_licence_is_known(publish, repo, tmp_path):
    sources = [Source(url="docs", name="handbook"), Source(url="https://forum.example", license="CC0-1.0")]
    folder = snapshots.write(tmp_path / "unknown", "2026-07", license="LicenseRef-unknown", sources=sources)
    done = publish(folder, "--repo", repo, "--dry-run")
    assert done.code == 0
    assert "warning: no licence is known of 1 source: 'handbook'; see to it" in done.err


def test_a_hub_that_fails_for_good_makes_a_dry_run_no_failure(hub, publish, two_snapshots, repo):
    hub.fail(repo, status=503, times=ALWAYS)
    done = publish(two_snapshots[0], "--repo", repo, "--dry-run")
    assert done.code == 0
    assert "is not known" in done.err


def test_a_file_gets_no_progress_bars(hub, two_snapshots, repo, tmp_path):
    code = """
        import os, sys
        os.environ.pop("HF_HUB_DISABLE_PROGRESS_BARS")
        from builders.cli import main
        sys.exit(main(["publish", *sys.argv[1:]]))
    """
    done = Client(hub, tmp_path)(code, two_snapshots[0], "--repo", repo)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stderr.splitlines()] == [
        "looking",
        "making",
        "sending",
        "commit",
        "tag",
        "reading",
    ]


def test_what_is_asked_of_the_hub(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    publish(older, "--repo", repo)
    hub.log.clear()
    publish(newer, "--repo", repo)
    asked = [f"{one.method} {one.path.partition('?')[0].removeprefix('/api/datasets/' + repo)}" for one in hub.log]
    tags = hub.repos[repo].tags
    before_the_proof = asked[: asked.index(f"POST /tag/{tags[NEWER]}") + 1]
    assert [one for one in before_the_proof if " /objects/" not in one] == [
        "GET /refs",
        f"GET /tree/{tags[OLDER]}",
        f"HEAD /datasets/{repo}/resolve/{tags[OLDER]}/snapshot.json",
        f"GET /datasets/{repo}/resolve/{tags[OLDER]}/snapshot.json",
        "POST /api/validate-yaml",
        "POST /preupload/main",
        f"POST /datasets/{repo}.git/info/lfs/objects/batch",
        "POST /commit/main",
        f"POST /tag/{tags[NEWER]}",
    ]
    proof = asked[len(before_the_proof) :]
    assert proof[0] == f"GET /tree/{tags[NEWER]}"
    assert {one.split()[0] for one in proof} == {"GET", "HEAD"}
