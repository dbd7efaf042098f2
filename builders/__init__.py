"""From sources to snapshots; runs from a clone, not in the wheel."""
