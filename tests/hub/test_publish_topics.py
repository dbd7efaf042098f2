"""Five topics, each published twice, and each of the ten snapshots loaded back as it was."""

import json

import pytest

import freshstack_datasets as fsd
from tests.hub import snapshots
from tests.hub.clients import Client
from tests.hub.contents import contents
from tests.hub.published import check
from tests.hub.publisher import Publisher

pytestmark = pytest.mark.slow

TOPICS = ("langchain", "yolo", "laravel", "angular", "godot")

LOAD = """
import json, sys, tempfile
import freshstack_datasets as fsd
from huggingface_hub import snapshot_download
from tests.hub.contents import contents

found = {}
for name in sys.argv[1:]:
    repo, tag = name.split("@")
    with tempfile.TemporaryDirectory() as folder:
        snapshot_download(repo, repo_type="dataset", revision=tag, local_dir=folder)
        found[name] = [contents(fsd.load(folder)), contents(fsd.load(name))]
newest = {name: fsd.load(name.split("@")[0]).snapshot for name in found}
print(json.dumps([found, newest], default=list))
"""


def test_each_of_five_topics_and_two_snapshots_is_loaded_back_equal(hub, tmp_path, xet):
    client, folders = Client(hub, tmp_path), {}
    with Publisher(client, tmp_path / "home", xet=xet) as publish:
        for snapshot in snapshots.SNAPSHOTS:
            for topic in TOPICS:
                folder = snapshots.write(tmp_path / topic / snapshot, snapshot, f"freshstack/{topic}")
                assert publish(folder).code == 0
                folders[f"freshstack/{topic}@{snapshot}"] = folder
    for topic in TOPICS:
        check(hub, f"freshstack/{topic}", *(tmp_path / topic / snapshot for snapshot in snapshots.SNAPSHOTS))

    found, newest = client.result(LOAD, *folders, xet=xet)
    assert list(found) == list(folders)
    for name, folder in folders.items():
        expected = json.loads(json.dumps(contents(fsd.load(folder)), default=list))
        downloaded, by_name = found[name]
        assert downloaded == expected
        assert by_name == expected
        assert expected["name"] == name
    assert set(newest.values()) == {snapshots.SNAPSHOTS[-1]}
    assert len({kept["fingerprint"] for kept, _ in found.values()}) == 10
