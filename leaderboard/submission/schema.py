"""Write the JSON Schema of ``submission.yaml``, by which editors complete and check it while it is written.

``python -m leaderboard.submission.schema`` brings the file up to date; a test holds it equal.
"""

import inspect
import json
import re
from pathlib import Path
from typing import Any

from freshstack_datasets.recipe import Model
from leaderboard.submission import model

FILE = Path(__file__).parents[1] / "submission.schema.json"

_ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)


def schema() -> str:
    """Return the whole text of the file."""
    told = model.Submission.model_json_schema()
    for name, part in [("Submission", told), *told["$defs"].items()]:
        _describe(part, getattr(model, name))
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**head, **told, "title": "submission.yaml"}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _describe(part: dict[str, Any], kind: type[Model]) -> None:
    """Say of each member what the model's docstring says, and nothing else of it."""
    about, _, arguments = inspect.cleandoc(kind.__doc__ or "").partition("\n\nArgs:\n")
    pieces = _ARGUMENT.split(arguments)[1:]
    described = dict(zip(pieces[::2], pieces[1::2], strict=True))
    part["description"] = about
    for name, member in part["properties"].items():
        member.pop("title", None)
        member["description"] = " ".join(described[name].replace("``", "").split())


if __name__ == "__main__":
    FILE.write_text(schema(), encoding="utf-8", newline="\n")
