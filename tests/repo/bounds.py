"""The libraries that the adapters are for, as pip is to install them: the oldest that we say works, or the newest there is.

    pip install --upgrade $(python -m tests.repo.bounds newest)
    pip install $(python -m tests.repo.bounds oldest)

The newest are asked for without our upper bounds, to learn early what a bound keeps out.
"""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

FILE = Path(__file__).parents[2] / "pyproject.toml"
OTHERS = ("all", "build", "cluster", "fast", "llm", "pdf")
"""Extras that are not for an adapter."""


def requirements() -> list[Requirement]:
    """Return what the extras of the adapters ask for, without those that name other extras of ours."""
    extras = tomllib.loads(FILE.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = (Requirement(line) for extra, lines in extras.items() if extra not in OTHERS for line in lines)
    return [requirement for requirement in asked if requirement.name != "freshstack-datasets"]


def bounds(requirement: Requirement) -> tuple[str, str]:
    """Return the lower and the upper bound."""
    given = {specifier.operator: specifier.version for specifier in requirement.specifier}
    return given[">="], given["<"]


def spelled(which: str) -> list[str]:
    """Return what pip is to install."""
    found = []
    for requirement in requirements():
        name = requirement.name + (f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else "")
        found.append(f"{name}=={bounds(requirement)[0]}" if which == "oldest" else name)
    return found


if __name__ == "__main__":
    if sys.argv[1:] not in (["newest"], ["oldest"]):
        sys.exit("error: expected newest or oldest")
    sys.stdout.write(" ".join(spelled(sys.argv[1])) + "\n")
