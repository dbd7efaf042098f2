"""The catalog against the figures of the paper."""

import shutil
from datetime import date

import pytest

from freshstack_datasets import catalog
from freshstack_datasets.errors import HubError, SnapshotError, UnknownNameError
from freshstack_datasets.loading import load
from freshstack_datasets.places import find

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


# The same table: tokens of a query and an answer, percent of queries and answers with code, relevant documents of a
# nugget and a query.
FIGURES = {
    "freshstack/langchain": (473.4, 233.8, 83.3, 62.1, 5.7, 10.9),
    "freshstack/yolo": (497.1, 191.7, 70.2, 71.9, 3.9, 7.4),
    "freshstack/laravel": (474.4, 155.5, 43.5, 51.1, 3.2, 6.0),
    "freshstack/angular": (463.3, 215.1, 69.8, 57.4, 4.4, 8.7),
    "freshstack/godot": (350.4, 263.0, 52.5, 52.5, 2.9, 5.9),
}


def test_the_five_topics_have_the_published_means():
    found = {}
    for name, dataset in catalog.known().items():
        figures = dataset.snapshots["2024-10"].figures
        found[name] = tuple(figures.model_dump().values())
        assert dataset.languages == ("en",)
    assert found == FIGURES


def test_the_five_topics_have_the_published_period():
    # Section 3.1 of the paper: questions asked from January 2023 to June 2024.
    periods = {dataset.snapshots["2024-10"].period for dataset in catalog.known().values()}
    assert periods == {(date(2023, 1, 1), date(2024, 6, 30))}


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
    public = [(e.dataset, e.name) for e in catalog.listed()[0] if e.dataset in PUBLISHED]
    assert public == [(name, "2024-10") for name in sorted(PUBLISHED)]


@pytest.mark.parametrize("path", ["snapshot.json", "corpus/corpus-00000-of-00001.parquet"])
@pytest.mark.parametrize("content", [None, b"cut off"], ids=["gone", "cut off"])
def test_a_snapshot_of_the_package_that_lacks_something_is_broken(monkeypatch, tmp_path, path, content):
    shutil.copytree(catalog.bundled()["freshstack/nimbus"], tmp_path / "nimbus")
    monkeypatch.setattr(catalog, "_BUNDLED", tmp_path)
    assert catalog.listed()[1] == {}
    file = tmp_path / "nimbus" / path
    file.unlink() if content is None else file.write_bytes(content)
    found, broken = catalog.listed()
    assert [entry for entry in found if entry.dataset == "freshstack/nimbus"] == []
    assert list(broken) == ["freshstack/nimbus"]
    assert file.name in str(broken["freshstack/nimbus"])
    assert "nimbus" in catalog.names()


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
    with pytest.raises(HubError, match=r"^freshstack/langchain@2024-10 is not on this machine"):
        find("langchain")
    with pytest.raises(HubError, match=r"^freshstack/yolo@2020-01 is not on this machine"):
        find("yolo", "2020-01")
    with pytest.raises(UnknownNameError, match=r"^unknown dataset 'nimbsu'; did you mean 'nimbus'"):
        find("nimbsu")


@pytest.mark.usefixtures("broken")
def test_a_broken_snapshot_of_the_package_is_named_where_it_is_asked_for():
    for asking in (lambda: load("nimbus"), lambda: find("nimbus", "2026-11")):
        with pytest.raises(SnapshotError, match=r"nimbus.snapshot\.json, expected JSON, got EOF while parsing"):
            asking()


@pytest.mark.usefixtures("broken")
def test_a_list_names_a_broken_snapshot_of_the_package_beside_all_others():
    found, broken = catalog.listed()
    assert {entry.dataset for entry in found} == {*PUBLISHED, *(f"{name}-unfiltered" for name in PUBLISHED)}
    assert list(broken) == ["freshstack/nimbus"]
    assert "expected JSON, got EOF while parsing" in str(broken["freshstack/nimbus"])


def test_the_release_of_october_2024_is_at_the_commits_that_were_used_with_the_paper():
    # The commits are those that evaluations of that time pin; of the unfiltered queries none is known.
    at = catalog.originals()
    assert at.corpus.model_dump() == {
        "repository": "freshstack/corpus-oct-2024",
        "commit": "069f66dc323e163b48b10d08408d282733d4393b",
    }
    assert at.queries.model_dump() == {
        "repository": "freshstack/queries-oct-2024",
        "commit": "023ac3a14caf9d6ebb13d01adcfb8fa05e5a9630",
    }
    assert at.unfiltered.model_dump() == {"repository": "freshstack/queries-oct-2024-unfiltered", "commit": None}


def test_every_topic_of_october_2024_has_an_unfiltered_twin():
    twins = [f"{name}-unfiltered" for name in PUBLISHED]
    assert set(catalog.full_names()) == {*PUBLISHED, *twins, "freshstack/nimbus"}
    for name in (*PUBLISHED, *twins):
        assert {snapshot: entry.layout for snapshot, entry in catalog.published(name).items()} == {
            "2024-10": "oct-2024"
        }
    for name in ("freshstack/nimbus", "freshstack/nimbus-unfiltered", "acme/langchain-unfiltered", "freshstack/yolo-"):
        assert not catalog.published(name)


@pytest.mark.parametrize("name", ["2026-10", "2026-01.1", "2026-12.9999"])
def test_what_a_snapshot_may_be_called(name):
    assert catalog.is_snapshot_name(name)


@pytest.mark.parametrize("name", ["main", "2026-13", "2026-1", "2026-10.0", "2026-10.1.1", "2026-10\n", "", "v2026-10"])
def test_what_no_snapshot_is_called(name):
    assert not catalog.is_snapshot_name(name)


def test_a_name_without_owner_is_one_of_ours():
    assert catalog.full_name("yolo") == catalog.full_name("freshstack/yolo") == "freshstack/yolo"
    assert catalog.full_name("yolo-unfiltered") == "freshstack/yolo-unfiltered"
    assert catalog.full_name("acme/anything") == "acme/anything"
    for near in ("langchian", "langchin"):  # and no other: angular is as far from them as any
        with pytest.raises(
            UnknownNameError, match=rf"^unknown dataset '{near}'; did you mean 'freshstack/langchain'\? or"
        ):
            catalog.full_name(near)


def test_the_languages_of_a_dataset_are_known_by_its_name():
    assert catalog.languages("freshstack/yolo") == catalog.languages("freshstack/yolo-unfiltered") == ("en",)
    assert catalog.languages("acme/yolo") == catalog.languages("freshstack/nimbus") == ()
