"""What a topic file says of models and pools goes above a recipe, and what options say above both."""

import re

import pytest

from builders.pipeline.settings import KINDS, RECIPES, Settings, overlay, read_recipe
from builders.topics import read_topic
from freshstack_datasets.errors import InputError, UnknownNameError
from tests.builders import pipeline_made as made

PLAIN = "name: acme/bread\ndomain: Baking\ntags: []\ndocuments: [{path: docs.jsonl}]\n"


@pytest.fixture
def topic(tmp_path):
    def write(more=""):
        (tmp_path / "bread.yaml").write_text(PLAIN + more)
        return read_topic(tmp_path / "bread.yaml")

    return write


def test_the_papers_recipe_holds_the_papers_settings(topic):
    # Thakur et al., 3.3 to 3.5 and 5: GPT-4o at 0.1, BM25 with three others, the top 100, of which 20; 20 documents a call
    settings = Settings.of(topic(), "paper")
    for kind in KINDS:
        assert (settings.kind(kind).model, settings.kind(kind).parameters["temperature"]) == ("gpt-4o", 0.1)
    models = [one.dense or one.label for one in settings.pool.retrievers]
    assert models == ["bm25", "BAAI/bge-multilingual-gemma2", "intfloat/e5-mistral-7b-instruct", "voyage-large-2"]
    assert (settings.pool.depth, settings.pool.top, settings.models.support.documents) == (100, 20, 20)
    assert settings.pool.techniques == ("question", "sub-questions", "closed-book", "answer", "nuggets")


def test_the_default_recipe_needs_no_model_on_this_machine(topic):
    retrievers = Settings.of(topic()).pool.retrievers
    assert [one.label for one in retrievers] == ["bm25", "dense:text-embedding-3-small"]
    assert [one.endpoint for one in retrievers] == ["", "same"]


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_that_comes_along_names_all_that_is_needed(topic, path):
    settings = Settings.of(topic(), path)
    assert settings.endpoint.kind == "server"
    assert all(settings.kind(kind).model for kind in KINDS)


def test_a_topic_file_goes_above_the_recipe_key_by_key(topic):
    told = "models: {model: small, parameters: {temperature: 0}, support: {seed: 3, parameters: {max_tokens: 9}}}\n"
    settings = Settings.of(topic(told + "pool: {top: 5}"))
    assert dict(settings.kind("nuggets").parameters) == {"temperature": 0, "max_tokens": 2000}
    assert dict(settings.kind("support").parameters) == {"temperature": 0, "max_tokens": 9}
    assert (settings.kind("support").model, settings.models.support.seed) == ("small", 3)
    assert (settings.models.support.documents, settings.pool.top, settings.pool.depth) == (20, 5, 100)


def test_null_takes_away_a_parameter(topic):
    settings = Settings.of(topic("models: {nuggets: {parameters: {temperature: null}}}"))
    assert dict(settings.kind("nuggets").parameters) == {"max_tokens": 2000}
    assert dict(settings.kind("closed-book").parameters) == {"temperature": 0.1, "max_tokens": 2000}


def test_the_other_name_of_the_longest_reply_takes_the_place_of_the_first(topic):
    # a server takes either max_tokens or max_completion_tokens, and refuses both together
    settings = Settings.of(
        topic("models: {parameters: {max_completion_tokens: 800}, support: {parameters: {max_tokens: 7}}}")
    )
    assert dict(settings.kind("nuggets").parameters) == {"temperature": 0.1, "max_completion_tokens": 800}
    assert dict(settings.kind("support").parameters) == {"temperature": 0.1, "max_tokens": 7}


def test_the_longest_reply_of_a_recipe_is_called_as_the_topic_calls_it_for_all_models(topic):
    # models that think refuse max_tokens, by which the recipe limits what judges
    settings = Settings.of(topic("models: {parameters: {max_completion_tokens: 800, temperature: null}}"))
    assert dict(settings.kind("nuggets").parameters) == {"max_completion_tokens": 800}
    assert dict(settings.kind("support").parameters) == {"max_completion_tokens": 4000}
    assert dict(settings.kind("second").parameters) == {"max_completion_tokens": 4000}


def test_a_kind_that_names_a_model_has_it_and_the_option_goes_above_all(topic):
    told = topic("models: {model: a, support: {model: b}}")
    assert [Settings.of(told).kind(kind).model for kind in KINDS] == ["a", "a", "a", "b", "b"]
    assert {Settings.of(told, model="c").kind(kind).model for kind in KINDS} == {"c"}
    settings = Settings.of(told, llm="http://localhost:8080/v1/", key_from="MY_KEY")
    assert (settings.endpoint.place, settings.endpoint.key_from) == ("http://localhost:8080/v1", "MY_KEY")


def test_the_second_pass_is_asked_as_the_first_one_unless_it_says_otherwise(topic):
    told = topic("models: {support: {model: b, parameters: {seed: 1}}, second: {share: 0.5, parameters: {seed: 2}}}")
    first, second = (Settings.of(told).kind(kind) for kind in ("support", "second"))
    assert (second.model, second.prompt, second.name) == ("b", first.prompt, "second")
    assert (first.parameters["seed"], second.parameters["seed"]) == (1, 2)
    assert first.parameters["max_tokens"] == second.parameters["max_tokens"] == 4000


def test_a_prompt_is_chosen_by_name_and_version(topic):
    assert str(Settings.of(topic("models: {nuggets: {prompt: nuggets-with-importance}}")).kind("nuggets").prompt) == (
        "nuggets-with-importance@1"
    )
    with pytest.raises(UnknownNameError, match="unknown prompt 'nuggets@99'"):
        Settings.of(topic("models: {nuggets: {prompt: nuggets@99}}")).kind("nuggets")


def test_a_recipe_of_ones_own_is_a_file(topic, tmp_path):
    path = tmp_path / "ours.yaml"
    path.write_text("models: {endpoint: fake, model: m}\npool: {retrievers: ['python:a.b:make']}\n")
    settings = Settings.of(topic(), path)
    assert str(settings.endpoint) == "fake"
    assert [one.label for one in settings.pool.retrievers] == ["python:a.b:make"]
    path.write_text("pool:\n  deep: 3\n")
    with pytest.raises(InputError, match=re.escape(f"{path}:2, pool: unknown key 'deep'; did you mean 'depth'?")):
        read_recipe(path)
    with pytest.raises(UnknownNameError, match="unknown recipe 'papre'; did you mean 'paper'"):
        read_recipe("papre")
    with pytest.raises(InputError, match="cannot read"):
        read_recipe(tmp_path / "none.yaml")


def test_what_no_one_says_is_an_error_that_tells_where_to_say_it(topic, tmp_path):
    (tmp_path / "empty.yaml").write_text("pool: {}\n")
    settings = Settings.of(topic(), tmp_path / "empty.yaml")
    with pytest.raises(InputError, match="--llm URL"):
        settings.endpoint.prices()
    with pytest.raises(InputError, match="--model NAME"):
        settings.kind("nuggets")


def test_a_retriever_of_either_form_is_the_same(topic):
    short, long = (
        Settings.of(topic(f"pool: {{retrievers: [{one}]}}")).pool.retrievers
        for one in ("'dense:all-MiniLM-L6-v2'", "{dense: all-MiniLM-L6-v2}")
    )
    assert short == long


@pytest.mark.parametrize(
    "told, message",
    [
        ("models: {modle: m}", "models: unknown key 'modle'; did you mean 'model'?"),
        ("models: {sub-questions: {promt: x}}", "models.sub-questions: unknown key 'promt'; did you mean 'prompt'?"),
        (
            "models: {parameters: {model: m}}",
            "models.parameters.model, expected a parameter that is not said elsewhere",
        ),
        ("models: {parameters: {stop: 2024-01-01}}", "models.parameters.stop, expected a number, a text"),
        ("models: {key_from: sk-abc.def}", "models.key_from, expected the name of a variable of the environment"),
        ("models: {endpoint: localhost}", "models.endpoint, expected a base URL such as"),
        ("models: {support: {documents: 0}}", "models.support.documents, expected a number from 1 to 100, got 0"),
        ("models: {support: {documents: many}}", "models.support.documents, expected a whole number, got 'many'"),
        ("models: {second: {share: 1.5}}", "models.second.share, expected a number from 0 to 1, got 1.5"),
        ("models: {nuggets: {prompt: ../x}}", "models.nuggets.prompt, expected the name of a prompt"),
        (
            "pool: {techniques: [oracle]}",
            "pool.techniques[0], expected question, sub-questions, closed-book, answer or",
        ),
        ("pool: {techniques: [answer, answer]}", "pool.techniques[1], expected each technique once, got 'answer'"),
        ("pool: {techniques: []}", "pool.techniques, expected a technique, got none"),
        ("pool: {retrievers: [bm26]}", "pool.retrievers[0], expected bm25, dense:MODEL, python:module:factory"),
        ("pool: {retrievers: [bm52]}", "or keys and their values, got 'bm52'; did you mean 'bm25'?"),
        ("pool: {retrievers: ['desne:m']}", "or keys and their values, got 'desne:m'; did you mean 'dense'?"),
        ("pool: {retrievers: [{dens: m}]}", "pool.retrievers[0]: unknown key 'dens'; did you mean 'dense'?"),
        ("pool: {retrievers: [{name: m}]}", "pool.retrievers[0], expected one of bm25, dense and python, got none"),
        ("pool: {retrievers: ['python:os']}", "pool.retrievers[0].python, expected module:factory, got 'os'"),
        ("pool: {retrievers: [bm25, bm25]}", "pool.retrievers[1], expected each retriever once, got 'bm25'"),
        ("pool: {retrievers: [{bm25: true, endpoint: same}]}", "pool.retrievers[0].endpoint, expected dense beside it"),
        ("pool: {top: 0}", "pool.top, expected a number from 1 to 10,000, got 0"),
        ("filter: {contamination: {closed_book_coverage: 2}}", "closed_book_coverage, expected a number from 0 to 1"),
        ("filter: {contaminaton: none}", "filter: unknown key 'contaminaton'; did you mean 'contamination'?"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_place(topic, told, message):
    with pytest.raises(InputError) as caught:
        topic(told)
    assert "bread.yaml:5" in str(caught.value)
    assert message in str(caught.value)


def test_a_key_in_place_of_its_variable_is_never_shown(topic):
    with pytest.raises(InputError) as caught:
        topic("models: {key_from: 'sk-proj-0123456789'}")
    assert "sk-proj" not in str(caught.value)


def test_no_contamination_rule_is_said_in_words_or_not_at_all(topic):
    assert Settings.of(topic("filter: {contamination: none}")).filter == Settings.of(topic()).filter
    given = Settings.of(topic("filter: {contamination: {closed_book_coverage: 0.5}}")).filter.contamination
    assert given is not None
    assert given.closed_book_coverage == 0.5


def test_laying_over_changes_neither_of_the_two():
    low, high = {"a": {"b": 1}}, {"a": {"c": 2}}
    assert overlay(low, high) == {"a": {"b": 1, "c": 2}}
    assert (low, high) == ({"a": {"b": 1}}, {"a": {"c": 2}})


def test_the_topic_of_the_tests_is_one(tmp_path):
    assert Settings.of(made.made_topic(tmp_path)).pool.top == 3
