"""A digest of our own code, so that a part is made again after a change of what made it."""

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def code(*names: str) -> str:
    """Return a digest of the source of modules and packages, with all that is in these.

    Args:
        names: Their full names, such as ``builders.chunking``; none of them is imported but packages above them.
    """
    total = hashlib.sha256()
    for name in names:
        for path, place in _files(name):
            total.update(f"{name} {place} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _files(name: str) -> list[tuple[Path, str]]:
    """Return the source files of a module or a package, with their places in it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no source of {name}")
    home = Path(spec.origin)
    if home.name != "__init__.py":
        return [(home, home.name)]
    return sorted((path, path.relative_to(home.parent).as_posix()) for path in home.parent.rglob("*.py"))
