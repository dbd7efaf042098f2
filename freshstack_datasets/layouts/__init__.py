"""Layouts of published datasets other than the snapshot's own, read into snapshots."""
