"""Datasets for PyTerrier, which finds them by an entry point: ``pt.get_dataset("freshstack:langchain")``.

Nothing of this has to be imported; ``provider`` is what the entry point names.
"""
