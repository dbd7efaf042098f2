"""The text of one PDF, read in a process of its own, which may crash, hang or grow without harm to anybody else.

A program: ``python -P pdf_program.py SECONDS MEMORY LONGEST`` takes a PDF on standard input and writes the texts of its
pages, parted by form feeds. When there is no text to write, it says why in one line instead, and ends with ``REFUSED``.
"""

import resource
import sys

REFUSED = 3
_LOCKED = 4
"""What the library answers when a password is needed."""


def main(seconds: int, memory: int, longest: int) -> int:
    """Read standard input and write standard output; return the exit code.

    Args:
        seconds: Of computing, after which the system ends this process.
        memory: Bytes of addresses that it may have.
        longest: Bytes of text that are written at most.
    """
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CORE, 0)
    why = _read(longest)
    sys.stdout.buffer.write(why.encode())
    sys.stdout.buffer.flush()
    return REFUSED if why else 0


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _read(longest: int) -> str:
    """Write the texts of all pages and return "", or write nothing and return why."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(sys.stdin.buffer.read())
    except PdfiumError as error:
        return "it is encrypted" if error.err_code == _LOCKED else f"it is damaged: {error}"
    texts: list[bytes] = []
    left = longest
    for number in range(len(document)):
        try:
            page = document[number]
            shown = page.get_textpage()
            text = shown.get_text_range()
        except PdfiumError as error:
            return f"page {number + 1:,} of {len(document):,} is damaged: {error}"
        texts.append(text.replace("\f", "\n").encode())
        shown.close()
        page.close()
        left -= len(texts[-1])
        if left < 0:
            return f"it has more than {longest:,} bytes of text"
    sys.stdout.buffer.write(b"\f".join(texts))
    return ""


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
