"""Realistic benchmarks for retrieval over technical documents.

    import freshstack_datasets as fsd

    data = fsd.load("a-folder-or-a-name")
    run = fsd.BM25().index(data.corpus).search(data.queries, k=100)
    print(fsd.evaluate(run, data))

Names are looked up when they are first used, so that importing the package loads nothing heavy.
"""

from typing import TYPE_CHECKING

__version__ = "0.2.0.dev0"

__all__ = [
    "BM25",
    "Comparison",
    "Dataset",
    "Dense",
    "Document",
    "FakeRetriever",
    "FreshStackError",
    "Judgment",
    "Measure",
    "Nugget",
    "Problem",
    "Query",
    "Recipe",
    "Result",
    "Retriever",
    "Run",
    "Source",
    "__version__",
    "adapters",
    "compare",
    "errors",
    "evaluate",
    "evaluation",
    "fuse",
    "load",
    "read_run",
    "verify",
    "write_run",
    "write_snapshot",
]

if TYPE_CHECKING:
    from freshstack_datasets import adapters, errors, evaluation
    from freshstack_datasets.errors import FreshStackError
    from freshstack_datasets.evaluation import Comparison, Measure, Result, compare, evaluate
    from freshstack_datasets.loading import Dataset, load
    from freshstack_datasets.ranking import Run
    from freshstack_datasets.recipe import Recipe, Source
    from freshstack_datasets.records import Document, Judgment, Nugget, Query
    from freshstack_datasets.retrieval import BM25, Dense, FakeRetriever, Retriever, fuse
    from freshstack_datasets.runs import read_run, write_run
    from freshstack_datasets.snapshot import write_snapshot
    from freshstack_datasets.verification import Problem, verify
else:
    _HOMES = {
        "adapters": "",
        "errors": "",
        "evaluation": "",
        "FreshStackError": "errors",
        "Comparison": "evaluation",
        "Measure": "evaluation",
        "Result": "evaluation",
        "compare": "evaluation",
        "evaluate": "evaluation",
        "Dataset": "loading",
        "load": "loading",
        "Run": "ranking",
        "Recipe": "recipe",
        "Source": "recipe",
        "Document": "records",
        "Judgment": "records",
        "Nugget": "records",
        "Query": "records",
        "BM25": "retrieval",
        "Dense": "retrieval",
        "FakeRetriever": "retrieval",
        "Retriever": "retrieval",
        "fuse": "retrieval",
        "read_run": "runs",
        "write_run": "runs",
        "write_snapshot": "snapshot",
        "Problem": "verification",
        "verify": "verification",
    }

    def __getattr__(name: str) -> object:
        """Import a public name from its module at its first use."""
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{_HOMES[name] or name}")
        value = module if not _HOMES[name] else getattr(module, name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return __all__
