"""Names and numbers as pages write them."""

from freshstack_datasets.report import score_text

number = score_text


def measure(name: str) -> str:
    """Return a measure as people write it: ``alpha_nDCG@10`` is ``α-nDCG@10``."""
    alpha = "\N{GREEK SMALL LETTER ALPHA}"
    return name.replace("alpha_nDCG", f"{alpha}-nDCG").replace("alpha=", f"{alpha}=")
