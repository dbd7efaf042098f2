"""The retrievers that a topic's pool names: how they are made, what they depend on, and what their files are called."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from builders.pipeline.asking import Asking
from builders.pipeline.records import FUSION
from builders.topics.pool import Retriever as Told
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.llm.fake import NAME as STAND_IN
from freshstack_datasets.retrieval import BM25, Dense, EndpointEncoder, Retriever, SentenceEncoder, retriever
from freshstack_datasets.retrieval.index_folder import versions

_LONGEST = 100


def named(several: Sequence[Told]) -> dict[str, Told]:
    """Return retrievers by what they are called in tables; of a folder with a model, only its name is told.

    Args:
        several: What the topic says of them.

    Raises:
        InputError: Two have one name, or one that of what all of them find together.
    """
    found: dict[str, Told] = {}
    for told in several:
        folder = Path(told.dense).resolve() if _is_folder(told) and not told.name else None
        label = f"dense:{folder.name}" if folder else told.label
        if label in found or label == FUSION:
            got = (
                f"{shown(label)}, which is what all of them find together"
                if label == FUSION
                else f"{shown(label)} twice"
            )
            raise InputError("the names of retrievers", expected="each another one", got=got, hint="give it a name")
        found[label] = told
    return found


def slugs(labels: Iterable[str]) -> dict[str, str]:
    """Return what the files of retrievers are called, by the names of the retrievers.

    Args:
        labels: The names, each once.
    """
    found: dict[str, str] = {}
    taken = {FUSION}
    for label in labels:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.")[:_LONGEST] or "retriever"
        slug, number = plain, 1
        while slug.lower() in taken:  # some file systems do not tell capital letters
            number += 1
            slug = f"{plain}-{number}"
        taken.add(slug.lower())
        found[label] = slug
    return found


def made(told: Told, asking: Asking) -> Retriever:
    """Return a retriever; nothing is indexed yet.

    Args:
        told: What the topic says of it.
        asking: Who asks servers.

    Raises:
        InputError: It cannot be made of that.
        MissingExtraError: A package that it needs is not installed.
    """
    if told.bm25:
        return BM25()
    if told.python:
        return retriever(f"python:{told.python}")
    encoder = _endpoint(told, asking) if told.endpoint else SentenceEncoder(told.dense)
    return Dense(encoder, query_prefix=told.query_prefix or None, document_prefix=told.document_prefix or None)


def depends(told: Told, asking: Asking) -> dict[str, Any]:
    """Return all that what a retriever finds depends on, beside the texts, as JSON values; no model is loaded.

    Args:
        told: What the topic says of it.
        asking: Who asks servers.

    Raises:
        InputError: A module or a model cannot be found or read.
        MissingExtraError: A package that it needs is not installed.
    """
    told_json = told.model_dump(mode="json", exclude_defaults=True, exclude={"key_from", "endpoint"})
    if told.bm25:
        return {**told_json, "libraries": versions("bm25s", "PyStemmer")}
    if told.python:
        return {**told_json, "code": _code(told.python)}
    if told.endpoint:
        return {**told_json, "endpoint": _endpoint(told, asking).identity["endpoint"]}
    encoder = SentenceEncoder(told.dense)
    if not _is_folder(told):
        return {**told_json, "libraries": dict(encoder.libraries)}
    return {**told_json, "dense": "", **encoder.identity}  # where it lies changes nothing


def model_of(told: Told, asking: Asking) -> str:
    """Return the name of the model by which a retriever searches, which tells a stand-in; "" where there is none."""
    if told.endpoint and asking.client_at(told.endpoint, told.key_from).transport.stand_in:
        return f"{STAND_IN} for {told.dense}"
    return Path(told.dense).resolve().name if _is_folder(told) else told.dense


def _is_folder(told: Told) -> bool:
    return bool(told.dense) and not told.endpoint and Path(told.dense).is_dir()


def _endpoint(told: Told, asking: Asking) -> EndpointEncoder:
    return EndpointEncoder(asking.client_at(told.endpoint, told.key_from), told.dense, told.key_from)


def _code(place: str) -> str:
    """Return the digest of a module's file, "" where it has none."""
    module = place.partition(":")[0]
    try:
        found = find_spec(module)
        origin = Path(found.origin) if found and found.origin else None
        return hashlib.sha256(origin.read_bytes()).hexdigest() if origin else ""
    except (ImportError, OSError, ValueError):  # to make it says better what is wrong
        return ""
