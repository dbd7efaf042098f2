"""Where a judgment came from, read from the files that a build published beside its tables."""
