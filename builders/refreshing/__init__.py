"""The next quarter: a snapshot made anew, with what an earlier one knows carried over where it still holds."""
