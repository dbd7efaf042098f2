"""What every page is made of: the site's boards with their verdicts, and the templates, which escape every text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from freshstack_datasets.cli.console import counted, printable
from freshstack_datasets.errors import FreshStackError, MissingExtraError
from freshstack_datasets.loading import Dataset
from freshstack_datasets.report import (
    MISSING,
    interval_text,
    p_text,
    rank_text,
    share_text,
    signed_text,
    size_text,
    time_text,
)
from leaderboard.boards.records import MACRO, Board, Topic
from leaderboard.site import addresses, words
from leaderboard.verdicts.records import Concordance, Verdict, Verdicts

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the site.

    Args:
        path: Where it is, from the site's root, with slashes.
        text: What it holds.
    """

    path: str
    text: str


@dataclass(frozen=True, eq=False)
class Published:
    """A board with what is concluded from it."""

    board: Board
    verdicts: Verdicts

    def verdict(self, scope: str, measure: str) -> Verdict | None:
        """Return the verdict on a scope by a measure; None when fewer than two systems were tested."""
        return self.verdicts.verdicts.get((scope, measure))

    @property
    def tested(self) -> bool:
        """Whether systems were tested against each other, and so pages of verdicts and of comparisons."""
        return bool(self.verdicts.verdicts)

    def compared(self, scope: str) -> str:
        """Return the scope itself where systems were tested on it, else the first one where they were."""
        scopes = [tested for tested, _ in self.verdicts.verdicts]
        return scope if scope in scopes else scopes[0]


@dataclass(frozen=True, eq=False)
class Site:
    """All that the pages show.

    Args:
        published: The boards, by name, the newest snapshot of each first.
        concordances: By the name of a board with several snapshots, how alike they order systems.
        datasets: Opens a dataset by name and snapshot.
        with_text: Whether texts of documents are shown: in a build that stays where it is made.
        base_url: Where the site will be, with a slash at its end; None when nobody knows.
        repository: The page of the repository that takes submissions and disputes; None when there is none.
        warnings: What could not be shown, and why.
    """

    published: tuple[Published, ...]
    concordances: Mapping[str, tuple[Concordance, ...]]
    datasets: Callable[[str, str], Dataset]
    with_text: bool = False
    base_url: str | None = None
    repository: str | None = None
    warnings: list[str] = field(default_factory=list)
    _opened: dict[tuple[str, str], Dataset | None] = field(default_factory=dict)

    def dataset(self, board: Board, topic: Topic) -> Dataset | None:
        """Return the data of a topic; None, with one warning, when it is not at hand or not what was scored on."""
        key = (topic.dataset, board.snapshot)
        if key not in self._opened:
            self._opened[key] = self._open(board, topic)
        return self._opened[key]

    def _open(self, board: Board, topic: Topic) -> Dataset | None:
        try:
            data = self.datasets(topic.dataset, board.snapshot)
            got = data.fingerprint
        except FreshStackError as error:
            self.warnings.append(f"no pages of queries for {topic.dataset}@{board.snapshot}: {error}")
            return None
        if topic.fingerprint not in (None, got):
            why = f"expected fingerprint {topic.fingerprint}, got {got}"
            self.warnings.append(f"no pages of queries for {topic.dataset}@{board.snapshot}: {why}")
            return None
        return data

    def shown_topics(self, board: Board) -> tuple[Topic, ...]:
        """Return the topics whose queries have pages: those with values per query, whose data is at hand."""
        return tuple(
            topic
            for topic in board.topics
            if any(topic.name in entry.per_query for entry in board.entries) and self.dataset(board, topic) is not None
        )

    def snapshots(self, name: str) -> tuple[Published, ...]:
        """Return the boards of a name, the newest snapshot first."""
        return tuple(published for published in self.published if published.board.name == name)

    def has_quarters(self, name: str) -> bool:
        """Whether a board has several snapshots, and so a page that sets them side by side."""
        return len(self.snapshots(name)) > 1


def page(
    site: Site, path: str, template: str, title: str, *, published: Published | None = None, **values: Any
) -> Page:
    """Return a page made of a template.

    A template extends ``base.html``, fills its block ``main``, and writes links with ``link(path)``, which makes a path
    from the site's root an address. Every text is escaped, and characters that turn or hide text are shown by number.

    Args:
        site: The site.
        path: Where the page is.
        template: The file in ``templates``.
        title: What the page is called; the board's and the site's name follow it.
        published: The board that it belongs to; None for one of the whole site.
        **values: What else the template shows. ``here`` names the entry of the navigation that the page stands for:
            ``table``, ``charts``, ``verdicts``, ``compare``, ``queries``, ``quarters``, ``boards``, ``about``,
            ``changes``; ``at`` is the scope and the measure that it shows, where it shows but one.
    """
    shown = {
        "site": site,
        "published": published,
        "board": published.board if published else None,
        "title": title,
        "path": path,
        "here": "",
        "at": None,
        "link": lambda target: addresses.between(path, target),
        **values,
    }
    return Page(path, environment().get_template(template).render(shown))


@cache
def environment() -> "Environment":
    """Return what reads the templates.

    Raises:
        MissingExtraError: The library that fills templates is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("jinja2", "leaderboard") from None
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    made.filters |= {
        "number": words.number,
        "interval": interval_text,
        "signed": signed_text,
        "p_value": p_text,
        "share": share_text,
        "size": size_text,
        "time": time_text,
        "address": address,
        "measure": words.measure,
    }
    made.globals |= {
        "addresses": addresses,
        "scope_title": scope_title,
        "counted": counted,
        "evaluators": evaluators,
        "rank": rank_text,
        "MACRO": MACRO,
    }
    return made


def _safe(value: object) -> object:
    """Return what a template is about to write: nothing unknown as a number, no character that turns or hides text."""
    if value is None:
        return MISSING
    if type(value) is str:
        return printable(value)
    return value


@lru_cache(4096)
def escaped(text: str) -> str:
    """Return a text as templates write it, for cells of which there are so many that no template makes them."""
    return str(environment().filters["escape"](_safe(text)))


def address(value: str | None) -> str | None:
    """Return an address that may be linked to: http or https, to a host that it shows; None for any other."""
    try:
        parts = urlsplit(value or "")
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        fine = fine and "\\" not in parts.netloc and (value or "").isprintable()
    except ValueError:  # a host in brackets that is no address
        return None
    return value if fine else None


def scope_title(board: Board, scope: str) -> str:
    """Return what a scope is called for people."""
    if scope == MACRO:
        return "All topics"
    return next(topic.title for topic in board.topics if topic.name == scope)


def evaluators(board: Board) -> tuple[str, ...]:
    """Return the versions that scored the systems of a board."""
    return tuple(sorted({entry.evaluator for entry in board.entries if entry.evaluator}))
