"""Small PDF files and pictures, made without a library."""

import struct
import zlib
from collections.abc import Callable

PIXEL_ROWS = 40


def pdf_of(*texts: str, font: str = "Helvetica", size: int = 24) -> bytes:
    """Return a PDF with one page per text; each text is one line, 72 points from the left."""
    count = len(texts)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} >>",
    ]
    for number, text in enumerate(texts):
        stream = f"BT /F1 {size} Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    return pdf_of_objects(objects)


def pdf_of_objects(objects: list[str]) -> bytes:
    """Return a PDF of these objects; the first is its catalog."""
    body = b"%PDF-1.4\n"
    offsets = []
    for number, each in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R >>\n"
    return body + f"{tail}startxref\n{len(body)}\n%%EOF\n".encode()


def png_of(width: int, height: int = PIXEL_ROWS) -> bytes:
    """Return a grey PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x99" * width) * height)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def form_bomb(depth: int = 12, times: int = 10) -> bytes:
    """Return a PDF of one page that draws a form, which draws the next ten times, and so on."""
    return _nested(depth, lambda number: f"/X{number} Do " * times, "/XObject << /X{0} {1} 0 R >>")


def tiling_bomb(depth: int = 6) -> bytes:
    """Return a PDF whose page is filled with a pattern that is filled with the next one."""
    fill = "/Pattern cs /X{0} scn 0 0 595 842 re f"
    resources = "/Pattern << /X{0} {1} 0 R >>"
    kind = (
        "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 595 842] "
        "/XStep 0.01 /YStep 0.01"
    )
    return _nested(depth, fill.format, resources, kind)


def _nested(
    depth: int,
    drawing: Callable[[int], str],
    resources: str,
    kind: str = "/Type /XObject /Subtype /Form /BBox [0 0 595 842]",
) -> bytes:
    """Return a PDF whose page, object 3, draws object 5, which draws object 6, and so on."""

    def stream(number: int, head: str) -> str:
        last = number == depth
        text = "0 0 10 10 re f" if last else drawing(number)
        named = "" if last else resources.format(number, number + 5)
        return (
            f"<< {head} /Resources << {named} >> /Length {len(text)} >>\nstream\n{text}\nendstream"
        )

    return pdf_of_objects(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
            f"/Resources << {resources.format(0, 5)} >> >>",
            stream(0, ""),
            *(stream(number, kind) for number in range(1, depth + 1)),
        ]
    )


def pdf_of_shape(width: float, height: float) -> bytes:
    """Return a PDF of one empty page."""
    return pdf_of_objects(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] >>",
        ]
    )
