"""Notebooks as the scripts that the corpora of October 2024 were cut from, as nbconvert makes them without IPython."""

import json
import re
from typing import Any

from builders.chunking.records import Refused

_HEAD = "#!/usr/bin/env python\n# coding: utf-8\n"
_IMAGE = re.compile(r'"image/(?:png|jpeg)":\s*"[^"]*"')
_MEDIA = re.compile(r'"data:(?:video/mp4|image/jpeg|image/png|audio/x-wav);base64,[^"]+"')
_REMOVED = 48
"""So many embedded things of a kind were taken out at most, sixteen in each of three rounds."""


def script_of(text: str) -> str | Refused:
    """Return a notebook as the script that was made of it, or why none was."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return Refused("notebook", "the published tools stopped at a notebook that is no JSON")
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        return Refused("notebook", "the published tools stopped at a notebook without cells")
    metadata = content.get("metadata")
    language = metadata.get("language_info") if isinstance(metadata, dict) else None
    exporter = language.get("nbconvert_exporter") if isinstance(language, dict) else None
    if exporter not in (None, "", "script", "python"):
        return Refused("notebook", "it asks for another export than a script")
    python = exporter == "python"
    script = "".join(_rendered(cell, python) for cell in cells if isinstance(cell, dict))
    script = _HEAD + script if python else script.lstrip("\n")
    for pattern in (_IMAGE, _MEDIA):
        script = pattern.sub('""', script, count=_REMOVED)
    # meant for the commands of notebooks, and done to every word that holds these letters
    return script.replace("%pip", "#%pip").replace("!pip", "#!pip").replace("pip", "#pip")


def _rendered(cell: dict[str, Any], python: bool) -> str:
    """Return what a cell became; a script in no language that is known has code alone."""
    source = cell.get("source", "")
    source = "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else str(source)
    if cell.get("cell_type") == "code":
        return f"\n# In[{cell.get('execution_count') or ' '}]:\n\n\n{source}\n" if python else f"\n{source}\n"
    if cell.get("cell_type") == "markdown" and python:
        return "\n# " + source.replace("\n", "\n# ") + "\n"
    return ""
