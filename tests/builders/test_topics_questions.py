"""What a topic says of its questions: typed, with defaults, and told with its line when it is wrong."""

import re

import pytest

from builders.topics.new import Answers, topic_text
from builders.topics.questions import Questions
from builders.topics.reading import parse_topic
from freshstack_datasets.errors import InputError

HEAD = b"name: bread\ndomain: Baking\ntags: [rye]\ndocuments: [{path: x.jsonl}]\n"


def read(tmp_path, told):
    return parse_topic(HEAD + told.encode(), tmp_path / "bread.yaml").questions


def test_without_a_word_the_rules_are_those_of_the_paper(tmp_path):
    questions = read(tmp_path, "")
    assert (questions.site, questions.answer, questions.min_answer_score) == ("stackoverflow.com", "accepted", 1)
    assert (questions.min_score, questions.language, questions.license) == (None, None, None)


def test_all_that_can_be_said_is_read(tmp_path):
    told = "site: coffee.stackexchange.com, min_score: -2, answer: best, min_answer_score: null, language: de"
    questions = read(tmp_path, f"questions: {{{told}, license: CC-BY-4.0}}")
    assert questions == Questions(
        site="coffee.stackexchange.com",
        min_score=-2,
        answer="best",
        min_answer_score=None,
        language="de",
        license="CC-BY-4.0",
    )


@pytest.mark.parametrize(
    "told, message",
    [
        ("minscore: 1", "bread.yaml:5, questions: unknown key 'minscore'; did you mean 'min_score'?"),
        ("site: https://x.org", "questions.site, expected the site's host in small letters"),
        ("answer: newest", "questions.answer, expected accepted or best, got 'newest'"),
        ("min_score: '1'", "questions.min_score, expected a whole number"),
        ("min_score: 1.5", "questions.min_score, expected a whole number"),
        ("min_score: 9999999999", "questions.min_score, expected a number of at most 999,999,999"),
        ("language: english", "questions.language, expected a language's code, such as en, got 'english'"),
        ("license: ''", "questions.license, expected a licence, such as CC-BY-4.0, got ''"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, told, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, f"questions: {{{told}}}")


def test_a_new_file_shows_all_keys_with_what_counts_without_them(tmp_path):
    text = topic_text(Answers("bread", "Baking"), tmp_path).replace("repositories: []\n", "")
    text += "documents: [{path: x.jsonl}]\n"
    shown = re.search(r"# questions:\n(#   [a-z_]+: .*\n)+", text)[0]
    assert sorted(re.findall(r"#   ([a-z_]+): ", shown)) == sorted(Questions.model_fields)
    uncommented = text.replace(shown, shown.replace("# ", ""))
    assert parse_topic(uncommented.encode(), tmp_path / "bread.yaml").questions == Questions()
