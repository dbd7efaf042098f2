"""Retrievers by what people type: ``bm25``, ``dense:MODEL`` or ``python:MODULE:FACTORY``."""

import os
import re
import sys
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from freshstack_datasets.errors import InputError, UnknownNameError, shown
from freshstack_datasets.retrieval.bm25 import BM25
from freshstack_datasets.retrieval.own import aside
from freshstack_datasets.retrieval.protocol import Retriever

BM25_NAME, DENSE, PYTHON = "bm25", "dense", "python"
FORMS = (BM25_NAME, "dense:MODEL", "python:MODULE:FACTORY")
"""What a retriever's name may look like."""
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def retriever(name: str) -> Retriever:
    """Return the retriever of a name; nothing is indexed yet.

    - ``bm25``.
    - ``dense:MODEL``: a model of sentence-transformers, by its name on the Hub or its folder.
    - ``dense:MODEL@URL``: a model of a server, whose base URL begins with ``http``; the key is that in the environment's
      ``OPENAI_API_KEY``.
    - ``python:MODULE:FACTORY``: what ``FACTORY()`` of a module returns. It is imported from where Python finds modules,
      or from the folder that one is in. What it prints meanwhile goes to standard error.

    Args:
        name: The name.

    Raises:
        UnknownNameError: There is none of that name, or no such factory.
        InputError: The module cannot be imported, or its factory returns no retriever.
        MissingExtraError: A package that the retriever needs is not installed.
    """
    check_name(name)
    kind, _, rest = name.partition(":")
    if kind == DENSE:
        return _dense(rest)
    if kind == PYTHON:
        with aside():
            return _python(name, *rest.split(":"))
    return BM25()


def check_name(name: str) -> None:
    """Refuse what is no name of a retriever by its looks, before anything is loaded.

    Args:
        name: What was typed.

    Raises:
        UnknownNameError: It is none.
        InputError: It begins like one and does not go on so.
    """
    kind, colon, rest = str(name).partition(":")
    if name == BM25_NAME or (kind == DENSE and rest):
        return
    if kind == PYTHON and colon:
        module, _, factory = rest.partition(":")
        if _DOTTED.fullmatch(module) and _DOTTED.fullmatch(factory):
            return
        raise InputError("a retriever", expected="python:MODULE:FACTORY", got=shown(name))
    if kind == DENSE:
        raise InputError("a retriever", expected="dense:MODEL", got=shown(name))
    raise UnknownNameError("retriever", name, FORMS)


def _dense(text: str) -> Retriever:
    from freshstack_datasets.retrieval.dense import Dense
    from freshstack_datasets.retrieval.encoders import endpoint_encoder

    model, at, url = text.rpartition("@")
    if model and at and url.startswith(("http://", "https://")):
        return Dense(endpoint_encoder(url, model))
    return Dense(text)


def _python(name: str, module: str, factory: str) -> Retriever:
    """Return what somebody's own factory makes; nothing but the module that was named is imported."""
    made: Any = _imported(module)
    for part in factory.split("."):
        known = [key for key in dir(made) if not key.startswith("_") and callable(getattr(made, key, None))]
        made = getattr(made, part, None)
        if made is None:
            raise UnknownNameError(f"factory in the module {module},", factory, known)
    if not callable(made):
        raise InputError(f"the factory of {shown(name)}", expected="something to call", got=shown(made))
    try:
        value = made()
    except (Exception, SystemExit) as error:  # it may do anything
        what, got = f"the factory of {shown(name)} failed", f"{type(error).__name__}: {shown(str(error))}"
        raise InputError(what, expected="a retriever of a call without arguments", got=got) from error
    if not _is_retriever(value):
        got = f"{shown(value)} ({type(value).__name__})"
        raise InputError(f"the factory of {shown(name)}", expected="something with index and search", got=got)
    return cast(Retriever, value)


def _is_retriever(value: object) -> bool:
    return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in ("index", "search"))


def _imported(module: str) -> ModuleType:
    here = os.getcwd()  # noqa: PTH109 - sys.path holds texts
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that no module of Python or of a package is taken for another
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
            hint = "check the spelling, or run it from the folder that holds the module"
            raise InputError(f"the module {shown(module)} is not found", hint=hint) from None
        got = f"{type(error).__name__}: {shown(str(error))}"
        raise InputError(f"the module {shown(module)} cannot be imported", got=got) from error
