"""``python -m builders build``: every stage once, whatever ends it, and again only what depends on a change."""

import contextlib
import errno
import io
import json
import os
import shutil
import sys

import pytest

import freshstack_datasets as fsd
from builders.cli import main
from builders.commands.build import way_on
from builders.pipeline.settings import PROMPTS, Settings
from freshstack_datasets.errors import InputError, SnapshotError
from tests.builders import pipeline_topic as lantern
from tests.builders.pipeline_server import MODEL, PipelineServer

STAGES = ["questions", "corpus", "nuggets", "queries", "pool", "support", "filter", "assemble"]
MODELS = f"{{model: {MODEL}, parameters: {{temperature: 0.1, max_tokens: 500}}}}"


class Place:
    """A topic with its server, and the command that builds it there.

    Args:
        folder: Where all of it goes.
        server: Who is asked.
    """

    def __init__(self, folder, server):
        self.folder, self.server = folder, server
        folder.mkdir(parents=True, exist_ok=True)
        given = lantern.given(folder)
        self.topic, self.posts = lantern.write(folder / "lantern.yaml", given, MODELS), given.posts
        self.out, self.work = folder / "out", folder / "out.stages"

    def build(self, *more, json_wanted=True):
        """Run the command; return its exit code, what it printed as JSON or text, and its messages."""
        typed = ["build", str(self.topic), "--posts", str(self.posts), "--snapshot", "2026-10"]
        typed += ["--out", str(self.out), "--llm", self.server.url, "--replies", str(self.folder / "replies.sqlite")]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*typed, "--processes", "1", *more, *(["--json"] if json_wanted else [])])
        told = json.loads(out.getvalue()) if json_wanted and out.getvalue() else out.getvalue() or None
        return code, told, err.getvalue()


@pytest.fixture
def place(tmp_path):
    with PipelineServer() as server:
        yield Place(tmp_path, server)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A whole build, and a copy of it."""
    folder = tmp_path_factory.mktemp("built")
    with PipelineServer() as server:
        place = Place(folder / "place", server)
        place.first = place.build("--price", "1000,1000")
        shutil.copytree(folder / "place", folder / "copy", symlinks=True)
        yield place


@pytest.fixture
def built(once):
    """The same, as it was after the build; its server has been asked more since."""
    yield once
    copy = once.folder.parent / "copy"
    for path in copy.iterdir():
        if path.name == "lantern" or path.name.startswith("replies"):
            continue
        there = once.folder / path.name
        shutil.rmtree(there) if there.is_dir() else there.unlink()
        shutil.copytree(path, there) if path.is_dir() else shutil.copy2(path, there)


def run_again(told):
    """The stages that were not kept."""
    return [stage["name"] for stage in told["stages"] if not stage["made_before"]]


def test_a_build_leaves_two_snapshots_whose_questions_are_those_of_the_rules(built):
    code, told, err = built.first
    assert code == 0, err
    assert [stage["name"] for stage in told["stages"]] == STAGES
    assert run_again(told) == STAGES
    data, unfiltered = fsd.load(str(built.out)), fsd.load(str(built.folder / "out-unfiltered"))
    assert {q.query_id for q in unfiltered.queries} == set(lantern.SUBJECTS)
    assert {q.query_id for q in data.queries} == set(lantern.SUBJECTS) - set(lantern.FILTERED)
    assert told["fingerprint"] == data.fingerprint
    for name in ("out", "out-unfiltered"):
        assert fsd.verify(built.folder / name) == []


def test_progress_tells_which_stage_of_how_many_it_is_and_what_was_spent(built):
    heads = [line for line in built.first[2].splitlines() if line.startswith("[")]
    assert [head.split(" ")[:2] for head in heads if head.endswith("…")] == [
        [f"[{number}/8]", name] for number, name in enumerate(STAGES, 1)
    ]
    assert not [head for head in heads[:4] if "spent" in head]  # the first two stages ask nobody
    assert "; spent so far: $" in next(head for head in heads if head.startswith("[3/8] nuggets: "))


def test_a_second_run_has_nothing_to_do_and_asks_nobody(built):
    asked = len(built.server.asked)
    code, told, err = built.build()
    assert (code, run_again(told), told["made_before"]) == (0, [], True)
    assert len(built.server.asked) == asked
    assert told["fingerprint"] == built.first[1]["fingerprint"]
    assert err.count(": as before") == 8
    assert told["spent"] == {"calls": 0, "tokens": 0, "usd": "0"}
    code, text, _ = built.build(json_wanted=False)
    assert (code, text.splitlines()[-1]) == (0, "nothing had to be done: all of it was made before, of the same")


AFTER_POOL = ["pool", "support", "filter", "assemble"]
CHANGES = [
    (("domain: Lamps", "domain: Lamps of all kinds"), ["assemble"]),
    (("pool: {", "# a remark\npool: {"), ["assemble"]),  # the manifest holds the file's digest
    (("top: 6", "top: 7"), AFTER_POOL),
    (("pool: {", "pool: {techniques: [question, answer], "), ["queries", *AFTER_POOL]),
    (("models: {", "models: {support: {seed: 99}, "), ["support", "filter", "assemble"]),
    (("models: {", "models: {support: {model: lamp-2}, "), ["support", "filter", "assemble"]),
    # the other model says the same, so that the same documents are found, and need not be judged again
    (("models: {", "models: {closed-book: {model: lamp-2}, "), ["queries", "pool", "filter", "assemble"]),
    (("models: {", "models: {second: {share: 1}, "), ["support", "filter", "assemble"]),
    # the same questions pass: they are looked for again, and nothing else, since they are the same
    (("questions: {", "questions: {min_score: 3, "), ["questions", "assemble"]),
    (("license: MIT}", "license: MIT, exclude: [notes/]}"), ["corpus", *AFTER_POOL]),
]


@pytest.mark.parametrize("change, expected", CHANGES, ids=[change[1] for change, _ in CHANGES])
def test_a_change_of_the_topic_runs_again_exactly_what_depends_on_it(built, change, expected):
    text, before = built.topic.read_text(), dict(built.server.times)
    assert change[0] in text
    built.topic.write_text(text.replace(*change))
    code, told, err = built.build()
    assert code == 0, err
    assert run_again(told) == expected, err
    assert {raw: built.server.times[raw] for raw in before} == before  # no call is made twice


def test_a_change_that_fails_leaves_what_was_there(built):
    text = built.topic.read_text()
    built.topic.write_text(text.replace("questions: {", "questions: {min_score: 4, "))
    code, told, err = built.build()
    assert (code, told) == (2, None)
    assert "no question of" in err
    assert fsd.load(str(built.out)).fingerprint == built.first[1]["fingerprint"]
    built.topic.write_text(text)
    assert run_again(built.build()[1]) == []


def test_a_change_back_asks_nobody_and_gives_the_same(built):
    text = built.topic.read_text()
    built.topic.write_text(text.replace("models: {", "models: {nuggets: {parameters: {seed: 1}}, "))
    assert run_again(built.build()[1]) == ["nuggets", "queries", *AFTER_POOL]
    asked = len(built.server.asked)
    built.topic.write_text(text)
    assert built.build()[1]["fingerprint"] == built.first[1]["fingerprint"]
    assert len(built.server.asked) == asked


def test_a_change_of_a_prompt_runs_again_exactly_what_depends_on_it(built, tmp_path, monkeypatch):
    prompts = tmp_path / "prompts"
    shutil.copytree(PROMPTS, prompts)
    defaults = Settings.__init__.__defaults__
    monkeypatch.setattr(
        Settings.__init__, "__defaults__", tuple(prompts if one == PROMPTS else one for one in defaults)
    )
    assert run_again(built.build()[1]) == []
    path = prompts / "support@1.md"
    path.write_text(path.read_text().replace("Do not be generous", "Never be generous"))
    assert run_again(built.build()[1]) == ["support", "filter", "assemble"]


def test_another_model_by_an_option_runs_again_all_that_asks_one(built):
    assert {"nuggets", "queries", "support"} <= set(run_again(built.build("--model", "lamp-3")[1]))


def test_posts_that_were_touched_are_read_again_and_nothing_else(built):
    os.utime(built.posts, ns=(1, 1))
    assert run_again(built.build()[1]) == ["questions"]


def test_a_stage_whose_files_are_damaged_is_made_again_without_asking(built):
    asked = len(built.server.asked)
    (built.work / "support" / "labels.jsonl").write_text("{}\n")
    code, told, _ = built.build()
    assert (code, run_again(told)) == (0, ["support"])  # the same comes out, so that what follows stays
    assert (told["fingerprint"], len(built.server.asked)) == (built.first[1]["fingerprint"], asked)


def test_questions_and_a_corpus_whose_lists_are_damaged_are_made_again(built):
    lists = [built.work / stage / "dropped.jsonl" for stage in ("questions", "corpus")]
    before = [path.read_bytes() for path in lists]
    lists[0].unlink()
    lists[1].write_bytes(before[1] + b"{}\n")
    code, told, _ = built.build()
    assert (code, run_again(told)) == (0, ["questions", "corpus"])
    assert [path.read_bytes() for path in lists] == before


def test_questions_that_were_made_when_a_run_was_ended_are_not_made_again(built):
    folder = built.work / "questions"
    folder.rename(folder.with_name("questions.new"))
    before = (built.work / "questions.new" / "questions.json").stat().st_mtime_ns
    assert run_again(built.build()[1]) == ["questions"]
    assert (folder / "questions.json").stat().st_mtime_ns == before
    assert not folder.with_name("questions.new").exists()


def test_a_dry_run_after_a_build_has_nothing_to_tell(built):
    told = built.build("--dry-run")[1]
    assert (told["stages"], told["assumed"]) == ([], {})
    assert told["made_before"] == STAGES[2:7]


def test_a_dry_run_after_files_were_damaged_tells_of_all_that_is_made_again(built):
    (built.work / "support" / "labels.jsonl").write_text("")
    code, told, err = built.build("--dry-run")
    assert code == 0, err
    assert told["made_before"] == ["nuggets", "queries", "pool"]


def test_a_budget_for_all_stages_ends_the_build_and_the_same_command_goes_on(place):
    code, told, err = place.build("--max-tokens", "40000", "--concurrency", "1")
    assert (code, told) == (1, None), err
    assert "--max-tokens 40,000" in err
    assert "the same command goes on there" in err
    assert not place.out.exists()
    before = dict(place.server.times)
    assert before
    code, told, err = place.build()
    assert code == 0, err
    assert {raw: place.server.times[raw] for raw in before} == before


def test_a_pool_s_server_without_its_key_is_warned_of_before_anything_is_asked(place, monkeypatch):
    monkeypatch.delenv("LAMP_KEY", raising=False)
    dense = "{dense: lamp-e, endpoint: 'https://models.example/v1', key_from: LAMP_KEY}"
    place.topic.write_text(place.topic.read_text().replace("retrievers: [bm25]", f"retrievers: [bm25, {dense}]"))
    code, _, err = place.build("--max-tokens", "0")
    assert code == 1
    assert "warning: no key is sent to https://models.example/v1, since LAMP_KEY is not set" in err
    assert place.server.asked == []


def test_a_dry_run_asks_nobody_and_says_what_is_assumed(place):
    code, told, err = place.build("--dry-run", "--price", "1,2")
    assert code == 0, err
    assert place.server.asked == []
    assert not place.out.exists()
    stages = {stage["stage"]: stage for stage in told["stages"]}
    assert stages["nuggets"]["calls"] == len(lantern.SUBJECTS)
    assert stages["sub-questions"]["calls"] == stages["closed-book"]["calls"] == len(lantern.SUBJECTS)
    # 6 of each of 5 techniques, half of which are different ones, are 15 documents, which fit into one call a question
    assert stages["support"]["calls"] == len(lantern.SUBJECTS)
    assert list(told["assumed"]) == ["nuggets", "queries", "pool"]
    assert "15 documents to judge a question" in told["assumed"]["pool"]
    assert {stage["endpoint"] for stage in stages.values()} == {place.server.url}
    assert all(float(stage["usd"]) > 0 for stage in stages.values())
    code, text, _ = place.build("--dry-run", json_wanted=False)
    assert text.startswith("stage")
    assert (
        "assumed, since it is not known yet:\nnuggets: 3 to 4 nuggets of 20 words a question, as in the paper\n" in text
    )
    assert "a price is unknown: give --price" in text


def test_a_name_of_a_month_before_the_newest_question_is_warned_of(place):
    told = "warning: the newest question is of 2026-07, later than the snapshot's name, 2026-06"
    assert told in place.build("--snapshot", "2026-06", "--dry-run")[2].splitlines()
    assert "the newest question" not in place.build("--dry-run")[2]
    assert place.server.asked == []


def test_a_dry_run_counts_the_embeddings_of_the_corpus(place):
    text = place.topic.read_text()
    dense = "retrievers: [bm25, {dense: lamp-embedding, endpoint: same}]"
    place.topic.write_text(text.replace("retrievers: [bm25]", dense))
    stages = {stage["model"]: stage for stage in place.build("--dry-run", "--price", "1,2")[1]["stages"]}
    assert place.server.asked == []
    assert stages["lamp-embedding"]["calls"] > 0
    assert float(stages["lamp-embedding"]["usd"]) > 0


def test_a_dry_run_says_that_the_run_is_refused_without_the_packages_of_a_retriever(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    place.topic.write_text(place.topic.read_text().replace("[bm25]", "[bm25, 'dense:acme/one', 'dense:acme/two']"))
    refused = "the package sentence-transformers is not installed; pip install 'freshstack-datasets[dense]'"
    code, told, err = place.build("--dry-run")
    assert code == 0, err
    assert told["stages"]
    assert err.count(f"warning: without --dry-run this is refused: {refused}\n") == 1
    code, _, err = place.build()
    assert code == 2
    assert f"error: {refused}" in err
    assert place.server.asked == []


@pytest.mark.parametrize(
    "retriever, message",
    [("'python:no_such_module:make'", "no_such_module"), ("'python:json:no_such_factory'", "no_such_factory")],
)
def test_a_retriever_that_cannot_be_is_refused_before_anything_is_asked(place, retriever, message):
    place.topic.write_text(place.topic.read_text().replace("[bm25]", f"[bm25, {retriever}]"))
    code, _, err = place.build()
    assert code == 2
    assert message in err
    assert place.server.asked == []


def test_a_limit_of_money_needs_the_price_of_every_model_before_anything_is_made(place):
    code, _, err = place.build("--max-usd", "5")
    assert code == 2
    assert f"expected models whose price is known, got '{MODEL}', whose price is not; give --price" in err
    assert "[1/8]" not in err
    dense = "retrievers: [bm25, {dense: lamp-embedding, endpoint: same}]"
    place.topic.write_text(place.topic.read_text().replace("retrievers: [bm25]", dense))
    code, _, err = place.build("--max-usd", "5", "--price", f"{MODEL}=1,2")
    assert code == 2
    assert "got 'lamp-embedding', whose price is not" in err
    assert place.server.asked == []


def test_what_somebody_else_put_there_is_refused_before_anything_is_asked(place):
    theirs = place.folder / "out-unfiltered" / "thesis.txt"
    theirs.parent.mkdir()
    theirs.write_text("mine")
    code, _, err = place.build()
    assert code == 2
    assert "out-unfiltered" in err
    assert place.server.asked == []
    assert theirs.read_text() == "mine"


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["run", "dry"])
@pytest.mark.parametrize(
    "change, snapshot",
    [((f"name: {lantern.NAME}\n", "name: acme/torch\n"), "2026-10"), (("", ""), "2027-01")],
    ids=["topic", "month"],
)
def test_another_snapshot_never_takes_the_place_of_one(built, change, snapshot, more):
    text = built.topic.read_text()
    built.topic.write_text(text.replace(*change))
    code, _, err = built.build("--snapshot", snapshot, *more)
    built.topic.write_text(text)
    assert code == 2
    assert "@2026-10; a snapshot stays: choose another folder" in err
    assert fsd.load(str(built.out)).fingerprint == built.first[1]["fingerprint"]
    assert run_again(built.build()[1]) == []


@pytest.mark.parametrize(
    "more, message",
    [
        (["--snapshot", "October"], "--snapshot, expected a month"),
        (["--recipe", "papre"], "unknown recipe 'papre'; did you mean 'paper'"),
        (["--max-usd", "much"], "an amount of USD, expected a number"),
        (["--price", "1"], "a price, expected IN,OUT, MODEL=IN,OUT or FILE.toml"),
        (["--llm", "localhost"], "--llm, expected a base URL"),
        (
            ["--key-from", "sk-proj-1"],
            "key_from, expected the name of a variable of the environment, got something else",
        ),
    ],
)
def test_an_option_that_cannot_be_is_refused_before_anything_is_asked(place, more, message):
    code, _, err = place.build(*more)
    assert code == 2
    assert message in err
    assert place.server.asked == []


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_whatever_ends_a_build_it_says_that_what_is_done_is_kept(tmp_path, capsys, error):
    with pytest.raises(type(error)), way_on(tmp_path):
        raise error
    assert capsys.readouterr().err == f"what is done is kept in '{tmp_path}': the same command goes on there\n"


@pytest.mark.parametrize("error", [InputError("the posts"), SnapshotError("the corpus")])
def test_after_an_error_in_what_was_given_the_same_command_goes_on_once_that_is_put_right(tmp_path, capsys, error):
    with pytest.raises(type(error)), way_on(tmp_path):
        raise error
    told = f"what is done is kept in '{tmp_path}': the same command goes on there once that is put right\n"
    assert capsys.readouterr().err == told
