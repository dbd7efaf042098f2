"""From dumps and forums to the questions of a topic: a table of queries, and whom to name for what they say."""
