"""Pictures of statistics: bar charts as SVG, the same bytes each time, readable on light and on dark pages.

An image on a page takes no style from it, so each brings a background and follows the reader's system. ``title`` and
``desc`` say all of its numbers to those who do not see it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from builders.statistics.lengths import Lengths
from builders.statistics.quarters import Quarter, named, shown
from builders.statistics.tokens import TOKENIZER

QUARTERS = "questions-per-quarter.svg"
LENGTHS = "token-lengths.svg"

_WIDTH, _LEFT, _RIGHT, _PLOT, _HEAD, _FOOT = 760, 24, 24, 150, 58, 46
_LABELLED = 12
"""Quarters that are labelled one by one; of more, the years are."""
_DIGIT = 7
"""What a character of a label takes at most, about."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLE = (
    "text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}"
    ".head{font-weight:600}.small{font-size:11px;fill:#59636e}"
    ".page{fill:#ffffff;stroke:#d1d9e0}.axis{stroke:#818b98}.bar{fill:#0969da}"
    "@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.small{fill:#9198a1}"
    ".page{fill:#0d1117;stroke:#3d444d}.axis{stroke:#656c76}.bar{fill:#4493f8}}"
)


@dataclass(frozen=True)
class Bar:
    """One bar.

    Args:
        label: What stands below it; "" for nothing.
        name: What it is called in words.
        count: How high it is.
    """

    label: str
    name: str
    count: int


@dataclass(frozen=True)
class Chart:
    """One row of bars.

    Args:
        heading: What stands above it.
        bars: The bars from left to right, one of them at least higher than 0.
        axis: What the labels below are.
    """

    heading: str
    bars: Sequence[Bar]
    axis: str

    def told(self) -> str:
        """Return all of its numbers in words."""
        return f"{self.heading}. " + ", ".join(f"{bar.name}: {bar.count:,}" for bar in self.bars)


@dataclass(frozen=True)
class Picture:
    """A picture, and what stands in its place for those who do not see it.

    Args:
        svg: Its bytes.
        alternative: Its numbers, or the most important of them, in one line; it names nothing but what is drawn.
    """

    svg: bytes
    alternative: str


def pictures(name: str, quarters: Mapping[Quarter, int], kinds: Mapping[str, Lengths | None]) -> dict[str, Picture]:
    """Return all the pictures there can be, by the name of their file.

    Args:
        name: What was counted.
        quarters: The number of questions by quarter.
        kinds: The lengths by the name of the kind; None for a kind of which there is no text.
    """
    lengths = {kind: of for kind, of in kinds.items() if of is not None}
    return {
        **({QUARTERS: quarters_picture(name, quarters)} if quarters else {}),
        **({LENGTHS: lengths_picture(name, lengths)} if lengths else {}),
    }


def quarters_picture(name: str, quarters: Mapping[Quarter, int]) -> Picture:
    """Return the picture of how many questions were asked in each quarter; quarters without any are shown too.

    Args:
        name: What was counted.
        quarters: The number of questions by quarter, at least one question. Where they are too many to be shown, those
            outside are counted in words.
    """
    found = shown(quarters)
    every = len(found.counts) <= _LABELLED
    bars = [
        Bar(named(of) if every else f"{of[0]:04}" if of[1] == 1 else "", named(of), count)
        for of, count in found.counts.items()
    ]
    outside = {f"before {bars[0].name}": found.before, f"after {bars[-1].name}": found.after}
    said = ", ".join(f"{count:,} {where}" for where, count in outside.items() if count)
    heading = f"Questions by quarter: {sum(quarters.values()):,}" + (f" (not shown: {said})" if said else "")
    chart = Chart(heading, bars, "quarter asked")
    return Picture(_svg(f"{name}: questions by quarter", [chart]), chart.told())


def lengths_picture(name: str, kinds: Mapping[str, Lengths]) -> Picture:
    """Return the picture of how long texts are: a chart a kind, two bars a doubling of the length.

    Args:
        name: What was counted.
        kinds: The lengths by the name of the kind, at least one.
    """
    charts = [
        Chart(
            f"{kind}: {lengths.texts:,}, mean {lengths.mean:,.1f}, median {lengths.median:,.1f} tokens",
            [Bar(f"{low:,}", f"{_range(low, high)} tokens", count) for low, high, count in lengths.bins()],
            "tokens, the least of each bar",
        )
        for kind, lengths in kinds.items()
    ]
    drawn = _svg(f"{name}: lengths in tokens of {TOKENIZER}", charts)
    return Picture(drawn, "; ".join(chart.heading for chart in charts))


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _svg(title: str, charts: Sequence[Chart]) -> bytes:
    """Return charts one below the other as a picture."""
    height = len(charts) * (_HEAD + _PLOT + _FOOT)
    told = "; ".join(chart.told() for chart in charts)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'<title id="title">{_text(title)}</title>',
        f'<desc id="desc">{_text(told)}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="6"/>',
    ]
    for place, chart in enumerate(charts):
        lines += _chart(chart, place * (_HEAD + _PLOT + _FOOT))
    return ("\n".join([*lines, "</svg>"]) + "\n").encode()


def _chart(chart: Chart, top: int) -> Iterator[str]:
    """Yield the elements of one chart, whose upper edge is at ``top``."""
    step = (_WIDTH - _LEFT - _RIGHT) / len(chart.bars)
    highest, ground = max(bar.count for bar in chart.bars), top + _HEAD + _PLOT
    counted, free = step >= _DIGIT * len(f"{highest:,}") + 4, 0.0
    yield _label(chart.heading, _LEFT, top + 28, "head", "start")
    for place, bar in enumerate(chart.bars):
        tall, middle = _PLOT * bar.count / highest, _LEFT + step * (place + 0.5)
        width, half = min(step * 0.8, 80), _DIGIT * len(bar.label) / 2
        yield (
            f'<rect class="bar" x="{middle - width / 2:.2f}" y="{ground - tall:.2f}" width="{width:.2f}" '
            f'height="{tall:.2f}"><title>{_text(bar.name)}: {bar.count:,}</title></rect>'
        )
        if counted:
            yield _label(f"{bar.count:,}", middle, ground - tall - 5, "small")
        if bar.label and middle - half >= free:
            yield _label(bar.label, middle, ground + 16, "small")
            free = middle + half + 6
    yield f'<line class="axis" x1="{_LEFT}" y1="{ground}" x2="{_WIDTH - _RIGHT}" y2="{ground}"/>'
    axis = chart.axis if counted else f"{chart.axis}; the highest bar is {highest:,}"
    yield _label(axis, _WIDTH - _RIGHT, ground + 34, "small", "end")


def _label(text: str, x: float, y: float, kind: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}">{_text(text)}</text>'


def _text(text: str) -> str:
    """Return text so that XML shows it as it is; what XML cannot hold becomes a replacement character."""
    return escape(_NOT_XML.sub("\ufffd", text))
