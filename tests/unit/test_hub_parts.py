"""The parts of reading from the Hub that need no Hub: what is recorded, what is here, and errors in words."""

import errno
import json
import os

import pytest

import freshstack_datasets as fsd
from freshstack_datasets import catalog
from freshstack_datasets.errors import FreshStackError, HubError, InputError, UnknownNameError
from freshstack_datasets.holdings import listed, moved_tag
from freshstack_datasets.hub import cached, ledger
from freshstack_datasets.hub.pins import At, Pin, pin
from freshstack_datasets.hub.words import in_words, told

A, B, C = ("a" * 40, "b" * 40, "c" * 40)
SHA = "0" * 64


# What is recorded


def test_a_commit_is_recorded_once(own_home):
    assert ledger.commit_of("acme/x", "2026-10") is None
    ledger.record_commit("acme/x", "2026-10", A)
    ledger.record_commit("acme/x", "2026-10", B)
    ledger.record_commit("acme/x", "2026-07", B)
    ledger.record_commit("acme/y", "2026-10", C)
    assert ledger.commit_of("acme/x", "2026-10") == A
    assert ledger.recorded("acme/x") == {"2026-10": A, "2026-07": B}
    assert ledger.repositories() == ["acme/x", "acme/y"]
    assert json.loads((own_home / "hub" / "acme--x" / "2026-10.json").read_text())["commit"] == A


def test_a_recorded_commit_is_replaced_only_on_purpose(own_home):
    ledger.record_commit("acme/x", "2026-10", A)
    ledger.replace_commit("acme/x", "2026-10", B)
    assert ledger.commit_of("acme/x", "2026-10") == B
    (own_home / "hub" / "acme--y").write_text("a file")
    with pytest.raises(InputError, match=r"^the commit of acme/y@2026-10 cannot be recorded; see who may write below "):
        ledger.replace_commit("acme/y", "2026-10", A)


def test_no_other_commit_is_accepted_than_the_one_that_the_package_knows(monkeypatch):
    entry = catalog.published("freshstack/yolo")["2024-10"].model_copy(update={"layout": "snapshot", "commit": A})
    monkeypatch.setattr(catalog, "published", lambda name: {"2026-10": entry})
    monkeypatch.setattr("freshstack_datasets.holdings.moved", lambda pin: B)
    with pytest.raises(HubError, match=r"expected the commit that this version knows, .*; install a newer"):
        moved_tag("freshstack/yolo", "2026-10")


def test_digests_are_recorded_beside_earlier_ones():
    ledger.record_digests("acme/x", A, {"corpus/a": SHA})
    ledger.record_digests("acme/x", A, {"queries/b": SHA})
    ledger.record_digests("acme/x", B, {})
    assert ledger.digests("acme/x", A) == {"corpus/a": SHA, "queries/b": SHA}
    assert ledger.digests("acme/x", B) == {}
    assert ledger.recorded("acme/x") == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"\xff", b"[" * 99_999, b'{"commit": 1, "files": []}', b'{"commit": "main", "files": {"a": 1}}'],
)
def test_a_record_that_is_none_counts_as_not_there(own_home, content):
    folder = own_home / "hub" / "acme--x"
    folder.mkdir(parents=True)
    for name in ("2026-10", A):
        (folder / f"{name}.json").write_bytes(content)
    assert ledger.commit_of("acme/x", "2026-10") is None
    assert ledger.digests("acme/x", A) == {}
    ledger.record_commit("acme/x", "2026-10", A)
    assert ledger.commit_of("acme/x", "2026-10") == A


def test_where_nothing_can_be_recorded_a_warning_says_so(own_home, caplog):
    (own_home / "hub").write_text("a file")
    ledger.record_commit("acme/x", "2026-10", A)
    assert ledger.commit_of("acme/x", "2026-10") is None
    assert "not recorded, and so looked at again the next time" in caplog.text


# What is here


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "datasets--acme--x"


def put(cache, commit, *paths):
    """Put files into the cache as its client does: contents by digest, and links to them."""
    (cache / "blobs").mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(paths):
        blob, link = cache / "blobs" / f"{commit[:8]}{number}", cache / "snapshots" / commit / path
        blob.write_text("x")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))


def test_snapshots_are_here_when_their_description_is(cache):
    assert cached.snapshots("acme/x") == cached.references("acme/x") == {}
    put(cache, A, "snapshot.json")
    put(cache, B, "snapshot.json", "corpus/a.parquet")
    put(cache, C, "corpus/a.parquet")
    for name, commit in (("2026-10", A), ("2026-11", C), ("main", A), ("2026-12", "d" * 40), ("odd", "ref: main")):
        (cache / "refs").mkdir(exist_ok=True)
        (cache / "refs" / name).write_text(commit)
    (cache / "refs" / "pr").mkdir()
    ledger.record_commit("acme/x", "2026-10", B)  # what was recorded counts more than what a client saw last
    assert cached.snapshots("acme/x") == {"2026-10": B}
    assert cached.references("acme/x")["main"] == A
    assert cached.has(cached.folder_of("acme/x", B), "corpus/a.parquet")
    (cache / "blobs" / f"{B[:8]}1").unlink()
    assert not cached.has(cached.folder_of("acme/x", B), "corpus/a.parquet")


def test_places_that_cannot_be_looked_into_hold_nothing(tmp_path, monkeypatch):
    nowhere = str(tmp_path / ("x" * 300))  # longer than a name may be; a folder that may not be read fails the same way
    monkeypatch.setenv("FRESHSTACK_HOME", nowhere)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", nowhere)
    assert (ledger.repositories(), ledger.recorded("acme/x")) == ([], {})
    assert cached.references("acme/x") == cached.snapshots("acme/x") == {}
    here = {entry.dataset: entry.cached for entry in listed()[0]}
    assert here["freshstack/yolo"] is False
    with pytest.raises(HubError, match=r"^freshstack/yolo@2024-10 is not on this machine, got none of its files"):
        fsd.load("yolo")
    ledger.record_commit("acme/x", "2026-10", A)
    with pytest.raises(FreshStackError):
        fsd.load("acme/x", snapshot="2026-10")


# Pins, while HF_HUB_OFFLINE is set


def test_what_the_catalog_and_the_ledger_know_needs_no_hub(cache):
    assert pin("freshstack/yolo") == Pin(
        "freshstack/yolo",
        "2024-10",
        "oct-2024",
        (
            At("freshstack/corpus-oct-2024", "069f66dc323e163b48b10d08408d282733d4393b", ("yolo/*.parquet",)),
            At("freshstack/queries-oct-2024", "023ac3a14caf9d6ebb13d01adcfb8fa05e5a9630", ("yolo/*.parquet",)),
        ),
    )
    ledger.record_commit("freshstack/queries-oct-2024-unfiltered", "main", A)
    assert pin("freshstack/yolo-unfiltered").repositories[1] == At(
        "freshstack/queries-oct-2024-unfiltered", A, ("yolo/*.parquet",)
    )
    ledger.record_commit("acme/x", "2026-10", B)
    assert pin("acme/x", "2026-10") == Pin("acme/x", "2026-10", "snapshot", (At("acme/x", B),))
    assert str(pin("acme/x", "2026-10")) == "acme/x@2026-10"
    with pytest.raises(UnknownNameError, match=r"^unknown dataset 'acme/x'.*HF_HUB_OFFLINE is set"):
        pin("acme/x")  # recorded, but nothing of it is here
    with pytest.raises(HubError, match=r"^which commit of .* to read is not known|^acme/x@2026-09 is not on"):
        pin("acme/x", "2026-09")


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("name", ["a", "a/b/c", "/a", "a/", "a/..", "../a", "a/b\n", "ä/b", "a/" + "b" * 95, "a b/c"])
def test_what_no_repository_is_called_is_not_looked_for(name):
    with pytest.raises(UnknownNameError, match=r"^unknown dataset"):
        pin(name)


# Words


class XetError(Exception):
    __module__ = "hf_xet"


OTHER = "see whether a proxy or a login page answers instead of it; --verbose shows where this was found"
TOKEN = "set HF_TOKEN, or run hf auth login"
BY_XET = "x, got xet, which moves large files, failed: "
NO_XET = "; try again, and if it stays so without xet: set HF_HUB_DISABLE_XET=1"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "big.parquet"),
            "x, got no space left on device at 'big.parquet'; set HF_HOME to another place",
        ),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), "x, got no such file or directory"),
        (
            XetError("CAS\nis down"),
            f"{BY_XET}CAS{NO_XET}",
        ),
        (
            RuntimeError("Data processing error: Xet \x1b[2J"),
            rf"{BY_XET}Data processing error: Xet \x1b[2J{NO_XET}",
        ),
        (
            UnicodeEncodeError("ascii", "Bearer hf_s3cré", 14, 15, "ordinal not in range(128)"),
            f"x, expected a token of plain letters and digits, got one with other characters; {TOKEN}",
        ),
        (KeyError("branches"), f"x, got an answer that is none of a Hub (KeyError: 'branches'); {OTHER}"),
        (ValueError(""), f"x, got an answer that is none of a Hub (ValueError: ValueError); {OTHER}"),
        (RuntimeError("no more threads"), "x, got RuntimeError: no more threads; --verbose shows where"),
    ],
)
def test_what_clients_raise_is_told_in_words(error, says):
    with pytest.raises(HubError) as caught, in_words("x", "acme/x"):
        raise error
    assert str(caught.value) == says
    assert caught.value.__cause__ is error


def test_errors_of_ours_stay_what_they_are():
    ours = InputError("y")
    with pytest.raises(InputError) as caught, in_words("x", "acme/x"):
        raise ours
    assert caught.value is ours


def test_a_chain_of_causes_that_never_ends_does():
    first, second = OSError("a"), OSError("b")
    first.__cause__, second.__cause__ = second, first
    assert isinstance(told(first, "x", "acme/x"), FreshStackError)
