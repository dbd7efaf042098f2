"""Language models: one client for the whole project, whose replies are kept and never asked for twice."""
