"""Quality control by people: sheets to fill in, and what filled-in sheets say of a snapshot."""
