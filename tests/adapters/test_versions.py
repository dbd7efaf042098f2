"""The versions of other libraries that work, as this package's own metadata say."""

import pytest

from freshstack_datasets.adapters.versions import moved, working


@pytest.mark.parametrize(
    ("library", "extra", "versions"),
    [
        ("ir-measures", "ir", ">=0.4.3,<0.5"),
        ("mteb", "mteb", ">=2.22,<3"),  # declared with an extra of its own
        ("ir-measures", "pyterrier", ">=0.4.3,<0.5"),  # by way of another extra
        ("ir-measures", "beir", ""),
    ],
)
def test_versions_are_those_that_the_extra_asks_for(library, extra, versions):
    assert working(library, extra) == versions


def test_what_a_library_lacks_is_one_line():
    assert "\n" not in str(moved("ir-measures", "ir", "cannot import\nChoices"))
