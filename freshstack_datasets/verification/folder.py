"""Looking into every file and row of a snapshot, and saying everything that is wrong with it.

Problems of files:

- ``missing-file``, ``extra-file``: the folder and the manifest do not list the same files; the card
  and its pictures (``pictures/*.svg``), ``.gitattributes`` and ``snapshot.json`` itself aside.
- ``not-a-file``: a link, a folder or something else stands where a file should; a link to a file below the root that
  was given, such as the Hub's cache, is a file.
- ``changed-file``: a file's size or sha256 is another one.
- ``unreadable``: a table's file is no Parquet, is damaged, or holds text that is not UTF-8.
- ``wrong-columns``: it has other columns than the table.

Problems of tables, and of single rows:

- ``row-count``, ``digest``, ``fingerprint``: what the manifest says is not what follows from the rows.
- ``unsorted``: rows are not in the order of the key; the table's digest is not compared then.
- ``bad-value``: a null, an id, a score, a position or an importance that is not allowed.
- ``duplicate-id``: two rows have one key.
- ``dangling``: a row names a query, a nugget or a document that does not exist, or a nugget of another query; a
  document that ``snapshot.json`` lists as missing may be named.
- ``wrong-missing``: it lists one as missing that the corpus has, or that nobody judged.
- ``query-without-nugget``, ``nugget-without-judgment``.
- ``qrels-score``, ``qrels-missing``, ``qrels-extra``: ``qrels`` does not follow from ``nugget_qrels``.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from freshstack_datasets.errors import shown
from freshstack_datasets.files import is_file_below
from freshstack_datasets.manifest import FILE, File, Manifest, read_manifest
from freshstack_datasets.tables.schema import TABLES
from freshstack_datasets.verification.problems import Problem, Report
from freshstack_datasets.verification.references import check_missing, check_references
from freshstack_datasets.verification.rows import Seen, check_table

_FREE = {FILE, "README.md", ".gitattributes"}
"""Files that the manifest does not vouch for; so are pictures of the card."""
_PICTURE = re.compile(r"pictures/[a-z0-9-]+\.svg")


def verify(folder: Path | str, *, root: Path | None = None) -> list[Problem]:
    """Return everything that is wrong with a snapshot; nothing when all is well.

    Of many problems of one kind in one file the first 20 are listed and the others counted. What a damaged file
    makes impossible to check is left out.

    Args:
        folder: The snapshot's folder.
        root: Below which its files may be links to, for a folder of the Hub's cache; none may be a link when not given.

    Raises:
        SnapshotError: The folder has no ``snapshot.json`` that can be read: there is nothing to hold it against.
    """
    folder = Path(folder)
    manifest = read_manifest(folder, root)
    report = Report()
    _check_files(folder, manifest, root, report)
    seen: dict[str, Seen] = {}
    for name in ("corpus", "queries", "nuggets", "nugget_qrels", "qrels"):  # what is pointed to comes first
        seen[name] = check_table(folder, TABLES[name], manifest.tables[name], seen, report, root)
        if name == "corpus":
            check_missing(manifest.missing, seen[name], report)
    check_references(seen, report)
    if manifest.fingerprint != manifest.computed_fingerprint():
        expected = f"expected {manifest.computed_fingerprint()}, which follows from the tables' digests"
        report.add("fingerprint", FILE, "", f"{expected}, got {manifest.fingerprint}")
    return report.problems()


def _check_files(folder: Path, manifest: Manifest, root: Path | None, report: Report) -> None:
    """Compare the files there are with those of the manifest."""
    listed = {file.path: file for file in manifest.files()}
    there = set()
    for path, regular in sorted(_files(folder)):
        if root and not (folder / path).exists():  # a link to what was removed from the cache
            continue
        there.add(path)
        if not (regular or (root and is_file_below(folder / path, root))):
            report.add("not-a-file", _printable(path), "", "expected a regular file, got a link or something else")
        elif path in listed:
            _check_file(folder, listed[path], report)
        elif path not in _FREE and not _PICTURE.fullmatch(path):
            report.add("extra-file", _printable(path), "", f"not in {FILE}")
    for path in sorted(listed.keys() - there):
        if (folder / path).is_dir():
            report.add("not-a-file", path, "", "expected a regular file, got a folder")
        else:
            report.add("missing-file", path, "", f"listed in {FILE}, but not there")


def _files(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the path of everything in a folder but folders, and whether it is a regular file; links not followed."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(folder / inside) as entries:
                found = list(entries)
        except OSError:  # not ours to read, or nested deeper than a path can say
            yield inside, False
            continue
        for entry in found:
            path = f"{inside}/{entry.name}" if inside else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                yield path, entry.is_file(follow_symlinks=False)


def _check_file(folder: Path, file: File, report: Report) -> None:
    """Compare a file's bytes with what the manifest says of them."""
    try:
        with (folder / file.path).open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            digest = hashlib.file_digest(stream, "sha256").hexdigest() if size == file.size else ""
    except OSError as error:
        report.add("unreadable", file.path, "", error.strerror or type(error).__name__)
        return
    if size != file.size:
        report.add("changed-file", file.path, "", f"expected {file.size} bytes, got {size}")
    elif digest != file.sha256:
        report.add("changed-file", file.path, "", f"expected sha256 {file.sha256}, got {digest}")


def _printable(path: str) -> str:
    return path if path.isprintable() else shown(path)[1:-1]
