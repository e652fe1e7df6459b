"""PDF documents, rendered at import: a picture per page, and its text above it, unseen.

The text can be selected, found and highlighted; each word lies where the picture shows it. Blank
margins at the sides are cut off, and a page is at least so wide that its text can be read. PDFium,
the library behind it, is neither thread-safe nor bounded: only `fenced_child` runs it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import PurePosixPath
from unicodedata import east_asian_width
from urllib.parse import quote

import pypdfium2
from pypdfium2 import raw

from topkapi.app.services.fence.limits import MAX_PDF_PAGES
from topkapi.app.services.pages.pdf import INDEX, rendered_folder

_WIDTH = 1240  # pixels of a page's picture: 150 dpi for A4
_MAX_PIXELS = 4_000_000
_MAX_SIDE = 16_383  # of a WebP picture
_QUALITY = 80
_READABLE = 9  # pixels of a line of the most common text, whose letters are about a tenth larger
_FONT_SHARE = 0.86  # size of a font in the height of its line
_BACKGROUND = 0.9  # of the width: what is as wide or wider may be cut off
_LEAST_SHOWN = 0.4  # of the width; a page with less on it is shown whole
_MAX_WORDS = 100_000  # of a document, that are placed one by one
_MARGIN = 0.02  # of the width, left blank beside the content
_STYLE = """
html{zoom:1!important}
body{margin:0;background:#e9e6df}
.page{width:calc(var(--topkapi-zoom,1)*var(--shown)*
max(min((100% - 16px)/var(--shown),900px),var(--readable)));
margin:8px auto;overflow:hidden;background:#fff}
.sheet{position:relative;width:calc(100%/var(--shown));
margin-left:calc(-100%*var(--left)/var(--shown));container-type:inline-size}
.sheet img{position:absolute;inset:0;width:100%;height:100%}
.sheet span{position:absolute;white-space:nowrap;line-height:1;
font-family:Arial,"Liberation Sans",sans-serif;color:transparent}
.sheet mark[data-mark]{color:transparent!important;padding:0;mix-blend-mode:multiply}
"""
# Widths of letters in Helvetica, Arial and Liberation Sans, in thousandths of the font size.
_BY_WIDTH = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r", 334: "{}", 355: '"',
    389: "*", 469: "^", 500: "Jcksvxyz", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY",
    722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1015: "@",
}  # fmt: skip
_WIDTHS = {each: width / 1000 for width, letters in _BY_WIDTH.items() for each in letters}
_OTHER_WIDTH, _WIDE = 0.556, 1.0


@dataclass(frozen=True, slots=True)
class _Word:
    """A word and its box; all numbers are shares of the page's width, from its upper left."""

    text: str
    left: float
    right: float
    top: float
    bottom: float

    @property
    def size(self) -> float:
        """The size of the font."""
        return _FONT_SHARE * (self.bottom - self.top)


class BadPdf(ValueError):
    """The file cannot be shown: damaged, locked, empty or too long."""


def check_pdf(data: bytes) -> None:
    """Raise `BadPdf` unless every page can be read."""
    with _opened(data) as document:
        pages = len(document)
        if not 1 <= pages <= MAX_PDF_PAGES:
            raise BadPdf(f"it has {pages} pages; the limit is {MAX_PDF_PAGES}")
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
    sizes: Counter[float] = Counter()
    sides: list[tuple[float, float]] = []
    count = 0
    folder = quote(PurePosixPath(rendered_folder(path)).name)
    with _opened(data) as document:
        for number, page in enumerate(_pages(document), start=1):
            name = f"{number}.webp"
            yield name, _picture(page)
            words = list(_words(page))
            count += len(words)
            words = _lines(words) if count > _MAX_WORDS else words
            sheets.append(_sheet(page, words, f"{folder}/{name}"))
            sides.append(_sides(page, words))
            for word in words:
                sizes[round(word.bottom - word.top, 3)] += len(word.text)
    head = f'<meta charset="utf-8"><title>PDF</title><style>{_STYLE}</style>'
    body = "\n".join(sheets)
    shape = _shape(sizes, sides)
    html = f"<!doctype html><html><head>{head}</head><body {shape}>\n{body}\n</body></html>"
    yield INDEX, html.encode()


@contextmanager
def _opened(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    try:
        with closing(pypdfium2.PdfDocument(data)) as document:
            yield document
    except pypdfium2.PdfiumError as error:
        raise BadPdf(_reason(str(error))) from None


def _reason(message: str) -> str:
    return "it needs a password" if "password" in message.lower() else "it is damaged"


def _pages(document: pypdfium2.PdfDocument) -> Iterator[pypdfium2.PdfPage]:
    for number in range(len(document)):
        page = document[number]
        yield page
        page.close()


def _picture(page: pypdfium2.PdfPage) -> bytes:
    width, height = page.get_size()
    scale = min(
        _WIDTH / max(width, 1),
        (_MAX_PIXELS / max(width * height, 1)) ** 0.5,
        (_MAX_SIDE - 1) / max(width, height),
    )
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


def _sheet(page: pypdfium2.PdfPage, words: Iterable[_Word], source: str) -> str:
    """Return a page: its picture, and each word at its place."""
    width, height = page.get_size()
    spans = "".join(_span(word, width / height) for word in words)
    shape = f"aspect-ratio:{width:.1f}/{height:.1f}"
    sheet = f'<div class="sheet" style="{shape}"><img src="{source}" alt="">{spans}</div>'
    return f'<div class="page">{sheet}</div>'


def _span(word: _Word, ratio: float) -> str:
    """Return a word, its letters spaced so that it is as wide as in the picture."""
    size = word.size
    gap = ((word.right - word.left) / size - sum(map(_width_of, word.text))) / len(word.text)
    top = (word.top + word.bottom - size) / 2 * ratio
    style = (
        f"left:{100 * word.left:.2f}%;top:{100 * top:.2f}%;"
        f"font-size:{100 * size:.2f}cqw;letter-spacing:{gap:.3f}em"
    )
    return f'<span style="{style}">{escape(word.text)} </span>'


def _width_of(letter: str) -> float:
    return _WIDTHS.get(letter, _WIDE if east_asian_width(letter) in "FW" else _OTHER_WIDTH)


def _shape(sizes: Counter[float], sides: Sequence[tuple[float, float]]) -> str:
    """Return the part of the width to show and the least width, the same for all pages."""
    left = max(0.0, min(side for side, _ in sides) - _MARGIN)
    right = min(1.0, max(side for _, side in sides) + _MARGIN)
    if right - left < _LEAST_SHOWN:
        left, right = 0.0, 1.0
    size = max(sizes, key=lambda each: sizes[each], default=0.0)
    readable = _READABLE / size if size else 0
    return f'style="--left:{left:.3f};--shown:{right - left:.3f};--readable:{readable:.0f}px"'


def _sides(page: pypdfium2.PdfPage, words: Iterable[_Word]) -> tuple[float, float]:
    """Return where the content of a page begins and ends, as shares of its width.

    An empty page begins at its right and ends at its left.
    """
    width = page.get_width()
    drawn = (each.get_bounds() for each in page.get_objects(max_depth=1))
    parts = [
        (left / width, right / width)
        for left, _, right, _ in drawn
        if 0 < right - left < _BACKGROUND * width
    ]
    parts += [(word.left, word.right) for word in words]
    left = min((each for each, _ in parts), default=1.0)
    right = max((each for _, each in parts), default=0.0)
    return left, right


def _words(page: pypdfium2.PdfPage) -> Iterator[_Word]:
    """Yield the words of a page: letters without a blank or a new line between them."""
    width, height = page.get_size()
    text_page = page.get_textpage()
    letters: list[_Word] = []
    for index in range(text_page.count_chars()):
        text = _clean(chr(raw.FPDFText_GetUnicode(text_page, index)))
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        box = (left / width, right / width, (height - top) / width, (height - bottom) / width)
        letter = _Word(text, *box)
        is_blank = not text.strip() or letter.bottom <= letter.top
        if letters and (is_blank or not _follows(letters[-1], letter)):
            yield _joined(letters)
            letters = []
        if not is_blank:
            letters.append(letter)
    if letters:
        yield _joined(letters)
    text_page.close()


def _follows(one: _Word, other: _Word) -> bool:
    """Return whether a letter is on the line of the one before."""
    return one.top < (other.top + other.bottom) / 2 < one.bottom


def _joined(parts: Sequence[_Word], blank: str = "") -> _Word:
    return _Word(
        blank.join(each.text for each in parts),
        min(each.left for each in parts),
        max(each.right for each in parts),
        min(each.top for each in parts),
        max(each.bottom for each in parts),
    )


def _lines(words: Iterable[_Word]) -> list[_Word]:
    """Return words joined to lines, for a document of very many words."""
    lines: list[list[_Word]] = []
    for word in words:
        if lines and _follows(lines[-1][-1], word) and lines[-1][-1].left < word.left:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [_joined(line, " ") for line in lines]


def _clean(text: str) -> str:
    """Return the text without characters that no database stores, and with joined syllables."""
    kept = text.replace("\0", "").replace("\ufffe\r\n", "").replace("\ufffe", "")
    return kept.encode("utf-8", "ignore").decode()
