"""The page: boards and verdicts in, a folder of static files out."""
