"""``python -m builders nuggets`` and ``queries``: what they print, and how they end."""

import json

import pytest

from builders.cli import main
from tests.builders.pipeline_made import TOPIC, made_topic, made_work


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_topic(tmp_path)
    made_work(tmp_path, until="nuggets")
    return tmp_path


def lines(capsys):
    out, err = capsys.readouterr()
    return out.splitlines(), err.splitlines()


def test_nuggets_are_made_once_and_counted(here, capsys):
    # the stand-in makes up lists of up to three lines of a question and its answer; some may be empty
    assert main(["nuggets", "tidepool.yaml", "--work", "work"]) == 0
    (line,), messages = lines(capsys)
    rows = json.loads((here / "work" / "nuggets" / "stage.json").read_text())["counts"]
    assert line.startswith(f"work/nuggets: {rows['nuggets']} nuggets of {rows['questions']} questions")
    assert any(message.startswith("asked stand-in: 4 answered") for message in messages)
    assert main(["nuggets", "tidepool.yaml", "--work", "work", "--json"]) == 0
    out, _ = capsys.readouterr()
    told = json.loads(out)
    assert told["made_before"] is True
    assert told["counts"] == rows
    assert sum(told["dropped"].values()) == rows["left_out"]
    assert told["models"] == {"nuggets": ["stand-in for m"]}


def test_queries_are_made_once_and_counted(here, capsys):
    assert main(["queries", "tidepool.yaml", "--work", "work"]) == 0
    (line,), _ = lines(capsys)
    assert line.startswith("work/queries: ")
    assert line.endswith(" texts to search for, of 4 questions")
    assert main(["queries", "tidepool.yaml", "--work", "work"]) == 0
    assert lines(capsys)[0] == [f"{line}, made before"]


@pytest.mark.parametrize(
    ("command", "stages"), [("nuggets", ["nuggets"]), ("queries", ["sub-questions", "closed-book"])]
)
def test_a_dry_run_prints_the_cost_and_sends_nothing(here, capsys, command, stages):
    before = sorted(path for path in (here / "work").rglob("*"))
    url = ["--llm", "http://127.0.0.1:9/v1", "--price", "1,10"]  # nobody listens there
    assert main([command, "tidepool.yaml", "--work", "work", *url, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["stage"], one["calls"], one["answered"]) for one in told["stages"]] == [(s, 4, 0) for s in stages]
    sent, written = told["total"]["input_tokens"], told["total"]["output_tokens"]
    assert float(told["total"]["usd"]) == pytest.approx((sent + 10 * written) / 1e6)
    assert main([command, "tidepool.yaml", "--work", "work", *url, "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("stage ")
    assert sorted(path for path in (here / "work").rglob("*")) == before


@pytest.mark.parametrize(("command", "needed"), [("nuggets", "questions"), ("queries", "nuggets")])
def test_a_stage_that_is_not_done_is_named_with_its_command(here, capsys, command, needed):
    (here / "work" / needed).rename(here / "elsewhere")
    assert main([command, "tidepool.yaml", "--work", "work"]) == 2
    assert f"run python -m builders {needed} TOPIC.yaml --" in capsys.readouterr().err


def test_a_budget_that_is_used_up_ends_with_1_and_says_what_is_open(here, capsys):
    assert main(["nuggets", "tidepool.yaml", "--work", "work", "--max-tokens", "10", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "calls of taking nuggets are open" in err
    assert "--max-tokens" in err
    assert (here / "work" / "nuggets" / "calls.jsonl").is_file()  # those that were there before


def test_a_prompt_that_does_not_take_what_nuggets_are_made_of_is_refused(here, capsys):
    made_topic(here, TOPIC.replace("model: m,", "model: m, nuggets: {prompt: closed-book},"))
    assert main(["nuggets", "tidepool.yaml", "--work", "work"]) == 2
    assert "the prompt closed-book@1: {{answer}}" in capsys.readouterr().err


def test_a_prompt_that_there_is_not_is_refused_with_what_may_have_been_meant(here, capsys):
    made_topic(here, TOPIC.replace("model: m,", "model: m, nuggets: {prompt: nugget},"))
    assert main(["nuggets", "tidepool.yaml", "--work", "work"]) == 2
    assert "did you mean 'nuggets@1'" in capsys.readouterr().err
