"""The stage ``support``: its files, when it is made again, its second pass, and its command."""

import json
import shutil
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from builders.cli import main
from builders.judging import Judging, Known, Shown, judge
from builders.judging.second import agreement, sampled
from builders.pipeline.reading import labels_of, lacking_of, orders_of
from builders.pipeline.records import Label
from builders.pipeline.settings import PROMPTS, Settings
from builders.pipeline.step import run
from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.prompts import read_prompt
from tests.builders.judging_made import Call, Judge, Library, asked, chat, error, group, ids, settings
from tests.builders.pipeline_made import (
    DOCUMENTS,
    NUGGETS_OF,
    POOL,
    SUPPORTS,
    TOPIC,
    UNJUDGED,
    made_topic,
    made_work,
    sealed,
)

SUPPORT_LINES = "  support: {documents: 3, tokens: 5000, seed: 7}\n"


def said(request):
    """What a judge says that knows the truth, and is speechless about the one document that has none."""
    call = Call.of(request)
    [query_id] = [name for name, texts in NUGGETS_OF.items() if texts == call.nuggets]
    texts = {DOCUMENTS[doc_id]: doc_id for doc_id in POOL[query_id]}
    if DOCUMENTS[UNJUDGED[1]] in call.documents:
        return "I would rather not."
    truth = {
        text: [at + 1 for at in SUPPORTS[query_id, doc_id]] for text, doc_id in texts.items() if doc_id != UNJUDGED[1]
    }
    return call.reply(truth)


class Counting:
    """A script that counts how often it was asked."""

    def __init__(self, script=said):
        self.script, self.requests = script, []

    def __call__(self, request):
        self.requests.append(request)
        return self.script(request)


def topic_with(folder, models=""):
    text = TOPIC.replace("models: {endpoint: fake, model: m, parameters: {temperature: 0.1, max_tokens: 500}}", "")
    return made_topic(
        folder, text + f"models:\n  endpoint: fake\n  model: m\n  parameters: {{max_tokens: 500}}\n{models}"
    )


def asking_of(topic, folder, script):
    from builders.pipeline.asking import Asking

    return Asking(Settings.of(topic), replies=folder / "replies.sqlite", scripts={"support": script, "second": script})


def made(folder, script, models=SUPPORT_LINES, work=None):
    topic = topic_with(folder, models)
    work = work or made_work(folder, until="pool")
    with asking_of(topic, folder, script) as asking:
        return run(Judging(topic, asking), work), work


def test_the_pools_are_judged_and_what_cannot_be_is_lacking(tmp_path):
    found, work = made(tmp_path, said)
    assert {(label.query_id, label.doc_id): label.supports for label in labels_of(work)} == SUPPORTS
    [lacking] = lacking_of(work, "support")
    assert (lacking.query_id, lacking.doc_id, lacking.reason) == (*UNJUDGED, "does-not-fit")
    orders = orders_of(work)
    for label in labels_of(work):
        query_id, documents = orders[label.call_id]
        assert query_id == label.query_id
        assert label.doc_id in documents
    counts = found.summary.counts
    assert (counts["questions"], counts["documents"], counts["labels"], counts["lacking"]) == (4, 11, 10, 1)
    assert counts["relevant"] == sum(1 for supports in SUPPORTS.values() if supports)
    assert found.summary.models == {"support": ("stand-in for m",)}
    assert found.summary.prompts == {"support@1": read_prompt(PROMPTS, "support@1").digest}
    assert found.summary.settings == {"documents": 3, "tokens": 5000, "seed": 7, "tokenizer": "o200k_base"}
    assert found.summary.warnings == ("1 document could not be judged: 1 does-not-fit",)
    folder = work.folder("support")
    assert {path.name for path in folder.iterdir()} == {"labels.jsonl", "dropped.jsonl", "orders.jsonl", "stage.json"}


def test_what_the_server_turned_away_is_asked_again_once_its_folder_is_removed_as_the_warning_says(tmp_path):
    def script(call):
        if DOCUMENTS[UNJUDGED[1]] in call.documents:
            return error(400, "Too long.") if turns_away else call.reply({})
        return said(call.request)

    topic, work, turns_away = topic_with(tmp_path, SUPPORT_LINES), made_work(tmp_path, until="pool"), True

    def judged():
        with asking_of(topic, tmp_path, None) as asking:
            asking.transport = transport = Judge(script)
            return run(Judging(topic, asking), work), transport.calls

    warned = (
        "1 document could not be judged: 1 http-400; what the server turned away is asked again by the same command "
    )
    assert judged()[0].summary.warnings == (f"{warned}once the folder support of the build is removed",)
    shutil.rmtree(work.path / "support")
    turns_away = False
    found, calls = judged()
    assert not found.kept
    assert calls
    assert all(DOCUMENTS[UNJUDGED[1]] in call.documents for call in calls)


def test_the_same_is_not_made_again_and_what_was_answered_is_not_asked_again(tmp_path):
    script = Counting()
    _, work = made(tmp_path, script)
    digest, asked_first = work.digest("support"), len(script.requests)
    again, _ = made(tmp_path, script, work=work)
    assert again.kept
    other, _ = made(tmp_path, script, SUPPORT_LINES.replace("seed: 7", "seed: 9"), work)
    assert not other.kept
    assert len(script.requests) > asked_first
    number = len(script.requests)
    back, _ = made(tmp_path, script, work=work)
    assert not back.kept
    assert len(script.requests) == number
    assert work.digest("support") == digest


@pytest.mark.parametrize(
    "models",
    [
        SUPPORT_LINES.replace("documents: 3", "documents: 2"),
        SUPPORT_LINES.replace("tokens: 5000", "tokens: 4000"),
        SUPPORT_LINES.replace("{", "{model: other, "),
        SUPPORT_LINES.replace("{", "{parameters: {temperature: 1.0}, "),
        SUPPORT_LINES + "  second: {share: 0.5}\n",
    ],
)
def test_any_setting_that_matters_makes_it_again(tmp_path, models):
    _, work = made(tmp_path, said)
    assert not made(tmp_path, said, models, work)[0].kept


def test_settings_of_other_calls_do_not_make_it_again(tmp_path):
    _, work = made(tmp_path, said)
    assert made(tmp_path, said, SUPPORT_LINES + "  nuggets: {model: other}\n  second: {seed: 3}\n", work)[0].kept


def test_the_estimate_is_of_the_calls_that_are_then_made_and_counts_those_that_were(tmp_path):
    script = Counting(lambda request: Call.of(request).reply())
    topic, work = (
        topic_with(tmp_path, SUPPORT_LINES + "  second: {share: 0.5, seed: 3}\n"),
        made_work(tmp_path, until="pool"),
    )
    with asking_of(topic, tmp_path, script) as asking:
        support, second = Judging(topic, asking).estimate(work)
        assert not script.requests
        run(Judging(topic, asking), work)
        # pools of 3, 4, 2 and 2 documents, three to a call: 1 + 2 + 1 + 1 calls
        assert (support.calls, support.answered) == (5, 0)
        stages = [request.stage for request in script.requests]
        assert (stages.count("support"), stages.count("second")) == (5, second.calls)
        assert support.output_tokens == 5 * 176  # 11 documents of 80 tokens in 5 calls, rounded up
        again, again_second = Judging(topic, asking).estimate(work)
    assert (again.calls, again.answered, again.input_tokens) == (0, 5, 0)
    assert (again_second.calls, again_second.answered) == (0, second.calls)


def test_the_model_that_answered_is_the_one_that_is_named(tmp_path):
    topic, work = topic_with(tmp_path), made_work(tmp_path, until="pool")
    judge_ = Judge(lambda call: chat(call.reply(), model="another-2026"))
    asking = asked(tmp_path, judge_, set_to=settings())
    found = run(Judging(topic, asking), work)
    assert found.summary.models == {"support": ("another-2026",)}
    assert asking.client.counts.models.total() == 4


class Before:
    """Judgments of an earlier snapshot, of a pooled document and of one that is in no pool."""

    digest = "before"

    def known(self, work):
        labels = (Label("q1", "docs/d01", (1,), "old"), Label("q3", "docs/d11", (0,), "old"))
        return Known(labels, (Shown("old", "q1", ("docs/d01",)),))


def test_known_judgments_are_taken_over_with_their_calls_and_are_part_of_what_the_stage_depends_on(tmp_path):
    script = Counting()
    topic, work = topic_with(tmp_path, SUPPORT_LINES), made_work(tmp_path, until="pool")
    with asking_of(topic, tmp_path, script) as asking:
        found = run(Judging(topic, asking, Before()), work)
        assert not run(Judging(topic, asking), work).kept
        run(Judging(topic, asking, Before()), work)
    supports = {(label.query_id, label.doc_id): (label.supports, label.call_id) for label in labels_of(work)}
    assert supports["q1", "docs/d01"] == ((1,), "old")
    assert supports["q3", "docs/d11"] == ((0,), "old")
    assert found.summary.counts["known"] == 2
    assert orders_of(work)["old"] == ("q1", ("docs/d01",))
    assert sorted(Call.of(script.requests[0]).documents) == sorted(DOCUMENTS[one] for one in ("docs/d02", "docs/d03"))


def test_a_second_pass_judges_a_share_in_another_order_and_says_how_far_both_agree(tmp_path):
    def script(request):
        call = Call.of(request)
        return said(request) if request.stage == "support" else call.reply({text: [1] for text in call.documents})

    models = SUPPORT_LINES + "  second: {share: 1.0, seed: 3, model: judge-2}\n"
    found, work = made(tmp_path, script, models)
    folder = work.folder("support")
    second = [json.loads(line) for line in (folder / "second.jsonl").read_text().splitlines()]
    assert len(second) == 11
    assert {(label.query_id, label.doc_id): label.supports for label in labels_of(work)} == SUPPORTS
    told = json.loads((folder / "agreement.json").read_text())
    # of 10 documents that both judged, the second says yes to all, the first to 6: they agree on these; one who always
    # says the same tells nothing apart, so kappa is 0
    assert (told["documents"]["compared"], told["documents"]["agree"], told["documents"]["kappa"]) == (10, 0.6, 0.0)
    # of 3 * 2 + 3 * 3 + 2 * 2 + 2 * 1 = 21 labels the second says yes to those of the 10 first nuggets, the first to
    # 3 of q1, 4 of q2 and 1 of q3, which are 8, and of which 4 are those of first nuggets
    labels = told["labels"]
    both_yes, yes, other_yes, number = 4, 8, 10, 21
    same = number - (yes - both_yes) - (other_yes - both_yes)
    chance = (yes * other_yes + (number - yes) * (number - other_yes)) / number**2
    assert labels["compared"] == number
    assert labels["agree"] == pytest.approx(same / number)
    assert labels["kappa"] == pytest.approx((same / number - chance) / (1 - chance))
    assert labels["low"] <= labels["kappa"] <= labels["high"]
    assert (told["sampled"], told["lacking"], told["same_call"], told["share"]) == (11, 1, 0, 1.0)
    assert found.summary.models == {"support": ("stand-in for m",), "second": ("stand-in for judge-2",)}
    assert found.summary.counts["second"] == 11
    orders = orders_of(work)
    assert {label["call_id"] for label in second} <= set(orders)


def test_a_call_that_is_the_very_same_is_no_second_look(tmp_path):
    judge_ = Judge(lambda call: call.reply({"d01": [1]}))
    groups = [group(name, ["d01"]) for name in ("a", "b")]
    asking = asked(tmp_path, judge_)
    first = judge(asking, groups, Library())
    second = judge(asking, groups, Library(), kind="second")
    assert len(judge_.calls) == 2
    told = agreement(groups, first.labels, second.labels)
    assert (told["sampled"], told["same_call"], told["documents"]["compared"]) == (2, 2, 0)
    assert told["documents"]["agree"] is told["documents"]["kappa"] is told["labels"]["low"] is None


def test_agreement_by_hand():
    groups = [group("a", ["1", "2"], nuggets=2), group("b", ["1", "2"], nuggets=1)]
    first = [
        Label("a", "1", (0, 1), "x"),
        Label("a", "2", (), "x"),
        Label("b", "1", (0,), "x"),
        Label("b", "2", (), "x"),
    ]
    second = [Label("a", "1", (1,), "y"), Label("a", "2", (), "y"), Label("b", "1", (), "y")]
    told = agreement(groups, first, second)
    # documents: yes/yes, no/no, yes/no; p_o = 2/3, p_e = (2 * 1 + 1 * 2) / 9 = 4/9, kappa = (6/9 - 4/9) / (5/9) = 2/5
    assert told["documents"]["compared"] == 3
    assert told["documents"]["agree"] == pytest.approx(2 / 3)
    assert told["documents"]["kappa"] == pytest.approx(2 / 5)
    # labels: (y, n), (y, y), (n, n), (n, n), (y, n); p_o = 3/5, p_e = (3 * 1 + 2 * 4) / 25 = 11/25, kappa = 4/14
    assert told["labels"]["compared"] == 5
    assert told["labels"]["kappa"] == pytest.approx(4 / 14)
    assert (told["sampled"], told["lacking"], told["same_call"]) == (4, 1, 0)


def test_the_sample_has_the_share_that_is_asked_for_and_depends_on_the_seed_alone():
    groups = [group(f"q{at}", ids(10)) for at in range(10)]
    pairs = {
        share: {(one.query.query_id, doc) for one in sampled(groups, share, 8) for doc in one.doc_ids}
        for share in (0.001, 0.1, 0.5, 1)
    }
    assert {share: len(found) for share, found in pairs.items()} == {0.001: 1, 0.1: 10, 0.5: 50, 1: 100}
    assert pairs[0.1] < pairs[0.5]
    turned = [replace(one, doc_ids=one.doc_ids[::-1]) for one in reversed(groups)]
    assert {(one.query.query_id, doc) for one in sampled(turned, 0.1, 8) for doc in one.doc_ids} == pairs[0.1]
    assert {(one.query.query_id, doc) for one in sampled(groups, 0.1, 9) for doc in one.doc_ids} != pairs[0.1]


def test_the_second_pass_shows_documents_in_another_order(tmp_path):
    judge_ = Judge(lambda call: call.reply())
    asking = asked(tmp_path, judge_, set_to=settings())
    judge(asking, [group("q", ids(9))], Library())
    judge(asking, [group("q", ids(9))], Library(), kind="second")
    one, other = judge_.shown
    assert one != other
    assert sorted(one) == sorted(other)
    assert [call.request.stage for call in judge_.calls] == ["support", "second"]


def told_by(capsys, *arguments):
    code = main([str(one) for one in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_judges_with_the_stand_in_and_says_what_came_of_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "home"))
    made_topic(tmp_path)
    work = made_work(tmp_path, until="pool")
    arguments = ["support", tmp_path / "tidepool.yaml", "--work", work.path]
    code, out, err = told_by(capsys, *arguments, "--dry-run")
    assert code == 0, err
    assert "support" in out
    assert not (work.path / "support").exists()
    code, out, err = told_by(capsys, *arguments, "--json")
    assert code == 0, err
    told = json.loads(out)
    # the stand-in makes up what fits, so that every document is judged
    assert (told["counts"]["questions"], told["counts"]["labels"], told["dropped"]) == (4, 11, {})
    code, out, _ = told_by(capsys, *arguments)
    assert code == 0
    assert "11 documents of 4 questions judged" in out
    assert "made before" in out


def test_the_command_says_which_stage_is_missing(tmp_path, capsys):
    made_topic(tmp_path)
    work = made_work(tmp_path, until="nuggets")
    code, _, err = told_by(capsys, "support", tmp_path / "tidepool.yaml", "--work", work.path, "--llm", "fake")
    assert code == 2
    assert "python -m builders pool" in err


def test_labels_that_went_unused_are_warned_of(tmp_path):
    def script(request):
        more = {"document": 9, "reasoning": "x", "supports": []}
        return json.dumps({"documents": [*Call.of(request).entries({}), more]})

    found, _ = made(tmp_path, script)
    # five calls: one for each pool of 3, 2 and 2 documents, and two for that of 4
    assert found.summary.warnings == ("5 labels of documents that were not asked about went unused",)


def test_a_build_with_nothing_to_judge_is_an_error(tmp_path):
    topic, work = topic_with(tmp_path), made_work(tmp_path, until="pool")
    pooled = work.path / "pool" / "pool.parquet"
    pq.write_table(pq.read_table(pooled).slice(0, 0), pooled)
    sealed(work, "pool")
    with (
        asking_of(topic, tmp_path, said) as asking,
        pytest.raises(InputError, match="4 questions with nuggets, 0 with"),
    ):
        run(Judging(topic, asking), work)
