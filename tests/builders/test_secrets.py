"""Secrets in texts: what is found and what is not, where, in bounded time, and never told."""

import dataclasses
import json
import random
import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.secrets import Allowed, Finding, Piece, SecretsError, library, review, scan, scan_file
from builders.secrets.engine import NOT_SCANNED, matches
from freshstack_datasets.errors import FreshStackError, InputError, MissingExtraError
from tests.builders.secrets_made import github_token, look_alikes, private_key, secrets

MADE = secrets()


@pytest.mark.parametrize("name", MADE)
def test_a_secret_of_a_known_form_is_found_where_it_is(name):
    kind, text, secret = MADE[name]
    before = "# Häuser\r\n\r\n"
    found = [finding for finding in scan([("doc", before + text + "\nmore\n")]) if finding.kind == kind]
    line = 3 + text[: text.index(secret)].count("\n") if name != "AWS pair" else 3  # a pair is where its id is
    assert [(one.id, one.path, one.line) for one in found] == [("doc", "", line)]


@pytest.mark.parametrize("name", look_alikes())
def test_what_only_looks_like_a_secret_is_not_found(name):
    assert list(scan([("doc", look_alikes()[name])])) == []


@pytest.mark.parametrize("name", MADE)
def test_nothing_of_a_secret_is_in_a_finding(name):
    _, text, secret = MADE[name]
    told = json.dumps([dataclasses.asdict(one) for one in scan([("doc", text)])]) + "".join(
        map(str, scan([("d", text)]))
    )
    assert told
    parts = [secret[at : at + 6] for at in range(len(secret) - 6)]
    assert not [part for part in parts if part in told and part not in "-----BEGIN PRIVATE KEY"]


def test_one_secret_is_one_finding_by_the_rule_that_says_most():
    _, text, _ = MADE["Stripe"]  # stripe.api_key = "…" is also a value given to a telling name
    assert [one.kind for one in scan([("doc", text + "\n" + text)])] == ["stripe-access-token"] * 2


def test_a_key_that_was_cut_in_two_is_found_with_its_line_in_the_file():
    text = "".join(f"line {number}\n" for number in range(1, 101)) + private_key(random.Random(1)) + "\nend\n"
    cut = text.index("PRIVATE KEY") + 400
    start = text.index("line 50\n")
    pieces = [
        Piece("a", text[:start]),
        Piece("b", text[start:cut], 50, start),
        Piece("c", text[cut:], text[:cut].count("\n") + 1, cut),
    ]
    (found,) = scan_file("keys.md", pieces)
    assert (found.id, found.path, found.line, found.kind) == ("b", "keys.md", 101, "private-key")
    assert list(scan([("b", pieces[1].text), ("c", pieces[2].text)])) == []  # neither half is one


def test_white_space_that_was_left_out_between_pieces_parts_words():
    token = github_token(random.Random(2))
    pieces = [Piece("a", f"log in with {token}"), Piece("b", "Then go on", 3, len(f"log in with {token}") + 2)]
    assert [(one.id, one.line) for one in scan_file("a.md", pieces)] == [("a", 1)]


def test_a_digest_is_that_of_the_text_and_not_of_the_secret():
    _, text, _ = MADE["address"]
    one, same, moved, other = (
        next(scan([given])).digest for given in (("a", text), ("a", text), ("a", f"{text} "), ("b", text))
    )
    assert one == same
    assert len({one, moved, other}) == 3


@pytest.mark.parametrize(
    "text",
    [
        "a" * 20_000_000,
        "password=" * 2_000_000,
        "://" * 6_000_000,
        "eyJ" * 3_000_000,
        "gh" + "p_" * 2_000_000,
        "\0" * 5_000_000,
        "-----BEGIN RSA PRIVATE KEY-----" * 50_000,
        "token = '" * 500_000,
    ],
    ids=lambda text: text[:10].encode("unicode_escape").decode(),
)
def test_a_secret_behind_millions_of_letters_is_found(text):
    kind, secret, _ = MADE["GitHub"]
    assert kind in {one.kind for one in scan([("doc", f"{text}\n-----END RSA PRIVATE KEY-----\n{secret}")])}


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\ufeff", "é\u2028", "\x1b[31m", "\N{RIGHT-TO-LEFT OVERRIDE}"])
def test_odd_letters_hide_no_secret(odd):
    kind, text, _ = MADE["GitHub"]
    assert [(one.kind, one.line) for one in scan([("doc", f"{odd}{odd}\n{odd} {text}{odd}")])] == [(kind, 2)]


@given(st.text(max_size=300))
def test_any_text_can_be_looked_into(text):
    assert all(1 <= one.line <= text.count("\n") + 1 for one in scan([("doc", text)]))


def test_a_comment_in_the_source_does_not_keep_a_secret_from_being_found():
    kind, text, _ = MADE["Stripe"]
    for asked in ("kingfisher:ignore", "gitleaks:allow", "betterleaks:allow", "pragma: allowlist secret"):
        assert [one.kind for one in scan([("doc", f"{text}  # {asked}")])] == [kind]


def test_a_text_that_is_given_up_is_a_finding(monkeypatch):
    class Slow:
        def scan(self, data, timeout):
            raise TimeoutError(f"no end of {data!r}")

    monkeypatch.setattr("builders.secrets.engine.library", Slow)
    assert [(one.line, one.kind) for one in scan([("doc", MADE["GitHub"][1])])] == [(1, NOT_SCANNED)]


def test_nobody_is_asked_over_the_network_whether_a_secret_works(monkeypatch):
    def refused(*_):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    assert len(list(scan((name, text) for name, (_, text, _) in MADE.items()))) >= len(MADE)


def test_a_library_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    with pytest.raises(MissingExtraError, match=r"kingfisher-secret-scanner is not installed; pip install .*\[build\]"):
        library.__wrapped__()


def test_the_rules_have_as_many_kinds_as_are_known_to_be_used():
    assert len(library().rules) > 480  # 488 of the library's 1.5.0, and ours


def findings(count=3):
    return [Finding(f"doc{number}", "a.md", number, "github-pat", f"{number:064}") for number in range(count)]


def test_findings_are_listed_and_end_the_build(tmp_path):
    with pytest.raises(
        SecretsError, match=r"25 places seem to hold a secret, listed in .*out\.secrets\.jsonl"
    ) as caught:
        review(findings(25), Allowed(), tmp_path / "out")
    listed = (tmp_path / "out.secrets.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in listed] == [dataclasses.asdict(one) for one in findings(25)]
    assert caught.value.exit_code == 1
    assert len(caught.value.first) == 20


def test_a_list_that_was_looked_through_accepts_what_it_names_and_nothing_else(tmp_path):
    with pytest.raises(SecretsError):
        review(findings(2), Allowed(), tmp_path / "out")
    listed = tmp_path / "out.secrets.jsonl"
    before = listed.read_bytes()
    allowed = Allowed.of(str(listed))
    assert review(findings(2), allowed, tmp_path / "out").parameters()["secrets_allowed"] == 2
    with pytest.raises(SecretsError, match="1 place seems") as caught:
        review(findings(3), allowed, tmp_path / "out")
    assert listed.read_bytes() == before  # what nobody looked at is not put into what somebody did
    assert [json.loads(line)["id"] for line in caught.value.listed.read_text().splitlines()] == ["doc2"]
    changed = dataclasses.replace(findings(1)[0], digest="f" * 64)
    with pytest.raises(SecretsError):
        review([changed], allowed, tmp_path / "out")
    assert review([dataclasses.replace(findings(1)[0], line=99, path="b.md")], allowed, tmp_path / "out").found == 1


def test_all_can_be_accepted_unseen_which_the_recipe_says(tmp_path):
    said = review(findings(3), Allowed.of("all"), tmp_path / "out").parameters()
    assert (said["secrets_allowed"], said["secrets_allowed_unseen"]) == (3, 3)
    assert review([], Allowed.of("all"), tmp_path / "out").parameters().keys() == {"secrets_scanner"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"{}", b"x", b'{"id": 1, "kind": "a", "digest": "b"}', b"\xff", b"[]", b"\0" * 99])
def test_what_is_no_list_of_findings_is_refused(tmp_path, content):
    path = tmp_path / "list.jsonl"
    path.write_bytes(b'\n{"id": "a", "kind": "b", "digest": "c", "more": 1}\n' + content)
    with pytest.raises(InputError, match=r"list\.jsonl:3, expected a finding: JSON with id, kind and digest, got"):
        Allowed.of(str(path))


def test_a_list_that_never_ends_is_refused():
    with pytest.raises(InputError, match=r"/dev/zero:1, expected a finding"):
        Allowed.of("/dev/zero")


@pytest.mark.parametrize("path", ["missing", ".", "\0"])
def test_a_list_that_is_not_there_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FreshStackError, match="cannot read"):
        Allowed.of(path)


def test_a_text_is_looked_into_again_with_the_same_result():
    texts = [(name, text) for name, (_, text, _) in MADE.items()]
    assert list(scan(texts)) == list(scan(texts))
    assert matches(b"") == []
