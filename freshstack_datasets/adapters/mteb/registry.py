"""Making tasks and benchmarks known to MTEB by their names."""

import threading
from collections.abc import Mapping
from typing import Any

from freshstack_datasets.adapters.mteb.aggregate import known_classes
from freshstack_datasets.adapters.mteb.benchmark import TopicsBenchmark, known_benchmarks
from freshstack_datasets.adapters.mteb.internals import MTEB
from freshstack_datasets.errors import InputError, shown

_TASKS = "mteb.get_tasks"
_BENCHMARKS, _BENCHMARK_NAMES = "mteb.benchmarks.benchmarks", "mteb.benchmarks.get_benchmark"

_registering = threading.RLock()  # MTEB may be set up to register at its import


def register() -> None:
    """Put tasks, aggregates and benchmarks into MTEB's registries, all or nothing; a second time changes nothing.

    Raises:
        InputError: The installed MTEB keeps its registries elsewhere, or has something else of one of the names.
    """
    with _registering:
        by_name, similar, listed = (
            MTEB.attribute(_TASKS, name) for name in ("_TASKS_REGISTRY", "_SIMILAR_TASKS", "TASK_LIST")
        )
        lookups = [MTEB.attribute(_BENCHMARK_NAMES, name) for name in ("_build_registry", "_build_aliases_registry")]
        forget = [MTEB.attribute(lookup, "cache_clear") for lookup in lookups]
        tasks = [known for known in known_classes() if _is_new("task", known.metadata.name, by_name, known)]
        benchmarks = _new_benchmarks({name: found for lookup in lookups for name, found in lookup().items()})
        for known in tasks:
            by_name[known.metadata.name] = known
            for origin in known.metadata.adapted_from or ():  # a model that was trained on one has seen the other
                similar.setdefault(origin, []).append(known.metadata.name)
        MTEB.load(_TASKS).TASK_LIST = (*listed, *tasks)  # type: ignore[attr-defined]  # looked up above
        for benchmark in benchmarks:
            setattr(MTEB.load(_BENCHMARKS), benchmark.name, benchmark)
        for clear in forget:
            clear()


def _new_benchmarks(taken: Mapping[str, Any]) -> list[TopicsBenchmark]:
    """Return the benchmarks that MTEB does not have yet."""
    new = []
    for benchmark in known_benchmarks():
        names = (benchmark.name, *benchmark.aliases)
        others = [name for name in names if name in taken and not isinstance(taken[name], TopicsBenchmark)]
        if others:
            raise _taken("benchmark", others[0])
        if benchmark.name not in taken:
            new.append(benchmark)
    return new


def _is_new(kind: str, name: str, taken: Mapping[str, Any], ours: Any) -> bool:
    if name in taken and taken[name] is not ours:
        raise _taken(kind, name)
    return name not in taken


def _taken(kind: str, name: str) -> InputError:
    return InputError(
        f"MTEB already has a {kind} {shown(name)}",
        expected="that of freshstack-datasets, or none",
        got="another one",
        hint="register before whatever brought it, or leave that out",
    )
