"""What this adapter needs of MTEB and can miss: its modules, and the private attributes that tasks are registered by."""

import importlib
import re
from importlib import metadata
from types import ModuleType
from typing import Any

from freshstack_datasets.errors import InputError, MissingExtraError

_PACKAGE, _EXTRA = "freshstack-datasets", "mteb"


def module(name: str) -> ModuleType:
    """Return one of MTEB's modules, or one of this adapter's that needs MTEB.

    Args:
        name: Its full name. What ``mteb`` has as ``get_tasks`` is a function, and not the module of that name.

    Raises:
        MissingExtraError: MTEB is not installed.
        InputError: The installed MTEB does not have it, or lacks what it needs.
    """
    try:
        importlib.import_module("mteb")  # first, since a hook at its import may need modules of this adapter
        return importlib.import_module(name)
    except ImportError as error:
        if error.name == "mteb":
            raise MissingExtraError("mteb", _EXTRA) from None
        raise moved(str(error)) from None


def attribute(home: Any, name: str) -> Any:
    """Return a private attribute of one of MTEB's modules, or of something in there.

    Args:
        home: The module's full name, or the thing.
        name: The attribute.

    Raises:
        InputError: The installed MTEB does not have it.
    """
    found = getattr(module(home) if isinstance(home, str) else home, name, None)
    if found is None:
        raise moved(f"no {home if isinstance(home, str) else home.__name__}.{name}")
    return found


def moved(what: str) -> InputError:
    """Return the error for an MTEB that has not what is needed of it.

    Args:
        what: What is wrong, or lacks.
    """
    return InputError(
        f"the installed MTEB does not fit: {what}",
        expected=f"mteb {working_versions()}",
        got=metadata.version("mteb"),
        hint=f"pip install '{_PACKAGE}[{_EXTRA}]'",
    )


def working_versions() -> str:
    """Return the versions of MTEB that the extra allows, such as ``>=2.22,<3``."""
    form = re.compile(r"mteb(?:\[[^]]*\])?\s*\(?([^;)]*)\)?\s*;.*\bextra\b")
    bounds = [found.group(1) for requirement in metadata.requires(_PACKAGE) or () if (found := form.match(requirement))]
    return ",".join(sorted(bounds[0].replace(" ", "").split(","), reverse=True)) if bounds else ""


def language_code(language: str) -> str | None:
    """Return a language of ISO 639-1 with its usual script, as in ``eng-Latn``; None where MTEB does not know it."""
    code: str | None = attribute("mteb.languages.iso_mappings", "_hf_lang_to_iso_lang_script")(language)
    return code
