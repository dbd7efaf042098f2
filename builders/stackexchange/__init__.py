"""From the dump of a Stack Exchange site to a snapshot."""
