"""The cards that are kept in ``dataset_cards``: one for each dataset that is known by name."""

from builders.cards import facts
from builders.cards.render import PICTURES, written
from freshstack_datasets import catalog


def collection() -> dict[str, bytes]:
    """Return the card and the pictures of every known dataset, by path.

    A dataset that comes with the package is counted; of the others there is what the catalog has.

    Raises:
        MissingExtraError: A package that cards are made with is not installed.
        SnapshotError: A snapshot that comes with the package cannot be read.
    """
    found: dict[str, bytes] = {}
    for name, known in _known().items():
        text, pictures = written(known, prefix=f"{PICTURES}/{name}-", in_clone=True)
        found |= {f"{name}.md": text.encode(), **pictures}
    return dict(sorted(found.items()))


def _known() -> dict[str, facts.Facts]:
    here = catalog.bundled()
    return {
        name.rpartition("/")[2]: facts.of_folder(here[name]) if name in here else facts.of_catalog(name)
        for name in catalog.full_names()
    }
