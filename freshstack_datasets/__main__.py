"""Lets ``python -m freshstack_datasets`` do what ``freshstack`` does."""

from freshstack_datasets.cli import main

if __name__ == "__main__":
    main()
