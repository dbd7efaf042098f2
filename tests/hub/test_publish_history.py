"""What the card of a published snapshot says of the dataset's other snapshots: those that there were at that time."""

import pytest

from tests.hub import snapshots
from tests.hub.published import check, files_at, files_of, history

OLDER, NEWER = snapshots.SNAPSHOTS
SMALL, LARGE = (2, 4), (3, 4)
"""Questions and documents of the two that ``snapshots`` writes: its tables, and a document with the dataset's name."""


@pytest.fixture
def hub(healed_hub):
    """The Hub that lasts, in place of one for each test."""
    return healed_hub


@pytest.fixture
def write(tmp_path):
    """Write the contents of one of the two snapshots under a name: ``write(name, content=)``."""

    def written(name, content=OLDER, **changes):
        return snapshots.write(tmp_path / name, content, "acme/forum", name, **changes)

    return written


def row(name, sizes=None, mark=""):
    return [name, *(str(size) for size in sizes or ("–", "–")), mark]


def this(name, sizes):
    return row(name, sizes, "this one")


def writes(hub, repo):
    return [asked for asked in hub.asked(repo) if asked.method not in ("GET", "HEAD")]


def test_a_card_lists_what_was_published_before_it_and_stays_as_it_is(hub, publish, repo, write):
    folders = [write("2026-01"), write("2026-04", NEWER), write("2026-04.1")]
    for folder in folders:
        assert publish(folder, "--repo", repo).code == 0
    check(hub, repo, *folders)
    assert history(hub, repo, "2026-01") == [this("2026-01", SMALL)]
    assert history(hub, repo, "2026-04") == [this("2026-04", LARGE), row("2026-01", SMALL)]
    newest = [this("2026-04.1", SMALL), row("2026-04", LARGE), row("2026-01", SMALL)]
    assert history(hub, repo, "2026-04.1") == history(hub, repo, "main") == newest

    before = writes(hub, repo)
    for folder in folders:
        again = publish(folder, "--repo", repo)
        assert again.code == 0
        assert "published already, nothing was changed" in again.out
        assert "is another one than here" not in again.out
    assert writes(hub, repo) == before
    check(hub, repo, *folders)


def test_what_the_catalog_knows_is_listed_with_what_the_repository_has(hub, publish, repo, two_snapshots):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo).code == 0
    assert publish(newer, "--repo", repo).code == 0
    # arXiv:2504.13128, table 1
    original = row("2024-10", ("203", "49,514"))
    assert history(hub, repo, OLDER) == [this(OLDER, SMALL), original]
    assert history(hub, repo, NEWER) == [this(NEWER, LARGE), row(OLDER, SMALL), original]


def test_an_older_snapshot_that_comes_late_lists_the_newer_and_they_do_not_list_it(hub, publish, repo, write):
    newer, late = write("2026-07", NEWER), write("2026-01")
    for folder in (newer, late):
        assert publish(folder, "--repo", repo).code == 0
    assert history(hub, repo, "2026-01") == [row("2026-07", LARGE), this("2026-01", SMALL)]
    assert history(hub, repo, "main") == history(hub, repo, "2026-07") == [this("2026-07", LARGE)]
    assert publish(late, "--repo", repo, "--json").told["state"] == "unchanged"


def test_a_snapshot_that_comes_in_between_is_listed(hub, publish, repo, write):
    first, between, newest = write("2026-01"), write("2026-04", NEWER), write("2026-07")
    assert publish(first, "--repo", repo).code == 0
    files = {**files_of(between, repo), ".gitattributes": b""}
    hub.before(f"{repo}/commit/main", lambda: hub.put(repo, files, tag="2026-04"))
    done = publish(newest, "--repo", repo)
    assert done.code == 0
    assert f"{repo} changed meanwhile; looking again\n" in done.err
    listed = [this("2026-07", SMALL), row("2026-04", LARGE), row("2026-01", SMALL)]
    assert history(hub, repo, "2026-07") == listed


def test_a_commit_without_its_tag_keeps_its_card_when_others_were_published_since(hub, publish, repo, write):
    newest, late = write("2026-07", NEWER), write("2026-01")
    hub.fail(f"{repo}/tag/", status=403)
    assert publish(newest, "--repo", repo).code == 2
    commit = hub.repos[repo].head
    assert publish(late, "--repo", repo).code == 0
    planned = publish(newest, "--repo", repo, "--dry-run")
    assert f"no commit would be made: {commit} has it" in planned.out
    done = publish(newest, "--repo", repo, "--json")
    assert (done.told["state"], done.told["commit"]) == ("published", commit)
    assert history(hub, repo, "2026-07") == [this("2026-07", LARGE)]


def test_a_late_commit_without_its_tag_keeps_its_card_too(hub, publish, repo, write):
    newest, late, later = write("2026-07", NEWER), write("2026-01"), write("2026-10", NEWER)
    assert publish(newest, "--repo", repo).code == 0
    hub.fail(f"{repo}/tag/", status=403)
    assert publish(late, "--repo", repo).code == 2
    commit = hub.repos[repo].refs["refs/heads/snapshot-2026-01"]
    assert publish(later, "--repo", repo).code == 0
    assert publish(late, "--repo", repo, "--json").told["commit"] == commit
    assert hub.repos[repo].tags["2026-01"] == commit
    assert history(hub, repo, "2026-01") == [row("2026-07", LARGE), this("2026-01", SMALL)]


def test_a_commit_without_its_tag_whose_card_says_something_else_is_made_anew(hub, publish, repo, write, tmp_path):
    hub.fail(f"{repo}/tag/", status=403)
    assert publish(write("2026-01"), "--repo", repo).code == 2
    other = snapshots.write(tmp_path / "other" / "2026-01", OLDER, "acme/forum", "2026-01", about="Other words.")
    assert publish(other, "--repo", repo).code == 0
    assert files_at(hub, repo, "2026-01") == files_of(other, repo)
    check(hub, repo, other, commits=2)


def test_a_pull_request_that_was_merged_is_tagged_whatever_was_published_since(hub, publish, repo, write):
    first, newest, late = write("2026-04"), write("2026-07", NEWER), write("2026-01")
    assert publish(first, "--repo", repo).code == 0
    assert publish(newest, "--repo", repo, "--pull-request").code == 0
    assert history(hub, repo, "refs/pr/1") == [this("2026-07", LARGE), row("2026-04", SMALL)]
    assert publish(late, "--repo", repo).code == 0
    hub.repos[repo].add("refs/heads/main", hub.repos[repo].at("refs/pr/1").files, "Merge")
    merged = hub.repos[repo].head
    assert publish(newest, "--repo", repo, "--pull-request", "--json").told["state"] == "merged"
    assert publish(newest, "--repo", repo).code == 0
    assert hub.repos[repo].tags["2026-07"] == merged


def test_a_tag_on_something_else_is_listed_without_sizes(hub, publish, repo, write):
    assert publish(write("2026-01"), "--repo", repo).code == 0
    hub.repos[repo].add("refs/heads/aside", {}, "Nothing")
    hub.repos[repo].tag("2025-10", "aside")
    hub.repos[repo].tag("2025-07", "2026-01")  # the name of one, on another
    hub.repos[repo].tag("v1", "2026-01")
    assert publish(write("2026-04", NEWER), "--repo", repo).code == 0
    listed = [this("2026-04", LARGE), row("2026-01", SMALL), row("2025-10"), row("2025-07")]
    assert history(hub, repo, "2026-04") == listed


def test_each_snapshot_is_asked_for_once(hub, publish, repo, write):
    for name in ("2026-01", "2026-04"):
        assert publish(write(name), "--repo", repo).code == 0
    tags = hub.repos[repo].tags
    hub.log.clear()
    hub.fail(f"{repo}/commit/", status=503)
    assert publish(write("2026-07"), "--repo", repo).code == 0
    for commit in tags.values():
        assert len(hub.asked(f"{repo}/resolve/{commit}/snapshot.json", "GET")) == 1
