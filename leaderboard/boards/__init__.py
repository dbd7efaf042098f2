"""A board: the systems that were scored on one snapshot, and what its pages and exports are made of."""
