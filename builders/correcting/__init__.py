"""People's corrections of a snapshot, which become the next one of its month."""
