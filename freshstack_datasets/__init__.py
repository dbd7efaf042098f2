"""Realistic benchmarks for retrieval over technical documents."""

__version__ = "0.1.0"
