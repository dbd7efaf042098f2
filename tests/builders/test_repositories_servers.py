"""Repositories from real servers on loopback, those that give little and those that give all."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders.repositories import LARGEST, Passed, SourceFile, fetch, opened
from builders.topics import Repository
from freshstack_datasets.errors import InputError
from tests.builders import git_servers
from tests.builders.git_servers import commit, git, new

pytestmark = pytest.mark.slow

FILES = {"README.md": b"# First\n", "src/a.py": b"print(1)\n", "große Datei.md": "ä\n".encode()}
BIG = {"big.txt": b"line\n" * (LARGEST // 5 + 2)}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two bare repositories with the same history: ``kind`` grants filters and any commit, ``strict`` neither.

    main:  first (2024-01-10, tag v1) -- merge of late (2024-01-20) -- last (2024-03-01)
    late:  first -- side (2024-01-12, but on main only since the merge)
    """
    root = tmp_path_factory.mktemp("served")
    work = new(root / "work")
    commit(work, FILES | BIG, date="2024-01-10T10:00:00Z", message="first")
    git(work, "tag", "-a", "v1", "-m", "v1")
    git(work, "checkout", "--quiet", "-b", "late")
    commit(work, {"side.md": b"side\n"}, date="2024-01-12T10:00:00Z", message="side")
    git(work, "checkout", "--quiet", "main")
    git(work, "merge", "--quiet", "--no-ff", "late", "-m", "merge", date="2024-01-20T23:59:59Z")
    commit(work, {"README.md": b"# Last\n"}, date="2024-03-01T10:00:00Z", message="last")
    for name, granted in (("kind", "true"), ("strict", "false")):
        git(root, "clone", "--quiet", "--bare", "work", f"{name}.git")
        git(root / f"{name}.git", "config", "uploadpack.allowFilter", granted)
        git(root / f"{name}.git", "config", "uploadpack.allowAnySHA1InWant", granted)
        git(root / f"{name}.git", "update-server-info")
    return root


def at(root, name):
    return git(root / "work", "rev-parse", name).decode()


def repository(url, **pin):
    return Repository(url=url, name="owner/some", **pin)


def taken(checkout):
    return {item.path: item.data for item in checkout.files() if isinstance(item, SourceFile)}


def passed(checkout):
    return [item for item in checkout.files() if isinstance(item, Passed)]


TOO_LARGE = [Passed("big.txt", "too-large", "more than 10,485,760 bytes")]


def pins(root):
    """Every kind of pin, with the commit that it means and what is in that, derived from the history above."""
    merged = FILES | {"side.md": b"side\n"}
    return [
        ({"commit": at(root, "v1^{commit}")}, "v1^{commit}", FILES),
        ({"tag": "v1"}, "v1^{commit}", FILES),
        ({"date": "2024-01-12"}, "v1^{commit}", FILES),  # side was not on main yet
        ({"date": "2024-01-19"}, "v1^{commit}", FILES),
        ({"date": "2024-01-20"}, "main~1", merged),  # at the last second of that day
        ({"date": "2024-02-29"}, "main~1", merged),
        ({"date": "2030-01-01"}, "main", merged | {"README.md": b"# Last\n"}),
    ]


def check_all(root, url, how):
    for pin, name, files in pins(root):
        with opened(repository(url, **pin)) as checkout:
            assert checkout.pinned.commit == at(root, name), pin
            assert taken(checkout) == files, pin
            assert passed(checkout) == TOO_LARGE, pin
            assert checkout.how == how, pin


def test_a_server_that_grants_filters_gives_one_commit_without_what_is_too_large(root):
    with git_servers.smart(root) as server:
        check_all(root, f"{server.url}/kind.git", "shallow")
        assert any(b"filter blob:limit=10485761" in body for body in server.bodies)
        assert any(b"filter tree:0" in body for body in server.bodies)


def test_the_older_protocol_does_as_well_where_the_server_grants_commits_by_name(root):
    with git_servers.smart(root, version_2=False) as server:
        check_all(root, f"{server.url}/kind.git", "shallow")


def test_a_server_that_grants_nothing_is_cloned(root):
    with git_servers.smart(root, version_2=False) as server:
        url = f"{server.url}/strict.git"
        with opened(repository(url, commit=at(root, "main~1"))) as checkout:
            assert (checkout.how, checkout.pinned.date) == ("clone", "2024-01-20")  # no branch ends there
            assert taken(checkout) == FILES | {"side.md": b"side\n"}
            assert passed(checkout) == TOO_LARGE
        with opened(repository(url, tag="v1")) as checkout:
            assert (checkout.how, taken(checkout)) == ("shallow", FILES)  # tags are offered, and need no grant
        for day, name in (("2024-01-19", "v1^{commit}"), ("2024-01-20", "main~1")):
            with opened(repository(url, date=day)) as checkout:
                assert (checkout.how, checkout.pinned.commit) == ("clone", at(root, name))


def test_a_server_that_grants_filters_but_no_commits_by_name_is_cloned(root, tmp_path):
    git(tmp_path, "clone", "--quiet", "--bare", str(root / "work"), "half.git")
    git(tmp_path / "half.git", "config", "uploadpack.allowFilter", "true")
    with (
        git_servers.smart(tmp_path, version_2=False) as server,
        opened(repository(f"{server.url}/half.git", date="2024-01-20")) as checkout,
    ):
        assert (checkout.how, checkout.pinned.commit) == ("clone", at(root, "main~1"))
        assert passed(checkout) == TOO_LARGE


def test_a_server_of_plain_files_is_cloned(root):
    with git_servers.dumb(root) as server:
        check_all(root, f"{server.url}/kind.git", "clone")


def test_gits_own_daemon_gives_one_commit(root):
    with git_servers.daemon(root) as server:
        check_all(root, f"{server.url}/kind.git", "shallow")


@pytest.mark.parametrize("form", ["ssh://git@host.example{path}", "git@host.example:{path}"])
def test_a_server_behind_ssh_is_asked_without_any_prompt(root, tmp_path, monkeypatch, form):
    # in the place of ssh: it writes down what it was told, and does what a server does
    told = tmp_path / "told"
    (tmp_path / "ssh").write_text(f"""#!/bin/sh
echo "$@" >> '{told}'
for last; do :; done
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
eval "exec $last"
""")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with opened(repository(form.format(path=root / "kind.git"), tag="v1")) as checkout:
        assert (checkout.how, taken(checkout)) == ("shallow", FILES)
    assert "-oBatchMode=yes" in told.read_text()
    assert "git@host.example" in told.read_text()


@pytest.mark.parametrize("name", ["work", "work/.git", "kind.git", "strict.git"])
def test_a_file_url_is_read_where_it_is(root, name):
    check_all(root, f"file://{root}/{name}", "local")


def test_a_path_is_read_where_it_is(root):
    check_all(root, str(root / "work"), "local")


@pytest.mark.parametrize("serve", [git_servers.smart, git_servers.dumb])
def test_what_a_server_does_not_have_is_named(root, serve):
    with serve(root) as server:
        url = f"{server.url}/kind.git"
        for pin, message in (
            ({"commit": "1" * 40}, "1111"),
            ({"tag": "v9"}, "has no tag 'v9'"),
            ({"date": "2024-01-09"}, "has no commit at or before the end of 2024-01-09, UTC"),
        ):
            with pytest.raises(InputError, match=message), opened(repository(url, **pin)):
                pass
        with pytest.raises(InputError, match="cannot fetch"), opened(repository(f"{server.url}/none.git", tag="v1")):
            pass


@pytest.mark.parametrize("serve", [git_servers.smart, git_servers.daemon])
def test_a_server_that_names_objects_by_the_longer_digest_is_asked_for_tags_and_days_too(tmp_path, serve):
    work = new(tmp_path / "long", "--object-format=sha256")
    made = commit(work, {"a.md": b"a\n"}, date="2024-01-10T10:00:00Z")
    git(work, "tag", "v1")
    assert len(made) == 64
    with serve(tmp_path) as server:
        for pin in ({"commit": made}, {"tag": "v1"}, {"date": "2024-01-10"}):
            with opened(repository(f"{server.url}/long/.git", **pin)) as checkout:
                assert (checkout.pinned.commit, taken(checkout)) == (made, {"a.md": b"a\n"})
        with (
            pytest.raises(InputError, match="has no tag 'v2'"),
            opened(repository(f"{server.url}/long/.git", tag="v2")),
        ):
            pass


@pytest.mark.parametrize("version_2", [True, False])
def test_a_server_whose_history_is_cut_gives_what_it_has_and_says_so(root, tmp_path, version_2):
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", f"file://{root}/work", "cut.git")
    with git_servers.smart(tmp_path, version_2=version_2) as server:
        url = f"{server.url}/cut.git"
        with opened(repository(url, date="2024-03-01")) as checkout:
            assert checkout.pinned.commit == at(root, "main")
        with (
            pytest.raises(InputError, match="2024-02-29, UTC; its history is cut"),
            opened(repository(url, date="2024-02-29")),
        ):
            pass


def test_a_repository_without_commits_has_no_branch_to_look_up_a_day_in(tmp_path):
    new(tmp_path / "empty")
    with git_servers.smart(tmp_path) as server:
        for url in (f"{server.url}/empty/.git", str(tmp_path / "empty")):
            with pytest.raises(InputError, match="has no default branch"), opened(repository(url, date="2024-01-01")):
                pass
            with pytest.raises(InputError, match="has no tag 'v1'"), opened(repository(url, tag="v1")):
                pass


def test_after_fetching_no_server_is_needed(root, tmp_path):
    with git_servers.smart(root) as server:
        sources = [repository(f"{server.url}/kind.git", **pin) for pin, _, _ in pins(root)]
        sources.append(repository(str(root / "work"), tag="v1"))
        said = []
        fetched = fetch(sources, tmp_path / "into", say=said.append)
    assert [found.was_there for found in fetched] == [False] * len(sources)
    assert said[0] == f"fetching owner/some, commit {at(root, 'v1^{commit}')}"
    written = json.loads((tmp_path / "into" / "sources.json").read_text())
    assert {source["commit"] for source in written["sources"]} == {
        at(root, n) for n in ("v1^{commit}", "main~1", "main")
    }
    there = {path.name for path in (tmp_path / "into").iterdir()}
    assert there == {*(source["bundle"] for source in written["sources"]), "sources.json"}
    for source, (_, name, files) in zip(sources, [*pins(root), ({}, "v1^{commit}", FILES)], strict=True):
        with opened(source, bundles=tmp_path / "into") as checkout:
            assert (checkout.how, checkout.pinned.commit) == ("bundle", at(root, name))
            assert taken(checkout) == files
            assert passed(checkout) == TOO_LARGE
    assert all(source["size"] < 5_000 for source in written["sources"])  # the file of 10 MiB is in none of them


def test_git_reads_the_bundles_and_knows_what_they_leave_out(root, tmp_path):
    fetch([repository(str(root / "work"), date="2024-02-01")], tmp_path)
    bundle = next(tmp_path.glob("*.bundle"))
    commit = at(root, "main~1")
    assert git(tmp_path, "bundle", "list-heads", str(bundle)).decode() == f"{commit} refs/heads/pinned"
    verified = git(root / "work", "bundle", "verify", str(bundle)).decode()
    assert "blob:limit=10485761" in verified
    assert at(root, "main~2") in verified  # a parent, which must be there
    assert at(root, "late") in verified


def test_fetching_again_asks_for_nothing_and_mends_what_is_damaged(root, tmp_path):
    with git_servers.smart(root) as server:
        sources = [
            repository(f"{server.url}/kind.git", date="2030-01-01"),
            repository(f"{server.url}/kind.git", tag="v1"),
        ]
        fetch(sources[:1], tmp_path)
        asked = len(server.requests)
        again = fetch(sources[:1], tmp_path)
        assert (again[0].was_there, len(server.requests)) == (True, asked)
        assert [found.was_there for found in fetch(sources, tmp_path)] == [True, False]
        broken = tmp_path / again[0].source.bundle
        whole = broken.read_bytes()
        broken.write_bytes(whole[:-1] + b"x")
        with pytest.raises(InputError, match="is not the file that was fetched"), opened(sources[0], bundles=tmp_path):
            pass
        mended = fetch(sources, tmp_path)
        assert [found.was_there for found in mended] == [False, True]
        with opened(sources[0], bundles=tmp_path) as checkout:
            assert taken(checkout)["README.md"] == b"# Last\n"


def test_what_came_before_a_failure_stays(root, tmp_path):
    good, bad = repository(str(root / "work"), tag="v1"), repository(str(root / "work"), tag="v2")
    with pytest.raises(InputError, match=r"owner/some: .* has no tag 'v2'"):
        fetch([good, bad], tmp_path / "new")
    assert sorted(path.suffix for path in (tmp_path / "new").iterdir()) == [".bundle", ".json"]
    with opened(good, bundles=tmp_path / "new") as checkout:
        assert taken(checkout) == FILES
    with pytest.raises(InputError, match=r"is not in .* as the topic pins it"), opened(bad, bundles=tmp_path / "new"):
        pass


def test_a_second_call_into_the_same_folder_at_the_same_time_is_refused(root, tmp_path):
    good = repository(str(root / "work"), tag="v1")

    def meanwhile(_: str) -> None:
        with pytest.raises(InputError, match="somebody else is fetching"):
            fetch([good], tmp_path)

    assert len(fetch([good], tmp_path, say=meanwhile)) == 1


TOKEN = "s3cret/Token+1"
CODED = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def test_a_token_is_sent_to_its_host_and_seen_nowhere(root, tmp_path, monkeypatch):
    started = []
    popen = subprocess.Popen

    def spy(arguments, **options):
        started.append(arguments)
        return popen(arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", spy)
    monkeypatch.setenv("GIT_TRACE_CURL", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_TOKEN_127_0_0_1", TOKEN)
    with git_servers.smart(root, token=CODED) as server:
        fetch([repository(f"{server.url}/kind.git", date="2024-02-01")], tmp_path / "into")
        assert server.headers
    mine = [arguments for arguments in started if "http-backend" not in arguments]
    assert mine
    assert not [word for arguments in mine for word in arguments if TOKEN in word or CODED in word]
    assert not (tmp_path / "trace").exists()
    for path in (tmp_path / "into").iterdir():
        assert TOKEN.encode() not in path.read_bytes()
        assert CODED.encode() not in path.read_bytes()


def test_without_the_right_token_the_error_says_what_to_do_and_not_the_wrong_one(root):
    with git_servers.smart(root, token=CODED) as server:
        for environment in ({}, {"GIT_TOKEN_127_0_0_1": "wrong-one"}, {"GIT_TOKEN_EXAMPLE_ORG": TOKEN}):
            source = repository(f"{server.url}/kind.git", tag="v1")
            refused = pytest.raises(InputError, match="the token in the environment")
            with refused as caught, opened(source, environment=environment):
                pass
            for secret in ("wrong-one", TOKEN, base64.b64encode(b"x-access-token:wrong-one").decode()):
                assert secret not in str(caught.value)
        assert not [h for h in server.headers if CODED in h.get("Authorization", "")]


def test_a_token_is_not_carried_to_where_a_server_leads(root):
    with git_servers.smart(root) as other, git_servers.smart(root, leads_to=other.url) as server:
        source = repository(f"{server.url}/kind.git", tag="v1")
        with opened(source, environment={}) as checkout:
            assert taken(checkout) == FILES
        asked = len(other.requests)
        with pytest.raises(InputError), opened(source, environment={"GIT_TOKEN_127_0_0_1": TOKEN}):
            pass
        assert len(other.requests) == asked


def test_a_fetch_that_is_killed_goes_on_where_it_stopped(root, tmp_path):
    sources = [{"url": str(root / "work"), "tag": "v1"}, {"url": str(root / "work"), "date": "2024-02-01"}]
    code = """
import json, os, sys
from builders.repositories import fetch
from builders.topics import Repository
sources = [Repository(name="owner/some", **told) for told in json.loads(sys.argv[1])]
fetch(sources, sys.argv[2], jobs=1, say=lambda line: os._exit(9) if "date" in line else None)
""".replace("sys.argv[2]", "__import__('pathlib').Path(sys.argv[2])")
    into = tmp_path / "into"
    command = [sys.executable, "-c", code, json.dumps(sources), str(into)]
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert ended.returncode == 9
    fetched = fetch([Repository(name="owner/some", **told) for told in sources], into)
    assert [found.was_there for found in fetched] == [True, False]
    assert not [path for path in into.iterdir() if path.name.startswith(".")]
