"""How the boards are measured, what an interval means, and how to submit, in four steps."""

from collections.abc import Iterator
from dataclasses import dataclass

from leaderboard.site import addresses
from leaderboard.site.pages import Page, Site, page
from leaderboard.verdicts.deciding import APART

MEANINGS = {
    "alpha_nDCG": "Rewards documents that support nuggets, more so at higher ranks, and less each time a nugget comes "
    "again; 1 is the best order that a greedy choice finds.",
    "Coverage": "The share of a question's nuggets that the first documents support.",
    "Recall": "The share of all supporting documents that are among the first.",
    "nDCG": "Rewards supporting documents by how many nuggets they support, more so at higher ranks.",
    "Success": "Whether one of the first documents supports a nugget.",
    "P": "The share of the first documents that support a nugget.",
    "RR": "One divided by the rank of the first document that supports a nugget.",
    "AP": "The mean of the precision at each supporting document.",
    "Judged": "The share of the first documents that were judged for that very question.",
}
"""What each family of measures says, in a sentence."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A measure and what it says.

    Args:
        name: Its printed form.
        text: A sentence.
    """

    name: str
    text: str


def pages(site: Site) -> Iterator[Page]:
    """Yield the page."""
    yield page(site, addresses.ABOUT, "about.html", "About", here="about", meanings=meanings(site), apart=APART)


def meanings(site: Site) -> tuple[Meaning, ...]:
    """Return the measures of all boards, in their order, each once."""
    names = dict.fromkeys(str(measure) for published in site.published for measure in published.board.measures)
    return tuple(Meaning(name, MEANINGS.get(name.partition("@")[0].partition("(")[0], "")) for name in names)
