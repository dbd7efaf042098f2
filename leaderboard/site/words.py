"""Numbers as people read them: three decimals, and never a nought for what is not known."""

UNKNOWN = "n/a"
MINUS = "\N{MINUS SIGN}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a value with a fixed number of decimals, ``n/a`` for None."""
    return UNKNOWN if value is None else f"{value:.{digits}f}".replace("-", MINUS)


def signed(value: float | None, digits: int = 3) -> str:
    """Return a difference with its sign."""
    if value is None:
        return UNKNOWN
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return an interval as ``0.331 to 0.402``; ``n/a`` where there is none."""
    if low is None or high is None:
        return UNKNOWN
    return f"{number(low, digits)} to {number(high, digits)}"


def p_value(value: float | None) -> str:
    """Return a p-value with three decimals, ``< 0.001`` below."""
    if value is None:
        return UNKNOWN
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def measure(name: str) -> str:
    """Return a measure as people write it: ``alpha_nDCG@10`` is ``α-nDCG@10``."""
    return name.replace("alpha_nDCG", "\N{GREEK SMALL LETTER ALPHA}-nDCG").replace(
        "alpha=", "\N{GREEK SMALL LETTER ALPHA}="
    )
