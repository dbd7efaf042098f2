"""The topic files of the paper's five topics, held against the catalog and the paper."""

import datetime

import pytest

from builders.topics import read_topic, topic_files
from freshstack_datasets.catalog import known

TOPICS = {path.stem: read_topic(path) for path in topic_files()}

# Thakur et al., arXiv:2504.13128: tags of section 3.1; numbers of repositories of table 1.
TAGS = {
    "angular": ("angular16", "angular17", "angular18"),
    "godot": ("godot4",),
    "langchain": ("langchain",),
    "laravel": ("laravel-10", "laravel-11"),
    "yolo": ("yolov7", "yolov8"),
}
REPOSITORIES = {"angular": 4, "godot": 6, "langchain": 10, "laravel": 9, "yolo": 5}

COMMITS = {
    "laravel/docs": "724c31ccd3edce6b6dfe5e0dd2a594a47217f078",
    "angular/angular": "7d9b38e97bbef0c6f6e3761e7cd86457c1e0f2e1",
    "ultralytics/ultralytics": "8d203cf40dadb9343241d2f65bd4c84820f27430",
}


def test_there_are_the_five_with_their_tags_and_34_repositories():
    assert {name: topic.tags for name, topic in TOPICS.items()} == TAGS
    assert {name: len(topic.repositories) for name, topic in TOPICS.items()} == REPOSITORIES
    assert sum(REPOSITORIES.values()) == 34


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_says_what_the_catalog_says(name):
    topic, dataset = TOPICS[name], known()[f"freshstack/{name}"]
    snapshot = dataset.snapshots["2024-10"]
    assert (topic.name, topic.domain) == (name, dataset.domain)
    assert (topic.first, topic.last) == snapshot.period == (datetime.date(2023, 1, 1), datetime.date(2024, 6, 30))
    listed = [(repository.name, repository.license) for repository in snapshot.repositories]
    assert [(repository.name, repository.license) for repository in topic.repositories] == listed


def test_repositories_are_those_of_github_at_a_known_commit_or_on_one_day():
    repositories = [repository for topic in TOPICS.values() for repository in topic.repositories]
    assert all(repository.url == f"https://github.com/{repository.name}" for repository in repositories)
    assert {one.name: one.commit for one in repositories if one.commit} == COMMITS
    assert {one.date for one in repositories if not one.commit} == {datetime.date(2024, 10, 24)}
