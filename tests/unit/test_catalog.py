"""The catalog against the figures of the paper."""

import pytest

from freshstack_datasets import catalog
from freshstack_datasets.errors import SnapshotError, UnknownNameError
from freshstack_datasets.manifest import read_manifest

# Thakur et al., FreshStack, arXiv:2504.13128, table 1: queries, documents, repositories, nuggets a query.
PUBLISHED = {
    "freshstack/langchain": (203, 49_514, 10, 3.1),
    "freshstack/yolo": (57, 27_207, 5, 3.5),
    "freshstack/laravel": (184, 52_351, 9, 3.0),
    "freshstack/angular": (129, 117_288, 4, 3.2),
    "freshstack/godot": (99, 25_482, 6, 3.3),
}


def test_the_five_topics_have_the_published_figures():
    found = {}
    for name, dataset in catalog.known().items():
        (snapshot,) = dataset.snapshots.values()
        count = len(snapshot.repositories)
        found[name] = (snapshot.queries, snapshot.documents, count, snapshot.nuggets_per_query)
    assert found == PUBLISHED
    assert sum(figures[0] for figures in found.values()) == 672  # the paper's number of queries


def test_repositories_have_their_published_licence():
    snapshot = catalog.known()["freshstack/yolo"].snapshots["2024-10"]
    assert {r.name: r.license for r in snapshot.repositories} == {
        "ultralytics/ultralytics": "AGPL-3.0",
        "ultralytics/docs": "AGPL-3.0",
        "pytorch/pytorch": "Modified BSD",
        "WongKinYiu/yolov7": "GPL-3.0",
        "opencv/opencv": "Apache-2.0",
    }


def test_names_are_listed_each_once_with_their_snapshots():
    public = [(e.dataset, e.name) for e in catalog.listed() if e.dataset in PUBLISHED]
    assert public == [(name, "2024-10") for name in sorted(PUBLISHED)]


def test_unknown_keys_of_the_catalog_are_refused():
    entry = catalog.known()["freshstack/godot"].model_dump()
    with pytest.raises(ValueError, match="Extra inputs"):
        catalog.KnownDataset.model_validate(entry | {"colour": "green"})


def test_snapshots_are_ordered_by_date_and_correction():
    names = ["2026-10.10", "2026-09", "2026-10", "2027-01", "2026-10.2"]
    assert sorted(names, key=catalog.snapshot_order) == ["2026-09", "2026-10", "2026-10.2", "2026-10.10", "2027-01"]


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """The bundled nimbus, its description cut short."""
    (tmp_path / "nimbus").mkdir()
    (tmp_path / "nimbus" / "snapshot.json").write_text('{"format_version": 1,')
    monkeypatch.setattr(catalog, "_BUNDLED", tmp_path)


@pytest.mark.usefixtures("broken")
def test_a_broken_snapshot_of_the_package_spoils_no_other_name():
    with pytest.raises(SnapshotError, match=r"^freshstack/langchain@2024-10 is not on this machine"):
        catalog.folder_of("langchain")
    with pytest.raises(
        UnknownNameError, match=r"^unknown snapshot of freshstack/yolo '2020-01'; did you mean '2024-10'"
    ):
        catalog.folder_of("yolo", "2020-01")
    with pytest.raises(UnknownNameError, match=r"^unknown dataset 'nimbsu'; did you mean 'nimbus'"):
        catalog.folder_of("nimbsu")


@pytest.mark.usefixtures("broken")
def test_a_broken_snapshot_of_the_package_is_named_where_it_is_asked_for_or_listed():
    for asking in (lambda: read_manifest(catalog.folder_of("nimbus")), catalog.listed):
        with pytest.raises(SnapshotError, match=r"nimbus.snapshot\.json, expected JSON, got EOF while parsing"):
            asking()
