"""Datasets, runs and measures in the words and layouts of other tools, a module each, imported at its first use."""

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
