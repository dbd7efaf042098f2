"""Repositories, servers, addresses and folders of bundles that mean harm, or are damaged."""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import zlib
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.repositories import Passed, SourceFile, fetch, fetching, opened, remote, tree
from builders.repositories.lock import NAME, Lock
from builders.topics import Repository
from freshstack_datasets.errors import InputError
from tests.builders import git_servers
from tests.builders.git_servers import commit, git, new


def repository(url, **pin):
    return Repository(url=str(url), name="owner/some", **(pin or {"date": "2030-01-01"}))


def read(source, **options):
    with opened(source, **options) as checkout:
        return list(checkout.files())


def program(path, marker):
    """A program that leaves a mark when somebody runs it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    path.chmod(0o755)
    return path


SETTINGS = {
    "core.fsmonitor": "{run}",
    "core.sshCommand": "{run}",
    "core.gitProxy": "{run}",
    "core.pager": "{run}",
    "core.editor": "{run}",
    "core.askPass": "{run}",
    "core.alternateRefsCommand": "{run}",
    "core.hooksPath": "{hooks}",
    "core.attributesFile": "{attributes}",
    "credential.helper": "!{run}",
    "filter.bad.clean": "{run}",
    "filter.bad.smudge": "{run}",
    "filter.bad.process": "{run}",
    "filter.bad.required": "true",
    "diff.bad.textconv": "{run}",
    "diff.bad.command": "{run}",
    "diff.external": "{run}",
    "merge.bad.driver": "{run}",
    "gpg.program": "{run}",
    "log.showSignature": "true",
    "uploadpack.packObjectsHook": "{run}",
    "uploadpack.allowFilter": "true",
    "alias.rev-parse": "!{run}",
    "alias.ls-tree": "!{run}",
    "remote.origin.url": "ext::{run}",
    "remote.origin.uploadpack": "{run}",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "submodule.recurse": "true",
    "url.ext::{run} .insteadOf": "/",
    "include.path": "{more}",
}
HOOKS = ("post-checkout", "pre-push", "reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-auto-gc")


def evil(tmp_path, marker):
    """A repository whose every setting wants to run a program."""
    run = program(tmp_path / "bad" / "run", marker)
    work = new(tmp_path / "work")
    attributes = b"* filter=bad diff=bad merge=bad text eol=crlf working-tree-encoding=UTF-8 ident export-subst\n"
    made = commit(work, {"a.md": b"one\ntwo $Id$ $Format:%H$\n", ".gitattributes": attributes})
    (tmp_path / "bad" / "attributes").write_bytes(attributes)
    (tmp_path / "bad" / "more").write_text(f"[core]\n\tfsmonitor = {run}\n")
    for hook in HOOKS:
        program(work / ".git" / "hooks" / hook, marker)
        program(tmp_path / "bad" / "hooks" / hook, marker)
    (work / ".git" / "info").mkdir(exist_ok=True)
    (work / ".git" / "info" / "attributes").write_bytes(attributes)
    places = {
        "run": run,
        "hooks": tmp_path / "bad" / "hooks",
        "attributes": tmp_path / "bad" / "attributes",
        "more": tmp_path / "bad" / "more",
    }
    told = "\n".join(
        f'[{section} "{name}"]\n\t{key} = {value}' if name else f"[{section}]\n\t{key} = {value}"
        for setting, value in SETTINGS.items()
        for section, _, rest in [setting.format(**places).partition(".")]
        for name, _, key in [rest.rpartition(".")]
        for value in [value.format(**places)]
    )
    (work / ".git" / "config").write_text((work / ".git" / "config").read_text() + told + "\n")
    return work, made, told


def test_nothing_that_a_repository_or_a_user_has_set_is_run(tmp_path, monkeypatch):
    marker = tmp_path / "ran"
    work, made, told = evil(tmp_path, marker)
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    for place in (home / ".gitconfig", home / ".config" / "git" / "config"):
        place.write_text(told)
    run = str(tmp_path / "bad" / "run")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    for name in ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PAGER"):
        monkeypatch.setenv(name, run)
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor={run}'")
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path / "bad"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(work / ".git" / "objects"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    expected = {"a.md": b"one\ntwo $Id$ $Format:%H$\n"}
    for pin in ({"commit": made}, {"date": "2030-01-01"}):
        for place in (work, work / ".git", f"file://{work}"):
            items = read(repository(place, **pin))
            assert {i.path: i.data for i in items if i.path == "a.md"} == expected
    fetch([repository(work)], tmp_path / "into")
    assert {i.path: i.data for i in read(repository(work), bundles=tmp_path / "into") if i.path == "a.md"} == expected
    assert not marker.exists()
    assert not (tmp_path / "trace").exists()
    subprocess.run(["git", "status"], cwd=work, capture_output=True, check=False)
    assert marker.exists()  # the traps are such that plain git steps into them


def test_what_a_repository_replaces_is_read_as_it_was_pinned(tmp_path):
    work = new(tmp_path / "work")
    first = commit(work, {"a.md": b"first\n"})
    second = commit(work, {"a.md": b"second\n"})
    git(work, "replace", first, second)
    (work / ".git" / "info").mkdir(exist_ok=True)
    assert read(repository(work, commit=first)) == [SourceFile("a.md", b"first\n", "100644")]


def test_a_file_that_was_not_fetched_is_not_fetched_later(tmp_path):
    work = new(tmp_path / "served")
    commit(work, {"big.txt": b"line\n" * 3_000_000, "a.md": b"a\n"})
    git(work, "config", "uploadpack.allowFilter", "true")
    with git_servers.smart(tmp_path) as server, opened(repository(f"{server.url}/served/.git")) as checkout:
        asked = len(server.requests)
        items = list(checkout.files())
        assert [item for item in items if isinstance(item, Passed)] == [
            Passed("big.txt", "too-large", "more than 10,485,760 bytes")
        ]
        assert len(server.requests) == asked


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% ran",
        "fd::7",
        "--upload-pack=touch ran",
        "-u",
        "https://user:secret@example.org/x.git",
        "https://secret@example.org/x.git",
        "https://example.org/x.git?token=secret",
        "http://example.org/x.git#secret",
        "ssh://-oProxyCommand=touch/x",
        "ssh://user:secret@example.org/x",
        "-oProxyCommand=touch:x",
        "git@example.org:-x",
        "ftp://example.org/x.git",
        "gopher://example.org/x",
        "file://elsewhere/x",
        "https://",
        "https:///x.git",
        "https://example.org/x\ny",
        "https://[::1/x",
        "",
        "a\0b",
    ],
)
def test_addresses_that_git_would_obey_or_that_hold_secrets_are_refused(tmp_path, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    unchecked = Repository.model_construct(
        url=url, name="o/r", commit=None, tag="v1", date=None, include=(), exclude=()
    )
    with pytest.raises(InputError) as caught, opened(unchecked):
        pass
    assert "secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_token_is_not_sent_where_others_can_listen():
    source = repository("http://example.org/x.git", tag="v1")
    with (
        pytest.raises(InputError, match="expected https://"),
        opened(source, environment={"GIT_TOKEN_EXAMPLE_ORG": "t"}),
    ):
        pass


def put(folder, kind, data):
    """Write an object as git keeps it, whatever git thinks of it."""
    raw = b"%s %d\0" % (kind, len(data)) + data
    name = hashlib.sha1(raw).hexdigest()
    path = folder / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_bytes(zlib.compress(raw, 1))
    return name


def line(mode, name, oid):
    return b"%s %s\0" % (mode, name) + bytes.fromhex(oid)


def tree_of(tmp_path, make):
    """A bare repository whose one commit has the tree that ``make`` returns the name of."""
    folder = tmp_path / "bare.git"
    git(tmp_path, "init", "--quiet", "--bare", str(folder))
    head = f"tree {make(folder)}\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\nx\n"
    return repository(folder, commit=put(folder, b"commit", head.encode()))


def test_paths_that_lead_out_or_are_no_text_are_named_and_not_handed_on(tmp_path):
    names = [  # sorted by their bytes
        (b"", "a part without a name"),
        (b"\x01", "control characters"),
        (b".", "a part . or .."),
        (b"..", "a part . or .."),
        (b"../../etc/passwd", "a part . or .."),
        (b".GIT", "git's own folder"),
        (b".g\xe2\x80\x8cit", "git's own folder"),
        (b".git", "git's own folder"),
        (b".git ", "git's own folder"),
        (b".gitignore", None),
        (b"/etc/passwd", "an absolute path"),
        (b"CON", None),
        (b"Git~1", "git's own folder"),
        (b"README", None),
        (b"Readme", None),
        (b"a\nb", "control characters"),
        (b"a\tb", "control characters"),
        (b"a\\b", None),
        (b"b" * 5_000, "more than 4,096 bytes"),
        (b"c d#%.md", None),
        (b"latin \xe9", "no UTF-8"),
        (b"line\xe2\x80\xa8", "control characters"),
        (b"readme", None),
        (b"readme", "not in order"),
        (b"half \xed\xa0\x80", "no UTF-8"),
        (b"aaa", "not in order"),
        (b"z", None),
    ]
    lines = b""

    def make(folder):
        blob = put(folder, b"blob", b"x\n")
        return put(folder, b"tree", lines + b"".join(line(b"100644", name, blob) for name, _ in names if name))

    items = read(tree_of(tmp_path, make))
    found = [(item.detail if isinstance(item, Passed) else None) for item in items]
    expected = [why for name, why in names if name]
    assert found == expected
    assert all(item.reason == "unsafe-path" for item in items if isinstance(item, Passed))
    taken = [item.path for item in items if isinstance(item, SourceFile)]
    assert taken == sorted(set(taken))
    assert json.loads(json.dumps([item.path for item in items])) == [item.path for item in items]


def test_a_tree_that_holds_itself_many_times_over_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "MOST", 10_000)

    def make(folder):
        name = put(folder, b"tree", line(b"100644", b"x", put(folder, b"blob", b"x\n")))
        for _ in range(12):  # ten to the power of twelve files
            name = put(folder, b"tree", b"".join(line(b"40000", b"%d" % i, name) for i in range(10)))
        return name

    with pytest.raises(InputError, match="a tree without end, expected at most 10,000 files"):
        read(tree_of(tmp_path, make))


def test_folders_within_thousands_of_folders_are_one_path_that_is_too_long(tmp_path):
    def make(folder):
        name = put(folder, b"tree", line(b"100644", b"x", put(folder, b"blob", b"x\n")))
        for _ in range(3_000):
            name = put(folder, b"tree", line(b"40000", b"d", name))
        top = [line(b"100644", b"a.md", put(folder, b"blob", b"a\n")), line(b"40000", b"d", name)]
        return put(folder, b"tree", b"".join(top))

    items = read(tree_of(tmp_path, make))
    assert [item.path for item in items if isinstance(item, SourceFile)] == ["a.md"]
    assert [item.detail for item in items if isinstance(item, Passed)] == ["more than 4,096 bytes"]


@pytest.mark.parametrize("kind", ["missing tree", "no tree", "no blob", "garbage"])
def test_a_damaged_repository_is_an_error(tmp_path, kind):
    def make(folder):
        blob = put(folder, b"blob", b"x\n")
        if kind == "missing tree":
            return "1" * 40
        if kind == "no tree":
            return blob
        if kind == "no blob":
            return put(folder, b"tree", line(b"100644", b"a", put(folder, b"tree", b"")))
        return put(folder, b"tree", b"garbage")

    with pytest.raises(InputError):
        read(tree_of(tmp_path, make))


def test_a_commit_of_an_impossible_time_has_no_day(tmp_path):
    folder = tmp_path / "bare.git"
    git(tmp_path, "init", "--quiet", "--bare", str(folder))
    empty = put(folder, b"tree", b"")
    for second, day in (("99999999999999", ""), ("nonsense", ""), ("1", "1970-01-01")):
        head = f"tree {empty}\nauthor a <a> 0 +0000\ncommitter a <a> {second} +0000\n\nx\n"
        with opened(repository(folder, commit=put(folder, b"commit", head.encode()))) as checkout:
            assert checkout.pinned.date == day
            assert list(checkout.files()) == []


def test_a_server_that_never_answers_does_not_hold_up_a_build_for_ever(monkeypatch):
    monkeypatch.setattr(remote, "FETCH_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        source = repository(f"http://127.0.0.1:{silent.getsockname()[1]}/x.git", tag="v1")
        started = time.monotonic()
        with pytest.raises(InputError, match=r"cannot fetch .*, got 'no end after 0.5 s'"), opened(source):
            pass
        assert time.monotonic() - started < 60  # and not the two hours that are usual


def test_a_pipe_in_the_place_of_a_file_does_not_hold_up_a_build_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "PATIENCE", 0.5)
    source = tree_of(
        tmp_path, lambda folder: put(folder, b"tree", line(b"100644", b"a.md", put(folder, b"blob", b"a\n")))
    )
    name = hashlib.sha1(b"blob 2\0a\n").hexdigest()
    path = tmp_path / "bare.git" / "objects" / name[:2] / name[2:]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match=r"cannot be read, got nothing for 0.5 s"):
        read(source)


def test_nothing_is_left_running_or_lying_about_when_nobody_reads_on(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    work = new(tmp_path / "work")
    commit(work, {f"{number}.md": b"x" * 100_000 for number in range(50)})
    started: list[subprocess.Popen] = []
    start = subprocess.Popen

    def noted(*args, **kwargs):
        started.append(start(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr("subprocess.Popen", noted)
    threads = threading.active_count()
    with opened(repository(work)) as checkout:
        files = checkout.files()
        next(files)
        files.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert threading.active_count() == threads
    assert started
    assert [process.args for process in started if process.returncode is None] == []  # every one was waited for


def test_a_folder_too_deep_to_be_made_by_people_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "top").mkdir()
    os.chdir(tmp_path / "top")
    for _ in range(600):
        os.mkdir("d")  # noqa: PTH102  # a path of all of them at once would be long
        os.chdir("d")
    os.chdir(tmp_path)
    with (
        pytest.raises(InputError, match="more than 500 folders within each other"),
        opened(repository(tmp_path / "top")),
    ):
        pass
    shutil.rmtree(tmp_path / "top")


@pytest.fixture
def kept(tmp_path):
    work = new(tmp_path / "elsewhere")
    commit(work, {"a.md": b"a\n"})
    fetch([repository(work)], tmp_path / "into")
    return repository(work), tmp_path / "into"


@pytest.mark.parametrize(
    "changes",
    [{"bundle": "../elsewhere/a.md"}, {"bundle": "none"}, {"size": 1}, {"sha256": "0" * 64}, {"commit": "1" * 40}],
)
def test_a_lock_file_cannot_lead_elsewhere(kept, changes):
    source, into = kept
    told = json.loads((into / NAME).read_text())
    told["sources"][0] |= changes
    (into / NAME).write_text(json.dumps(told))
    with pytest.raises(InputError):
        read(source, bundles=into)


def test_a_bundle_that_is_none_is_an_error(kept):
    source, into = kept
    told = json.loads((into / NAME).read_text())
    path = into / told["sources"][0]["bundle"]
    whole = path.read_bytes()
    for data in (b"", b"x" * 10_000, whole[:40], whole[:-30], whole.replace(b"refs/heads", b"refs/other")):
        path.write_bytes(data)
        told["sources"][0] |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        (into / NAME).write_text(json.dumps(told))
        with pytest.raises(InputError):
            read(source, bundles=into)


@settings(max_examples=60)
@given(
    data=st.binary(max_size=40).filter(lambda data: data[:1] != b"{")
    | st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)).map(
        lambda value: json.dumps({"format": 1, "largest": 10_485_760, "sources": value}).encode()
    )
)
def test_a_lock_file_of_garbage_is_an_error_or_holds_nothing(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("lock")
    (folder / NAME).write_bytes(data)
    empty = data.startswith(b"{") and json.loads(data)["sources"] == []
    with nullcontext() if empty else pytest.raises(InputError, match=rf"{NAME}' is no lock file"):
        assert Lock.read(folder).sources == {}


def test_a_place_that_cannot_be_written_to_is_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write"):
        fetching.fetch([], tmp_path / "file" / "into")
