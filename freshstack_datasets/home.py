"""The folder for what is kept between runs: indexes, converted originals, documents for look-ups, records of the Hub."""

import os
import sys
from pathlib import Path

from freshstack_datasets.errors import InputError


def home() -> Path:
    """Return ``FRESHSTACK_HOME``, or the folder ``freshstack`` in the user's cache folder of this platform.

    The folder need not exist; whoever writes into it makes it.

    Raises:
        InputError: Nothing is set and the user has no home folder.
    """
    try:
        chosen = os.environ.get("FRESHSTACK_HOME")
        return Path(chosen).expanduser().absolute() if chosen else _user_cache() / "freshstack"
    except RuntimeError:  # pathlib's word for a user without a home folder
        raise InputError("no cache folder", expected="a home folder", got="none", hint="set FRESHSTACK_HOME") from None


def _user_cache() -> Path:
    """Return the cache folder by the platform's convention; a relative path in the environment does not count."""
    variable, default = {
        "win32": ("LOCALAPPDATA", "AppData/Local"),
        "darwin": ("", "Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    chosen = Path(os.environ.get(variable, ""))
    return chosen if chosen.is_absolute() else Path.home() / default
