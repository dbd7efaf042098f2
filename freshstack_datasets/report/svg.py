"""Elements of SVG as text: numbers cut to hundredths, so that the same values give the same bytes."""

from collections.abc import Iterable

from freshstack_datasets.report.text import escaped, shortened, width_of

FONT = 12.0
"""The size of all letters in charts, in pixels; ``style.css`` sets them so."""

LINE = 18.0
"""The height of a line of text."""


def number(value: float) -> str:
    """Return a coordinate to hundredths of a pixel, without zeros at its end."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(tag: str, *content: str, **attributes: str | float) -> str:
    """Return an element.

    Args:
        tag: Its name.
        content: What is within it, SVG already.
        attributes: Its attributes; ``class_`` stands for ``class``, and an underscore for a hyphen.
    """
    written = "".join(f' {_name(name)}="{_attribute(value)}"' for name, value in attributes.items() if value != "")
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-") if name != "viewBox" else name


def _attribute(value: str | float) -> str:
    return escaped(value) if isinstance(value, str) else number(value)


def label(x: float, y: float, text: str, class_: str = "", anchor: str = "", *, room: float = 0.0) -> str:
    """Return a line of text, cut to its room where it has one; the whole of a cut text shows below the pointer.

    Args:
        x: Where it begins, ends or has its middle, as the anchor says.
        y: Its base line.
        text: The text; foreign.
        class_: Its classes.
        anchor: ``middle``, ``end`` or "" for its beginning.
        room: How wide it may be; 0 for no limit.
    """
    cut = shortened(text, room, FONT) if room else text
    whole = element("title", escaped(text)) if cut.endswith("…") and cut != text else ""
    return element("text", whole + escaped(cut), x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a straight line."""
    return element("path", d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", class_=class_)


def rectangle(x: float, y: float, width: float, height: float, class_: str) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, class_=class_)


def titled(title: str, *content: str, class_: str = "") -> str:
    """Return a group of elements with a text that shows below the pointer."""
    return element("g", element("title", escaped(title)), *content, class_=class_)


def picture(width: float, height: float, title: str, about: str, body: Iterable[str]) -> str:
    """Return a whole ``<svg>``, to be put into a page.

    Args:
        width: Its width in pixels.
        height: Its height.
        title: Its title.
        about: What it shows, for who cannot see it.
        body: Its elements.
    """
    return element(
        "svg",
        element("title", escaped(title)),
        element("desc", escaped(about)),
        "\n",
        "\n".join(body),
        "\n",
        xmlns="http://www.w3.org/2000/svg",
        class_="fs-chart",
        role="img",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
    )


def flowed(entries: Iterable[tuple[str, str]], width: float, top: float) -> tuple[list[str], float]:
    """Set signs with their names one after another, on as many lines as they take.

    Args:
        entries: Signs, drawn around the origin, and what each stands for; foreign text.
        width: The width of a line.
        top: Where the first line begins.

    Returns:
        The elements, and where the last line ends; ``top`` when there is nothing to set.
    """
    drawn: list[str] = []
    x, y = 0.0, top
    for sign, name in entries:
        text = shortened(name, width - 24, FONT)
        needed = 22 + width_of(text, FONT) + 14
        if drawn and x + needed - 14 > width:
            x, y = 0.0, y + LINE
        moved = element("g", sign, transform=f"translate({number(x + 9)} {number(y + 9)})")
        drawn.append(moved + label(x + 22, y + 13, text))
        x += needed
    return drawn, y + LINE if drawn else top
