"""What is private in MTEB and needed all the same."""

from freshstack_datasets.adapters.libraries import Library

MTEB = Library("mteb", "mteb")
"""The way to its modules. What ``mteb`` has as ``get_tasks`` is a function, and not the module of that name."""


def language_code(language: str) -> str | None:
    """Return a language of ISO 639-1 with its usual script, as in ``eng-Latn``; None where MTEB does not know it."""
    code: str | None = MTEB.attribute("mteb.languages.iso_mappings", "_hf_lang_to_iso_lang_script")(language)
    return code
