"""Builders: from public sources to snapshots. They run from a clone, ``python -m builders``, and are not in the wheel."""
