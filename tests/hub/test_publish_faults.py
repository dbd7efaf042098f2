"""Publishing when something fails, anywhere on the way: what the Hub holds in the end is one commit and one tag."""

import time
from email.utils import formatdate

import pytest

from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.published import check, files_at, files_of
from tests.hub.publisher import Publisher
from tests.hub.server import ALWAYS, Account

pytestmark = pytest.mark.slow

OLDER, NEWER = snapshots.SNAPSHOTS
AGAIN = "nothing is lost: the same command, run again, goes on where it stopped\n"

STEPS = {
    "refs": ("/api/datasets/{repo}/refs", "GET"),
    "create": ("/api/repos/create", "POST"),
    "tree": ("/api/datasets/{repo}/tree/", "GET"),
    "card": ("/api/validate-yaml", "POST"),
    "preupload": ("/api/datasets/{repo}/preupload/", "POST"),
    "batch": ("/datasets/{repo}.git/info/lfs/objects/batch", "POST"),
    "commit": ("/api/datasets/{repo}/commit/main", "POST"),
    "tag": ("/api/datasets/{repo}/tag/", "POST"),
    "head of a file": ("/datasets/{repo}/resolve/.*README", "HEAD"),
    "file": ("/datasets/{repo}/resolve/.*README", "GET"),
}
"""The requests of a publication, one of each kind, in their order."""

every_step = pytest.mark.parametrize("step", STEPS)


@pytest.fixture
def hub(healed_hub):
    """The Hub that lasts, in place of one for each test."""
    return healed_hub


@pytest.fixture
def fail(hub, repo):
    """Let a step of the publication to the test's repository fail: ``fail(step, status=, times=, …)``."""

    def order(step, **how):
        pattern, method = STEPS[step]
        return hub.fail(pattern.format(repo=repo), method=method, **how)

    return order


@every_step
def test_a_step_that_fails_once_is_done_again(hub, publish, two_snapshots, repo, fail, step):
    fault = fail(step, status=503)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, fault.left) == (0, 0)
    assert sum(done.waits) <= 2
    check(hub, repo, two_snapshots[0])


@every_step
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_connection_that_breaks_leaves_nothing_twice(hub, publish, two_snapshots, repo, fail, step, after):
    fault = fail(step, drop=True, after=after)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, fault.left) == (0, 0)
    check(hub, repo, two_snapshots[0])


@every_step
def test_an_answer_that_is_lost_to_a_server_on_the_way_leaves_nothing_twice(
    hub, publish, two_snapshots, repo, fail, step
):
    fail(step, status=504, after=True)
    assert publish(two_snapshots[0], "--repo", repo).code == 0
    check(hub, repo, two_snapshots[0])


@every_step
def test_a_step_that_keeps_failing_ends_and_the_next_run_goes_on(hub, publish, two_snapshots, repo, fail, step):
    older, newer = two_snapshots
    if step != "create":  # then there is a snapshot that must stay
        assert publish(older, "--repo", repo).code == 0
    before = hub.repos[repo].tags if repo in hub.repos else {}
    fail(step, status=500, times=ALWAYS)
    done = publish(newer, "--repo", repo)
    assert (done.code, done.out) == (2, "")
    assert done.error == (
        f"freshstack/langchain@{NEWER} cannot be published, got the Hub failed (status 500); try again later"
    )
    assert AGAIN in done.err
    assert 5 <= len(done.waits) <= 30
    assert sum(done.waits) <= 120
    if repo in hub.repos:
        assert hub.repos[repo].tags.items() >= before.items()
        assert files_at(hub, repo, "main") in (files_of(older, repo), files_of(newer, repo, (older,)))
    hub.heal()
    assert publish(newer, "--repo", repo).code == 0
    check(hub, repo, *([] if step == "create" else [older]), newer)


@every_step
def test_a_connection_that_keeps_breaking_ends(hub, publish, two_snapshots, repo, fail, step):
    fail(step, drop=True, times=ALWAYS)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, done.out) == (2, "")
    assert "the Hub does not answer (RemoteProtocolError); check the connection" in done.error
    assert AGAIN in done.err
    assert sum(done.waits) <= 400  # the client's own are among them
    hub.heal()
    assert publish(two_snapshots[0], "--repo", repo).code == 0
    check(hub, repo, two_snapshots[0])


@every_step
def test_a_limit_of_requests_is_waited_for_at_every_step(hub, publish, two_snapshots, repo, fail, step):
    # the client asks for the head of a file once more, at once, before it gives up
    fault = fail(step, status=429, headers={"Retry-After": "7"}, times=2 if step == "head of a file" else 1)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, fault.left, done.waits) == (0, 0, [7])
    assert "the Hub has too many requests; waiting 7 s, then trying again (2 of 6)\n" in done.err
    check(hub, repo, two_snapshots[0])


@pytest.mark.parametrize(
    "headers, waits",
    [
        ({"RateLimit": '"api";r=0;t=42', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'}, 42),
        ({"RateLimit": '"api";r=0;t=42', "Retry-After": "7"}, 42),
        ({"RateLimit": '"api";r=3;t=42', "Retry-After": "7"}, 7),
        ({"Retry-After": "0"}, 1),
        ({}, 60),
    ],
)
def test_a_limit_of_requests_is_waited_for_as_long_as_the_hub_says(publish, two_snapshots, repo, fail, headers, waits):
    fail("commit", status=429, headers=headers)
    assert publish(two_snapshots[0], "--repo", repo).waits == [waits]


def test_a_time_to_come_again_is_told_from_the_clock_of_the_hub(hub, publish, two_snapshots, repo, fail):
    fail("preupload", status=429, headers={"Retry-After": formatdate(time.time() + 600, usegmt=True)})
    (waited,) = publish(two_snapshots[0], "--repo", repo).waits
    assert 570 <= waited <= 600  # until the answer was made, some time went by


@pytest.mark.parametrize("said", ["Wed, 21 Oct 2015", "soon", "-5", "1.5", "²"])
def test_a_wait_that_cannot_be_read_is_one_of_a_minute(hub, publish, two_snapshots, repo, fail, said):
    fail("commit", status=429, headers={"Retry-After": said})
    assert publish(two_snapshots[0], "--repo", repo).waits == [60]


@every_step
def test_nobody_waits_for_a_limit_of_hours(hub, publish, two_snapshots, repo, fail, step):
    fail(step, status=429, headers={"Retry-After": "7200"}, times=ALWAYS)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, done.waits) == (2, [])
    assert "too many requests were made (429); try again in 7200 seconds" in done.error
    assert "with a token more requests are allowed" in done.error
    assert AGAIN in done.err


def test_waits_are_bounded_in_all(hub, publish, two_snapshots, repo, fail):
    fail("preupload", status=429, headers={"Retry-After": "400"}, times=ALWAYS)
    done = publish(two_snapshots[0], "--repo", repo)
    assert (done.code, done.waits) == (2, [400, 400])  # a third one would be more than 900
    hub.heal()
    fail("preupload", status=429, headers={"Retry-After": "0"}, times=ALWAYS)
    assert publish(two_snapshots[0], "--repo", repo).waits == [1] * 5


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_large_file_that_fails_to_arrive_is_sent_again(hub, publish, repo, tmp_path, after):
    folder = snapshots.write(tmp_path / OLDER, OLDER, f"acme/lost-{after}")  # what is there already is not sent
    hub.fail("/objects/", method="PUT", drop=True, after=after)
    hub.fail("/objects/", method="PUT", status=503)
    assert publish(folder, "--repo", repo).code == 0
    check(hub, repo, folder)


def test_main_that_moves_once_is_looked_at_again(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo).code == 0

    def somebody_else():
        files = hub.repos[repo].at("main").files
        hub.repos[repo].add("refs/heads/main", {**files, "more.txt": files["README.md"]}, "Add more")

    hub.before(f"{repo}/commit/main", somebody_else)
    done = publish(newer, "--repo", repo)
    assert (done.code, done.waits) == (0, [])
    assert f"{repo} changed meanwhile; looking again\n" in done.err
    check(hub, repo, older, newer, commits=3)  # among the files of the newer one is no more.txt


def test_main_that_moves_again_is_left_alone(hub, publish, two_snapshots, repo, fail):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo).code == 0
    fault = fail("commit", status=412, times=ALWAYS)
    done = publish(newer, "--repo", repo)
    assert (done.code, done.waits) == (2, [])
    assert "got changes by somebody else meanwhile; see what they did, then run the command again" in done.error
    check(hub, repo, older)
    assert fault.left == ALWAYS
    hub.heal()
    fail("commit", status=412)
    assert publish(newer, "--repo", repo).code == 0
    check(hub, repo, older, newer)


def test_a_newer_snapshot_that_comes_in_between_stays_on_main(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(newer, "--repo", "acme/elsewhere").code == 0
    hub.put(repo, {".gitattributes": b""})
    hub.before(
        f"{repo}/commit/main", lambda: hub.put(repo, {**files_of(newer, repo), ".gitattributes": b""}, tag=NEWER)
    )
    assert publish(older, "--repo", repo).code == 0
    check(hub, repo, older, newer, commits=3)
    assert hub.repos[repo].refs[f"refs/heads/snapshot-{OLDER}"] == hub.repos[repo].tags[OLDER]


def test_the_same_snapshot_published_by_two_at_once_is_one(hub, publish, two_snapshots, repo):
    older, _ = two_snapshots

    def somebody_else():
        hub.put(repo, {**files_of(older, repo), ".gitattributes": b""}, tag=OLDER)

    hub.put(repo, {".gitattributes": b""})
    hub.before(f"{repo}/commit/main", somebody_else)
    assert publish(older, "--repo", repo).code == 0
    check(hub, repo, older, commits=2)


def test_a_tag_that_somebody_else_sets_first_is_held_against_the_snapshot(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    hub.put(repo, {".gitattributes": b""})
    hub.before(f"{repo}/tag/", lambda: hub.repos[repo].tag(OLDER, "main"))
    done = publish(older, "--repo", repo)
    assert done.code == 0
    check(hub, repo, older, commits=2)

    hub.before(f"{repo}/tag/", lambda: hub.repos[repo].tag(NEWER, OLDER))
    done = publish(newer, "--repo", repo)
    assert done.code == 2
    assert f"{NEWER} of {repo} is published already" in done.error
    assert done.error.endswith(f"publish this one as a correction, {NEWER}.1")


def test_the_commit_stays_when_its_tag_is_refused_and_is_tagged_later(hub, publish, two_snapshots, repo, fail):
    older, _ = two_snapshots
    fail("tag", status=403)
    done = publish(older, "--repo", repo)
    assert done.code == 2
    commit = hub.repos[repo].head
    assert f"commit {commit}\n" in done.err
    assert hub.repos[repo].tags == {}
    done = publish(older, "--repo", repo, "--dry-run")
    assert f"no commit would be made: {commit} has it; the tag {OLDER} would be set on it\n" in done.out
    done = publish(older, "--repo", repo, "--json")
    assert (done.told["state"], done.told["commit"]) == ("published", commit)
    check(hub, repo, older)


@pytest.fixture
def tokens(hub):
    hub.tokens.update(
        {
            "hf_maintainer": Account("ada", organizations=("acme",)),
            "hf_reader": Account("ben", "read", ("acme",)),
            "hf_stranger": Account("cyd"),
        }
    )


REFUSED = {
    "hf_reader": "got the Hub refuses it: You must use a write token to upload to a repository.; use a token that may",
    "hf_stranger": "got the Hub refuses it: You don't have the rights to create a commit on dataset",
    "hf_unknown": "expected a token that the Hub knows, got another; set HF_TOKEN, or run hf auth login",
    None: "expected a token that the Hub knows, got none; set HF_TOKEN, or run hf auth login",
}


@pytest.mark.usefixtures("tokens")
@pytest.mark.parametrize("token", REFUSED, ids=str)
@pytest.mark.parametrize("there", [True, False], ids=["there", "absent"])
def test_a_token_that_may_not_write_is_told_at_once(hub, publish, two_snapshots, repo, token, there):
    if there:
        assert publish(two_snapshots[0], "--repo", repo, token="hf_maintainer").code == 0
    before = hub.repos[repo].head if there else None
    done = publish(two_snapshots[1], "--repo", repo, "--verbose", token=token)
    assert (done.code, done.waits, done.out) == (2, [], "")
    assert done.error.startswith(f"freshstack/langchain@{NEWER} cannot be published, ")
    if there:
        assert REFUSED[token] in done.error
        assert hub.repos[repo].head == before
    else:
        assert repo not in hub.repos


@pytest.mark.usefixtures("tokens")
def test_a_gated_repository_takes_what_its_owners_publish(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo, token="hf_maintainer").code == 0
    hub.repos[repo].gated = True
    done = publish(newer, "--repo", repo, token="hf_stranger")
    assert done.code == 2
    assert f"{repo} is gated, expected a token of an account with access" in done.error
    assert f"ask for it at {hub.url}/datasets/{repo}" in done.error
    check(hub, repo, older)
    assert publish(newer, "--repo", repo, token="hf_maintainer").code == 0
    check(hub, repo, older, newer)


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["", "dry run"])
def test_a_repository_that_is_gated_to_its_very_refs_is_not_taken_for_absent(
    hub, publish, two_snapshots, repo, fail, options
):
    fail("refs", status=403, headers={"X-Error-Code": "GatedRepo"}, times=ALWAYS)
    done = publish(two_snapshots[0], "--repo", repo, *options)
    assert (done.code, done.out, repo in hub.repos) == (2, "", False)
    assert f"{repo} is gated, expected a token of an account with access" in done.error


def test_a_repository_that_was_made_and_cannot_be_seen_is_told(hub, publish, two_snapshots, repo, fail):
    fail("refs", status=404, headers={"X-Error-Code": "RepoNotFound"}, times=ALWAYS)
    done = publish(two_snapshots[0], "--repo", repo)
    assert done.code == 2
    assert f"{repo} was made, and cannot be seen; run the same command again" in done.error


def test_a_repository_without_main_is_told(hub, publish, two_snapshots, repo):
    hub.put(repo, {".gitattributes": b""})
    del hub.repos[repo].refs["refs/heads/main"]
    done = publish(two_snapshots[0], "--repo", repo)
    assert done.code == 2
    assert f"{repo} has no branch main; make it anew at {hub.url}/datasets/{repo}" in done.error


@pytest.mark.usefixtures("tokens")
def test_a_private_repository_takes_what_its_owners_publish(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo, "--private", token="hf_maintainer").code == 0
    done = publish(newer, "--repo", repo, token="hf_stranger")  # who does not see it and may not make it
    assert done.code == 2
    assert "the Hub refuses it: You don't have the rights to create a dataset under acme" in done.error
    check(hub, repo, older)
    assert publish(newer, "--repo", repo, token="hf_maintainer").code == 0
    check(hub, repo, older, newer)


@pytest.mark.usefixtures("tokens")
def test_a_pull_request_of_somebody_else_is_taken(hub, publish, two_snapshots, repo):
    older, newer = two_snapshots
    assert publish(older, "--repo", repo, token="hf_maintainer").code == 0
    assert publish(newer, "--repo", repo, "--pull-request", token="hf_reader").code == 2
    assert publish(newer, "--repo", repo, "--pull-request", token="hf_stranger").code == 0
    check(hub, repo, older, commits=2)


@pytest.mark.usefixtures("tokens")
def test_a_token_is_never_printed(hub, publish, two_snapshots, repo, fail):
    secret = "hf_" + "s3cret" * 6
    hub.tokens[secret] = Account("ada", organizations=("acme",))
    printed = []
    for step in STEPS:
        for status in (400, 403, 500):
            fault = fail(step, status=status, times=ALWAYS)
            done = publish(two_snapshots[0], "--repo", repo, "--verbose", token=secret)
            printed += [done.out, done.err]
            fault.left = 0
    done = publish(two_snapshots[0], "--repo", repo, "--verbose", token=secret)
    assert done.code == 0
    assert not [text for text in [*printed, done.out, done.err] if secret in text]


@pytest.mark.parametrize("how", ["changed", "gone", "a link to a secret"])
def test_a_file_that_changes_after_it_was_looked_into_is_not_sent(hub, publish, repo, tmp_path, how):
    folder = snapshots.write(tmp_path / NEWER, NEWER)
    file = folder / "corpus" / "corpus-00000-of-00001.parquet"
    whole, secret = file.read_bytes(), tmp_path / "secret"
    secret.write_text("nobody else's business")

    def change():
        file.unlink()
        if how == "changed":
            file.write_bytes(whole[:-1])
        elif how != "gone":
            file.symlink_to(secret)

    hub.put(repo, {".gitattributes": b""})
    hub.before(f"{repo}/refs", change)
    done = publish(folder, "--repo", repo)
    assert (done.code, done.out) == (2, "")
    assert "corpus-00000-of-00001.parquet" in done.error
    assert done.error.endswith("; nothing was sent: run it again when nothing changes the folder")
    assert not hub.asked(f"{repo}/preupload|{repo}.git/info/lfs")
    check(hub, repo, commits=1)  # the one that the test put there
    file.unlink(missing_ok=True)
    file.write_bytes(whole)
    assert publish(folder, "--repo", repo).code == 0
    assert hub.read(repo, "corpus/corpus-00000-of-00001.parquet", NEWER) == whole


@pytest.mark.parametrize("status", [404, 501])
def test_a_xet_that_fails_is_told_with_the_way_around_it(hub, two_snapshots, repo, tmp_path, status):
    with Publisher(Client(hub, tmp_path), tmp_path / "home", xet=True) as publish:
        hub.fail("/xet-write-token/", status=status, times=ALWAYS)
        done = publish(snapshots.write(tmp_path / OLDER, OLDER, "acme/xet"), "--repo", repo)
    assert done.code == 2
    assert "HF_HUB_DISABLE_XET=1" in done.error
