"""Holes: documents at the top of runs that nobody judged, since no system that found them helped to build the pool."""
