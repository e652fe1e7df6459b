"""Small PDF files and pictures, made without a library."""

import struct
import zlib

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
    return _written(objects)


def _written(objects: list[str]) -> bytes:
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
