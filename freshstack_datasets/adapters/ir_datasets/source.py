"""What a dataset of ``ir_datasets`` is made of: a snapshot that is opened when something of it is first asked for."""

import threading
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from freshstack_datasets import catalog
from freshstack_datasets.errors import InputError, SnapshotError, shown
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.manifest import FILE
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, QUERIES


class Source:
    """A snapshot, by name or as it was loaded, that can be handed to another process.

    Args:
        name: The dataset's name.
        snapshot: The snapshot's name.
        folder: The folder it was loaded from; None for one that is loaded by its name.
        fingerprint: The fingerprint that the folder had.
    """

    def __init__(self, name: str, snapshot: str | None, folder: Path | None = None, fingerprint: str = "") -> None:
        self.name, self.snapshot, self.folder, self.fingerprint = name, snapshot, folder, fingerprint
        self._opened: Dataset | None = None
        self._opening = threading.Lock()

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Return the source that a loaded dataset is.

        Raises:
            InputError: The dataset was made of judgments alone, or has an overlay.
        """
        if data.path is None:
            what = f"dataset {shown(data.name)}"
            raise InputError(what, expected="a snapshot", got="a dataset made of judgments alone", hint="load one")
        if data.overlay is not None:  # another process would open the folder, and not have its judgments
            what = f"dataset {shown(data.name)}"
            raise InputError(
                what, expected="a snapshot as it is", got="one with an overlay", hint="score it with evaluate"
            )
        source = cls(data.name, data.snapshot, data.path.absolute(), data.fingerprint)
        source._opened = data
        return source

    @property
    def data(self) -> Dataset:
        """The dataset, loaded when it is first asked for.

        Raises:
            FreshStackError: It cannot be had, or the folder holds another snapshot by now.
        """
        with self._opening:
            if self._opened is None:
                self._opened = self._loaded()
        return self._opened

    def _loaded(self) -> Dataset:
        # The Hub's cache has links out of the snapshot's folder, which are followed for a dataset by name alone.
        if self.folder is None or (self.folder / FILE).is_symlink():
            data = load(self.name, self.snapshot)
        else:
            data = load(self.folder)
        if self.fingerprint not in ("", data.fingerprint):
            what = f"the snapshot {shown(data.name)}"
            raise SnapshotError(what, expected=f"the fingerprint {self.fingerprint}", got=data.fingerprint)
        return data

    @cached_property
    def _published(self) -> dict[str, int]:
        """How many rows of which tables it has, as far as that is published."""
        entry = catalog.published(self.name).get(self.snapshot or "") if self.folder is None else None
        if entry is None:
            return {}
        queries = {QUERIES.name: entry.queries} if self.name in catalog.known() else {}
        return {CORPUS.name: entry.documents, **queries}

    def rows(self, table: str) -> int | None:
        """Return how many rows of a table it has.

        A snapshot is not opened to count what is published of it: until it is, this is None for such a table.

        Raises:
            FreshStackError: It had to be opened, and cannot be.
        """
        if self._opened is None and table in self._published:
            return None
        manifest = self.data.manifest
        return manifest.tables[table].rows if manifest is not None else None

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """What is known of the numbers of rows without a download, in the words of ``ir_datasets``."""
        tables = {"docs": CORPUS.name, "queries": QUERIES.name, "qrels": NUGGET_QRELS.name}
        if self._published:
            return {kind: {"count": self._published[t]} for kind, t in tables.items() if t in self._published}
        return {kind: {"count": self.rows(t) or 0} for kind, t in tables.items()}

    @property
    def language(self) -> str | None:
        """The language of the texts, ISO 639-1; None when there are several, or it is not known."""
        languages = (catalog.languages(self.name) if self.folder is None else ()) or self.data.languages
        return languages[0] if len(languages) == 1 else None

    @property
    def namespace(self) -> str:
        """Within what an id of a document or query is always of the same one."""
        return "/".join(filter(None, (self.name.removesuffix(catalog.UNFILTERED), self.snapshot)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.name, self.snapshot, self.folder, self.fingerprint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._key  # another process opens it for itself
