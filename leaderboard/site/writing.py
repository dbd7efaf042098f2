"""The whole site at once: boards are read, verdicts are made once, and every page is put into one new folder."""

import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path

from freshstack_datasets.errors import InputError, UnknownNameError, shown, shown_path
from freshstack_datasets.evaluation.statistics import RESAMPLES, SEED
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.report import stylesheet
from leaderboard.boards.reading import boards_of, read_board
from leaderboard.boards.records import Board
from leaderboard.site import (
    about,
    changes,
    charting,
    comparing,
    downloads,
    home,
    quarters,
    systems,
    table,
    tiers,
)
from leaderboard.site.filing import write, writing_queries
from leaderboard.site.pages import HERE, Page, Published, Site, address
from leaderboard.verdicts.deciding import across, decide

SECTIONS: tuple[Callable[[Site], Iterable[Page]], ...] = (
    home.pages,
    table.pages,
    charting.pages,
    systems.pages,
    comparing.pages,
    tiers.pages,
    quarters.pages,
    about.pages,
    changes.pages,
    downloads.pages,
)
"""What makes pages of a site, but for those of queries."""

MARK = "site.json"
"""The file that tells a site of ours from any other folder, and what it was made of."""

_MADE_BY = "python -m leaderboard build"


@dataclass(frozen=True, slots=True)
class Built:
    """What was written.

    Args:
        out: The folder.
        boards: The boards that it shows.
        files: How many files there are.
        size: Their bytes together.
        warnings: What is not shown, and why.
    """

    out: Path
    boards: tuple[Board, ...]
    files: int
    size: int
    warnings: tuple[str, ...]


def build_site(
    root: Path,
    out: Path,
    *,
    with_text: bool = False,
    datasets: Callable[[str, str], Dataset] = load,
    base_url: str | None = None,
    repository: str | None = None,
    only: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Built:
    """Write the site of all boards: static files, complete without JavaScript, which ask no other host for anything.

    The same submissions give the same bytes.

    Args:
        root: The folder of submissions.
        out: Where the site goes: a new or empty folder, or a site that was built before, which is replaced.
        with_text: Whether texts of documents are shown: not for a page that is published, since their licences differ.
        datasets: Opens a dataset by name and snapshot.
        base_url: Where the site will be, for what cannot be relative, as in the feed.
        repository: The page of the repository that takes submissions and disputes.
        only: The boards to show, as ``name`` or ``name/snapshot``; all when not given.
        resamples: Resamples of the bootstrap and sign flips of the tests.
        seed: Where their random numbers start.

    Raises:
        InputError: A board or a submission cannot be read, an option is not allowed, or ``out`` holds something else.
        NotComparableError: Systems of a board were scored on different data.
        MissingExtraError: The library that fills templates is not installed.
    """
    options = _checked(base_url, "--base-url"), _checked(repository, "--repository")
    refuse_foreign(out)
    boards = [read_board(folder) for folder in chosen(root, only)]
    site = site_of(boards, datasets, with_text, *options, resamples=resamples, seed=seed)
    with _replacing(out) as work, writing_queries(site, work) as queries:
        written = write(work, chain(*(section(site) for section in SECTIONS), _files(site)))
        for more in queries():
            for path, size in more.items():
                written.add(path, size)
    warnings = [*(warning for board in boards for warning in board.warnings), *site.warnings]
    return Built(out, tuple(boards), len(written), sum(written.values()), tuple(warnings))


def site_of(
    boards: Sequence[Board],
    datasets: Callable[[str, str], Dataset],
    with_text: bool = False,
    base_url: str | None = None,
    repository: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Site:
    """Return what pages are made of: the boards in the order they are shown, each with its verdicts."""
    newest_first = sorted(sorted(boards, key=_snapshot_order, reverse=True), key=lambda board: board.name)
    published = tuple(Published(board, decide(board, resamples=resamples, seed=seed)) for board in newest_first)
    by_name = {name: list(group) for name, group in groupby(newest_first, key=lambda board: board.name)}
    concordances = {name: tuple(across(group[::-1])) for name, group in by_name.items() if len(group) > 1}
    if base_url is not None and not base_url.endswith("/"):
        base_url += "/"
    return Site(published, concordances, datasets, with_text, base_url, repository)


def _snapshot_order(board: Board) -> tuple[str, int]:
    """Return what sorts snapshots by time: ``2026-10.2`` comes before ``2026-10.10``."""
    month, _, correction = board.snapshot.partition(".")
    return month, int(correction or 0)


def chosen(root: Path, only: Sequence[str]) -> list[Path]:
    """Return the folders of the boards that were asked for.

    Args:
        root: The folder of submissions.
        only: Names as ``name`` or ``name/snapshot``; all boards when there are none.

    Raises:
        InputError: There is no board.
        UnknownNameError: There is none of a name.
    """
    found = boards_of(root)
    if not found:
        raise InputError(f"the folder {shown_path(root)}", expected="a board.yaml in <board>/<snapshot>", got="none")
    names = {folder: (folder.parent.name, f"{folder.parent.name}/{folder.name}") for folder in found}
    for name in only:
        if not any(name in known for known in names.values()):
            raise UnknownNameError("board", name, {known for pair in names.values() for known in pair})
    return [folder for folder in found if not only or set(names[folder]) & set(only)]


def _checked(url: str | None, option: str) -> str | None:
    if url is not None and address(url) is None:
        raise InputError(option, expected="an address that begins with https:// or http://", got=shown(url))
    return url


def refuse_foreign(out: Path) -> None:
    """Raise InputError when something is in the way that is no site of ours, so that nothing is lost by a slip."""
    if out.is_dir() and not out.is_symlink():
        if not any(out.iterdir()) or _is_ours(out):
            return
        raise InputError(
            f"the folder {shown_path(out)}",
            expected="a new folder, an empty one, or a site that was built before",
            got="other files",
            hint="give another --out",
        )
    if out.exists() or out.is_symlink():
        raise InputError(f"the path {shown_path(out)}", expected="a folder", got="something else")


def _is_ours(out: Path) -> bool:
    """Tell whether a folder is a site that was built before; others have files that are called ``site.json``, too."""
    try:
        told = json.loads((out / MARK).read_bytes()) if (out / MARK).is_file() else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("made_by") == _MADE_BY


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of an older site when the block ends well."""
    if not _is_ours(out):
        with atomic_folder(out) as work:
            yield work
        return
    whole = out.resolve()
    new, old = (whole.parent / f".{whole.name}.{secrets.token_hex(4)}.{kind}" for kind in ("new", "old"))
    with atomic_folder(new) as work:
        yield work
    try:
        whole.rename(old)
        new.rename(whole)
    except OSError as error:
        if old.exists() and not whole.exists():
            old.rename(whole)
        shutil.rmtree(new, ignore_errors=True)
        hint = "see whether another build writes there, and run it again"
        got = (error.strerror or "an unusable path").lower()
        raise InputError(f"cannot replace the site {shown_path(out)}", got=got, hint=hint) from error
    finally:
        if whole.exists():  # that of another build, where one was quicker
            shutil.rmtree(old, ignore_errors=True)


def _files(site: Site) -> Iterator[Page]:
    """Yield the files that no board changes, one script and the style of charts with that of pages, and the mark."""
    held = {source.name: source.read_text(encoding="utf-8") for source in sorted((HERE / "static").iterdir())}
    scripts = [name for name in held if name.endswith(".js")]
    held["site.js"] = "".join(held.pop(name) for name in scripts)
    held["style.css"] += stylesheet()
    for name, text in held.items():
        yield Page(name, text)
    yield Page(".nojekyll", "")  # GitHub's pages would leave out some names otherwise
    yield Page(MARK, _mark(site))


def _mark(site: Site) -> str:
    """Return what a site says of itself, for programs."""
    boards = [
        {
            "board": board.name,
            "snapshot": board.snapshot,
            "updated": board.updated.isoformat(),
            "systems": len(board.entries),
            "fingerprints": {topic.name: topic.fingerprint for topic in board.topics},
        }
        for board in (published.board for published in site.published)
    ]
    told = {"made_by": _MADE_BY, "with_text": site.with_text, "boards": boards}
    return json.dumps(told, indent=1) + "\n"
