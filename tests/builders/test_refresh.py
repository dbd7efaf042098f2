"""The next quarter, with a scripted model behind a real HTTP server: see ``pipeline_topic`` for what is right."""

import contextlib
import io
import json
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace

import pyarrow.parquet as pq
import pytest

import freshstack_datasets as fsd
from builders.cli import main
from builders.commands.drift import say_drift
from builders.refreshing.earlier import _corrected
from freshstack_datasets.errors import InputError
from freshstack_datasets.verification import verify
from tests.builders import pipeline_topic as topic
from tests.builders.git_servers import commit, git
from tests.builders.pipeline_server import MODEL, PipelineServer, kind_of, question
from tests.llm_server import error

LATER = {"q11": ("bell", "Does it ring at noon?", ("The bell rings at `bell.noon`.",))}
MOVED = {"faq/fuel.md": "help/fuel.md"}
EDITED = "docs/mirror.md"
GONE = "notes/3.md"


def models(url, model=MODEL):
    return f"{{endpoint: '{url}', model: {model}, parameters: {{temperature: 0.1, max_tokens: 900}}}}"


def run(*arguments):
    """Run a command; return its exit code, and what it says on standard output and on standard error."""
    said, messages = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(messages):
        code = main([str(one) for one in arguments])
    return code, said.getvalue(), messages.getvalue()


@dataclass(frozen=True)
class Quarter:
    """A snapshot, and what was asked for it.

    Args:
        path: The snapshot's folder.
        asked: What was asked, by kind.
        questions: The questions about which something was asked, by kind.
        told: What the command says, as JSON.
    """

    path: object
    asked: Counter
    questions: dict
    told: dict = field(default_factory=dict)

    @property
    def data(self):
        return fsd.load(self.path)

    @property
    def whole(self):
        return fsd.load(self.path.with_name(f"{self.path.name}-unfiltered"))

    @property
    def drift(self):
        return json.loads((self.path / "provenance" / "drift.json").read_text())


def made(folder, given, url, change=lambda posts: posts, model=MODEL):
    """Write a topic and its forum's posts, as ``change`` leaves them; return the files."""
    folder.mkdir(exist_ok=True)
    posts = [json.loads(line) for line in given.posts.read_text().splitlines()]
    (folder / "posts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in change(posts)))
    return topic.write(folder / "lantern.yaml", given, models(url, model)), folder / "posts.jsonl"


def quarter(folder, given, words, change=lambda posts: posts, model=MODEL, replies="replies.sqlite", times=1):
    """Run a command that makes a snapshot."""
    with PipelineServer() as server:
        about, posts = made(folder, given, server.url, change, model)
        places = ("--out", folder / "out", "--replies", folder / replies, "--key-from", "NO_KEY_IS_SET", "--json")
        for _ in range(times):
            code, said, messages = run(*words(about), "--posts", posts, "--processes", "1", *places)
            assert code == 0, messages
    kinds = Counter(kind_of(asked) for asked in server.asked)
    questions = {kind: {question(one) for one in server.asked if kind_of(one) == kind} for kind in kinds}
    return Quarter(folder / "out", kinds, questions, json.loads(said))


def refreshed(folder, old, given, *options, **more):
    return quarter(folder, given, lambda about: ("refresh", old, about, "--snapshot", "2026-10", *options), **more)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return topic.given(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def old(tmp_path_factory, given):
    folder = tmp_path_factory.mktemp("old") / "old"
    return quarter(folder, given, lambda about: ("build", about, "--snapshot", "2026-07"))


@pytest.fixture(scope="module")
def later(tmp_path_factory, given):
    """What the next quarter is made from, but for its posts."""
    folder = tmp_path_factory.mktemp("later") / "lantern"
    shutil.copytree(given.repository, folder)
    files = topic.files()
    changed = {new: files[was].encode() for was, new in MOVED.items()}
    changed |= {EDITED: (files[EDITED] + "\nThe mirror is new.\n").encode()}
    changed |= {"docs/radio.md": (files["docs/radio.md"] + "\n".join(topic.FACTS["q10"]) + "\n").encode()}
    changed |= {"docs/bell.md": f"# The bell\n\n{LATER['q11'][2][0]}\n".encode()}
    lost = topic.FACTS["q07"][1]
    changed |= {path: files[path].replace(lost, "").encode() for path in ("docs/hook.md", "src/hook.py")}
    git(folder, "rm", "-q", *MOVED, GONE)
    commit(folder, changed)
    return replace(given, repository=folder)


def changed_posts(posts):
    """q02 has no accepted answer any more, q03 was deleted, the answer of q05 is another one, and q11 is new."""
    by_id = {one["id"]: one for one in posts}
    del by_id["q03"]
    by_id["q02"]["answers"][0]["accepted"] = False
    by_id["q05"]["answers"][0]["body"] = f"- {topic.FACTS['q05'][0]}"
    word, title, facts = LATER["q11"]
    body = "\n".join(f"- {fact}" for fact in facts)
    answer = {"id": "aq11", "body": body, "score": 2, "accepted": True}
    by_id["q11"] = {
        **by_id["q01"],
        "id": "q11",
        "title": title,
        "body": f"About its {word}.",
        "date": "2026-09-01",
        "answers": [answer],
    }
    return list(by_id.values())


@pytest.fixture(scope="module")
def new(tmp_path_factory, old, later):
    return refreshed(
        tmp_path_factory.mktemp("new") / "new", old.path, later, "--retire-before", "2026-07-02", change=changed_posts
    )


def path_of(doc_id):
    """The path of the file of which a document is a chunk; each file is one."""
    return doc_id.removeprefix("lantern/").rsplit("_", 2)[0]


def judgments(data):
    return {(j.query_id, j.nugget_id, j.doc_id): (j.score, j.call_id) for j in data.judgments}


def calls(folder):
    rows = pq.read_table(folder / "provenance" / "calls.parquet").to_pylist()
    return {(row["call-id"], row["query-id"]): row for row in rows}


def test_a_refresh_without_any_change_asks_no_model_and_gives_the_same_judgments(tmp_path, old, given):
    same = refreshed(tmp_path / "same", old.path, given, replies="fresh.sqlite")
    assert same.asked == {}
    assert verify(same.path) == []
    # Every table is the same, so its digest is, and so is the fingerprint, which is made of these.
    assert same.data.fingerprint == old.data.fingerprint
    assert same.whole.fingerprint == old.whole.fingerprint
    assert calls(same.path) == calls(old.path)
    assert same.drift["documents"] == {"kept": 35, "moved": 0, "edited": 0, "gone": 0, "new": 0}
    assert same.drift["questions"] == {"kept": 10, "edited": 0, "new": 0, "retired": 0}
    assert same.drift["nuggets"]["gained"] == same.drift["nuggets"]["lost"] == 0


def test_a_refresh_without_any_change_asks_nobody_with_a_prompt_that_has_changed_for_nuggets_and_judgments(
    tmp_path, old, given
):
    other = refreshed(tmp_path / "other", old.path, given, model="lamp-2", replies="fresh.sqlite")
    # What is searched for was asked of another model, and is asked anew; nuggets and judgments hold.
    assert set(other.asked) == {"sub-questions", "closed-book"}
    assert {key: value for key, value in judgments(other.whole).items() if key in judgments(old.whole)} == judgments(
        old.whole
    )


def test_questions_are_kept_added_and_retired_by_the_rules(new):
    ids = {query.query_id for query in new.whole.queries}
    assert ids == {"q03", "q04", "q05", "q06", "q07", "q08", "q09", "q10", "q11"}
    assert new.drift["questions"] == {"kept": 7, "edited": 1, "new": 1, "retired": 2}
    assert new.drift["retired"] == {
        "retired: asked before 2026-07-02": 1,
        "retired: questions without an accepted answer": 1,
    }
    dropped = [json.loads(line) for line in (new.path / "provenance" / "dropped.jsonl").read_text().splitlines()]
    assert {one["id"] for one in dropped if one["stage"] == "questions"} == {"q01", "q02"}


def test_only_what_is_new_is_asked_about(new):
    about = {kind: {_id(text) for text in texts} for kind, texts in new.questions.items()}
    assert about["nuggets"] == {"q05", "q11"}
    assert about["sub-questions"] == about["closed-book"] == {"q11"}  # of q05 the answer alone is another one
    assert {"q05", "q11"} <= about["support"]


def _id(text):
    words = {word: query_id for query_id, (word, *_) in (topic.SUBJECTS | LATER).items()}
    return next(query_id for word, query_id in words.items() if f"its {word}" in text)


def test_judgments_of_chunks_that_are_the_same_keep_their_calls_also_under_another_id(old, new):
    before, now = judgments(old.whole), judgments(new.whole)
    kept = {"q03", "q04", "q06", "q07", "q08", "q09", "q10"}
    files = topic.files()
    touched = {EDITED, GONE, "docs/radio.md", "docs/hook.md", "src/hook.py"}
    checked = 0
    for (query_id, nugget_id, doc_id), judged in before.items():
        path = path_of(doc_id)
        if query_id in kept and path not in touched:
            place = doc_id.replace(f"lantern/{path}", f"lantern/{MOVED.get(path, path)}")
            assert now[query_id, nugget_id, place] == judged, (files[path], place)
            checked += 1
    assert checked > 50


def test_calls_of_carried_judgments_travel_along_and_name_documents_as_they_are_called_now(old, new):
    before, now = calls(old.path.with_name("out-unfiltered")), calls(new.path.with_name("out-unfiltered"))
    carried = {(j.call_id, j.query_id) for j in new.whole.judgments} & before.keys()
    assert carried
    for key in carried:
        was, is_now = before[key], now[key]
        assert {name: is_now[name] for name in was if name != "documents"} == {
            name: was[name] for name in was if name != "documents"
        }
    for judgment in new.whole.judgments:
        assert judgment.doc_id in now[judgment.call_id, judgment.query_id]["documents"]


def test_every_judgment_is_right_by_construction(new):
    facts = topic.FACTS | {"q11": LATER["q11"][2], "q05": topic.FACTS["q05"][:1]}
    data = new.whole
    for judgment in data.judgments:
        fact = facts[judgment.query_id][data.nuggets[judgment.nugget_id].position]
        assert judgment.score == int(fact in data.corpus[judgment.doc_id].text), judgment


def test_the_drift_is_told(new):
    drift = new.drift
    # Of 35 files one moved, one is gone, docs/mirror, docs/radio, docs/hook and src/hook have another text; docs/bell is new.
    assert drift["documents"] == {"kept": 29, "moved": 1, "edited": 4, "gone": 1, "new": 5}
    assert [one["nugget"] for one in drift["nuggets"]["lost_ones"]] == ["q07_1"]
    assert [one["nugget"] for one in drift["nuggets"]["gained_ones"]] == ["q10_0", "q10_1"]
    # q03, q04, q06, q07, q08: 2 + 2 + 3 + 2 + 1 nuggets and one of q09 were supported, all by the one repository.
    (share,) = drift["repositories"]
    assert share["repository"] == "acme/lantern"
    assert share["nuggets"] == {"before": 11, "now": 12}
    assert drift["judgments"]["carried"] > 30
    assert set(drift["systems"]["scores"]["Recall@50"]) == {"bm25"}
    assert drift["systems"]["kendall_tau"]["Recall@50"] is None  # one system has no order


def test_what_gained_support_comes_into_the_filtered_snapshot_and_what_lost_it_leaves(old, new):
    assert "q10" not in old.data.queries
    assert "q10" in new.data.queries
    assert "q07" in old.data.queries
    assert "q07" not in new.data.queries
    assert verify(new.path) == []


def test_what_people_corrected_stays_so_though_the_dump_says_something_else(tmp_path, old, given, capsys):
    by = "audit,ada,2026-11-30"
    (tmp_path / "corrections.csv").write_text(
        "kind,action,query_id,nugget_id,doc_id,field,old,new,reason,by,date\n"
        f"question,remove,q08,,,title,{topic.SUBJECTS['q08'][1]},,{by}\n"
        f"nugget,remove,q06,q06_1,,text,{topic.FACTS['q06'][1]},,{by}\n"
        f"question,change,q04,,,title,{topic.SUBJECTS['q04'][1]},Does it close by itself?,{by}\n"
    )
    code, _, messages = run("correct", old.path, tmp_path / "corrections.csv", "--out", tmp_path / "corrected")
    assert code == 0, messages
    first = refreshed(tmp_path / "first", tmp_path / "corrected", given)
    assert "q08" not in first.whole.queries
    assert [nugget.text for nugget in first.data.nuggets_of("q06")] == [topic.FACTS["q06"][0], topic.FACTS["q06"][2]]
    assert (first.drift["retired"], first.drift["kept_out"]) == ({}, {"retired: removed by a correction": 1})
    assert first.drift["questions"] == {"kept": 7, "edited": 0, "new": 2, "retired": 0}  # new: those filtered out
    say_drift(first.drift)
    assert "\nquestions of the dump that are kept out: 1\n  1 removed by a correction\n" in capsys.readouterr().out
    assert first.data.queries["q04"].title == "Does it close by itself?"
    # The next but one knows of it too: what was corrected travels along.
    second = quarter(tmp_path / "second", given, lambda about: ("refresh", first.path, about, "--snapshot", "2027-01"))
    assert "q08" not in second.whole.queries
    assert verify(second.path) == []


def test_corrections_that_cannot_be_read_are_refused(tmp_path):
    for at, line in enumerate(["{", "[]", '{"kind": "question"}', "\udcff"]):
        folder = tmp_path / str(at)
        log = folder / "corrections.jsonl"
        folder.mkdir()
        log.write_bytes(line.encode(errors="surrogateescape"))
        with pytest.raises(InputError, match="expected corrections as JSON lines, got something else"):
            list(_corrected(log))


def test_the_same_command_again_has_nothing_to_do(tmp_path, old, given):
    assert refreshed(tmp_path / "once", old.path, given).told["made_before"] is False
    assert refreshed(tmp_path / "twice", old.path, given, times=2).told["made_before"] is True


def test_a_dry_run_tells_the_price_of_what_is_new_and_asks_nobody(tmp_path, old, later):
    with PipelineServer() as server:
        about, posts = made(tmp_path, later, server.url, changed_posts)
        words = [
            "refresh",
            old.path,
            about,
            "--posts",
            posts,
            "--snapshot",
            "2026-10",
            "--out",
            tmp_path / "out",
        ]
        usual = (*words, "--replies", tmp_path / "r.sqlite", "--dry-run", "--processes", "1")
        code, said, messages = run(*usual, "--json")
        text = run(*usual)[1]
    assert code == 0, messages
    assert "assumed of new and changed questions, since it is not known yet:\nnuggets: " in text
    assert set(json.loads(said)["assumed"]) == {"nuggets", "queries", "pool"}
    told = {stage["stage"]: stage["calls"] for stage in json.loads(said)["stages"]}
    assert told == {"nuggets": 2, "sub-questions": 1, "closed-book": 1, "support": 2}
    assert server.asked == []


def test_a_dry_run_without_new_questions_makes_what_costs_nothing_and_prices_the_new_documents(tmp_path, old, later):
    with PipelineServer() as server:
        about, posts = made(tmp_path, later, server.url)
        words = ["refresh", old.path, about, "--posts", posts, "--snapshot", "2026-10", "--out", tmp_path / "out"]
        code, said, messages = run(
            *words, "--replies", tmp_path / "r.sqlite", "--dry-run", "--json", "--processes", "1"
        )
        assert code == 0, messages
        told = {stage["stage"]: (stage["calls"], stage["answered"]) for stage in json.loads(said)["stages"]}
        assert server.asked == []
        code, _, messages = run(*words, "--replies", tmp_path / "r.sqlite", "--processes", "1")
    assert code == 0, messages
    assert {name: calls for name, (calls, _) in told.items() if calls} == {"support": len(server.asked)}
    assert told["sub-questions"] == told["closed-book"] == (0, 10)


def test_what_was_answered_before_an_end_is_not_asked_again(tmp_path, old, later):
    def trouble(call):
        return error(401, "no") if call.kind == "support" and down else None

    down = True
    with PipelineServer(trouble) as server:
        about, posts = made(tmp_path, later, server.url, changed_posts)
        words = ["refresh", old.path, about, "--posts", posts, "--snapshot", "2026-10", "--out", tmp_path / "out"]
        words += ["--replies", tmp_path / "r.sqlite", "--processes", "1"]
        code, _, messages = run(*words)
        assert code == 2
        assert "the same command goes on there" in messages
        assert not (tmp_path / "out").exists()
        down = False
        code, _, messages = run(*words)
        assert code == 0, messages
    kinds = Counter(kind_of(asked) for asked in server.asked)
    assert (kinds["nuggets"], kinds["sub-questions"], kinds["closed-book"]) == (2, 1, 1)
    assert verify(tmp_path / "out") == []


def test_nuggets_that_a_server_turned_away_are_asked_for_again_once_their_folder_is_removed(tmp_path, old, later):
    def trouble(call):
        edited = call.kind == "nuggets" and topic.SUBJECTS["q05"][1] in question(call.asked)
        return error(400, "no") if down and edited else None

    down = True
    with PipelineServer(trouble) as server:
        about, posts = made(tmp_path, later, server.url, changed_posts)
        words = ["refresh", old.path, about, "--posts", posts, "--snapshot", "2026-10", "--out", tmp_path / "out"]
        words += ["--replies", tmp_path / "r.sqlite", "--processes", "1"]
        code, _, messages = run(*words)
        assert code == 0, messages
        assert "nuggets: 1 question without nuggets: 1 http-400; what the server turned away is asked again" in messages
        assert "q05" not in fsd.load(tmp_path / "out-unfiltered").queries
        drift = json.loads((tmp_path / "out" / "provenance" / "drift.json").read_text())
        assert drift["questions"]["retired"] == 2
        assert drift["retired"] == {"retired: no nuggets": 1, "retired: questions without an accepted answer": 1}
        down = False
        shutil.rmtree(tmp_path / "out.stages" / "nuggets")
        code, said, messages = run(*words, "--dry-run", "--json")
        assert code == 0, messages
        assert json.loads(said)["stages"][0]["calls"] == 1
        code, _, messages = run(*words)
        assert code == 0, messages
    assert "q05" in fsd.load(tmp_path / "out-unfiltered").queries


def test_another_topic_and_an_earlier_name_are_refused(tmp_path, old, given):
    about, posts = made(tmp_path, given, "http://127.0.0.1:9")
    words = ("--posts", posts, "--out", tmp_path / "out", "--replies", tmp_path / "r.sqlite")
    code, _, messages = run("refresh", old.path, about, "--snapshot", "2026-07", *words)
    assert code == 2
    assert "--snapshot, expected a later one than 2026-07, which is refreshed, got 2026-07" in messages
    about.write_text(about.read_text().replace("acme/lantern\ndomain", "acme/torch\ndomain"))
    code, _, messages = run("refresh", old.path, about, "--snapshot", "2026-10", *words)
    assert code == 2
    assert "expected a snapshot of acme/torch, as the topic is called, got acme/lantern" in messages


def test_drift_of_two_snapshots_and_of_runs_on_them(tmp_path, old, new):
    for at, quarter_of in (("before", old), ("after", new)):
        data = quarter_of.data
        good = fsd.BM25().index(data.corpus).search(data.queries, 20)
        none = fsd.Run.from_dict({query.query_id: {data.corpus.ids[0]: 1.0} for query in data.queries}, "none")
        (tmp_path / at).mkdir()
        fsd.write_run(good.named("good"), tmp_path / at / "good.trec")
        fsd.write_run(none, tmp_path / at / "none.trec")
    runs = [[tmp_path / at / f"{name}.trec" for name in ("good", "none")] for at in ("before", "after")]
    code, said, messages = run("drift", old.path, new.path, "--before", *runs[0], "--after", *runs[1], "--json")
    assert code == 0, messages
    told = json.loads(said)
    assert set(told["systems"]["kendall_tau"].values()) == {1.0}  # BM25 is better on both
    assert told["documents"] == new.drift["documents"]
    code, said, messages = run("drift", old.path, new.path, "--before", runs[0][0], "--after", runs[1][1])
    assert code == 2
    assert "expected one on each snapshot, of one name, got one on one of them" in messages
    code, said, messages = run("drift", old.path, new.path)
    assert code == 0, messages
    assert "Kendall's tau" not in said  # no table without systems
    code, said, messages = run("drift", old.path, new.path, "--retriever", "bm25")
    assert code == 0, messages
    assert "documents: 29 kept, 1 moved, 4 edited, 1 gone, 5 new" in said
