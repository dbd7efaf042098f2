"""The whole build: all stages in their order, each run only when what it depends on has changed."""
