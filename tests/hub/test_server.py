"""The test Hub itself, where a client would not notice that it is wrong."""

import base64
import hashlib
import http.client
import json
import re
from urllib.parse import quote, urlsplit

import pytest

from tests.hub.server import ALWAYS, Account
from tests.hub.server.xet import files_of_shard

REPO = "acme/toy"
API = f"/api/datasets/{REPO}"


@pytest.fixture
def ask(hub):
    """Send one request and return the status, the headers and the body of the answer."""

    def send(method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=30)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    return send


def operations(*operations, summary="x", **head):
    lines = [{"key": "header", "value": {"summary": summary, **head}}, *operations]
    return "\n".join(map(json.dumps, lines)).encode()


def added(path, data):
    return {"key": "file", "value": {"path": path, "content": base64.b64encode(data).decode(), "encoding": "base64"}}


def large(path, data):
    oid = hashlib.sha256(data).hexdigest()
    return {"key": "lfsFile", "value": {"path": path, "algo": "sha256", "oid": oid, "size": len(data)}}


def deleted(path, key="deletedFile"):
    return {"key": key, "value": {"path": path}}


def paths(hub, revision="main"):
    return sorted(hub.repos[REPO].at(revision).files)


FILES = {"README.md": b"readme", "a/one.txt": b"1", "a/b/two.txt": b"2", "a/b/three.txt": b"3", "c d#/100%.txt": b"4"}


@pytest.mark.parametrize("page_size", [1, 2, 3, 100])
def test_the_pages_of_a_tree_hold_every_entry_once_and_in_order(hub, ask, page_size):
    hub.put(REPO, FILES)
    hub.page_size = page_size
    path, seen, pages = f"{API}/tree/main?recursive=true&expand=false", [], 0
    while path:
        status, headers, body = ask("GET", path)
        assert (status, len(json.loads(body)) <= page_size) == (200, True)
        seen += [(entry["path"], entry["type"]) for entry in json.loads(body)]
        pages += 1
        link = re.fullmatch(r'<(.*)>; rel="next"', headers.get("Link", ""))
        path = link and link[1].removeprefix(hub.url)
    assert seen == [
        ("README.md", "file"),
        ("a", "directory"),
        ("a/b", "directory"),
        ("a/b/three.txt", "file"),
        ("a/b/two.txt", "file"),
        ("a/one.txt", "file"),
        ("c d#", "directory"),
        ("c d#/100%.txt", "file"),
    ]
    assert pages == -(-8 // page_size)


def test_a_folder_is_listed_without_what_is_deeper(hub, ask):
    hub.put(REPO, FILES)
    for folder, expected in (
        ("", ["README.md", "a", "c d#"]),
        ("/a", ["a/b", "a/one.txt"]),
        ("/a%2Fb", ["a/b/three.txt", "a/b/two.txt"]),
    ):
        _, _, body = ask("GET", f"{API}/tree/main{folder}?recursive=false")
        assert [entry["path"] for entry in json.loads(body)] == expected
    status, headers, _ = ask("GET", f"{API}/tree/main/nowhere")
    assert (status, headers["X-Error-Code"]) == (404, "EntryNotFound")


def test_facts_of_paths_leave_out_what_is_not_there(hub, ask):
    hub.put(REPO, FILES)
    form = "&".join(f"paths={quote(path, safe='')}" for path in ("a/b", "c d#/100%.txt", "nowhere")) + "&expand=False"
    _, _, body = ask("POST", f"{API}/paths-info/main", form.encode())
    assert [(entry["path"], entry["type"], entry["size"]) for entry in json.loads(body)] == [
        ("a/b", "directory", 0),
        ("c d#/100%.txt", "file", 1),
    ]


@pytest.mark.parametrize(
    "asked, status, body, place",
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=4-", 206, b"456789", "bytes 4-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=8-100", 206, b"89", "bytes 8-9/10"),
        ("bytes=-100", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=9-9", 206, b"9", "bytes 9-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-", 200, b"0123456789", None),
        ("lines=0-3", 200, b"0123456789", None),
        (None, 200, b"0123456789", None),
    ],
)
@pytest.mark.parametrize("path", ["digits.txt", "digits.parquet"])
def test_a_part_of_a_file_is_the_part_that_was_asked_for(hub, ask, path, asked, status, body, place):
    hub.put(REPO, {path: b"0123456789"})
    address = f"/datasets/{REPO}/resolve/main/{path}"
    if path.endswith(".parquet"):
        moved, headers, _ = ask("GET", address)
        assert moved == 302
        address = headers["Location"].removeprefix(hub.other_url)
    for name in ("Range", "range"):
        got, headers, data = ask("GET", address, headers={name: asked} if asked else {})
        assert (got, data, headers["Content-Range"]) == (status, body, place)
    got, headers, data = ask("HEAD", address, headers={"Range": asked} if asked else {})
    assert (got, data, headers["Content-Length"]) == (status, b"", str(len(body)))


def test_a_large_file_is_on_another_host_and_its_facts_are_on_the_way_there(hub, ask):
    commit = hub.put(REPO, {"a.parquet": b"large"})
    sha256 = hashlib.sha256(b"large").hexdigest()
    _, headers, _ = ask("HEAD", f"/datasets/{REPO}/resolve/main/a.parquet")
    assert urlsplit(headers["Location"]).hostname not in (None, urlsplit(hub.url).hostname)
    assert headers["X-Repo-Commit"] == commit
    assert (headers["X-Linked-ETag"], headers["X-Linked-Size"]) == (f'"{sha256}"', "5")


def test_a_large_file_has_the_same_bytes_with_xet_and_without(hub, ask, xet):
    data = bytes(range(256)) * 1000
    hub.put(REPO, {"a.parquet": data}, xet=xet)
    _, headers, _ = ask("GET", f"/datasets/{REPO}/resolve/main/a.parquet")
    assert ("X-Xet-Hash" in headers, "xet-auth" in headers.get("Link", "")) == (xet, xet)
    there = headers["Location"].removeprefix(hub.other_url)
    assert ask("GET", there)[2] == data
    assert ask("GET", there, headers={"Range": "bytes=100000-100009"})[2] == data[100000:100010]
    hub.corrupt(REPO, "a.parquet")
    _, headers, _ = ask("GET", f"/datasets/{REPO}/resolve/main/a.parquet")
    assert "X-Xet-Hash" not in headers
    changed = ask("GET", there)[2]
    assert [at for at, (old, new) in enumerate(zip(data, changed, strict=True)) if old != new] == [128_000]


def test_a_small_file_has_the_id_that_git_gives_it(hub, ask):
    hub.put(REPO, {"a.txt": b"hello\n"})
    _, headers, _ = ask("GET", f"/datasets/{REPO}/resolve/main/a.txt")
    assert headers["ETag"] == '"ce013625030ba8dba906f756967f9e9ca394464a"'  # echo hello | git hash-object --stdin


@pytest.mark.parametrize("path", ["c d#/100%.txt", "ünï.txt", "a+b&c=d.txt", "q?.txt"])
def test_names_with_marks_of_addresses_are_found(hub, ask, path):
    hub.put(REPO, {path: b"4"})
    assert ask("GET", f"/datasets/{REPO}/resolve/main/{quote(path)}")[2] == b"4"


def test_a_ref_is_one_piece_of_a_path_with_its_slashes_encoded(hub, ask):
    hub.put(REPO, {"README.md": b"main"})
    status, _, body = ask("POST", f"{API}/commit/main?create_pr=1", operations(added("README.md", b"proposed")))
    assert (status, json.loads(body)["pullRequestUrl"]) == (200, f"{hub.url}/datasets/{REPO}/discussions/1")
    assert ask("GET", f"/datasets/{REPO}/resolve/refs%2Fpr%2F1/README.md")[2] == b"proposed"
    assert ask("GET", f"/datasets/{REPO}/resolve/main/README.md")[2] == b"main"
    assert ask("GET", f"/datasets/{REPO}/resolve/refs/pr/1/README.md")[0] == 404
    status, _, _ = ask("POST", f"{API}/commit/refs%2Fpr%2F1", operations(added("b.txt", b"b")))
    assert (status, paths(hub, "refs/pr/1")) == (200, ["README.md", "b.txt"])


def test_a_branch_a_tag_a_ref_a_commit_and_its_beginning_are_revisions(hub, ask):
    first = hub.put(REPO, {"a.txt": b"1"}, tag="2026-07")
    second = hub.put(REPO, {"a.txt": b"2"})
    for revision in ("2026-07", "refs%2Ftags%2F2026-07", first, first[:7]):
        assert ask("GET", f"/datasets/{REPO}/resolve/{revision}/a.txt")[2] == b"1"
    for revision in ("main", "HEAD", "refs%2Fheads%2Fmain", second):
        assert json.loads(ask("GET", f"{API}/revision/{revision}")[2])["sha"] == second
    status, headers, _ = ask("GET", f"{API}/revision/2026-08")
    assert (status, headers["X-Error-Code"]) == (404, "RevisionNotFound")


def test_refs_are_listed_by_kind(hub, ask):
    first = hub.put(REPO, {"a.txt": b"1"}, tag="2026-07")
    second = hub.put(REPO, {"a.txt": b"2"})
    ask("POST", f"{API}/commit/main?create_pr=1", operations(added("b.txt", b"b")))
    listed = json.loads(ask("GET", f"{API}/refs")[2])
    assert [(ref["name"], ref["ref"], ref["targetCommit"]) for ref in listed["branches"]] == [
        ("main", "refs/heads/main", second)
    ]
    assert [(ref["name"], ref["ref"], ref["targetCommit"]) for ref in listed["tags"]] == [
        ("2026-07", "refs/tags/2026-07", first)
    ]
    assert "pullRequests" not in listed
    assert [ref["name"] for ref in json.loads(ask("GET", f"{API}/refs?include_prs=1")[2])["pullRequests"]] == ["1"]


def test_a_commit_on_another_head_is_refused_and_changes_nothing(hub, ask):
    first = hub.put(REPO, FILES)
    second = hub.put(REPO, FILES)
    body = operations(added("new.txt", b"x"), deleted("README.md"), parentCommit=first)
    assert ask("POST", f"{API}/commit/main", body)[0] == 412
    assert (hub.repos[REPO].head, paths(hub)) == (second, sorted(FILES))
    assert ask("POST", f"{API}/commit/main", body.replace(first.encode(), second.encode()))[0] == 200
    assert hub.repos[REPO].at("main").parent == second
    assert paths(hub) == sorted({*FILES, "new.txt"} - {"README.md"})


@pytest.mark.parametrize(
    "body, status",
    [
        (operations(added("new.txt", b"x"), deleted("nowhere.txt")), 404),
        (operations(added("new.txt", b"x"), large("new.parquet", b"never uploaded")), 400),
        (operations(added("new.txt", b"x"), added("big.txt", b"x" * (10 * 1024 * 1024 + 1))), 400),
        (operations(added("new.txt", b"x"), {"key": "somethingElse", "value": {}}), 400),
        (operations(added("new.txt", b"x"), summary=""), 400),
    ],
    ids=["deletes nothing", "no object", "too large", "unknown", "no summary"],
)
def test_a_commit_of_which_one_part_cannot_be_changes_nothing(hub, ask, body, status):
    head = hub.put(REPO, FILES)
    assert ask("POST", f"{API}/commit/main", body)[0] == status
    assert (hub.repos[REPO].head, paths(hub)) == (head, sorted(FILES))


def test_a_folder_is_deleted_with_all_that_is_in_it_and_nothing_else(hub, ask):
    hub.put(REPO, {**FILES, "ab.txt": b"x"})
    assert ask("POST", f"{API}/commit/main", operations(deleted("a/", "deletedFolder")))[0] == 200
    assert paths(hub) == ["README.md", "ab.txt", "c d#/100%.txt"]


def test_commits_are_listed_from_the_newest_to_the_first(hub, ask):
    ids = [hub.put(REPO, {"a.txt": bytes([number])}) for number in range(3)]
    listed = json.loads(ask("GET", f"{API}/commits/main")[2])
    assert [commit["id"] for commit in listed][:3] == ids[::-1]
    assert [commit["title"] for commit in listed][3:] == ["initial commit"]
    assert [commit["id"] for commit in json.loads(ask("GET", f"{API}/commits/{ids[0]}")[2])] == [
        ids[0],
        listed[3]["id"],
    ]


def test_a_tag_stays_where_it_is(hub, ask):
    first = hub.put(REPO, {"a.txt": b"1"}, tag="2026-07")
    second = hub.put(REPO, {"a.txt": b"2"})
    assert ask("POST", f"{API}/tag/{second}", {"tag": "2026-07"})[0] == 409
    assert hub.repos[REPO].tags == {"2026-07": first}
    assert ask("POST", f"{API}/tag/{second}", {"tag": "2026-10"})[0] == 200
    assert ask("POST", f"{API}/tag/2020-01", {"tag": "2026-11"})[0] == 404
    assert ask("DELETE", f"{API}/tag/2026-07")[0] == 200
    assert ask("DELETE", f"{API}/tag/2026-07")[0] == 404
    assert hub.repos[REPO].tags == {"2026-10": second}


def test_only_a_branch_takes_commits(hub, ask):
    commit = hub.put(REPO, FILES, tag="2026-07")
    for revision in ("2026-07", commit, "refs%2Ftags%2F2026-07"):
        assert ask("POST", f"{API}/commit/{revision}", operations(added("new.txt", b"x")))[0] == 400
    assert list(hub.repos[REPO].tags.values()) == [hub.repos[REPO].head] == [commit]


def test_how_a_file_is_sent_goes_by_its_ending_and_its_size(hub, ask):
    hub.put(REPO, {"a.txt": b"hello\n", "a.parquet": b"x"})
    files = [
        ("a.txt", 6),
        ("a.parquet", 1),
        ("new.GZ", 1),
        ("ten.txt", 10 * 1024 * 1024),
        ("more.txt", 10 * 1024 * 1024 + 1),
    ]
    _, _, body = ask(
        "POST", f"{API}/preupload/main", {"files": [{"path": p, "size": n, "sample": ""} for p, n in files]}
    )
    assert [(file["path"], file["uploadMode"], file["oid"]) for file in json.loads(body)["files"]] == [
        ("a.txt", "regular", "ce013625030ba8dba906f756967f9e9ca394464a"),
        ("a.parquet", "lfs", hashlib.sha256(b"x").hexdigest()),
        ("new.GZ", "lfs", None),
        ("ten.txt", "regular", None),
        ("more.txt", "lfs", None),
    ]


def test_an_object_arrives_whole_or_not_at_all(hub, ask):
    hub.put(REPO, {})
    data = b"some object"
    oid = hashlib.sha256(data).hexdigest()
    batch = {"operation": "upload", "objects": [{"oid": oid, "size": len(data)}], "transfers": ["basic"]}
    address = f"/datasets/{REPO}.git/info/lfs/objects/batch"
    (told,) = json.loads(ask("POST", address, batch)[2])["objects"]
    there = urlsplit(told["actions"]["upload"]["href"]).path
    assert ask("PUT", there, data[:-1])[0] == 400
    assert ask("POST", f"{there}/verify", {"oid": oid, "size": len(data)})[0] == 404
    assert ask("PUT", there, data)[0] == 200
    assert ask("POST", f"{there}/verify", {"oid": oid, "size": len(data)})[0] == 200
    assert ask("GET", there)[2] == data
    assert "actions" not in json.loads(ask("POST", address, batch)[2])["objects"][0]


def test_a_body_in_chunks_is_read_to_its_end(hub, ask):
    data = b"a body in pieces"
    there = f"/objects/{hashlib.sha256(data).hexdigest()}"
    connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=30)
    connection.request("PUT", there, iter([data[:5], data[5:]]), encode_chunked=True)
    assert connection.getresponse().read() == b""
    connection.request("GET", there)
    assert connection.getresponse().read() == data
    connection.close()


@pytest.mark.parametrize(
    "text, status, errors, warnings",
    [
        ("---\nlicense: cc-by-sa-4.0\n---\n# x", 200, 0, 0),
        ("# no metadata", 200, 0, 1),
        ("---\npretty_name: x\n---\n", 200, 0, 1),
        ("---\nlicense: CC-BY-SA-4.0\n---\n", 400, 1, 0),
        ("---\nlicense: [mit\n---\n", 400, 1, 0),
        ("---\n- mit\n---\n", 400, 1, 0),
        ("---\nlicense: mit\nconfigs:\n- default: true\n---\n", 400, 2, 0),
        (
            (
                "---\nlicense: mit\nconfigs:\n- {config_name: a, data_files: a, default: true}\n"
                "- {config_name: b, data_files: b, default: true}\n---\n"
            ),
            400,
            1,
            0,
        ),
        ("---\nlicense: mit\nsize_categories: [n<1K, 7]\n---\n", 400, 1, 0),
        ("---\nlicense: mit\nlanguage: [en, english]\n---\n", 400, 1, 0),
    ],
)
def test_a_card_is_checked(ask, text, status, errors, warnings):
    got, _, body = ask("POST", "/api/validate-yaml", {"repoType": "dataset", "content": text})
    told = json.loads(body)
    assert (got, len(told["errors"]), len(told["warnings"])) == (status, errors, warnings)


def test_a_fault_hits_as_often_as_it_was_ordered(hub, ask):
    hub.put(REPO, FILES)
    fault = hub.fail(r"/refs$", status=429, times=2, headers={"Retry-After": "7"})
    other = hub.fail(r"/refs$", method="DELETE", times=ALWAYS)
    answers = [ask("GET", f"{API}/refs") for _ in range(3)]
    assert [(status, headers.get("Retry-After")) for status, headers, _ in answers] == [
        (429, "7"),
        (429, "7"),
        (200, None),
    ]
    assert (fault.left, other.left) == (0, ALWAYS)
    assert [ask("DELETE", f"{API}/refs")[0] for _ in range(5)] == [500] * 5
    assert ask("GET", f"{API}/commits/main")[0] == 200


def test_a_dropped_connection_does_nothing_and_a_lost_answer_does_all(hub, ask):
    first = hub.put(REPO, FILES)
    body = operations(added("new.txt", b"x"))
    hub.fail("/commit/", drop=True)
    with pytest.raises(http.client.RemoteDisconnected):
        ask("POST", f"{API}/commit/main", body)
    assert hub.repos[REPO].head == first
    hub.fail("/commit/", drop=True, after=True)
    with pytest.raises(http.client.RemoteDisconnected):
        ask("POST", f"{API}/commit/main", body)
    assert hub.repos[REPO].at("main").parent == first
    hub.fail("/commit/", status=504, after=True)
    assert ask("POST", f"{API}/commit/main", body)[0] == 504
    assert len(hub.repos[REPO].commits) == 4  # the first of every repository, what was put, and two


def test_every_request_is_logged_with_its_status(hub, ask):
    hub.fail("/whoami", drop=True)
    with pytest.raises(http.client.RemoteDisconnected):
        ask("GET", "/api/whoami-v2")
    ask("HEAD", "/api/whoami-v2?x=1")
    ask("POST", "/nowhere")
    assert hub.log == [("GET", "/api/whoami-v2", 0), ("HEAD", "/api/whoami-v2?x=1", 200), ("POST", "/nowhere", 404)]
    assert hub.asked("whoami", "HEAD") == [("HEAD", "/api/whoami-v2?x=1", 200)]


def test_a_token_that_nobody_knows_is_refused(hub, ask):
    assert ask("GET", "/api/whoami-v2")[0] == 200
    hub.tokens["right"] = Account("ada")
    assert ask("GET", "/api/whoami-v2")[0] == 401
    assert ask("GET", "/api/whoami-v2", headers={"Authorization": "Bearer wrong"})[0] == 401
    assert json.loads(ask("GET", "/api/whoami-v2", headers={"authorization": "Bearer right"})[2])["name"] == "ada"


def test_who_is_granted_access_to_a_gated_repository_may_read_it_and_no_more(hub, ask):
    hub.put(REPO, {"a.txt": b"1"})
    hub.repos[REPO].gated = True
    hub.tokens = {"in": Account("ada", granted=(REPO,)), "out": Account("ben")}
    for path in (f"/datasets/{REPO}/resolve/main/a.txt", f"{API}/tree/main", f"{API}/xet-read-token/main"):
        assert [ask("GET", path, headers={"Authorization": f"Bearer {token}"})[0] for token in hub.tokens] == [200, 403]
    assert ask("GET", API, headers={"Authorization": "Bearer out"})[0] == 200
    body = operations(added("b.txt", b"b"))
    assert ask("POST", f"{API}/commit/main", body, {"Authorization": "Bearer in"})[0] == 403
    assert ask("GET", f"{API}/xet-write-token/main", headers={"Authorization": "Bearer in"})[0] == 403


def test_a_test_can_move_a_tag_lose_a_file_and_corrupt_one(hub, ask):
    first = hub.put(REPO, {"a.txt": b"111", "a.parquet": b"222", "b.txt": b"3"}, tag="2026-07")
    second = hub.put(REPO, {"a.txt": b"111", "a.parquet": b"222"})
    before = ask("GET", f"/datasets/{REPO}/resolve/{first}/a.txt")[1]["ETag"]
    for path in ("a.txt", "a.parquet"):
        hub.corrupt(REPO, path, "2026-07")
        data = hub.read(REPO, path, "2026-07")
        assert (len(data), data in (b"111", b"222")) == (3, False)
    status, headers, body = ask("GET", f"/datasets/{REPO}/resolve/{first}/a.txt")
    assert (status, headers["ETag"], len(body), body == b"111") == (200, before, 3, False)
    assert hub.read(REPO, "a.txt", second) == b"111"
    hub.remove(REPO, "b.txt", "2026-07")
    assert (paths(hub, first), hub.repos[REPO].tags["2026-07"]) == (["a.parquet", "a.txt"], first)
    hub.move_tag(REPO, "2026-07", second)
    assert ask("GET", f"{API}/revision/2026-07")[1]["X-Repo-Commit"] == second


def test_a_folder_can_be_put_at_once(hub, tmp_path, two_snapshots):
    older, newer = two_snapshots
    commits = [hub.put(REPO, folder, tag=folder.name) for folder in two_snapshots]
    assert list(hub.repos[REPO].tags.items()) == [(older.name, commits[0]), (newer.name, commits[1])]
    for folder in two_snapshots:
        expected = {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }
        assert {path: hub.read(REPO, path, folder.name) for path in paths(hub, folder.name)} == expected


def test_a_bug_of_the_hub_does_not_pass_for_an_answer(hub, ask):
    hub.put(REPO, {})
    assert ask("POST", f"{API}/preupload/main", b"not JSON")[0] == 500
    assert "JSONDecodeError" in hub.bugs.pop()


def test_a_shard_says_which_xet_file_has_which_content():
    # by the form that hf_xet writes: header, then a head for each file, its segments, their verification, its sha256
    def entry(hashed, *numbers):
        return hashed + b"".join(number.to_bytes(4, "little") for number in numbers)

    words = bytes(range(32))
    segments = [entry(words, 0, size, 0, 0) for size in (70_000, 5)]
    plain = entry(b"\x01" * 32, 1 << 30, 2, 0, 0) + b"".join(segments) + entry(b"\x02" * 32, 0, 0, 0, 0)
    verified = entry(b"\x03" * 32, 1 << 31 | 1 << 30, 1, 0, 0) + segments[1] + bytes(48) + entry(words, 0, 0, 0, 0)
    unnamed = entry(b"\x04" * 32, 0, 1, 0, 0) + segments[0]
    end = b"\xff" * 32 + bytes(16)
    assert files_of_shard(bytes(48) + plain + unnamed + verified + end + plain) == {
        "02" * 32: ("01" * 32, 70_005),
        # four numbers of eight bytes, each with its lowest byte first
        "07060504030201000f0e0d0c0b0a090817161514131211101f1e1d1c1b1a1918": ("03" * 32, 5),
    }
