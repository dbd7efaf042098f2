"""BM25 on Nimbus keeps its scores, and other people's tools give the same ones.

``python -m tests.oracle.test_nimbus_golden`` runs the command that stands in the golden file and writes what it prints
into the file: after a change that is meant to change scores.
"""

import json
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import freshstack_datasets as fsd

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyndeval
    import pytrec_eval

VERSION = r"freshstack-datasets [\d.]+\w*"
FILE = Path(__file__).parents[1] / "data" / "nimbus_bm25.json"


def printed(command):
    """Return the JSON object that a command of ours prints."""
    program, *arguments = shlex.split(command)
    beside = Path(sys.executable).with_name(program)
    done = subprocess.run([beside, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def numbers(value, path=()):
    """Yield every number of a JSON value with its place."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*path, key))
    elif isinstance(value, float):
        yield path, value


def without_numbers(value):
    if isinstance(value, dict):
        return {key: without_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_numbers(inner) for inner in value]
    return "a number" if isinstance(value, float) else value


def test_the_command_of_the_golden_file_prints_what_the_file_holds():
    golden = json.loads(re.sub(VERSION, "", FILE.read_text(encoding="utf-8")))  # which signatures tell
    now = json.loads(re.sub(VERSION, "", json.dumps(printed(golden["command"]))))
    assert without_numbers(now) == without_numbers(golden["printed"])
    # 32-bit sums of BM25 may differ in their last bits between processors; a swap of two documents would move a mean
    # over 60 queries by far more
    assert dict(numbers(now)) == pytest.approx(dict(numbers(golden["printed"])), abs=1e-9, rel=0)


@pytest.fixture(scope="module")
def scored():
    data = fsd.load("nimbus")
    return data, fsd.BM25().index(data.corpus).search(data.queries, k=100).to_dict()


def golden_mean(measure, trap=None):
    [result] = json.loads(FILE.read_text(encoding="utf-8"))["printed"]["results"]
    part = result if trap is None else next(part for part in result["slices"] if part["value"] == trap)
    return part["measures"][measure]["value"]


@pytest.mark.parametrize("trap", [None, "exact", "paraphrase", "distractor", "noise"])
def test_other_tools_score_the_same_run_the_same(scored, trap):
    data, run = scored
    asked = [query.query_id for query in data.queries if trap in (None, query.type)]
    rows = [(j.query_id, j.nugget_id, j.doc_id, j.score) for j in data.judgments]
    entries = [(query_id, doc_id, score) for query_id in asked for doc_id, score in run[query_id].items()]
    theirs = pyndeval.RelevanceEvaluator(rows, ["alpha-nDCG@10"]).evaluate(entries)
    mean = sum(theirs.get(query_id, {}).get("alpha-nDCG@10", 0.0) for query_id in asked) / len(asked)
    assert golden_mean("alpha_nDCG@10", trap) == pytest.approx(mean, abs=1e-9)
    qrels = {query_id: dict(data.qrels[query_id]) for query_id in asked}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"recall.50"}).evaluate(run)
    mean = sum(found.get(query_id, {}).get("recall_50", 0.0) for query_id in asked) / len(asked)
    assert golden_mean("Recall@50", trap) == pytest.approx(mean, abs=1e-9)


if __name__ == "__main__":
    golden = json.loads(FILE.read_text(encoding="utf-8"))
    golden["printed"] = printed(golden["command"])
    FILE.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
