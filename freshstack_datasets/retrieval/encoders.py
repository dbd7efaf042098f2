"""Encoders: what makes vectors of texts, for dense search.

A model of sentence-transformers, by its name on the Hub or in a folder, or a server's embeddings. Neither the library
nor the client of servers is imported before a text is encoded.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from freshstack_datasets.errors import BudgetError, EndpointError, InputError, MissingExtraError, shown, shown_path
from freshstack_datasets.retrieval.index_folder import versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from freshstack_datasets.llm.client import Client

Role = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Texts as vectors.

    Args:
        vectors: One a row, in the order of the texts.
        cut: How many of the texts are longer than the model takes, so that their ends do not count.
    """

    vectors: "NDArray[np.float32]"
    cut: int = 0


class Encoder(Protocol):
    """Makes vectors of texts."""

    @property
    def told(self) -> Mapping[str, Any]:
        """Return how to make it again, as JSON values and without a secret; empty when that cannot be told."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return all that decides on its vectors, as JSON values and without a secret."""

    @property
    def at_once(self) -> int:
        """Return about how many documents it should be given at once."""

    @property
    def shows_progress(self) -> bool:
        """Tell whether it shows a bar of its own while it encodes."""

    def encode(self, texts: Sequence[str], role: Role, prefix: str | None) -> Encoded:
        """Return vectors of one length for texts that say something.

        Args:
            texts: The texts.
            role: What they are.
            prefix: What is put before each; None for what the model itself asks for.
        """


class SentenceEncoder:
    """A model of sentence-transformers; it is loaded when the first text is encoded, and runs no code of its own.

    Args:
        model: Its name on the Hub, or a folder.

    Raises:
        MissingExtraError: sentence-transformers is not installed.
    """

    at_once = 256
    shows_progress = False

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtraError("sentence-transformers", "dense")
        self.model = model

    @property
    def told(self) -> Mapping[str, Any]:
        """How to make it again."""
        return {"kind": "sentence-transformers", "model": self.model}

    @property
    def libraries(self) -> Mapping[str, str]:
        """The versions of what runs it."""
        return versions("sentence-transformers", "transformers", "torch")

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """Its name with the files behind it, and the libraries that run it."""
        folder, libraries = Path(self.model), dict(self.libraries)
        if folder.is_dir():  # where it lies says nothing of its vectors
            return {"kind": "sentence-transformers", "files": _files_digest(folder), "libraries": libraries}
        commit = getattr(self._loaded.model_card_data, "base_model_revision", None)
        return {**self.told, "commit": commit, "libraries": libraries}

    @cached_property
    def _loaded(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as bars

        shows = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()  # it would be shown to a file too
        try:
            return SentenceTransformer(self.model, local_files_only=Path(self.model).is_dir())
        except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
            got = shown(" ".join(str(error).split()))
            expected = "a model of sentence-transformers, by its name on the Hub or a folder"
            raise InputError(f"the model {shown(self.model)}", expected=expected, got=got) from None
        finally:
            if shows:
                bars.enable_progress_bar()

    def encode(self, texts: Sequence[str], role: Role, prefix: str | None) -> Encoded:
        """Return the vectors of texts; equal ones are encoded once."""
        model, different = self._loaded, list(dict.fromkeys(texts))
        encode = model.encode_query if role == "query" else model.encode_document
        given = {} if prefix is None else {"prompt": prefix}
        rows = encode(different, show_progress_bar=False, convert_to_numpy=True, **given)
        place = {text: row for row, text in enumerate(different)}
        before = prefix if prefix is not None else _own_prompt(model, role)
        return Encoded(np.asarray(rows, np.float32)[[place[text] for text in texts]], _longer(model, texts, before))


class EndpointEncoder:
    """The embeddings of a server.

    A text that the server refuses is cut to half its length until it is taken.

    Args:
        client: Who is asked.
        model: The model, as the server knows it.
        key_from: The variable of the environment that holds the server's key, to make it again.
        parameters: What else is sent, such as ``dimensions``.
    """

    at_once = 2048
    shows_progress = True

    def __init__(self, client: "Client", model: str, key_from: str = "", **parameters: Any) -> None:
        self.client, self.model, self.key_from, self.parameters = client, model, key_from, parameters

    @property
    def told(self) -> Mapping[str, Any]:
        """How to make it again, with another client."""
        return {"kind": "endpoint", **self._what, "key_from": self.key_from}

    @property
    def identity(self) -> Mapping[str, Any]:
        """Who is asked for what."""
        return {"kind": "endpoint", **self._what}

    @property
    def _what(self) -> dict[str, Any]:
        return {"model": self.model, "endpoint": self.client.transport.endpoint, "parameters": self.parameters}

    def encode(self, texts: Sequence[str], role: Role, prefix: str | None) -> Encoded:
        """Return the embeddings of texts.

        Raises:
            EndpointError: The server does not embed one of them.
            BudgetError: The next call does not fit into the client's budget.
        """
        from freshstack_datasets.llm.running import ask_all

        sent = [(prefix or "") + text for text in texts]
        parts = [sent[at : at + _CALL] for at in range(0, len(sent), _CALL)]
        jobs = [partial(self._part, texts=part) for part in parts]
        what = "embedding documents" if role == "document" else "embedding queries"
        done = ask_all(self.client, jobs, what, f"times {_CALL} texts")
        if len(lengths := {rows.shape[1] for rows, _ in done}) > 1:
            got = " and ".join(map(str, sorted(lengths)))
            raise EndpointError(f"embeddings of {self.model}", expected="vectors of one length", got=got)
        return Encoded(np.concatenate([rows for rows, _ in done]), sum(cut for _, cut in done))

    async def _part(self, client: "Client", texts: Sequence[str]) -> "tuple[NDArray[np.float32], int]":
        try:
            return await client.embed(texts, self.model, **self.parameters), 0
        except EndpointError as error:
            if error.got.startswith("budget"):
                raise BudgetError(
                    error.what, got=error.got, hint="what was answered is kept: raise the limit"
                ) from None
            if not error.got.startswith(_REFUSED):
                raise
            if len(texts) > 1:
                done = [await self._part(client, [text]) for text in texts]
                return np.concatenate([rows for rows, _ in done]), sum(cut for _, cut in done)
            if len(texts[0]) < _SHORTEST:
                raise
        rows, _ = await self._part(client, [texts[0][: len(texts[0]) // 2]])
        return rows, 1


_CALL = 64
_REFUSED = ("http-400", "http-413", "http-422")
_SHORTEST = 1000
"""Characters of a text that is not refused for its length, as every model takes as many."""


def encoder_told(told: Mapping[str, Any]) -> Encoder:
    """Return an encoder by what one like it told.

    Args:
        told: Its ``told``.

    Raises:
        InputError: It cannot be made by that.
    """
    match told:
        case {"kind": "sentence-transformers", "model": str(model)}:
            return SentenceEncoder(model)
        case {"kind": "endpoint", "model": str(model), "endpoint": str(url), "key_from": str(key_from)}:
            return endpoint_encoder(url, model, key_from, **dict(told.get("parameters") or {}))
    hint = "give it as encoder"
    raise InputError("the encoder of an index", expected="one that can be made again", got=shown(dict(told)), hint=hint)


def endpoint_encoder(url: str, model: str, key_from: str = "", **parameters: Any) -> EndpointEncoder:
    """Return an encoder that asks a server, whose answers are kept where all replies are by default.

    Args:
        url: The server's base URL.
        model: The model, as the server knows it.
        key_from: The variable of the environment that holds its key; ``OPENAI_API_KEY`` when not given.
        parameters: What else is sent.

    Raises:
        InputError: The URL is none.
    """
    from freshstack_datasets.llm.client import Client
    from freshstack_datasets.llm.replay import KEY_FROM
    from freshstack_datasets.llm.store import Store, default_store

    client = Client(url, Store(default_store()), key_from=key_from or KEY_FROM)
    return EndpointEncoder(client, model, key_from or KEY_FROM, **parameters)


def _own_prompt(model: Any, role: Role) -> str:
    """Return what a model puts before a text where nobody says what: its prompt for the role, or that for all."""
    prompts = getattr(model, "prompts", None) or {}
    names = ("query",) if role == "query" else ("document", "passage", "corpus")
    for name in (*names, getattr(model, "default_prompt_name", None)):
        if isinstance(found := prompts.get(name), str) and found:
            return found
    return ""


def _longer(model: Any, texts: Sequence[str], before: str) -> int:
    """Return how many texts have more tokens than a model takes."""
    most = getattr(model, "max_seq_length", None)
    if not isinstance(most, int | float) or not callable(tokenizer := getattr(model, "tokenizer", None)):
        return 0
    long = [before + text for text in texts if len(before) + len(text.encode("utf-8", "replace")) >= most // 2]
    if not long:
        return 0
    found = tokenizer(long, add_special_tokens=True, truncation=False, verbose=False)["input_ids"]
    return sum(len(tokens) > most for tokens in found)


def _files_digest(folder: Path) -> str:
    """Return the digest of a model's files."""
    total = hashlib.sha256()
    try:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            total.update(f"{content} {path.relative_to(folder).as_posix()}\n".encode())
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        raise InputError(f"the model in {shown_path(folder)} cannot be read", got=got) from None
    return total.hexdigest()
