"""What to say when a library has moved something that an adapter stands on."""

import re
from importlib import metadata

from freshstack_datasets.errors import InputError, shown

_PACKAGE = "freshstack-datasets"


def moved(library: str, extra: str, what: str) -> InputError:
    """Return the error for an installed library that lacks something.

    Args:
        library: The library's distribution, as ``pip`` knows it.
        extra: The extra that brings it.
        what: What it lacks, or what Python said when that was looked for.
    """
    installed = metadata.version(library)
    return InputError(
        f"{library} {installed} lacks what this package stands on ({shown(what)})",
        expected=f"{library}{working(library, extra)}",
        got=installed,
        hint=f"pip install '{_PACKAGE}[{extra}]'",
    )


def working(library: str, extra: str) -> str:
    """Return the versions of a library that an extra allows, such as ``>=2.22,<3``; "" when it does not say.

    Args:
        library: The library's distribution.
        extra: The extra.
    """
    for requirement in metadata.requires(_PACKAGE) or ():
        wanted, _, marker = requirement.partition(";")
        found = re.fullmatch(rf"{re.escape(library)}(?:\[[^]]*\])?\s*\(?([^)]*)\)?\s*", wanted)
        if found and re.search(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]", marker):
            return ",".join(sorted(found[1].replace(" ", "").split(","), reverse=True))
    return ""
