"""The commands of ``python -m builders`` that take more than a few lines, one module a command."""
