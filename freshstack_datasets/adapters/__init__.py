"""Datasets, runs and measures in the words and layouts of other tools, a module each."""
