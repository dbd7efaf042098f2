"""A question as a model is shown it."""

from freshstack_datasets.records import Query


def post(query: Query) -> str:
    """Return a question as it is shown to a model: its title, and its body below it.

    Args:
        query: The question.
    """
    parts = [part for part in (query.title, query.body) if part and part.strip()]
    return "\n\n".join(parts) if parts else query.text
