"""The stage ``queries``: each question has a text for each technique that is configured, or a reason why it has not."""

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.nuggets import Nuggets
from builders.pipeline.reading import lacking_of, searches_of
from builders.pipeline.records import TECHNIQUES
from builders.pipeline.settings import Settings
from builders.pipeline.step import run
from builders.searches import Searches
from freshstack_datasets.errors import BudgetError, InputError
from freshstack_datasets.llm.budget import Budget
from tests.builders.judging_made import error
from tests.builders.one_call_server import TITLES, Server, asked_of, saying
from tests.builders.pipeline_made import NUGGETS_OF, QUESTIONS, TOPIC, call_id, made_topic, made_work, scripted

NO_MODEL = "techniques: [nuggets, question, answer]"


def with_techniques(told):
    return TOPIC.replace("depth: 10", f"{told}, depth: 10")


def sub(*texts):
    return json.dumps({"sub_questions": list(texts)})


class Both(Server):
    """Says one thing to what asks for sub-questions, and another to what asks for an answer."""

    def __init__(self, split=None, answers=None, usual_split=None, usual_answer="Perhaps so."):
        super().__init__()
        self._answers = Server(answers, usual_answer)
        self._splits = Server(split, usual_split or sub("What is a?", "What is b?"))

    async def send(self, request):
        self.requests.append(request)
        return await (self._answers if request.stage == "closed-book" else self._splits).send(request)


class Here:
    """A build of which questions and nuggets are there, and who is asked."""

    def __init__(self, folder, until="nuggets"):
        self.folder, self.topic = folder, made_topic(folder)
        self.work = made_work(folder, until=until)

    def asking(self, server, topic=TOPIC, budget=None):
        asking = scripted(Settings.of(made_topic(self.folder, topic)), self.folder, budget=budget)
        asking.transport = server
        return asking

    def run(self, server, topic=TOPIC, budget=None, stage=Searches):
        with self.asking(server, topic, budget) as asking:
            return run(stage(self.topic, asking), self.work)

    def estimate(self, server, topic=TOPIC):
        with self.asking(server, topic) as asking:
            return Searches(self.topic, asking).estimate(self.work)

    def texts(self, query_id):
        return {one.technique: one.text for one in searches_of(self.work) if one.query_id == query_id}

    def dropped(self):
        return {one.query_id: (one.reason, one.detail) for one in lacking_of(self.work, "queries")}


@pytest.fixture
def here(tmp_path):
    return Here(tmp_path)


def test_each_question_has_its_five_texts_in_order(here):
    made = here.run(Both({"q2": [sub("Where?", "When?")]}, {"q2": ["<think>hm</think> In Redis.\n"]}))
    assert here.texts("q2") == {
        "question": "Where do results go? After ten minutes a result is None.",
        "sub-questions": "Where? When?",
        "closed-book": "In Redis.",
        "answer": "They expire: see result_ttl.",
        "nuggets": "Results are kept for ten minutes. result_ttl = 0 keeps a result. Session.result reads it.",
    }
    found = [(one.query_id, one.technique) for one in searches_of(here.work)]
    assert found == [(query_id, technique) for query_id in sorted(QUESTIONS) for technique in TECHNIQUES]
    assert made.summary.counts == {"questions": 4, "searches": 20, "left_out": 0, **dict.fromkeys(TECHNIQUES, 4)}
    assert made.summary.models == {"sub-questions": ("m",), "closed-book": ("m",)}
    assert sorted(made.summary.prompts) == ["closed-book@1", "sub-questions@1"]


def test_each_text_names_the_calls_that_made_it(here):
    server = Both()
    here.run(server)
    made = {one.stage: one.digest for one in server.requests if asked_of(one) == "q1"}
    found = {one.technique: one.calls for one in searches_of(here.work) if one.query_id == "q1"}
    assert found == {
        "question": (),
        "sub-questions": (made["sub-questions"],),
        "closed-book": (made["closed-book"],),
        "answer": (),
        "nuggets": (call_id("nuggets", "q1"),),
    }


def test_neither_the_accepted_answer_nor_a_nugget_is_shown_to_the_model(here):
    server = Both()
    here.run(server)
    assert len(server.requests) == 8
    for request in server.requests:
        query_id = asked_of(request)
        title, body, answer = QUESTIONS[query_id]
        said = "\n".join(message.content for message in request.messages)
        assert f"<question>\n{title}\n\n{body}\n</question>" in said
        assert answer not in said
        assert not [fact for fact in NUGGETS_OF[query_id] if fact in said]


def test_only_what_is_configured_is_made_and_asked_for(here):
    server = Both()
    made = here.run(server, with_techniques("techniques: [nuggets, closed-book]"))
    assert {one.stage for one in server.requests} == {"closed-book"}
    assert list(here.texts("q1")) == ["closed-book", "nuggets"]
    assert made.summary.settings == {"techniques": ["closed-book", "nuggets"]}


def test_no_model_is_asked_for_the_question_the_answer_and_the_nuggets(here):
    server = Both()
    made = here.run(server, with_techniques(NO_MODEL))
    assert server.requests == []
    assert list(here.texts("q1")) == ["question", "answer", "nuggets"]
    assert (made.summary.models, made.summary.prompts) == ({}, {})
    assert here.estimate(server, with_techniques(NO_MODEL)) == []


@pytest.mark.parametrize(
    ("reply", "reason", "detail"),
    [
        (("I cannot.", "content_filter"), "refused", "closed-book: I cannot."),
        (("Perhaps", "length"), "cut-off", "closed-book: after 5 tokens"),
        ("", "does-not-fit", "closed-book: it says nothing"),
        ("<think>I wonder</think>", "no-text", "closed-book"),
    ],
)
def test_a_question_whose_closed_book_answer_fails_keeps_its_other_texts(here, reply, reason, detail):
    made = here.run(Both(answers={"q3": [reply]}))
    assert here.dropped() == {"q3": (reason, detail)}
    assert list(here.texts("q3")) == ["question", "sub-questions", "answer", "nuggets"]
    assert list(here.texts("q1")) == list(TECHNIQUES)
    assert (made.summary.counts["closed-book"], made.summary.counts["left_out"]) == (3, 1)
    assert made.summary.warnings == (f"1 text to search for could not be made: 1 {reason}",)


def test_what_the_server_turned_away_is_asked_again_once_its_folder_is_removed_as_the_warning_says(here):
    made = here.run(Both(answers={"q3": [error(400, "Too long.")]}))
    told = (
        "what the server turned away is asked again by the same command once the folder queries of the build is removed"
    )
    assert made.summary.warnings == (f"1 text to search for could not be made: 1 http-400; {told}",)
    shutil.rmtree(here.work.path / "queries")
    server = Both()
    made = here.run(server)
    assert [(one.stage, asked_of(one)) for one in server.requests] == [("closed-book", "q3")]
    assert (here.dropped(), made.summary.warnings) == ({}, ())


@pytest.mark.parametrize("reply", ["no JSON", sub(), sub("?"), sub(*(f"what is {n}?" for n in range(11))), sub("a\0")])
def test_sub_questions_that_do_not_fit_are_asked_for_again_and_then_lacking(here, reply):
    server = Both(split={"q3": [reply]})
    here.run(server)
    assert here.dropped()["q3"][0] == "does-not-fit"
    assert "sub-questions" not in here.texts("q3")
    assert [one.stage for one in server.requests if asked_of(one) == "q3"].count("sub-questions") == 3
    assert len(lacking_of(here.work, "queries")[0].calls) == 3


def test_sub_questions_that_fit_the_second_time_are_taken(here):
    here.run(Both(split={"q3": [sub(), sub("What is a coroutine?", "what is a  coroutine?", "")]}))
    assert here.texts("q3")["sub-questions"] == "What is a coroutine?"
    assert here.dropped() == {}


def test_questions_without_nuggets_are_left_out(tmp_path):
    here = Here(tmp_path, until="corpus")
    here.run(Server({"q2": [saying()]}), stage=Nuggets)
    server = Both()
    here.run(server)
    assert {one.query_id for one in searches_of(here.work)} == {"q1", "q3", "q4"}
    assert {asked_of(one) for one in server.requests} == {"q1", "q3", "q4"}
    assert here.dropped() == {}


def test_when_nothing_can_be_searched_for_the_reasons_are_told(here):
    with pytest.raises(InputError, match="got none: 4 refused") as caught:
        here.run(Both(usual_answer=("no", "content_filter")), with_techniques("techniques: [closed-book]"))
    assert "acme/tidepool" in str(caught.value)
    assert not (here.work.path / "queries").exists()


def test_a_second_run_asks_nothing(here):
    server = Both()
    here.run(Both())
    before = (here.work.folder("queries") / "searches.jsonl").read_bytes()
    assert here.run(server).kept
    (here.work.path / "queries").rename(here.folder / "elsewhere")
    assert not here.run(server).kept
    assert server.requests == []
    assert (here.work.folder("queries") / "searches.jsonl").read_bytes() == before


def test_a_run_that_the_budget_ends_goes_on_and_asks_only_what_is_open(here):
    first, second = Both(), Both()
    # Before a call is sent its bytes, about 2,000, 256 and the longest answer's 500 tokens are set aside; it costs 15.
    with pytest.raises(BudgetError, match="calls of making queries are open"):
        here.run(first, with_techniques("techniques: [sub-questions, closed-book]"), Budget(max_tokens=2_300))
    assert 0 < len(first.requests) < 8
    here.run(second)
    asked = [(asked_of(one), one.stage) for one in (*first.requests, *second.requests)]
    assert len(asked) == len(set(asked)) == 8


def test_another_model_for_one_technique_asks_for_that_one_alone_and_leaves_the_nuggets(tmp_path):
    here = Here(tmp_path, until="corpus")
    here.run(Server(), stage=Nuggets)
    here.run(Both())
    other, server = TOPIC.replace("model: m,", "model: m, closed-book: {model: n},"), Both(usual_answer="No.")
    assert here.run(Server(), other, stage=Nuggets).kept
    assert not here.run(server, other).kept
    assert {(one.stage, one.model) for one in server.requests} == {("closed-book", "n")}
    assert here.texts("q1")["closed-book"] == "No."


def test_other_nuggets_make_the_texts_anew_and_ask_nothing(tmp_path):
    here = Here(tmp_path, until="corpus")
    here.run(Server(), stage=Nuggets)
    here.run(Both())
    here.run(
        Server(usual=saying("Bar is old.")), TOPIC.replace("model: m,", "model: m, nuggets: {model: n},"), stage=Nuggets
    )
    server = Both()
    assert not here.run(server).kept
    assert server.requests == []
    assert here.texts("q1")["nuggets"] == "Bar is old."


def test_retrievers_and_depths_make_no_text_anew(here):
    here.run(Both())
    assert here.run(Both(), TOPIC.replace("depth: 10, top: 3", "depth: 20, top: 5")).kept


def test_an_estimate_is_made_for_each_kind_of_call_and_sends_nothing(here):
    server = Both()
    costs = here.estimate(server)
    # 150 and 450 tokens are expected of a reply, and 500 are allowed
    assert [(one.stage, one.calls, one.answered, one.output_tokens) for one in costs] == [
        ("sub-questions", 4, 0, 600),
        ("closed-book", 4, 0, 1_800),
    ]
    assert server.requests == []
    here.run(server)
    assert [(one.calls, one.answered) for one in here.estimate(server)] == [(0, 4), (0, 4)]


def test_before_there_are_nuggets_an_estimate_counts_all_questions(tmp_path):
    assert [one.calls for one in Here(tmp_path, until="corpus").estimate(Both())] == [4, 4]


def test_nuggets_have_to_be_there(tmp_path):
    with pytest.raises(InputError, match=r"run python -m builders nuggets TOPIC\.yaml --work "):
        Here(tmp_path, until="corpus").run(Both())


ANSWER = st.tuples(st.text(max_size=20), st.sampled_from(["stop", "length", "content_filter", "odd"]))
SPLIT = st.tuples(
    st.lists(st.text(max_size=8) | st.sampled_from(["a", "A", "x" * 500, "\0"]), max_size=12).map(lambda t: sub(*t))
    | st.text(max_size=20),
    st.sampled_from(["stop", "length", "content_filter"]),
)


@settings(max_examples=25, deadline=None)
@given(
    split=st.fixed_dictionaries({query_id: st.lists(SPLIT, min_size=1, max_size=3) for query_id in TITLES}),
    answers=st.fixed_dictionaries({query_id: st.lists(ANSWER, min_size=1, max_size=1) for query_id in TITLES}),
)
def test_whatever_is_replied_each_text_is_there_or_has_a_reason(tmp_path_factory, split, answers):
    here = Here(tmp_path_factory.mktemp("any"))
    made = here.run(Both(split, answers))
    found = [(one.query_id, one.technique) for one in searches_of(here.work)]
    lacking = [(one.query_id, one.detail.partition(":")[0]) for one in lacking_of(here.work, "queries")]
    wanted = [(query_id, technique) for query_id in sorted(QUESTIONS) for technique in TECHNIQUES]
    assert sorted([*found, *lacking]) == sorted(wanted)
    assert found == [one for one in wanted if one in found]
    assert made.summary.counts["searches"] == len(found)
    for one in searches_of(here.work):
        assert one.text.strip()
        if one.technique == "closed-book":
            assert one.text in answers[one.query_id][0][0]
