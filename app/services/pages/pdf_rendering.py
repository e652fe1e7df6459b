"""PDF documents, rendered at import: a picture per page, and its text above it, unseen.

The text can be selected, found and highlighted; it lies where the picture shows it. PDFium, the
library behind it, is not thread-safe: one thread uses it at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO
from pathlib import PurePosixPath
from threading import Lock
from urllib.parse import quote

import pypdfium2

from topkapi.app.services.pages.pdf import INDEX, rendered_folder

MAX_PAGES = 300
_WIDTH = 1240  # pixels of a page's picture: 150 dpi for A4
_MAX_PIXELS = 4_000_000
_QUALITY = 80
_LOCK = Lock()
_STYLE = """
body{margin:0;background:#e9e6df}
.sheet{position:relative;width:min(100% - 16px,900px);margin:8px auto;background:#fff;
container-type:inline-size;overflow:hidden}
.sheet img{position:absolute;inset:0;width:100%;height:100%}
.sheet span{position:absolute;white-space:nowrap;text-align-last:justify;line-height:1;
font-family:Arial,"Liberation Sans",sans-serif;color:transparent}
.sheet mark[data-mark]{color:transparent!important;padding:0;mix-blend-mode:multiply}
"""


class BadPdf(ValueError):
    """The file cannot be shown: damaged, locked, empty or too long."""


def check_pdf(data: bytes) -> None:
    """Raise `BadPdf` unless every page can be read."""
    with _opened(data) as document:
        pages = len(document)
        if not 1 <= pages <= MAX_PAGES:
            raise BadPdf(f"it has {pages} pages; the limit is {MAX_PAGES}")
        for number in range(pages):
            document.get_page_size(number)


def pdf_text(data: bytes) -> str:
    """Return the text of all pages."""
    with _opened(data) as document:
        pages = (_text_of(page) for page in _pages(document))
        return "\n\n".join(text for text in pages if text)


def rendered_pdf(data: bytes, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each page's picture, and at last the HTML page that shows them."""
    sheets: list[str] = []
    folder = quote(PurePosixPath(rendered_folder(path)).name)
    with _opened(data) as document:
        for number, page in enumerate(_pages(document), start=1):
            name = f"{number}.webp"
            yield name, _picture(page)
            sheets.append(_sheet(page, f"{folder}/{name}"))
    head = f'<meta charset="utf-8"><title>PDF</title><style>{_STYLE}</style>'
    body = "\n".join(sheets)
    html = f"<!doctype html><html><head>{head}</head><body>\n{body}\n</body></html>"
    yield INDEX, html.encode()


@contextmanager
def _opened(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise BadPdf(_reason(str(error))) from None
        try:
            yield document
        except pypdfium2.PdfiumError as error:
            raise BadPdf(_reason(str(error))) from None
        finally:
            document.close()


def _reason(message: str) -> str:
    return "it needs a password" if "password" in message.lower() else "it is damaged"


def _pages(document: pypdfium2.PdfDocument) -> Iterator[pypdfium2.PdfPage]:
    for number in range(len(document)):
        page = document[number]
        yield page
        page.close()


def _picture(page: pypdfium2.PdfPage) -> bytes:
    width, height = page.get_size()
    scale = min(_WIDTH / max(width, 1), (_MAX_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale)
    stream = BytesIO()
    bitmap.to_pil().convert("RGB").save(stream, "WEBP", quality=_QUALITY)
    bitmap.close()
    return stream.getvalue()


def _text_of(page: pypdfium2.PdfPage) -> str:
    found = page.get_textpage()
    text = str(found.get_text_bounded())
    found.close()
    return _clean(text).replace("\r\n", "\n").strip()


def _sheet(page: pypdfium2.PdfPage, source: str) -> str:
    """Return a page: its picture, and each run of text at its place."""
    width, height = page.get_size()
    runs = "".join(_runs(page, width, height))
    shape = f"aspect-ratio:{width:.1f}/{height:.1f}"
    return f'<div class="sheet" style="{shape}"><img src="{source}" alt="">{runs}</div>'


def _runs(page: pypdfium2.PdfPage, width: float, height: float) -> Iterator[str]:
    found = page.get_textpage()
    for index in range(found.count_rects()):
        left, bottom, right, top = found.get_rect(index)
        text = _clean(str(found.get_text_bounded(left, bottom, right, top))).strip()
        if not text:
            continue
        x, y = 100 * left / width, 100 * (height - top) / height
        size = 100 * (top - bottom) / width
        wide = 100 * (right - left) / width
        style = f"left:{x:.2f}%;top:{y:.2f}%;width:{wide:.2f}%;font-size:{size:.2f}cqw"
        yield f'<span style="{style}">{escape(text)}</span>\n'
    found.close()


def _clean(text: str) -> str:
    """Return the text without characters that no database stores, and with joined syllables."""
    kept = text.replace("\0", "").replace("\ufffe\r\n", "").replace("\ufffe", "")
    return kept.encode("utf-8", "ignore").decode()
