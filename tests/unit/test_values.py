"""Options of several values in a row."""

import pytest

from freshstack_datasets.cli.values import spread


@pytest.mark.parametrize(
    "typed, spelled",
    [
        ("D --run a", "D --run a"),
        ("D --run a b --json", "D --run a --run b --json"),
        ("D --run a --run b c", "D --run a --run b --run c"),
        ("D --run=a b", "D --run a --run b"),
        ("--run a b -- D", "--run a --run b -- D"),
        # without an argument yet, the last of the values in a row is one
        ("--run a D", "--run a D"),
        ("--run a b D --json", "--run a --run b D --json"),
        ("--run a D --measures x", "--run a D --measures x"),
        ("--run a D --measures x y", "--run a --run D --measures x y"),
        ("--json --run a D", "--json --run a D"),
        ("-k 3 --run a D", "-k 3 --run a D"),
        ("-k3 --run a D", "-k3 --run a D"),
        ("--out o --run a D", "--out o --run a D"),
        ("--out=o D --run a b", "--out=o D --run a --run b"),
        # one value stays a value, so that the message is about the argument
        ("--run a", "--run a"),
        ("D --run --json", "D --run --json"),
        ("D --run", "D --run"),
    ],
)
def test_values_in_a_row_get_an_option_each(typed, spelled):
    assert spread(typed.split(), {"--run", "--measures"}, {"--json"}, 1) == spelled.split()


def test_several_missing_arguments_are_the_last_values():
    typed = ["--measures", "m", "n", "D", "a.run", "b.run"]
    assert spread(typed, {"--measures"}, set(), 3) == ["--measures", "m", "--measures", "n", "D", "a.run", "b.run"]
