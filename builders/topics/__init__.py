"""Topics: what a benchmark is about, and which sources it is made of; one typed YAML file each.

The five of the paper lie here. A file of anybody's own may lie anywhere.
"""

from builders.topics.reading import read_topic, topic_files
from builders.topics.topic import Documents, Repository, Topic

__all__ = ["Documents", "Repository", "Topic", "read_topic", "topic_files"]
