"""Reading the dump of a Stack Exchange site: its posts, its tags, a topic's questions; and a snapshot of its answers."""
