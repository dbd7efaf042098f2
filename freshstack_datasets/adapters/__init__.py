"""Datasets, runs and measures in the words and layouts of other tools, a module each, imported at its first use.

Files, for tools that read a folder:

- ``beir``, ``jsonl``, ``trec``: ``export(data, folder)``; ``beir`` also searches with one of BEIR's searchers.

Datasets that a library finds by their names once ``register()`` was called:

- ``ir_datasets``: ``freshstack/langchain`` and so on, and any snapshot under a name of one's own.
- ``mteb``: tasks and a benchmark; runs as its models, its predictions as runs.
- PyTerrier needs no call: ``pt.get_dataset("freshstack:langchain")``.

This package's measures in a library:

- ``ir_measures``: ``install()``, after which it computes them.
- ``sentence_transformers``: ``evaluator(data)``, for training and after it.

The objects that a library works on:

- ``hf``: a ``DatasetDict`` of ``datasets``.
- ``pandas``, ``ranx``: ``run(run)`` and ``qrels(data)`` go there, ``read(…)`` brings a run back.

``note``, ``nuggets``, ``lines``, ``judged``, ``arrow_file`` and ``libraries`` are what these share.
"""

from typing import TYPE_CHECKING

__all__ = [
    "beir",
    "hf",
    "ir_datasets",
    "ir_measures",
    "jsonl",
    "mteb",
    "pandas",
    "ranx",
    "sentence_transformers",
    "trec",
]

if TYPE_CHECKING:
    from freshstack_datasets.adapters import (
        beir,
        hf,
        ir_datasets,
        ir_measures,
        jsonl,
        mteb,
        pandas,
        ranx,
        sentence_transformers,
        trec,
    )
else:

    def __getattr__(name: str) -> object:
        """Import the adapter of that name."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")
