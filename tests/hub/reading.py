"""Loading and commands in processes of their own, several in each, for tests: what becomes of them, as plain values."""

import json

LOAD = """
import json, sys, time
import freshstack_datasets as fsd

time.sleep = lambda seconds: None  # the Hub's client waits before it tries again

def loaded(name, whole):
    try:
        data = fsd.load(name)
        found = {
            "is": f"{data.name}@{data.snapshot}",
            "fingerprint": data.fingerprint,
            "queries": {query.query_id: query.text for query in data.queries},
            "nuggets": [[nugget.query_id, nugget.nugget_id] for nugget in data.nuggets],
            "judgments": [[j.query_id, j.nugget_id, j.doc_id, j.score] for j in data.judgments],
            "missing": list(data.manifest.missing),
            "path": str(data.path),
            "shown": repr(data),
        }
        return found | ({"corpus": {document.doc_id: document.text for document in data.corpus}} if whole else {})
    except fsd.FreshStackError as error:
        return {"error": type(error).__name__, "says": str(error)}

names, whole = json.loads(sys.argv[1])
print(json.dumps([loaded(name, whole) for name in names]))
"""


def load(client, *names, whole=True, **options):
    """Load datasets in one process of a client, with their corpora or without, and return what each became."""
    return client.result(LOAD, json.dumps([names, whole]), **options)


def says(client, *names, **options):
    """Load datasets, each of which fails, and return the kind and the words of each error."""
    found = load(client, *names, **options)
    return [f"{one['error']}: {one['says']}" for one in found]


COMMANDS = """
import contextlib, io, json, sys
from freshstack_datasets.cli import app, console

def run(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = console.run(app, words, name="freshstack")
    return [code, out.getvalue(), err.getvalue()]

print(json.dumps([run(words) for words in json.loads(sys.argv[1])]))
"""


def commands(client, *lines, **options):
    """Run commands of freshstack one after the other, and return each one's exit code, output and messages.

    What a command with ``--json`` prints is returned as the values that it says.
    """
    found = client.result(COMMANDS, json.dumps([line.split() for line in lines]), **options)
    return [
        (code, json.loads(out) if out and line.endswith("--json") else out, err)
        for line, (code, out, err) in zip(lines, found, strict=True)
    ]
