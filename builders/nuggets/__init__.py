"""Nuggets: the facts that an accepted answer states, by which documents are judged."""
