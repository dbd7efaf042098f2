"""What MAINTAINING.md says of failures: each message that it quotes is one that people get to see."""

import re
import shutil

import pytest

from builders.cli import main as builders
from freshstack_datasets.cli import app as freshstack
from freshstack_datasets.cli import console
from tests.docs import maintaining, named, readme
from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.publisher import Publisher
from tests.hub.server import ALWAYS, Account, TestHub

pytestmark = pytest.mark.slow

OLDER, NEWER = snapshots.SNAPSHOTS
REPO = "freshstack/langchain"
SECTION = maintaining.FILE.read_text(encoding="utf-8").split("\n## When something fails\n")[1].split("\n## ")[0]
ROWS = [[cell.strip() for cell in row.split("|")[1:4]] for row in SECTION.splitlines() if row.startswith("| ")][1:]
QUOTED = {message: told for _, said, told in ROWS for message in named.in_line(said)}
"""Every message that the table quotes, with what it says to do."""
CHECKING = [message for step, said, _ in ROWS if step == "check" for message in named.in_line(said)]
"""Those of reading from the Hub."""
POSTS = readme.ROOT / "tests" / "data" / "Posts.xml"
BUILD = ["accepted-answers", str(POSTS), "--site", maintaining.SITE, "--snapshot"]


def unfit(hub, folder):
    (folder / "more.txt").write_text("x")


def made_by_a_stand_in(hub, folder):
    shutil.rmtree(folder)
    snapshots.write(folder, OLDER, recipe={"models": {"nuggets": "stand-in"}})


def dropped(hub, folder):
    hub.fail("/commit/", drop=True)


def failing(hub, folder):
    hub.fail("/commit/", status=503)


def failing_for_good(hub, folder):
    hub.fail("/commit/", status=503, times=ALWAYS)


def limited(hub, folder):
    hub.fail("/commit/", status=429)


def moved(hub, folder):
    hub.fail("/commit/", status=412, times=ALWAYS)


def without_xet(hub, folder):
    hub.fail("/xet-write-token/", status=404, times=ALWAYS)


def gated(hub, folder):
    hub.put(REPO, {".gitattributes": b""})
    hub.repos[REPO].gated = True
    hub.tokens["hf_x"] = Account("cyd")


def read_only(hub, folder):
    hub.put(REPO, {".gitattributes": b""})
    hub.tokens["hf_x"] = Account("ben", "read", ("freshstack",))


def of_a_stranger(hub, folder):
    hub.put(REPO, {".gitattributes": b""})
    hub.tokens["hf_x"] = Account("cyd")


def unknown(hub, folder):
    hub.put(REPO, {".gitattributes": b""})
    hub.tokens["hf_y"] = Account("ada", organizations=("freshstack",))


def untagged(hub, folder):
    hub.fail("/tag/", status=403)


def taken(hub, folder):
    hub.put(REPO, snapshots.write(folder.parent / "other", NEWER, name=OLDER), tag=OLDER)


def of_another_dataset(hub, folder):
    hub.put(REPO, snapshots.write(folder.parent / "other", OLDER, "freshstack/yolo"))


def of_no_snapshot(hub, folder):
    hub.put(REPO, {"data.csv": b"a\n"})


def public(hub, folder):
    hub.put(REPO, {".gitattributes": b""})


def damaged(hub, folder):
    hub.put(REPO, folder, tag=OLDER)
    hub.corrupt(REPO, "corpus/corpus-00000-of-00001.parquet")


HOW = {
    "is not published, expected a snapshot without problems": unfit,
    "is not published, expected one that language models made": made_by_a_stand_in,
    "the Hub does not answer (…); waiting … s": dropped,
    "the Hub fails (status …); waiting … s": failing,
    "nothing is lost: the same command, run again, goes on where it stopped": failing_for_good,
    "the Hub has too many requests; waiting … s": limited,
    "changed meanwhile; looking again": moved,
    "got changes by somebody else meanwhile": moved,
    "xet, which moves large files, failed": without_xet,
    "is gated, expected a token of an account with access": gated,
    "You must use a write token": read_only,
    "You don't have the rights": of_a_stranger,
    "expected a token that the Hub knows": unknown,
    "commit …": untagged,
    "is published already, expected its fingerprint …": taken,
    "holds another dataset": of_another_dataset,
    "holds no snapshot": of_no_snapshot,
    "expected a private repository, got a public one": public,
    "what came back from the Hub is not what was sent": damaged,
}
"""From a message to what brings it about."""


def built_under_an_old_name(folder):
    return [*BUILD, "2024-03", "--out", str(folder.parent / "new")], 0


def built_where_something_is(folder):
    return [*BUILD, "2024-04", "--out", str(folder)], 2


def changed_by_hand(folder):
    (folder / "corpus" / "corpus-00000-of-00001.parquet").write_bytes(b"x")
    return None, 1


def corrected_wrongly(folder):
    header, row = (
        "kind,action,query_id,nugget_id,doc_id,field,old,new,reason,by,date",
        "judgment,add,q,n,d,score,,1,r,b,x",
    )
    (folder.parent / "table.csv").write_text(f"{header}\n{row}\n")
    return ["correct", str(folder), str(folder.parent / "table.csv"), "--out", str(folder.parent / "new")], 2


def built_with_a_model(folder, *more):
    topic = ["build", str(POSTS.parent / "bread.yaml"), "--posts", str(POSTS), "--snapshot", "2024-04"]
    places = ["--out", str(folder.parent / "new"), "--replies", str(folder.parent / "replies.sqlite")]
    return [*topic, *places, *more]


def built_at_no_known_price(folder):
    asked = ("--llm", "http://127.0.0.1:9/v1", "--model", "nobody/knows-1", "--max-usd", "5")
    return built_with_a_model(folder, *asked), 2


def built_beyond_its_budget(folder):
    return built_with_a_model(folder, "--llm", "fake", "--max-tokens", "10"), 1


HERE = {
    "expected models whose price is known": built_at_no_known_price,
    "does not take another call": built_beyond_its_budget,
    "the dump has posts of …, later than the snapshot's name": built_under_an_old_name,
    "expected a new or an empty folder, got one that holds files": built_where_something_is,
    "…: changed-file": changed_by_hand,
    "nothing was written": corrected_wrongly,
}
"""Likewise what needs no Hub: the arguments of a builder, None to verify the folder instead, and the exit code."""


@pytest.mark.parametrize("message", HERE, ids=lambda message: HERE[message].__name__)
def test_a_message_of_what_needs_no_hub_is_what_people_see(message, tmp_path, capsys):
    folder = snapshots.write(tmp_path / OLDER, OLDER)
    arguments, code = HERE[message](folder)
    ended = builders(arguments) if arguments else console.run(freshstack, ["verify", str(folder)], name="freshstack")
    told = capsys.readouterr()
    assert ended == code
    assert re.search(re.escape(message).replace("…", ".+"), told.out + told.err)
    assert (tmp_path / "new").exists() == (ended == 0)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with TestHub(tmp_path_factory.mktemp("hub")) as hub:
        yield hub
    assert not hub.bugs, hub.bugs[0]


@pytest.fixture
def hub(running):
    yield running
    running.heal()
    running.tokens.clear()
    running.repos.clear()


@pytest.fixture(scope="module")
def publish(running, tmp_path_factory):
    folder = tmp_path_factory.mktemp("publisher")
    with Publisher(Client(running, folder), folder / "home") as publisher:
        yield publisher


@pytest.fixture(scope="module")
def publish_by_xet(running, tmp_path_factory):
    folder = tmp_path_factory.mktemp("publisher")
    with Publisher(Client(running, folder), folder / "home", xet=True) as publisher:
        yield publisher


def test_the_table_quotes_what_is_brought_about_here():
    assert QUOTED.keys() - CHECKING == HOW.keys() | HERE.keys()


@pytest.mark.parametrize("message", HOW, ids=lambda message: HOW[message].__name__)
def test_a_message_is_what_people_see_and_the_next_run_is_fine_where_the_table_says_so(
    hub, publish, publish_by_xet, tmp_path, message
):
    folder = snapshots.write(tmp_path / OLDER, OLDER)
    whole = shutil.copytree(folder, tmp_path / "whole")
    cause = HOW[message]
    cause(hub, folder)
    options = ["--private"] if cause is public else []
    done = (publish_by_xet if cause is without_xet else publish)(folder, *options, token="hf_x" if hub.tokens else None)
    pattern = re.escape(message).replace("…", ".+")
    assert re.search(pattern, done.err), done.err
    assert done.code == {unfit: 1, damaged: 1, dropped: 0, failing: 0, limited: 0}.get(cause, 2)
    if "un it again" in QUOTED[message] and cause is not damaged:
        hub.heal()
        again = publish(whole)
        assert again.code == 0
        assert list(hub.repos[REPO].tags) == [OLDER]
        assert len(hub.repos[REPO].commits) == 2  # the first is the Hub's own


def test_what_readers_see_of_damage_and_of_a_moved_tag(tmp_path):
    damage, tag = CHECKING
    (tmp_path / "hub").mkdir()
    with TestHub(tmp_path / "hub") as hub:
        for snapshot in (OLDER, NEWER):
            hub.put(REPO, snapshots.write(tmp_path / snapshot, snapshot), tag=snapshot)
        client, home = Client(hub, tmp_path), tmp_path / "home"
        hub.corrupt(REPO, "corpus/corpus-00000-of-00001.parquet", OLDER)
        done = client(["freshstack", "search", f"{REPO}@{OLDER}", "file"], home=home)
        assert done.returncode == 2
        assert re.search(re.escape(damage).replace("…", ".+"), done.stderr), done.stderr
        hub.corrupt(REPO, "corpus/corpus-00000-of-00001.parquet", OLDER)  # once more: as it was
        done = client(["freshstack", "download", f"{REPO}@{OLDER}"], home=home)
        assert done.returncode == 0, done.stderr
        hub.move_tag(REPO, OLDER, NEWER)
        done = client(["freshstack", "verify", f"{REPO}@{OLDER}"], home=home)
        assert done.returncode == 1
        assert re.search(re.escape(tag).replace("…", ".+"), done.stdout), done.stdout
    assert not hub.bugs, hub.bugs[0]


def test_what_can_be_tried_again_is_tried_again_after_a_while(hub, publish, tmp_path):
    hub.fail("/commit/", status=429, headers={"Retry-After": "1000"})  # more than a quarter of an hour
    done = publish(snapshots.write(tmp_path / OLDER, OLDER))
    assert (done.code, done.waits) == (2, [])
