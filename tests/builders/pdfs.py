"""PDFs for tests: ordinary ones, written by another library, and ones to stumble over, written here byte by byte."""

import io
import zlib

PASSWORD = "secret"


def written(pages, *, font="Helvetica", size=12, password=None):
    """Return a PDF with lines of text, in the order of the list, by reportlab.

    Args:
        pages: Of each page its lines, each a text, or a place (x, y) and a text.
        font: One that reportlab knows without a file: Helvetica for Latin, HeiseiMin-W3 for Japanese …
        size: Of the letters.
        password: What opens it.
    """
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    if font not in pdfmetrics.standardFonts:
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    file = io.BytesIO()
    canvas = Canvas(file, invariant=True, encrypt=password)
    for lines in pages:
        canvas.setFont(font, size)
        for number, line in enumerate(lines):
            (x, y), text = line if isinstance(line, tuple) else ((72, 760 - number * size * 1.2), line)
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def in_letters_of(font_file, lines):
    """Return a PDF of one page in a TrueType font, by reportlab."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(TTFont("theirs", str(font_file)))
    file = io.BytesIO()
    canvas = Canvas(file, invariant=True)
    canvas.setFont("theirs", 12)
    for number, line in enumerate(lines):
        canvas.drawString(72, 760 - 14 * number, line)
    canvas.save()
    return file.getvalue()


def scanned():
    """Return a PDF of a picture, by reportlab."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file, invariant=True)
    canvas.drawImage(ImageReader(Image.new("L", (40, 40), 128)), 0, 0, 400, 400)
    canvas.save()
    return file.getvalue()


def raw(*objects):
    """Return a PDF of some objects, of which the first is its root."""
    out, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(out))
    )


def stream(data, more=b""):
    """Return a stream."""
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), more, data)


ROOT = b"<< /Type /Catalog /Pages 2 0 R >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
HELLO = b"BT /F 12 Tf 72 700 Td (hello) Tj ET "


def with_pages(count, contents):
    """Return a PDF of many pages, which all show the same."""
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(count))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 3 0 R /Resources << /Font << /F 4 0 R >> >> >>"
    )
    return raw(ROOT, b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count), contents, FONT, *[page] * count)


def with_forms(*bodies):
    """Return a PDF whose page draws a form, which draws the next one (``/X Do``), and the last one itself."""
    forms = []
    for number, body in enumerate(bodies):
        following = min(number + 1, len(bodies) - 1) + 6
        more = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F 5 0 R >> /XObject << /X %d 0 R >> >>"
        forms.append(stream(body, more % following))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>"
    return raw(ROOT, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page, stream(b"/X Do"), FONT, *forms)


def bomb(mebibytes):
    """Return a PDF of a few kilobytes whose page's content is so large: spaces, packed twice."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(mebibytes)) + packer.flush()
    return with_pages(1, stream(zlib.compress(packed, 9), b"/Filter [/FlateDecode /FlateDecode]"))
