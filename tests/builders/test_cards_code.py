"""The examples of a card are Python, whatever a dataset is called and whatever is said of it."""

import ast
import re
import warnings
from pathlib import Path

import pytest

from builders.cards.render import render
from freshstack_datasets import catalog
from tests.builders import small_dataset

KEPT = Path(__file__).parents[2] / "dataset_cards"
HOSTILE = 'a"b\\d \'c\' {{ 1 }} \\N """ `` %s\n\n```python\nimport os\n```\n\n \\x'
NAMES = [
    "acme/a_b__c_",
    "A_/b_",
    "acme/1.0-rc_1",
    "acme/" + "x_" * 90,
    "no_owner_d",
    "0/N__n.u-x",
]


def blocks(text):
    """The examples of a card."""
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def compiled(code):
    """What a block of Python says, of which Python says nothing at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(code, "example", "exec", dont_inherit=True)
        return ast.parse(code)


def texts(code):
    """The texts in a block of Python."""
    return [node.value for node in ast.walk(compiled(code)) if isinstance(node, ast.Constant)]


def test_a_backslash_that_means_nothing_would_be_found():
    with pytest.raises((SyntaxError, Warning)):
        compiled(r'"a\_b"')


@pytest.mark.parametrize("card", sorted(KEPT.glob("[a-z]*.md")), ids=lambda path: path.stem)
def test_every_example_of_every_kept_card_is_python(card):
    found = blocks(card.read_text(encoding="utf-8"))
    assert len(found) == 6
    for block in found:
        compiled(block)


@pytest.mark.parametrize("name", NAMES)
def test_examples_name_a_dataset_as_it_is_called(tmp_path, name):
    line = HOSTILE.replace("\n", " ")
    changes = {"about": HOSTILE, "sections": {line: HOSTILE}, "license": line}
    text, _ = render(small_dataset.write(tmp_path / "toy", dataset=name, **changes))
    found = blocks(text)
    assert len(found) == 6
    repository = name if "/" in name else f"ORG/{name}"
    for block in found:
        assert any(repository in value for value in texts(block) if isinstance(value, str))


def test_names_of_the_catalog_need_no_quoting_in_a_shell():
    assert all(re.fullmatch(r"[a-z0-9/-]+", name) for name in catalog.full_names())
