"""What may stand where MTEB expects a model's name: the folder of a model, or a run file, which is replayed."""

import hashlib
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from mteb import models
from mteb.models import ModelMeta

from freshstack_datasets.adapters.mteb.internals import MTEB
from freshstack_datasets.adapters.mteb.replaying import replay
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.runs import read_run

OWNER = "local"
"""What stands in the name of a local model before the slash."""

_CONFIGS = ("modules.json", "config_sentence_transformers.json", "config.json")
_DENSE = ("SentenceTransformerEncoderWrapper", "dense")
_KINDS = {
    "CrossEncoder": ("CrossEncoderWrapper", "cross-encoder"),
    "SparseEncoder": ("SparseEncoderWrapper", "sparse"),
    "MultiVectorEncoder": ("MultiVectorWrapper", "late-interaction"),
    "ColBERT": ("MultiVectorWrapper", "late-interaction"),  # what that kind was called in its first home
}
"""MTEB's wrapper and its word for the kinds of models that sentence-transformers saves."""
_SAYS_LITTLE = re.compile(r"model|final|best|last|snapshots|checkpoint\W?\d*|[0-9a-f]{40}", re.IGNORECASE)
_NO_PART = re.compile(
    r"\..*|.*\.md|checkpoint-\d+|__pycache__|optimizer\.\w+|scheduler\.\w+|scaler\.\w+|rng_state.*\.pth"
    r"|trainer_state\.json|training_args\.bin"
)
"""Files and folders beside a model that change nothing about it: notes, and what only its training needs."""


def adopt(typed: str) -> None:
    """Let MTEB find a local model, or a replayed run, by what was typed.

    A name that MTEB has is MTEB's. Else what is there on this machine counts, and everything else is left to MTEB.

    Args:
        typed: A name, the folder of a model, or a run file.

    Raises:
        InputError: It is a path, and no model or run is there.
        RunFileError: It is a file, and no run.
    """
    registry = MTEB.attribute("mteb.models.model_implementations", "MODEL_REGISTRY")
    if typed in registry:
        return
    path = Path(typed).expanduser()
    if _is_model(path):
        registry[typed] = _of_folder(path)
    elif path.is_file():
        registry[typed] = _of_run(path)
    elif typed.startswith((".", "/", "~")) or path.is_absolute():
        got = "a folder without any of them" if path.is_dir() else "nothing there"
        expected = f"the folder of a model, which holds {' or '.join(_CONFIGS)}, or a run file"
        raise InputError(f"-m {shown_path(typed)}", expected=expected, got=got, hint="check the path")


def limit(model: Any, length: int) -> None:
    """Let a loaded model read only the first tokens of a text, and say so in its metadata.

    Results with another length are then kept apart.

    Args:
        model: The model, in MTEB's wrapper.
        length: How many tokens.

    Raises:
        InputError: The model takes no length, or cannot read that many.
    """
    name: str = model.mteb_model_meta.name
    inner: Any = getattr(model, "model", None)
    if not isinstance(getattr(inner, "max_seq_length", None), int):  # None or infinite where nothing is cut
        raise InputError(f"--max-seq-length {length}", expected="a model that reads tokens", got=shown(name))
    most = _positions(inner)
    if most is not None and length > most:
        raise InputError(f"--max-seq-length {length}", expected=f"at most {most}, as {name} has positions for")
    inner.max_seq_length = length
    told = {**(model.mteb_model_meta.experiment_kwargs or {}), "max_seq_length": length}
    update = {"experiment_kwargs": told, "max_tokens": length}
    model.mteb_model_meta = model.mteb_model_meta.model_copy(update=update)


def digest(folder: Path) -> str:
    """Return what stands for the weights, configuration and code of a model: 40 hexadecimal digits.

    Args:
        folder: The model's folder.
    """
    total = hashlib.sha256()
    for name, path in _parts(folder):
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        total.update(f"{content} {name}\n".encode(errors="surrogateescape"))
    return total.hexdigest()[:40]


def name_of(folder: Path) -> str:
    """Return what a local model is called: as its folder, and as those above where that says little.

    Args:
        folder: The model's folder.
    """
    names: list[str] = []
    for place in (folder.resolve(), *folder.resolve().parents):
        names.insert(0, place.name)
        if not _SAYS_LITTLE.fullmatch(place.name):
            break
    return f"{OWNER}/{'-'.join(filter(None, names))}"


def _is_model(path: Path) -> bool:
    return any((path / name).is_file() for name in _CONFIGS)


def _of_folder(folder: Path) -> ModelMeta:
    wrapper, kind = _KINDS.get(_saved_by(folder), _DENSE)
    about = {
        "name": name_of(folder),
        "revision": digest(folder),
        "loader": partial(_load, folder=str(folder), wrapper=wrapper),
        "framework": ["Sentence Transformers", "PyTorch"],
        "model_type": [kind],
    }
    return ModelMeta.create_empty(overwrites=about)


def _load(name: str, *, folder: str, wrapper: str, revision: str | None = None, **options: Any) -> Any:
    """Load a model from its folder, of which MTEB keeps the name and the revision, and not the path."""
    return getattr(models, wrapper)(folder, **options)


def _of_run(path: Path) -> ModelMeta:
    model = replay(read_run(path))
    meta: ModelMeta = model.mteb_model_meta
    return meta.model_copy(update={"loader": partial(_replayed, model=model)})


def _replayed(name: str, *, model: Any, **options: Any) -> Any:
    return model


def _saved_by(folder: Path) -> str:
    """Return the class of sentence-transformers that a folder was saved by."""
    told = _json(folder / "config_sentence_transformers.json").get("model_type")
    if told is None and not (folder / "modules.json").is_file():
        classes = str(_json(folder / "config.json").get("architectures"))
        told = "CrossEncoder" if "ForSequenceClassification" in classes else None
    return str(told)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # loading the model will tell what is wrong
    return found if isinstance(found, dict) else {}


def _parts(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[tuple[str, Path]]:
    """Yield the files that make a model, by their place below its folder, in order; links are followed."""
    real = folder.resolve()
    if real in above:
        return
    for path in sorted(folder.iterdir()):
        if _NO_PART.fullmatch(path.name):
            continue
        if path.is_dir():
            for name, file in _parts(path, (*above, real)):
                yield f"{path.name}/{name}", file
        elif path.is_file():
            yield path.name, path


def _positions(inner: Any) -> int | None:
    """Return how many tokens a transformer has positions for, None where that is not told."""
    try:
        transformer = inner[0].auto_model
        config, modules = transformer.config, list(transformer.modules())
    except (AttributeError, IndexError, KeyError, TypeError):
        return None
    for module in modules:
        learned = getattr(getattr(module, "position_embeddings", None), "num_embeddings", None)
        if isinstance(learned, int):
            padding = getattr(module, "padding_idx", None)  # as in RoBERTa, which counts positions from the next on
            return learned - padding - 1 if isinstance(padding, int) else learned
    most = getattr(config, "max_position_embeddings", None)
    return most if isinstance(most, int) and most > 0 else None
