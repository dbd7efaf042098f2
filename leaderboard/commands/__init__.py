"""The commands of ``python -m leaderboard``, one module a command."""
