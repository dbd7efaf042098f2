"""Loading snapshots of this package's layout by name: online, from the cache, and when something is not there."""

import json

import pytest

import freshstack_datasets as fsd
from freshstack_datasets import catalog
from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.reading import load, says
from tests.hub.server import ALWAYS, Account, TestHub

REPO = "freshstack/langchain"
OLDER, NEWER = snapshots.SNAPSHOTS


def check(found, snapshot, dataset=REPO):
    """Compare what was loaded with what the snapshot was made of."""
    assert found["is"] == f"{dataset}@{snapshot}"
    assert found["queries"] == snapshots.QUERIES[snapshot]
    assert found["judgments"] == sorted(map(list, snapshots.JUDGED[snapshot]))
    assert found["corpus"] == snapshots.CORPUS[snapshot] | {"docs/name.md": dataset}


@pytest.fixture
def published(hub, two_snapshots):
    for folder in two_snapshots:
        hub.put(REPO, folder, tag=folder.name)
    return hub


def requests(hub):
    """Return the paths that were asked for since the last call, each with its method."""
    asked = [f"{one.method} {one.path.partition('?')[0].rpartition('/')[2]}" for one in hub.log]
    hub.log.clear()
    return asked


def test_a_snapshot_is_loaded_table_by_table_and_once(two_snapshots, tmp_path, xet):
    (tmp_path / "hub").mkdir()
    with TestHub(tmp_path / "hub") as hub:
        for folder in two_snapshots:
            hub.put(REPO, folder, tag=folder.name, xet=xet)
        client, home = Client(hub, tmp_path), tmp_path / "home"

        def asked(*names, **options):
            hub.log.clear()
            return load(client, *names, xet=xet, home=home, **options)

        (newest,) = asked(REPO, whole=False)
        assert newest["is"] == f"{REPO}@{NEWER}"
        assert newest["shown"] == f"<Dataset {REPO}@{NEWER}: 3 queries, 4 documents>"
        assert len(hub.asked("/refs")) == len(hub.asked("/tree/")) == 1  # refs: which is the newest?
        assert not hub.asked("corpus|/qrels|README")
        assert len(hub.asked("/resolve/", "HEAD")) == 4  # the description and three tables
        check(asked(REPO)[0], NEWER)
        assert not hub.asked("/tree/|queries|nuggets|snapshot.json")
        older, newer = asked(f"{REPO}@{OLDER}", f"{REPO}@{NEWER}")
        assert older["fingerprint"] == fsd.load(two_snapshots[0]).fingerprint
        assert newer["fingerprint"] == fsd.load(two_snapshots[1]).fingerprint
        for options in ({}, {"offline": True}):
            older, newer = asked(f"{REPO}@{OLDER}", f"{REPO}@{NEWER}", **options)
            check(older, OLDER)
            check(newer, NEWER)
            assert hub.log == []  # pinned and cached
        assert not asked("langchain", whole=False, offline=True)[0].keys() & {"error"}
    # the Hub is gone
    older, newer, newest = load(client, f"{REPO}@{OLDER}", f"{REPO}@{NEWER}", REPO, home=home, xet=xet)
    check(older, OLDER)
    check(newer, NEWER)
    check(newest, NEWER)


def test_over_lfs_a_first_load_takes_twelve_requests(published, client):
    load(client, REPO)
    # refs, tree; the description, three tables and the corpus: HEAD and GET each
    assert len(published.log) == 2 + 5 * 2


def test_another_snapshot_than_the_one_that_is_here_is_never_given(published, client, tmp_path):
    home = tmp_path / "home"
    load(client, f"{REPO}@{NEWER}", home=home)
    missing = f"HubError: {REPO}@{OLDER} is not on this machine"
    nothing = "HubError: freshstack/yolo@2024-10 is not on this machine, got none of its files"
    get = f"freshstack download {REPO}@{OLDER}"
    assert says(client, f"{REPO}@{OLDER}", "yolo", home=home, offline=True) == [
        f"{missing}, got only {NEWER} of this dataset; HF_HUB_OFFLINE is set: unset it, then {get}",
        f"{nothing}; HF_HUB_OFFLINE is set: unset it, then freshstack download freshstack/yolo@2024-10",
    ]
    published.stop()
    (said,) = says(client, f"{REPO}@{OLDER}", home=home)
    assert said.startswith(
        f"{missing} (only {NEWER}), got the Hub does not answer (ConnectError); check the connection"
    )


def test_a_cache_that_lacks_files_says_which_and_how_to_fetch_them(published, client, tmp_path):
    home = tmp_path / "home"
    load(client, REPO, whole=False, home=home)
    (said,) = says(client, f"{REPO}@{NEWER}", home=home, offline=True)
    assert said == (
        f"HubError: {REPO}@{NEWER} is not whole on this machine, expected corpus/corpus-00000-of-00001.parquet, "
        f"got 0 of 1 files that are needed; HF_HUB_OFFLINE is set: unset it, then freshstack download {REPO}@{NEWER}"
    )
    for queries in home.rglob("queries/*.parquet"):  # removed from the cache, the link stays
        queries.resolve().unlink()
    (said,) = says(client, f"{REPO}@{NEWER}", home=home, offline=True)
    assert "expected queries/test-00000-of-00001.parquet, got 2 of 3 files that are needed" in said
    check(load(client, f"{REPO}@{NEWER}", home=home)[0], NEWER)
    check(load(client, f"{REPO}@{NEWER}", home=home, offline=True)[0], NEWER)


def test_what_another_client_downloaded_is_used(published, client, tmp_path):
    home = tmp_path / "home"
    for arguments in ((), ("--revision", OLDER)):
        done = client(["hf", "download", REPO, "--repo-type", "dataset", *arguments], home=home)
        assert done.returncode == 0, done.stderr
    published.log.clear()
    older, newer = load(client, f"{REPO}@{OLDER}", REPO, home=home, offline=True)
    check(older, OLDER)
    check(newer, OLDER)  # that main was the newer one is known to nobody who does not ask
    assert load(client, REPO, home=home)[0]["is"] == f"{REPO}@{NEWER}"
    assert requests(published) == ["GET refs"]


def test_a_name_that_is_none_says_what_there_is(published, client, two_snapshots):
    published.put("acme/empty", {"README.md": b"x"})
    published.put("acme/other", {"README.md": b"x"}, tag="2026-10")
    published.put("acme/wrong", two_snapshots[0], tag="2026-10")
    empty = published.repos["acme/empty"]
    empty.refs["refs/heads/2026-10"] = empty.refs["refs/tags/v1"] = empty.head  # a branch is no snapshot
    unknown, typo, snapshot, no_snapshot, none, other, wrong, bad = says(
        client,
        "acme/none",
        "freshstack/langchian",
        f"{REPO}@2026-08",
        f"{REPO}@main",
        "acme/empty",
        "acme/other",
        "acme/wrong",
        "a/b/c",
    )
    token = "a private one needs a token: set HF_TOKEN, or run hf auth login"
    assert unknown.startswith("UnknownNameError: unknown dataset 'acme/none'; known: 'freshstack/angular', ")
    assert unknown.endswith(f"or give the folder of a snapshot; {token}")
    assert typo.startswith(
        "UnknownNameError: unknown dataset 'freshstack/langchian'; did you mean 'freshstack/langchain'"
    )
    assert snapshot == (
        f"UnknownNameError: unknown snapshot of {REPO} '2026-08'; did you mean '2026-10' or '2026-07' or '2024-10'?"
    )
    assert no_snapshot.startswith(f"UnknownNameError: unknown snapshot of {REPO} 'main'; known: '2024-10'")
    assert none == (
        "HubError: the repository acme/empty has no snapshot, expected a tag for each snapshot, such as 2026-10, got "
        "none; give the name of a dataset in this layout"
    )
    commit = published.repos["acme/other"].head[:12]
    assert other == (
        f"SnapshotError: acme/other is no snapshot at commit {commit}, expected a snapshot.json, got none; give the "
        "name of a dataset in this layout"
    )
    assert wrong.startswith("SnapshotError: ")
    assert wrong.endswith("snapshot, expected '2026-10', got 2026-07")
    assert bad.startswith("UnknownNameError: unknown dataset 'a/b/c'")


def test_a_snapshot_of_a_known_dataset_without_a_repository_is_told_of_by_those_there_are(
    hub, client, two_snapshots, tmp_path
):
    bundled = json.loads((catalog.bundled()["freshstack/nimbus"] / "snapshot.json").read_bytes())["snapshot"]
    home = tmp_path / "home"
    hub.put("acme/gone", two_snapshots[0], tag=OLDER)
    load(client, f"acme/gone@{OLDER}", home=home)
    hub.repos.clear()
    known = {"freshstack/godot": "2024-10", "freshstack/nimbus": bundled, "acme/gone": OLDER}
    said = says(client, *(f"{name}@2027-01" for name in known), home=home)
    token = "a private one needs a token: set HF_TOKEN, or run hf auth login"
    assert said == [
        f"UnknownNameError: unknown snapshot of {name} '2027-01'; known: {there}; the Hub shows no {name}, and {token}"
        for name, there in known.items()
    ]
    (release,) = says(client, "freshstack/godot@2024-10", home=home)
    assert release == (
        "HubError: freshstack/godot@2024-10 cannot be downloaded, got no repository freshstack/corpus-oct-2024 on the "
        f"Hub; {token}"
    )


def test_any_repository_in_this_layout_is_a_dataset(hub, client, tmp_path):
    folder = snapshots.write(tmp_path / "forum", NEWER, "acme/forum")
    hub.put("acme/forum", folder, tag=NEWER)
    check(load(client, "acme/forum")[0], NEWER, "acme/forum")


def test_access_is_told_apart_from_absence(hub, client, tmp_path):
    for name in ("open", "gated", "private"):
        hub.put(f"acme/{name}", snapshots.write(tmp_path / name, NEWER, f"acme/{name}"), tag=NEWER)
    hub.repos["acme/gated"].gated = hub.repos["acme/private"].private = True
    hub.tokens = {"of-ada": Account("ada", "read", ("acme",)), "of-cyd": Account("cyd")}
    all_three = ("acme/open", "acme/gated", "acme/private")
    for found, name in zip(load(client, *all_three, token="of-ada"), all_three, strict=True):
        check(found, NEWER, name)
    gated, private = says(client, *all_three[1:])
    assert gated == (
        f"HubError: acme/gated@{NEWER} cannot be downloaded: acme/gated is gated, expected a token of an account with "
        f"access, got no token; ask for it at {hub.url}/datasets/acme/gated, then set HF_TOKEN, or run hf auth login"
    )
    assert private.startswith("UnknownNameError: unknown dataset 'acme/private'")
    assert private.endswith("a private one needs a token: set HF_TOKEN, or run hf auth login")
    gated, private = says(client, *all_three[1:], token="of-cyd")
    assert "got one of an account without it; ask for it at" in gated
    assert private.startswith("UnknownNameError: unknown dataset 'acme/private'")
    (pasted,) = says(client, "acme/open", token="of-adä")
    assert pasted == (
        "HubError: the snapshots of acme/open cannot be listed, expected a token of plain letters and digits, got one "
        "with other characters; set HF_TOKEN, or run hf auth login"
    )
    (stale,) = says(client, "acme/open", token="expired")
    assert stale == (
        "HubError: the snapshots of acme/open cannot be listed, expected a token that the Hub knows, got another; "
        "set HF_TOKEN, or run hf auth login"
    )


def test_a_hub_that_is_busy_or_down_says_what_to_do(hub, client, tmp_path):
    names = [f"acme/{name}" for name in ("busy", "later", "down", "cut", "odd", "forbidden", "garbled")]
    for name in names:
        hub.put(name, snapshots.write(tmp_path / name, NEWER, name), tag=NEWER)
    hub.fail("acme/busy/refs", status=429, times=ALWAYS, headers={"RateLimit": '"api";r=0;t=55'})
    hub.fail("acme/later/tree", status=429, times=ALWAYS, headers={"Retry-After": "7"})
    hub.fail("acme/down/resolve", status=503, times=ALWAYS)
    hub.fail("acme/cut/", drop=True, times=ALWAYS)
    hub.fail("acme/odd/refs", status=418, times=ALWAYS)
    hub.fail("acme/forbidden/refs", status=403, times=ALWAYS, headers={"X-Error-Message": "no\x1bbots"})
    hub.fail("acme/garbled/refs", status=200, times=ALWAYS)
    busy, later, down, cut, odd, forbidden, garbled = says(client, *names)
    assert "cannot be listed, got an answer that is none of a Hub (JSONDecodeError: " in garbled
    token = "with a token more requests are allowed: set HF_TOKEN, or run hf auth login"
    assert busy == (
        "HubError: the snapshots of acme/busy cannot be listed, got too many requests were made (429); "
        f"try again in 55 seconds; {token}"
    )
    assert later == (
        f"HubError: acme/later@{NEWER} cannot be downloaded, got too many requests were made (429); "
        f"try again in 7 seconds; {token}"
    )
    assert down == f"HubError: acme/down@{NEWER} cannot be downloaded, got the Hub failed (status 503); try again later"
    assert cut.startswith("HubError: the snapshots of acme/cut cannot be listed, got the Hub does not answer (")
    assert "status 418 of the Hub" in odd
    assert forbidden.startswith(
        "HubError: the snapshots of acme/forbidden cannot be listed, got the Hub refuses it: no"
    )
    assert "\x1b" not in forbidden
    hub.tokens = {"of-ada": Account("ada")}
    assert token not in says(client, "acme/busy", token="of-ada")[0]


def test_a_hub_that_fails_once_is_asked_again(published, client):
    published.fail("/tree/", status=503)
    published.fail("/resolve/", method="GET", status=429, headers={"Retry-After": "0"})
    check(load(client, f"{REPO}@{NEWER}")[0], NEWER)


def test_while_the_hub_is_busy_what_is_here_is_used(published, client, tmp_path):
    home = tmp_path / "home"
    load(client, REPO, home=home)
    published.fail("", status=429, times=ALWAYS)
    for found in load(client, REPO, f"{REPO}@{NEWER}", home=home):
        check(found, NEWER)


def test_when_xet_fails_the_switch_that_turns_it_off_is_named(hub, client, two_snapshots, xet):
    if not xet:
        pytest.skip("about xet")
    hub.put(REPO, two_snapshots[1], tag=NEWER, xet=True)
    hub.fail("/xet-read-token/", status=500, times=ALWAYS)
    (said,) = says(client, REPO, xet=True)
    assert said.startswith(f"HubError: {REPO}@{NEWER} cannot be downloaded, got xet, which moves large files, failed: ")
    assert said.endswith("; try again, and if it stays so without xet: set HF_HUB_DISABLE_XET=1")
    check(load(client, REPO)[0], NEWER)


def test_files_that_are_not_what_was_published_are_refused(hub, client, tmp_path):
    changed, shorter = "corpus/corpus-00000-of-00001.parquet", "queries/test-00000-of-00001.parquet"
    for name in ("changed", "lost", "shorter"):
        hub.put(f"acme/{name}", snapshots.write(tmp_path / name, NEWER, f"acme/{name}"), tag=NEWER)
    hub.corrupt("acme/changed", changed)
    hub.remove("acme/lost", changed)
    size = (tmp_path / "shorter" / shorter).stat().st_size
    (tmp_path / "shorter" / shorter).write_bytes((tmp_path / "shorter" / shorter).read_bytes()[:-1])
    hub.put("acme/shorter", tmp_path / "shorter")
    hub.move_tag("acme/shorter", NEWER, "main")
    for _ in range(2):  # it is not forgotten either
        damaged, lost, short = says(client, "acme/changed", "acme/lost", "acme/shorter", home=tmp_path / "home")
        assert damaged.startswith(f"HubError: {changed} of acme/changed@{NEWER} is damaged, expected sha256 ")
        assert damaged.endswith(f"; freshstack download acme/changed@{NEWER} fetches it again")
        assert lost.startswith(f"HubError: acme/lost@{NEWER} is not whole: commit ")
        assert lost.endswith(f", expected the file {changed}, got none there; tell whoever published it")
        assert f"{shorter} of acme/shorter@{NEWER} is damaged, expected {size} bytes, got {size - 1};" in short


def test_a_description_that_changed_after_its_first_use_is_refused(published, client, tmp_path):
    home = tmp_path / "home"
    load(client, REPO, home=home)
    (path,) = home.rglob("snapshot.json")
    told = json.loads(path.read_text())
    path.resolve().write_text(json.dumps(told | {"license": "MIT"}))
    (said,) = says(client, f"{REPO}@{NEWER}", home=home)
    assert said.startswith(f"HubError: snapshot.json of {REPO}@{NEWER} is damaged, expected sha256 ")


def test_a_tag_that_moved_moves_nothing_here(published, client, tmp_path):
    home = tmp_path / "home"
    load(client, f"{REPO}@{OLDER}", home=home)
    published.move_tag(REPO, OLDER, "main")
    check(load(client, f"{REPO}@{OLDER}", home=home)[0], OLDER)
    (said,) = says(client, f"{REPO}@{OLDER}")
    assert said.endswith(f"snapshot, expected '{OLDER}', got {NEWER}")


def test_no_bar_is_drawn_where_nobody_watches(published, client):
    code = """
        import os
        del os.environ["HF_HUB_DISABLE_PROGRESS_BARS"]
        import freshstack_datasets as fsd
        print(len(fsd.load("langchain").corpus))
    """
    done = client(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\n", "")
