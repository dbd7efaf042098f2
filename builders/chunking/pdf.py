"""PDFs to text: that of their pages, in the order in which it was put there, with a blank line between pages."""

import math
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from builders.chunking import pdf_program
from builders.chunking.deadline import Deadline, OutOfTimeError
from builders.chunking.records import Refused
from freshstack_datasets.errors import MissingExtraError

PACKAGE = "pypdfium2"
MISSING = "missing-extra"
"""The reason of PDFs that were left out since the package is not installed."""
LONGEST = 10 * 2**20
"""Bytes of text that a PDF may have: as many as another file may."""
MEMORY = 2**30
"""Bytes of addresses that reading one may take: ordinary ones of a thousand pages take 50 MB."""

_HEAD = 1_024
"""Bytes in which readers look for the beginning of a PDF."""
_HYPHEN = re.compile("\ufffe(.?)", re.DOTALL)
"""What the library makes of a hyphen at the end of a line and the line's end together."""
_NO_TEXT = dict.fromkeys([*(set(range(32)) - set(b"\t\n")), 0x7F, 0xFFFE, 0xFFFF])


def is_pdf(path: str, data: bytes) -> bool:
    """Return whether a file says that it is a PDF, by its name and by how it begins."""
    return path.lower().endswith(".pdf") and b"%PDF-" in data[:_HEAD]


def reader() -> str | None:
    """Return the version of the package that reads PDFs, None when it is not installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return None


def how_to_install() -> str:
    """Return the command that installs it."""
    return MissingExtraError(PACKAGE, "pdf").hint


def read_pdf(data: bytes, deadline: Deadline) -> str | Refused:
    """Return the text of a PDF, or why it has none.

    Args:
        data: The file.
        deadline: The time that this may take.

    Raises:
        OutOfTimeError: It takes longer.
    """
    if reader() is None:
        return Refused(MISSING, f"to read PDFs: {how_to_install()}")
    seconds = deadline.left()
    limits = (math.ceil(seconds), MEMORY, LONGEST)
    command = [sys.executable, "-P", str(Path(pdf_program.__file__)), *map(str, limits)]
    try:
        ended = subprocess.run(
            command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise OutOfTimeError from None
    if ended.returncode == pdf_program.REFUSED:
        return Refused("pdf", ended.stdout.decode("utf-8", "replace"))
    if ended.returncode != 0:
        deadline.check()
        return Refused("pdf", f"its reader crashed, or needed more than {MEMORY >> 20:,} MB of memory")
    pages = [page for page in map(_clean, ended.stdout.decode().split("\f")) if page]
    if not pages:
        return Refused("scanned", "a PDF without text: its pages are empty, or pictures")
    return "\n\n".join(pages) + "\n"


def _clean(page: str) -> str:
    """Return the text of a page without marks of the library's own, and without spaces at the ends of lines.

    A word that was parted at the end of a line is put together again. What comes before a capital letter or a digit is
    no such word, and keeps its hyphen.
    """
    text = page.replace("\r\n", "\n").replace("\r", "\n")
    text = _HYPHEN.sub(lambda found: found[1] if found[1].islower() else f"-{found[1]}", text).translate(_NO_TEXT)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
