"""Judging what runs bring that the pool did not have."""

import io
import json
import shutil
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

import freshstack_datasets as fsd
from builders import cli
from builders.assembling.calls import traced, write_calls
from builders.holes.filling import fill, priced
from builders.holes.finding import holes_of
from builders.holes.judge import judge_of
from builders.judging import judge
from builders.pipeline.settings import PROMPTS, read_recipe
from freshstack_datasets.cli import console
from freshstack_datasets.errors import EndpointError, InputError
from freshstack_datasets.llm.prompts import read_prompt
from freshstack_datasets.llm.records import Message, Request
from freshstack_datasets.llm.seams import Raw, Unanswered
from freshstack_datasets.records import Document, Judgment
from freshstack_datasets.runs import write_run
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.trace.reading import TracedCall
from tests import llm_server
from tests.builders.judging_made import Call, Judge, Library, asked, chat, group, settings, written

QUESTIONS = ("q1", "q2")
DOCUMENTS = tuple(f"d{number}" for number in range(1, 9))
TRUTH = {
    "q1": {"d1": [1], "d2": [1, 2], "d5": [3], "d6": [2]},
    "q2": {"d3": [2], "d5": [1, 3]},
}
"""What documents support, by the numbers of the nuggets; the others support nothing."""
POOL = {"q1": ("d1", "d2", "d3"), "q2": ("d3", "d4")}
"""What the systems found that helped to build the pool; nobody but ``NEW`` found d5 and d6, and nobody d7 and d8."""
OLD = {"q1": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q2": {"d4": 2.0, "d3": 1.0}}
NEW = {"q1": {"d5": 4.0, "d6": 3.0, "d1": 2.0, "d4": 1.0}, "q2": {"d5": 2.0, "d3": 1.0}}
MEASURES = "alpha_nDCG@10 Coverage@20 Recall@50 nDCG@10 P@5 RR@10 Judged@4"


def honest(call: Call) -> str:
    question = call.nuggets[0].rpartition(" of ")[2].rstrip(".")
    return written(call.entries(TRUTH[question]))


def snapshot(folder, pool=POOL, answering=honest, set_to=None):
    """A snapshot as a build leaves it: the documents of a pool, judged by calls that its trace has."""
    asking = asked(folder.parent / f"made-{folder.name}", Judge(answering), set_to=set_to)
    groups = [group(query_id, pool[query_id]) for query_id in QUESTIONS]
    found = judge(asking, groups, Library())
    orders = {(one.call_id, one.query_id): one.documents for one in found.orders}
    calls = {call.digest: call for call in asking.calls(call_id for call_id, _ in orders)}
    table = folder.parent / f"{folder.name}.parquet"
    write_calls(table, [traced(calls[call_id], query_id, shown) for (call_id, query_id), shown in orders.items()])
    support = asking.settings.models.support
    packing = {f"support.{name}": getattr(support, name) for name in ("documents", "tokens", "seed")}
    write_snapshot(
        folder,
        dataset="acme/toy",
        snapshot="2026-10",
        license="MIT",
        documents=[Document(doc_id, "", doc_id) for doc_id in DOCUMENTS],
        queries=[one.query for one in groups],
        nuggets=[nugget for one in groups for nugget in one.nuggets],
        judgments=[
            Judgment(label.query_id, f"{label.query_id}_{at}", label.doc_id, int(at in label.supports), label.call_id)
            for label in found.labels
            for at in range(3)
        ],
        recipe={
            "builder": "build",
            "parameters": packing,
            "models": {"support": "m"},
            "prompts": asking.prompts("support"),
        },
        provenance={"calls.parquet": table},
    )
    return fsd.load(folder)


@pytest.fixture
def data(tmp_path):
    return snapshot(tmp_path / "base")


def asking_of(folder, data, transport, model="", **options):
    set_to = judge_of(data, model).settings(Judge.endpoint)
    return asked(folder, transport, set_to=set_to, **options)


def filled(folder, data, transport=None, run=NEW, k=20, model="", **options):
    run = fsd.Run.from_dict(run, "new")
    asking = asking_of(folder, data, transport or Judge(honest), model, **options)
    return fill(asking, data, holes_of(data, [run], k), judge_of(data, model), [run], k, folder / "overlay")


def test_a_system_that_did_not_help_to_build_the_pool_gets_the_score_of_a_full_judgment(tmp_path, data):
    whole = snapshot(tmp_path / "whole", dict.fromkeys(QUESTIONS, DOCUMENTS))
    before = fsd.evaluate(NEW, data, MEASURES, intervals=False)
    filled(tmp_path, data)
    after = fsd.evaluate(NEW, fsd.load(tmp_path / "base", overlay=tmp_path / "overlay"), MEASURES, intervals=False)
    full = fsd.evaluate(NEW, whole, MEASURES, intervals=False)
    # The unjudged documents that are left, d7 and d8 and d4 of q1 … support nothing, so no ideal and no total has them.
    assert dict(after.mean) == dict(full.mean)
    assert before.mean["Coverage@20"] == pytest.approx(
        (1 / 3 + 1 / 3) / 2
    )  # d1 has the first of q1, d3 the second of q2
    assert after.mean["Coverage@20"] == 1.0
    assert before.mean["Judged@4"] == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert after.mean["Judged@4"] == 1.0


def test_only_what_nobody_judged_in_the_top_k_is_asked_about(tmp_path, data):
    transport = Judge(honest)
    filled(tmp_path, data, transport, k=2)
    shown = {(call.nuggets[0][-3:-1], frozenset(call.documents)) for call in transport.calls}
    assert shown == {("q1", frozenset({"d5", "d6"})), ("q2", frozenset({"d5"}))}  # d3 of q2 was judged


def test_documents_are_judged_with_the_prompt_the_model_and_the_parameters_of_the_snapshot(tmp_path):
    told = {"model": "judge-7", "parameters": {"temperature": 0.3, "max_tokens": 700}}
    data = snapshot(tmp_path / "base", set_to=settings(documents=1, **told))
    transport = Judge(honest)
    filled(tmp_path, data, transport)
    (asked_for,) = {(call.request.model, call.request.prompt) for call in transport.calls}
    assert asked_for == ("judge-7", read_prompt(PROMPTS, "support").digest)
    assert {json.dumps(dict(call.request.parameters), sort_keys=True) for call in transport.calls} == {
        '{"max_tokens": 700, "temperature": 0.3}'
    }
    assert {len(call.documents) for call in transport.calls} == {1}  # as the manifest says


def test_the_overlay_says_how_it_was_made_and_has_its_calls(tmp_path, data):
    made = filled(tmp_path, data)
    overlay = made.overlay
    assert (overlay.runs, overlay.k, overlay.base) == (("new",), 20, data.fingerprint)
    assert overlay.recipe.models == {"support": "m"}
    assert overlay.recipe.prompts == {"support@1": read_prompt(PROMPTS, "support@1").digest}
    assert overlay.recipe.parameters["as_the_snapshot"] is True
    calls = pq.read_table(tmp_path / "overlay" / "provenance" / "calls.parquet").to_pylist()
    both = fsd.load(tmp_path / "base", overlay=tmp_path / "overlay")
    new = {j.call_id for j in both.judgments} - {j.call_id for j in data.judgments}
    assert {row["call-id"] for row in calls} == new
    assert {row["query-id"]: sorted(row["documents"]) for row in calls} == {"q1": ["d4", "d5", "d6"], "q2": ["d5"]}


def test_a_second_time_asks_nothing_and_gives_the_same_overlay(tmp_path, data):
    first = filled(tmp_path, data).overlay
    shutil.rmtree(tmp_path / "overlay")
    transport = Judge(honest)
    assert filled(tmp_path, data, transport).overlay == first
    assert transport.calls == []


def test_what_was_answered_before_an_end_is_not_asked_again(tmp_path, data):
    def mute(call: Call) -> str:
        if "q2" in call.nuggets[0]:
            raise Unanswered("connection", "gone")
        return honest(call)

    with pytest.raises(EndpointError, match="open"):
        filled(tmp_path, data, Judge(mute))
    assert not (tmp_path / "overlay").exists()
    transport = Judge(honest)
    filled(tmp_path, data, transport)
    assert [call.nuggets[0] for call in transport.calls] == ["Fact 1 of q2."]


def test_another_model_that_answers_is_refused_after_one_question_and_taken_on_purpose(tmp_path, data):
    answering = Judge(honest)
    answering.script = lambda call: _by("n", call)
    with pytest.raises(InputError, match="expected 'm', as for the snapshot, got 'n'; --model m takes it on purpose"):
        filled(tmp_path, data, answering)
    assert {call.nuggets[0] for call in answering.calls} == {"Fact 1 of q1."}  # the other question was not paid for
    assert filled(tmp_path, data, answering, model="m").overlay.recipe.models == {"support": "n"}


def _by(model, call):
    return chat(honest(call), model=model)


def test_another_model_is_asked_on_purpose_alone_with_the_same_prompt_and_parameters(tmp_path, data):
    transport = Judge(honest)
    overlay = filled(tmp_path, data, transport, model="other").overlay
    assert {call.request.model for call in transport.calls} == {"other"}
    assert dict(transport.calls[0].request.parameters) == {"temperature": 0.1, "max_tokens": 500}
    assert overlay.recipe.parameters["as_the_snapshot"] is False


def test_a_snapshot_of_two_judges_needs_to_be_told_which_and_the_newest_way_of_one_is_taken(tmp_path, data):
    place = data.trace_in("provenance/calls.parquet")
    rows = pq.read_table(place.folder / "provenance" / "calls.parquet").to_pylist()
    ways = [("m", 0.1, "2026-01-01"), ("n", 0.5, "2026-03-01")]
    calls = [
        TracedCall(
            call_id=row["call-id"],
            query_id=row["query-id"],
            stage="support",
            prompt=row["prompt"],
            model=model,
            asked=model,
            parameters={"temperature": temperature},
            created=created,
            reply="{}",
        )
        for row, (model, temperature, created) in zip(rows, ways, strict=True)
    ]
    write_calls(place.folder / "provenance" / "calls.parquet", calls)
    with pytest.raises(InputError, match="expected one, got 'm', 'n'; --model NAME chooses one"):
        judge_of(fsd.load(tmp_path / "base"))
    assert judge_of(fsd.load(tmp_path / "base"), "m").parameters == {"temperature": 0.1}
    other = judge_of(fsd.load(tmp_path / "base"), "o")  # another one is asked as the newest was
    assert (other.model, other.parameters, other.alike) == ("o", {"temperature": 0.5}, False)


def test_a_prompt_that_this_version_does_not_have_is_refused(tmp_path, data, monkeypatch):
    other = tmp_path / "prompts"
    other.mkdir()
    (other / "support@1.md").write_text("# user\nAn older one.\n")
    monkeypatch.setattr("builders.holes.judge.PROMPTS", other)
    with pytest.raises(InputError, match=r"expected one of this version, got support@1 of the digest \w{12}"):
        judge_of(data)


def test_a_snapshot_that_does_not_say_how_it_was_judged_needs_a_model(tmp_path):
    write_snapshot(
        tmp_path / "bare",
        dataset="a/b",
        snapshot="2026-10",
        license="MIT",
        documents=[Document("d1", "", "d1")],
        queries=[group("q1", ["d1"]).query],
        nuggets=group("q1", ["d1"], 1).nuggets,
        judgments=[Judgment("q1", "q1_0", "d1", 1)],
    )
    bare = fsd.load(tmp_path / "bare")
    with pytest.raises(InputError, match="does not say how its documents were judged"):
        judge_of(bare)
    assert judge_of(bare, "m").alike is False
    assert judge_of(bare, "m").prompt == read_prompt(PROMPTS, "support")


def test_documents_that_the_corpus_lacks_are_named_and_left_out(tmp_path, data):
    run = fsd.Run.from_dict({"q1": {"z9": 2.0, "z1": 1.5, "d5": 1.0}, "q7": {"d1": 1.0}}, "odd")
    holes = holes_of(data, [run], 20)
    assert holes.foreign == {"odd": ("z1", "z9")}
    assert holes.strange == {"odd": 1}
    assert [one.doc_ids for one in holes.groups] == [("d5",)]
    with pytest.raises(InputError, match="expected questions of acme/toy, got 'q7'"):
        holes_of(data, [fsd.Run.from_dict({"q7": {"d1": 1.0}}, "far")], 20)


def test_what_is_in_the_top_follows_the_one_ranking(data):
    tied = fsd.Run.from_dict({"q1": {"d5": 1.0, "d6": 1.0, "d7": 1.0}})
    assert holes_of(data, [tied], 2).groups[0].doc_ids == ("d6", "d7")  # of one score, the larger id comes first


def test_documents_that_cannot_be_judged_stay_unjudged_and_are_told(tmp_path, data):
    def doubtful(call: Call) -> str:
        return written(
            one for one in json.loads(honest(call))["documents"] if call.documents[one["document"] - 1] != "d6"
        )

    made = filled(tmp_path, data, Judge(doubtful))
    both = fsd.load(tmp_path / "base", overlay=tmp_path / "overlay")
    assert "d5" in both.qrels["q1"]
    assert "d6" not in both.qrels["q1"]
    assert made.lacking == {"does-not-fit": 1}
    (line,) = (tmp_path / "overlay" / "provenance" / "dropped.jsonl").read_text().splitlines()
    assert {"stage": "support", "id": "q1", "document": "d6"}.items() <= json.loads(line).items()


def test_the_price_is_that_of_the_calls_to_be_made(tmp_path, data):
    run = fsd.Run.from_dict(NEW, "new")
    holes = holes_of(data, [run], 20)
    asking = asking_of(tmp_path, data, Judge(honest))
    assert (priced(asking, data, holes).calls, priced(asking, data, holes).answered) == (2, 0)  # one a question
    filled(tmp_path, data)
    assert (priced(asking, data, holes).calls, priced(asking, data, holes).answered) == (0, 2)


# The command, with the stand-in for a model.


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A snapshot that the stand-in judged, and a run."""
    fake = settings()
    models = fake.models.model_copy(update={"endpoint": "fake"})
    monkeypatch.setattr("tests.builders.judging_made.chat", _as_stand_in)
    snapshot(tmp_path / "base", set_to=replace(fake, models=models))
    write_run(fsd.Run.from_dict(NEW, "new"), tmp_path / "new.trec")
    return tmp_path


def _as_stand_in(text, finish="stop", *, model="m", refusal=None):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return Raw(200, {}, json.dumps({"model": f"stand-in for {model}", "choices": [choice], "usage": usage}).encode())


def run_command(capsys, *words):
    capsys.readouterr()
    code = console.run(cli.app, [str(word) for word in words], name="python -m builders")
    out, err = capsys.readouterr()
    return code, out, err


def words_of(toy, *more):
    return ("judge-holes", toy / "base", "--run", toy / "new.trec", "--out", toy / "overlay", *more)


def test_the_command_makes_an_overlay_that_evaluate_takes(toy, capsys):
    code, out, err = run_command(capsys, *words_of(toy, "--llm", "fake", "--yes"))
    assert code == 0, err
    assert "4 of the 6 documents in the top 20 of 1 run are unjudged, for 2 questions" in err
    assert f"freshstack evaluate {toy / 'base'} --overlay {toy / 'overlay'}" in out
    data = fsd.load(toy / "base", overlay=toy / "overlay")
    assert fsd.evaluate(NEW, data, "Judged@20").mean["Judged@20"] == 1.0


@pytest.fixture
def server():
    def answer(asked):
        messages = tuple(Message(one["role"], one["content"]) for one in asked.body["messages"])
        return llm_server.chat(honest(Call.of(Request(asked.body["model"], messages))))

    with llm_server.Server(answer) as running:
        yield running


def priced_words(tmp_path, server, *more):
    write_run(fsd.Run.from_dict(NEW, "new"), tmp_path / "new.trec")
    price = ("--llm", server.url, "--price", "1000,1000", "--replies", tmp_path / "replies.sqlite")
    return (*words_of(tmp_path, *price, *more),)


def test_the_command_tells_the_price_and_sends_nothing(tmp_path, data, server, capsys):
    code, out, err = run_command(capsys, *priced_words(tmp_path, server, "--dry-run", "--json"))
    assert code == 0, err
    told = json.loads(out)
    assert (told["total"]["calls"], told["unjudged"], told["prompt"]) == (2, 4, "support@1")
    assert float(told["total"]["usd"]) > 1  # a thousand tokens cost a dollar, and the prompt has more
    assert server.asked == []
    assert not (tmp_path / "overlay").exists()


def test_off_a_terminal_a_price_has_to_be_agreed_to(tmp_path, data, server, capsys):
    code, _, err = run_command(capsys, *priced_words(tmp_path, server))
    assert code == 2
    assert "nobody agreed to the price, expected --yes, or --max-usd USD with a price that is known" in err
    code, _, err = run_command(capsys, *priced_words(tmp_path, server, "--max-usd", "0.01"))
    assert code == 1
    assert "expected at most the $0.01 of --max-usd, got about $" in err
    free = [word for word in priced_words(tmp_path, server, "--max-usd", "900") if word not in ("--price", "1000,1000")]
    code, _, err = run_command(capsys, *free)
    assert code == 2
    assert "got a price that nobody knows; give --price IN,OUT" in err
    assert server.asked == []
    code, _, err = run_command(capsys, *priced_words(tmp_path, server, "--max-usd", "900"))
    assert code == 0, err
    assert len(server.asked) == 2
    assert (tmp_path / "overlay" / "overlay.json").is_file()
    shutil.rmtree(tmp_path / "overlay")
    code, _, err = run_command(capsys, *priced_words(tmp_path, server))
    assert code == 0, err
    assert "all 2 calls were answered before: nothing is sent" in err
    assert len(server.asked) == 2


class Terminal(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self):
        return True


@pytest.fixture
def unnamed(tmp_path, data, server, monkeypatch):
    """The words of a command that names no address, where that of the recipe is the server's."""
    recipe = read_recipe()
    models = recipe.models.model_copy(update={"endpoint": server.url})
    monkeypatch.setattr("builders.pipeline.settings.read_recipe", lambda: recipe.model_copy(update={"models": models}))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    words = priced_words(tmp_path, server)
    at = words.index("--llm")
    return (*words[:at], *words[at + 2 :])


@pytest.mark.parametrize(
    "more",
    [("--yes",), ("--max-usd", "900"), (), ("--price", "m=0,0")],
    ids=["yes", "max-usd", "neither", "free"],
)
def test_off_a_terminal_nothing_is_sent_to_an_address_that_nobody_named(server, unnamed, more, capsys):
    code, _, err = run_command(capsys, *unnamed, *more)
    assert code == 2
    assert (
        f"nobody said where to send the documents, expected --llm URL, got none; give it, also where it is {server.url}"
        in err
    )
    assert server.asked == []


@pytest.mark.parametrize("more", [(), ("--price", "m=0,0"), ("--max-usd", "900")], ids=["priced", "free", "max-usd"])
def test_on_a_terminal_an_address_that_nobody_named_is_agreed_to(tmp_path, server, unnamed, more, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    code, _, err = run_command(capsys, *unnamed, *more)
    assert code == 2
    assert f"2 calls to m at {server.url}" in err
    assert f"Send documents to {server.url}, at this price? [y/N]" in err
    assert "nothing was judged; --llm URL names another address" in err
    assert server.asked == []
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    code, _, err = run_command(capsys, *unnamed, *more)
    assert code == 0, err
    assert len(server.asked) == 2
    shutil.rmtree(tmp_path / "overlay")
    code, _, err = run_command(capsys, *unnamed, "--yes")  # nothing is left to send, so nobody has to say where
    assert code == 0, err
    assert len(server.asked) == 2


def test_yes_does_not_agree_to_an_address_that_nobody_named_on_a_terminal_either(server, unnamed, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    code, _, err = run_command(capsys, *unnamed, "--yes")
    assert (code, server.asked) == (2, [])
    assert "nobody said where to send the documents" in err


def test_a_run_that_ends_early_says_what_became_of_its_calls(tmp_path, data, server, capsys):
    code, _, err = run_command(capsys, *priced_words(tmp_path, server, "--yes", "--max-tokens", "10"))
    assert code == 1
    assert f"asked {server.url}: 1 not sent" in err
    assert server.asked == []


def test_the_command_says_when_there_is_nothing_to_judge(toy, capsys):
    write_run(fsd.Run.from_dict(OLD, "old"), toy / "new.trec")
    code, out, _ = run_command(capsys, *words_of(toy, "--llm", "fake"))
    assert (code, out) == (0, "nothing to judge, and no overlay is needed\n")
