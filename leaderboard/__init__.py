"""From submissions to scores to the page; runs from a clone, not in the wheel."""
