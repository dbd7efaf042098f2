"""Typed files of settings: YAML that people write, read into strict models, with the line of whatever is wrong in it."""

from freshstack_datasets.typed_files.faults import Fault, spelled, unknown_key, unreadable
from freshstack_datasets.typed_files.reading import bytes_of, checked, content_of, faults_in, read_content, validated
from freshstack_datasets.typed_files.refused import RefusedError
from freshstack_datasets.typed_files.yaml_file import Content, UnreadableError, in_one_line

__all__ = [
    "Content",
    "Fault",
    "RefusedError",
    "UnreadableError",
    "bytes_of",
    "checked",
    "content_of",
    "faults_in",
    "in_one_line",
    "read_content",
    "spelled",
    "unknown_key",
    "unreadable",
    "validated",
]
