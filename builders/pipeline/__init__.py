"""The build's frame: what stages pass on, the folder they pass it in, and when one has to be run again."""
