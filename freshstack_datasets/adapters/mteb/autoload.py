"""Make plain MTEB of an environment know FreshStack's tasks, and undo it: two files in its ``site-packages``."""

import contextlib
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file

HOOK = "_freshstack_mteb.py"
LINK = "freshstack_mteb.pth"

# Python runs such a line whenever it starts. It fails without a word where the other file is gone.
_LINE = (
    'import os; exec("try:\\n    import _freshstack_mteb\\n    _freshstack_mteb.activate()\\nexcept Exception: pass")\n'
)


@dataclass(frozen=True, slots=True)
class Autoload:
    """What was done to an environment.

    Args:
        environment: The environment.
        files: The files that it is about.
        changed: Whether anything was written or removed.
    """

    environment: Path
    files: tuple[Path, ...]
    changed: bool


def install() -> Autoload:
    """Let every Python of this environment register the tasks when it imports MTEB.

    Returns:
        The files that do it; nothing changed where they were there already.

    Raises:
        InputError: The environment cannot be written to.
    """
    folder = _folder()
    texts = {folder / HOOK: _source(), folder / LINK: _LINE}  # the line last: it needs the other
    changed = False
    with _writing(folder):
        for path, text in texts.items():
            if not path.is_file() or path.read_text(encoding="utf-8", errors="replace") != text:
                with atomic_file(path) as work:
                    work.write_text(text, encoding="utf-8", newline="\n")
                changed = True
    return Autoload(Path(sys.prefix), tuple(texts), changed)


def uninstall() -> Autoload:
    """Undo ``install`` in this environment.

    Returns:
        The files that were removed; none where nothing was installed.

    Raises:
        InputError: The environment cannot be written to.
    """
    folder = _folder()
    compiled = sorted((folder / "__pycache__").glob(f"{Path(HOOK).stem}.*.pyc"))
    there = [path for path in (folder / LINK, folder / HOOK) if path.is_file()]
    with _writing(folder):
        for path in [*there, *compiled]:
            path.unlink(missing_ok=True)
    return Autoload(Path(sys.prefix), tuple(there), bool(there))


def mteb_is_here() -> bool:
    """Tell whether MTEB can be imported, without doing so."""
    return find_spec("mteb") is not None


def _folder() -> Path:
    return Path(sysconfig.get_path("purelib"))


def _source() -> str:
    return Path(__file__).with_name("startup.py").read_text(encoding="utf-8")


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except (InputError, OSError) as error:
        got = error.got if isinstance(error, InputError) else (error.strerror or str(error)).lower()
        hint = "make a virtual environment of your own, or type freshstack mteb run, which needs nothing installed"
        raise InputError(f"cannot change the environment {shown_path(folder)}", got=got, hint=hint) from error
