"""PDFs to text: what was written is what is read, and what cannot be read harms nobody."""

import resource
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.chunking import Chunked, Chunker, Refused, pdf
from builders.tokens import encoding
from tests.builders import pdfs

CHUNKER = Chunker()


def text_of(data: bytes) -> str:
    result = CHUNKER.chunk("a.pdf", data)
    assert isinstance(result, Chunked), result
    return result.text


def refusal_of(data: bytes, chunker: Chunker = CHUNKER) -> tuple[str, str]:
    result = chunker.chunk("a.pdf", data)
    assert isinstance(result, Refused), result
    return result.reason, result.detail


def test_the_text_of_pages_comes_in_their_order_with_a_blank_line_between():
    pages = [["Setup", "Install the agent first."], [], ["Then start it: Straße, naïve, 5 €."]]
    assert text_of(pdfs.written(pages)) == "Setup\nInstall the agent first.\n\nThen start it: Straße, naïve, 5 €.\n"


@pytest.mark.parametrize(
    "font, line",
    [
        ("HeiseiMin-W3", "日本語の文書。吾輩は猫である"),
        ("STSong-Light", "中文文档"),
        ("HYSMyeongJo-Medium", "한국어 문서"),
    ],
)
def test_letters_of_east_asia_are_read(font, line):
    assert text_of(pdfs.written([[line]], font=font)) == f"{line}\n"


def test_other_letters_are_read_and_ligatures_become_letters():
    fonts = Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"
    read = text_of(pdfs.in_letters_of(fonts / "DejaVuSans.ttf", ["Привет, мир. Ελληνικά", "oﬃce ﬁle ﬂow"]))
    assert read == "Привет, мир. Ελληνικά\noffice file flow\n"


def test_columns_are_read_as_they_were_written():
    left = [((72, 700 - 14 * line), f"left {line}") for line in range(3)]
    right = [((320, 700 - 14 * line), f"right {line}") for line in range(3)]
    assert text_of(pdfs.written([left + right])) == "left 0\nleft 1\nleft 2\nright 0\nright 1\nright 2\n"


def test_a_word_that_a_line_parts_is_put_together_and_other_hyphens_stay():
    lines = ["a manage-", "ment plan of 1990-", "1995 by Rolls-", "Royce, well-known"]
    assert text_of(pdfs.written([lines])) == "a management plan of 1990-\n1995 by Rolls-Royce, well-known\n"


def test_chunks_are_exact_and_leave_out_only_white_space():
    pages = [[f"Page {page}, line {line}: some words to fill it." for line in range(40)] for page in range(8)]
    result = Chunker(limit=300).chunk("manual.PDF", pdfs.written(pages))
    assert isinstance(result, Chunked)
    assert (result.how, result.language) == ("text", "text")
    assert result.text == "\n\n".join("\n".join(lines) for lines in pages) + "\n"
    at = 0
    for chunk in result.chunks:
        assert chunk.text == result.text[chunk.start : chunk.end]
        assert chunk.text == result.text.encode()[chunk.start_byte : chunk.end_byte].decode()
        assert not result.text[at : chunk.start].strip()
        assert chunk.tokens == len(encoding("cl100k_base").encode_ordinary(chunk.text)) <= 300
        at = chunk.end
    assert not result.text[at:].strip()
    assert len(result.chunks) > 8


def test_what_nobody_can_read_is_refused_with_the_reason():
    good = pdfs.written([["hello"]])
    assert refusal_of(pdfs.written([["hello"]], password=pdfs.PASSWORD)) == ("pdf", "it is encrypted")
    assert refusal_of(good[: len(good) // 3])[0] == "pdf"
    assert refusal_of(b"%PDF-1.7\n" + bytes(range(256)) * 99) == (
        "pdf",
        "it is damaged: Failed to load document (PDFium: Data format error).",
    )
    without_text = ("scanned", "a PDF without text: its pages are empty, or pictures")
    assert refusal_of(pdfs.scanned()) == without_text
    assert refusal_of(pdfs.written([[], []])) == without_text
    assert CHUNKER.chunk("a.pdf", b"Not one.\n").chunks[0].text == "Not one.\n"


def test_a_pdf_that_only_its_owner_may_change_is_read():
    from reportlab.lib.pdfencrypt import StandardEncryption

    locked = StandardEncryption("", ownerPassword=pdfs.PASSWORD, canModify=0)
    assert text_of(pdfs.written([["hello"]], password=locked)) == "hello\n"


ENDLESS = {
    "a form that draws itself": (pdfs.with_forms(pdfs.HELLO + b"/X Do"), "hello\n"),
    "pages that hold themselves": (pdfs.raw(pdfs.ROOT, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"), None),
    "two thousand million pages": (
        pdfs.raw(pdfs.ROOT, b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>", b"<< /Type /Page /Parent 2 0 R >>"),
        None,
    ),
    "a million brackets": (pdfs.with_pages(1, pdfs.stream(b"[" * 1_000_000)), None),
    "a million dictionaries": (b"%PDF-1.4\n1 0 obj\n" + b"<</A " * 1_000_000, None),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_read_or_refused_at_once(name):
    data, text = ENDLESS[name]
    if text is None:
        assert refusal_of(data)[0] in ("pdf", "scanned")
    else:
        assert text_of(data) == text


@pytest.mark.slow
def test_what_swells_is_refused_and_takes_no_memory_of_ours(monkeypatch):
    monkeypatch.setattr(pdf, "MEMORY", 200 * 2**20)
    crashed = ("pdf", "its reader crashed, or needed more than 200 MB of memory")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refusal_of(pdfs.bomb(400)) == crashed
    swelling = pdfs.with_forms(*[pdfs.HELLO + b"/X Do " * 20] * 12)  # 20 to the power of 12 words
    assert refusal_of(swelling) == crashed
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_what_takes_too_long_is_given_up():
    slow = pdfs.with_pages(3_000, pdfs.stream(pdfs.HELLO * 300))
    assert refusal_of(slow, Chunker(seconds_per_file=0.05)) == ("timeout", "it took more than 0.05 seconds")


@pytest.mark.slow
def test_the_system_ends_a_reader_that_computes_too_long():
    # what nobody waits for any more, since the process that asked for it was killed
    slow = pdfs.with_pages(3_000, pdfs.stream(pdfs.HELLO * 300))
    command = [sys.executable, "-P", pdf.pdf_program.__file__, "1", str(pdf.MEMORY), str(pdf.LONGEST)]
    ended = subprocess.run(command, input=slow, capture_output=True, check=False)
    assert ended.returncode < 0


def test_text_has_a_most_too(monkeypatch):
    monkeypatch.setattr(pdf, "LONGEST", 1_000)
    assert text_of(pdfs.with_pages(150, pdfs.stream(pdfs.HELLO))).count("hello") == 150  # 5 letters each
    assert refusal_of(pdfs.with_pages(250, pdfs.stream(pdfs.HELLO))) == ("pdf", "it has more than 1,000 bytes of text")


def test_without_the_package_the_reason_says_how_to_install_it(monkeypatch):
    def none(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(pdf, "version", none)
    assert refusal_of(pdfs.written([["hello"]])) == (
        "missing-extra",
        "to read PDFs: pip install 'freshstack-datasets[pdf]'",
    )


WHOLE = pdfs.written([["hello world"] * 9] * 3)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(max_size=9)), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_damage_is_read_or_refused(damages):
    data = bytearray(WHOLE)
    for at, instead in damages:
        data[at : at + len(instead)] = instead
    result = CHUNKER.chunk("a.pdf", bytes(data))
    if isinstance(result, Refused):
        assert result.reason in ("pdf", "scanned", "binary", "encoding")
    else:
        assert "".join(chunk.text for chunk in result.chunks).split() == result.text.split()
