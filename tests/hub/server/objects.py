"""The bytes of large files, kept by their sha256, whichever way they came."""

import hashlib
from pathlib import Path

from tests.hub.server.messages import RefusedError
from tests.hub.server.xet import XetFile, XetStore


class Objects:
    """Large files of all repositories of a Hub: as they are, or in the xet store."""

    def __init__(self, folder: Path) -> None:
        self._plain = folder / "lfs"
        self._plain.mkdir()
        self._corrupted: set[str] = set()
        self.xet = XetStore(folder / "xet")

    def size(self, sha256: str) -> int | None:
        """Return the size of a content, None when nobody uploaded it."""
        file = self.xet.find(sha256)
        plain = self._plain / sha256
        return file.size if file else plain.stat().st_size if plain.is_file() else None

    def in_xet(self, sha256: str) -> XetFile | None:
        """Return what xet finds a content by, None when it has to be read without."""
        return None if sha256 in self._corrupted else self.xet.find(sha256)

    def path(self, sha256: str) -> Path:
        """Return the file that holds a content."""
        path, file = self._plain / sha256, self.xet.find(sha256)
        if not path.is_file():
            if file is None:
                raise RefusedError(404, f"No object {sha256}", "EntryNotFound")
            self.xet.save(file, path)
        return path

    def add(self, data: bytes, sha256: str | None = None) -> str:
        """Keep a content and return its sha256; one that is not what it is said to be is refused."""
        found = hashlib.sha256(data).hexdigest()
        if sha256 not in (None, found):
            raise RefusedError(400, f"The content's sha256 is {found} instead of {sha256}")
        (self._plain / found).write_bytes(data)
        return found

    def corrupt(self, sha256: str) -> None:
        """Change one byte of a content that keeps its name and its size."""
        path = self.path(sha256)
        path.write_bytes(corrupted(path.read_bytes()))
        self._corrupted.add(sha256)  # xet checks its own hashes; what it would refuse is served without it


def corrupted(data: bytes) -> bytes:
    """Return bytes of which the middle one is another."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]
