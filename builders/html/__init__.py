"""HTML as plain text with Markdown's marks."""
