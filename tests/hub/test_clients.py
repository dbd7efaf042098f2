"""What people load a published snapshot with, unchanged, against the test Hub: over LFS and over xet."""

import importlib.util
from pathlib import Path

import pytest

from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.server import Account, TestHub

REPO = "freshstack/langchain"
OLDER, NEWER = snapshots.SNAPSHOTS

PUBLISH = """
import json, sys
from pathlib import Path
from huggingface_hub import CommitOperationAdd, HfApi

api = HfApi()
repo, *folders = sys.argv[1:]
api.create_repo(repo, repo_type="dataset")
for folder in map(Path, folders):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    adds = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in files]
    head = api.dataset_info(repo).sha
    made = api.create_commit(repo, adds, commit_message=folder.name, repo_type="dataset", parent_commit=head)
    api.create_tag(repo, tag=folder.name, revision=made.oid, repo_type="dataset")
print(json.dumps({tag.name: tag.target_commit for tag in api.list_repo_refs(repo, repo_type="dataset").tags}))
"""

LOAD = """
import json, sys
import pandas
from datasets import Features, Value, get_dataset_config_names, load_dataset

repo, tag, commit = sys.argv[1:]

def rows(loaded):
    return {split: list(data) for split, data in loaded.items()}

def as_beir():  # the steps of its HFDataLoader, which loads these three and takes the first split of two of them
    texts = []
    for config in ("corpus", "queries"):
        data = next(iter(load_dataset(repo, config).values())).cast_column("_id", Value("string"))
        texts.append({row["id"]: row["text"] for row in data.rename_column("_id", "id")})
    three = Features({"query-id": Value("string"), "corpus-id": Value("string"), "score": Value("float")})
    return *texts, list(load_dataset(repo)["test"].cast(three))

configs = get_dataset_config_names(repo)
print(json.dumps({
    "each": {config: rows(load_dataset(repo, config)) for config in configs},
    "none": rows(load_dataset(repo)),
    "tag": {config: rows(load_dataset(repo, config, revision=tag)) for config in configs},
    "commit": rows(load_dataset(repo, "queries", revision=commit)),
    "streamed": {config: rows(load_dataset(repo, config, streaming=True)) for config in configs},
    "streamed tag": rows(load_dataset(repo, "queries", revision=tag, streaming=True)),
    "pandas": json.loads(
        pandas.read_parquet(f"hf://datasets/{repo}@{tag}/corpus/corpus-00000-of-00001.parquet").to_json(orient="records")
    ),
    "pandas of the newest": pandas.read_parquet(f"hf://datasets/{repo}/qrels").to_dict("records"),
    "beir": as_beir(),
}))
"""

BEIR = """
import json, sys
from beir.datasets.data_loader_hf import HFDataLoader

corpus, queries, qrels = HFDataLoader(hf_repo=sys.argv[1], hf_repo_qrels=sys.argv[1]).load(split="test")
print(json.dumps([{row["id"]: row["text"] for row in corpus}, {row["id"]: row["text"] for row in queries}, qrels]))
"""


def corpus(snapshot):
    return snapshots.CORPUS[snapshot] | {"docs/name.md": REPO}


def by_id(rows):
    return {row["_id"]: row["text"] for row in rows}


def judged(rows):
    return [(row["query-id"], row["nugget-id"], row["corpus-id"], row["score"]) for row in rows]


def qrels(rows):
    return [(row["query-id"], row["corpus-id"], row["score"]) for row in rows]


def check_all(tables, snapshot):
    """Compare what was loaded of each config with what the snapshot was made of."""
    assert {config: list(splits) for config, splits in tables.items()} == {
        "qrels": ["test"],
        "corpus": ["corpus"],
        "queries": ["test"],
        "nuggets": ["test"],
        "nugget_qrels": ["test"],
    }
    assert qrels(tables["qrels"]["test"]) == snapshots.QRELS[snapshot]
    assert by_id(tables["corpus"]["corpus"]) == corpus(snapshot)
    assert by_id(tables["queries"]["test"]) == snapshots.QUERIES[snapshot]
    nuggets = {(row["query-id"], row["_id"]) for row in tables["nuggets"]["test"]}
    assert nuggets == {(query, nugget) for query, nugget, _, _ in snapshots.JUDGED[snapshot]}
    assert judged(tables["nugget_qrels"]["test"]) == sorted(snapshots.JUDGED[snapshot])


@pytest.fixture(scope="module")
def published(tmp_path_factory, two_snapshots, xet):
    """A Hub to which a client published both snapshots, the tags that the client then saw, and clients of it."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "hub").mkdir()
    with TestHub(folder / "hub") as hub:
        client = Client(hub, folder)
        tags = client.result(PUBLISH, REPO, *two_snapshots, xet=xet)
        yield hub, client, tags
    assert not hub.bugs, hub.bugs[0]


@pytest.fixture(scope="module")
def loaded(published, xet):
    """What ``datasets`` and pandas made of it."""
    _, client, tags = published
    return client.result(LOAD, REPO, OLDER, tags[OLDER], xet=xet)


def test_each_snapshot_is_one_commit_and_one_tag_on_it(published):
    hub, _, tags = published
    assert tags == hub.repos[REPO].tags
    assert list(tags) == [OLDER, NEWER]
    assert len(hub.asked("/commit/", "POST")) == 2
    newest = hub.repos[REPO].at("main")
    assert (newest.id, newest.parent) == (tags[NEWER], tags[OLDER])


def test_the_bytes_arrive_as_they_were_written(published, two_snapshots):
    hub, _, _ = published
    for folder in two_snapshots:
        paths = [path for path in folder.rglob("*") if path.is_file()]
        assert len(paths) == 7
        for path in paths:
            assert hub.read(REPO, path.relative_to(folder).as_posix(), folder.name) == path.read_bytes()


def test_large_files_travel_the_way_that_is_meant(published, loaded, xet):
    hub, _, _ = published
    assert bool(hub.asked("/xet-write-token/")) == xet
    assert bool(hub.asked("/xet-read-token/")) == xet
    assert bool(hub.asked("/objects/", "PUT")) != xet


def test_datasets_loads_every_config(loaded):
    check_all(loaded["each"], NEWER)


def test_datasets_loads_the_qrels_when_no_config_is_named(loaded):
    assert list(loaded["none"]) == ["test"]
    assert qrels(loaded["none"]["test"]) == snapshots.QRELS[NEWER]
    assert list(loaded["none"]["test"][0]) == ["query-id", "corpus-id", "score"]


def test_datasets_loads_every_config_of_an_older_snapshot(loaded):
    check_all(loaded["tag"], OLDER)
    assert by_id(loaded["commit"]["test"]) == snapshots.QUERIES[OLDER]


def test_datasets_streams_every_config(loaded):
    check_all(loaded["streamed"], NEWER)
    assert by_id(loaded["streamed tag"]["test"]) == snapshots.QUERIES[OLDER]


def test_pandas_reads_a_table_at_a_tag(loaded):
    assert by_id(loaded["pandas"]) == corpus(OLDER)
    assert qrels(loaded["pandas of the newest"]) == snapshots.QRELS[NEWER]


def test_what_beir_loads_is_there_under_the_names_that_it_uses(loaded):
    texts, questions, rows = loaded["beir"]
    assert (texts, questions) == (corpus(NEWER), snapshots.QUERIES[NEWER])
    assert qrels(rows) == snapshots.QRELS[NEWER]


@pytest.mark.skipif(not importlib.util.find_spec("beir"), reason="beir is not installed; make setup does it")
def test_beir_loads_it(published, xet):
    _, client, _ = published
    expected = {}
    for query, document, score in snapshots.QRELS[NEWER]:
        expected.setdefault(query, {})[document] = score
    assert client.result(BEIR, REPO, xet=xet) == [corpus(NEWER), snapshots.QUERIES[NEWER], expected]


LARGE = """
import json, random
from huggingface_hub import CommitOperationAdd, HfApi, hf_hub_download

api, repo = HfApi(), "acme/large"
api.create_repo(repo, repo_type="dataset")
first = random.Random(0).randbytes(2_000_000)
second = first[:1_000_000] + b"something else" + first[1_000_000:]
told = {}
for name, data in (("first", first), ("second", second)):
    add = CommitOperationAdd("a b/100%.parquet", data)
    made = api.create_commit(repo, [add], commit_message=name, repo_type="dataset")
    path = hf_hub_download(repo, "a b/100%.parquet", repo_type="dataset", revision=made.oid)
    with open(path, "rb") as stream:
        told[name] = stream.read() == data
print(json.dumps(told))
"""

DOWNLOAD = """
import hashlib, json
from huggingface_hub import hf_hub_download

path = hf_hub_download("acme/large", "a b/100%.parquet", repo_type="dataset")
data = open(path, "rb").read()
print(json.dumps([len(data), hashlib.sha256(data).hexdigest()]))
"""


def test_a_file_of_many_chunks_comes_back_whole_and_a_corrupted_one_does_not(hub, client, xet):
    assert client.result(LARGE, xet=xet) == {"first": True, "second": True}
    expected = hub.repos["acme/large"].at("main").files["a b/100%.parquet"]
    hub.corrupt("acme/large", "a b/100%.parquet")
    size, digest = client.result(DOWNLOAD, xet=xet)
    assert size == expected.size == 2_000_014
    assert digest != expected.sha256


ERRORS = """
import json, sys
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

def name_of(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        return [type(error).__name__, status]
    return ["fine", None]

api = {name: HfApi(token=name) for name in ("maintainer", "reader", "stranger")}
anonymous = HfApi(token=False)
def add():  # one may be sent once
    return [CommitOperationAdd("a.txt", b"a")]
def file(api, repo, path="README.md", revision=None):
    return name_of(api.hf_hub_download, repo, path, repo_type="dataset", revision=revision)
def commit(who, repo, operations, **options):
    return name_of(api[who].create_commit, repo, operations, commit_message="x", repo_type="dataset", **options)
def tag(who, name, revision="main"):
    return name_of(api[who].create_tag, "acme/open", tag=name, revision=revision, repo_type="dataset")
first = sys.argv[1]
print(json.dumps({
    "who": [api["reader"].whoami()["name"], api["reader"].whoami()["auth"]["accessToken"]["role"]],
    "open": file(anonymous, "acme/open"),
    "no repository": file(anonymous, "acme/none"),
    "no revision": file(anonymous, "acme/open", revision="2020-01"),
    "no file": file(anonymous, "acme/open", "b.txt"),
    "private, to anybody": file(anonymous, "acme/private"),
    "private, to a stranger": file(api["stranger"], "acme/private"),
    "private, to its owner": file(api["maintainer"], "acme/private"),
    "gated, to anybody": file(anonymous, "acme/gated"),
    "gated, to a stranger": file(api["stranger"], "acme/gated"),
    "gated, to its owner": file(api["reader"], "acme/gated"),
    "a commit by anybody": name_of(anonymous.create_commit, "acme/open", add(), commit_message="x", repo_type="dataset"),
    "a commit by a reader": commit("reader", "acme/open", add()),
    "a commit by a stranger": commit("stranger", "acme/open", add()),
    "a pull request by a stranger": commit("stranger", "acme/open", add(), create_pr=True),
    "a commit on an older head": commit("maintainer", "acme/open", add(), parent_commit=first),
    "a deletion of nothing": commit("maintainer", "acme/open", [CommitOperationDelete("b.txt")]),
    "a commit on a tag": commit("maintainer", "acme/open", add(), revision="2026-07"),
    "a tag": tag("maintainer", "2026-10"),
    "a tag that exists": tag("maintainer", "2026-07"),
    "a tag on nothing": tag("maintainer", "2026-11", "2020-01"),
    "a tag by a reader": tag("reader", "2026-12"),
    "a bad tag": tag("maintainer", "a..b"),
    "a repository that exists": name_of(api["maintainer"].create_repo, "acme/open", repo_type="dataset"),
    "a private repository": name_of(api["maintainer"].create_repo, "acme/new", repo_type="dataset", private=True),
    "a repository of others": name_of(api["stranger"].create_repo, "acme/mine", repo_type="dataset"),
}))
"""


def test_a_client_knows_each_refusal_for_what_it_is(hub, client):
    first = hub.put("acme/open", {"README.md": b"---\nlicense: mit\n---\n"}, tag="2026-07")
    head = hub.put("acme/open", {"README.md": b"---\nlicense: mit\n---\nmore\n"})
    for name in ("acme/private", "acme/gated"):
        hub.put(name, {"README.md": b"x"})
    hub.repos["acme/private"].private = hub.repos["acme/gated"].gated = True
    hub.tokens = {
        "maintainer": Account("ada", organizations=("acme",)),
        "reader": Account("ben", "read", ("acme",)),
        "stranger": Account("cyd"),
    }
    assert client.result(ERRORS, first) == {
        "who": ["ben", "read"],
        "open": ["fine", None],
        "no repository": ["RepositoryNotFoundError", 401],
        "no revision": ["RevisionNotFoundError", 404],
        "no file": ["RemoteEntryNotFoundError", 404],
        "private, to anybody": ["RepositoryNotFoundError", 401],
        "private, to a stranger": ["RepositoryNotFoundError", 404],
        "private, to its owner": ["fine", None],
        "gated, to anybody": ["GatedRepoError", 401],
        "gated, to a stranger": ["GatedRepoError", 403],
        "gated, to its owner": ["fine", None],
        "a commit by anybody": ["HfHubHTTPError", 401],
        "a commit by a reader": ["HfHubHTTPError", 403],
        "a commit by a stranger": ["HfHubHTTPError", 403],
        "a pull request by a stranger": ["fine", None],
        "a commit on an older head": ["HfHubHTTPError", 412],
        "a deletion of nothing": ["RemoteEntryNotFoundError", 404],
        "a commit on a tag": ["BadRequestError", 400],
        "a tag": ["fine", None],
        "a tag that exists": ["HfHubHTTPError", 409],
        "a tag on nothing": ["RevisionNotFoundError", 404],
        "a tag by a reader": ["HfHubHTTPError", 403],
        "a bad tag": ["BadRequestError", 400],
        "a repository that exists": ["HfHubHTTPError", 409],
        "a private repository": ["fine", None],
        "a repository of others": ["HfHubHTTPError", 403],
    }
    assert hub.repos["acme/open"].head == head
    assert hub.repos["acme/open"].tags == {"2026-07": first, "2026-10": head}
    assert "a.txt" in hub.repos["acme/open"].at("refs/pr/1").files
    assert hub.repos["acme/new"].private


def test_a_client_reaches_no_host_but_the_hub(client):
    code = """
        import socket
        try:
            socket.create_connection(("example.org", 443))
        except socket.gaierror as error:
            print(error)
    """
    assert "example.org is not on loopback" in client(code).stdout


def test_a_client_starts_with_nothing_cached_unless_it_is_given_a_home(hub, client, tmp_path):
    hub.put("acme/open", {"README.md": b"x"})
    code = """
        from huggingface_hub import snapshot_download
        print(open(snapshot_download("acme/open", repo_type="dataset") + "/README.md").read())
    """
    kept = tmp_path / "kept"
    assert client(code, home=kept).stdout == "x\n"
    hub.log.clear()
    assert client(code, home=kept, offline=True).stdout == "x\n"
    assert client(code, offline=True).returncode == 1
    assert hub.log == []
    hub.stop()
    assert client(code, home=kept).stdout == "x\n"
    assert client(code).returncode == 1


def test_commands_of_this_environment_are_run(client):
    done = client(["python", "-c", "import sys; print(sys.argv[1:])"], Path("a b"), 1)
    assert done.stdout == "['a b', '1']\n"
