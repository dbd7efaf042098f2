"""MTEB's own command line with FreshStack's tasks in it, and a little more for ``run``."""

import argparse
import contextlib
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import mteb
from mteb.cache import ResultCache
from mteb.cli import main

from freshstack_datasets.adapters.mteb import local_models, register, stale, tasks
from freshstack_datasets.adapters.mteb.internals import MTEB
from freshstack_datasets.catalog import OWNER, snapshot_order
from freshstack_datasets.errors import InputError, UnknownNameError

PROGRAM = "freshstack mteb"

_log = logging.getLogger(__name__)

_ADDED = """What FreshStack adds to these:

  -m MODEL              also the folder of a sentence-transformers model, or a run
                        file, which is replayed. Results are kept apart by a
                        digest of the weights and configuration, or of the run
  --max-seq-length N    let the model read the first N tokens of a text; results
                        of each length are kept apart
  --topics TOPIC[,…]    short for -t with the tasks of these topics, of the newest
                        snapshot: --topics langchain,yolo
  --prediction-folder   gets a folder for each model, so that none overwrites
                        those of another
  only-missing          also computes again what was scored on other data or by
                        an older formula, and says so
"""


def launch(words: Sequence[str]) -> None:
    """Run MTEB's command line, which reads ``sys.argv``.

    Args:
        words: What was typed after the program's name.

    Raises:
        FreshStackError: Something of ours cannot be used.
        SystemExit: As MTEB ends, when it ends early.
    """
    register()
    if words[:1] != ["run"]:
        if words[:1] in (["create-model-results"], ["mock-run"]):
            _adopt_model(words)
        _start(words)
    elif {"-h", "--help"} & set(words):
        try:
            _start(words)
        finally:
            sys.stdout.write("\n" + _ADDED)
    else:
        ours, rest = _parser().parse_known_args(words[1:])
        rest += _rewritten(ours, rest)
        with _evaluating(ours.max_seq_length):
            _start(["run", *rest])


def _start(words: Sequence[str]) -> None:
    sys.argv[:] = [PROGRAM, *words]
    main()


def _adopt_model(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-m", "--model", "--model-name", nargs="?")
    if model := parser.parse_known_args(words)[0].model:
        local_models.adopt(model)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the options that are ours, and of those of MTEB's that are looked into."""
    usage = f"see {PROGRAM} run --help"
    parser = argparse.ArgumentParser(f"{PROGRAM} run", usage=usage, add_help=False, allow_abbrev=False)
    parser.add_argument("--max-seq-length", type=_length, metavar="N")
    parser.add_argument("--topics", nargs="+")
    parser.add_argument("-m", "--model")
    parser.add_argument("-t", "--tasks", nargs="+", default=[])
    return parser


def _length(text: str) -> int:
    with contextlib.suppress(ValueError):
        if (length := int(text)) >= 1:
            return length
    raise argparse.ArgumentTypeError(f"expected a number of tokens, at least 1, got {text!r}")


def _rewritten(ours: argparse.Namespace, rest: Sequence[str]) -> list[str]:
    """Return model and tasks in MTEB's words."""
    names = list(ours.tasks)
    if ours.topics is not None:
        if any(word.startswith(("-b", "--benchmark")) for word in rest):
            raise InputError("--topics with -b", expected="one of the two", hint="-b FreshStack has all topics")
        topics = [topic for word in ours.topics for topic in word.split(",") if topic]
        names += [name for name in map(_task_of, topics) if name not in names]
    if ours.model is not None:
        local_models.adopt(ours.model)
    return [*(["--model", ours.model] if ours.model is not None else []), *(["--tasks", *names] if names else [])]


def _task_of(topic: str) -> str:
    """Return the name of a topic's task, of the newest snapshot."""
    by_topic: dict[str, list[Any]] = {}
    for task in tasks():
        by_topic.setdefault(task.dataset_name.removeprefix(f"{OWNER}/"), []).append(task)
    found = by_topic.get(topic.removeprefix(f"{OWNER}/"))
    if found is None:
        raise UnknownNameError("topic", topic, by_topic)
    newest = max(found, key=lambda task: snapshot_order(task.snapshot))
    return str(newest.metadata.name)


@contextlib.contextmanager
def _evaluating(length: int | None) -> Iterator[None]:
    """Let MTEB's command evaluate in our way.

    Args:
        length: How many tokens of a text the model may read; as many as it wants when None.
    """
    called = MTEB.attribute("mteb.cli.build_cli", "run").__code__.co_names
    if not {"mteb", "evaluate"} <= set(called):
        raise MTEB.moved("a command run that calls mteb.evaluate")
    original = mteb.evaluate

    def evaluate(model: Any, of: Iterable[Any], **options: Any) -> Any:
        if length is not None:
            local_models.limit(model, length)
        meta, chosen = model.mteb_model_meta, list(of)
        if options.get("prediction_folder"):
            options["prediction_folder"] = _own_folder(Path(options["prediction_folder"]), meta)
        if options.get("cache") and options.get("overwrite_strategy") == "only-missing":
            options["cache"] = _Current(options["cache"], _outdated(options["cache"], meta, chosen))
        return original(model, chosen, **options)

    mteb.evaluate = evaluate
    try:
        yield
    finally:
        mteb.evaluate = original


def _own_folder(folder: Path, meta: Any) -> Path:
    """Return the folder of one model's predictions, laid out as MTEB's results are."""
    own: Path = folder / meta.model_name_as_path() / str(meta.revision)
    return own / "experiments" / meta.experiment_name if meta.experiment_name else own


def _outdated(cache: ResultCache, meta: Any, chosen: Iterable[Any]) -> set[str]:
    """Return the tasks of ours whose results must be computed again, and say why."""
    names: set[str] = set()
    for task in chosen:
        if not type(task).__module__.startswith("freshstack_datasets."):
            continue
        result = cache.load_task_result(task.metadata.name, meta)
        if result is not None and (reason := stale(result, task)) is not None:
            _log.warning("the result of %s is computed again: %s", task.metadata.name, reason)
            names.add(task.metadata.name)
        names |= _outdated(cache, meta, getattr(task.metadata, "tasks", ()))
    return names


class _Current(ResultCache):
    """A folder of results without those that are outdated.

    Args:
        cache: The folder.
        outdated: The tasks whose results are.
    """

    def __init__(self, cache: ResultCache, outdated: set[str]) -> None:
        super().__init__(cache.cache_path)
        self._outdated = outdated

    def load_task_result(self, task_name: str, *arguments: Any, **options: Any) -> Any:
        """Return the result of a task, None where there is none that counts."""
        return None if task_name in self._outdated else super().load_task_result(task_name, *arguments, **options)
