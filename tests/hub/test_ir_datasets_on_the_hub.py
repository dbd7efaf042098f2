"""Snapshots on the Hub under their names in ir_datasets."""

import pytest

from tests.hub import snapshots

pytestmark = pytest.mark.slow

REPO = "freshstack/langchain"
_, NEWER = snapshots.SNAPSHOTS

READ = """
import json, sys
import ir_datasets
from freshstack_datasets.adapters import ir_datasets as adapter
adapter.register()
data = ir_datasets.load(sys.argv[1])
found = {"queries": {q.query_id: q.text for q in data.queries_iter()}, "qrels": [list(row) for row in data.qrels_iter()]}
if sys.argv[2:]:
    found["docs"] = [doc.doc_id for doc in data.docs_iter()]
    found["found"] = data.docs_store().get(found["docs"][-1]).doc_id
    found["counts"] = [data.docs_count(), data.queries_count(), data.qrels_count()]
print(json.dumps(found))
"""

HANDED_ON = """
import json, pickle, sys
import ir_datasets
import freshstack_datasets as fsd
fsd.adapters.ir_datasets.register(fsd.load(sys.argv[1]), "mine")
copy = pickle.loads(pickle.dumps(ir_datasets.load("mine")))
print(json.dumps([[doc.doc_id for doc in copy.docs_iter()], copy.docs_namespace()]))
"""


def test_a_snapshot_is_downloaded_when_it_is_used_and_its_corpus_when_documents_are(
    hub, client, two_snapshots, tmp_path
):
    for folder in two_snapshots:
        hub.put(REPO, folder, tag=folder.name)
    home, name = tmp_path / "home", f"{REPO}/{NEWER}"
    registered = "from freshstack_datasets.adapters import ir_datasets as a; a.register(); print(len(a.names()))"
    assert client.result(registered, home=home) > 10
    assert hub.log == []
    judged = client.result(READ, name, home=home)
    assert sorted(judged["queries"]) == sorted(snapshots.QUERIES[NEWER])
    assert sorted((q, d, s) for q, d, s, _ in judged["qrels"]) == sorted(
        (q, d, s) for q, _, d, s in snapshots.JUDGED[NEWER]
    )
    assert not hub.asked("corpus")
    corpus = sorted({**snapshots.CORPUS[NEWER], "docs/name.md": REPO})
    whole = client.result(READ, name, "documents too", home=home)
    assert (whole["docs"], whole["found"]) == (corpus, corpus[-1])
    assert whole["counts"] == [len(corpus), len(snapshots.QUERIES[NEWER]), len(snapshots.JUDGED[NEWER])]
    hub.log.clear()
    assert client.result(READ, name, "documents too", home=home, offline=True) == whole
    # Its files in the Hub's cache are links, which a folder's must not be.
    assert client.result(HANDED_ON, f"{REPO}@{NEWER}", home=home) == [corpus, name]
    assert hub.log == []
