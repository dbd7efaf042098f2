"""The cards of datasets: what is published beside the tables for people to read."""
