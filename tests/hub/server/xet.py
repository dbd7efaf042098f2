"""Xet storage: a folder that the clients' own hf_xet writes and reads, named to them as ``local://``.

The real service tells the Hub which xet file has which sha256; here that is read from the shards that hf_xet leaves.
Their form: a header of 48 bytes, then for each file a head of 48 bytes and its entries of 48 bytes each.
"""

import hashlib
import importlib
import os
import shutil
import struct
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.hub.server.accounts import opened, writable
from tests.hub.server.messages import Answer, Request, answer

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub

_BLOCK = 48
_HAS_VERIFICATION, _HAS_SHA256 = 1 << 31, 1 << 30
_END = b"\xff" * 32


class XetFile(NamedTuple):
    """What hf_xet finds a file by."""

    hash: str
    size: int


class XetStore:
    """The folder of a xet store, and which contents are in it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._known: dict[str, XetFile] = {}
        self._read: set[Path] = set()

    def find(self, sha256: str) -> XetFile | None:
        """Return the file with a content, None when it is not here."""
        if sha256 not in self._known:
            for shard in set(self.folder.rglob("*.mdb")) - self._read:
                self._read.add(shard)
                self._known |= files_of_shard(shard.read_bytes())
        return self._known.get(sha256)

    def add(self, data: bytes) -> str:
        """Keep a content and return its sha256."""
        with _hf_xet().XetSession().new_upload_commit(endpoint=f"local://{self.folder}") as commit:
            commit.start_upload_bytes(data, sha256=_hf_xet().COMPUTE_SHA256)
        return hashlib.sha256(data).hexdigest()

    def save(self, file: XetFile, path: Path) -> None:
        """Write a file's bytes to a path, for readers who ask without xet."""
        with tempfile.TemporaryDirectory(dir=self.folder.parent) as work:
            copy = Path(work) / "copy"  # the store's own database may be open in the process that uploads
            shutil.copytree(self.folder, copy)
            with _hf_xet().XetSession().new_file_download_group(endpoint=f"local://{copy}") as group:
                group.start_download_file(_hf_xet().XetFileInfo(file.hash, file.size), str(path))


def why_not() -> str | None:
    """Return why hf_xet cannot keep files in a folder, None when it can; that it can is a facility for tests."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _hf_xet().XetSession().new_upload_commit(endpoint=f"local://{folder}") as commit:
                commit.start_upload_bytes(b"something", sha256=_hf_xet().COMPUTE_SHA256)
        except Exception as error:
            return f"hf_xet has no store at local://: {error}"
    return None


def _hf_xet() -> Any:
    os.environ["HF_XET_LOG_DEST"] = os.devnull  # else it writes logs into the home of whoever runs the tests
    return importlib.import_module("hf_xet")


def files_of_shard(data: bytes) -> dict[str, XetFile]:
    """Return the files that a shard describes, by the sha256 of their content."""
    files, at = {}, _BLOCK
    while at + _BLOCK <= len(data) and data[at : at + 32] != _END:
        hashed, (flags, entries) = _hex(data[at : at + 32]), struct.unpack_from("<II", data, at + 32)
        at += _BLOCK
        size = sum(struct.unpack_from("<I", data, at + _BLOCK * entry + 36)[0] for entry in range(entries))
        at += _BLOCK * entries * (2 if flags & _HAS_VERIFICATION else 1)
        if flags & _HAS_SHA256:
            files[_hex(data[at : at + 32])] = XetFile(hashed, size)
            at += _BLOCK
    return files


def _hex(raw: bytes) -> str:
    """Return a hash as xet writes it: four numbers of eight bytes, the lowest byte first."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))


def read_token(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Say where a repository's large files can be read."""
    opened(hub, request, repo).at(revision)
    return _token(hub)


def write_token(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Say where a repository's large files can be written."""
    writable(hub, request, repo).at(revision)
    return _token(hub)


def _token(hub: "TestHub") -> Answer:
    address, token, until = f"local://{hub.objects.xet.folder}", "xet-token", int(time.time()) + 3600
    headers = {"X-Xet-Cas-Url": address, "X-Xet-Access-Token": token, "X-Xet-Token-Expiration": str(until)}
    return answer({"casUrl": address, "accessToken": token, "exp": until}, headers=headers)
