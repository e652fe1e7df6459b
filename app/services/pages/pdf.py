"""Names of the parts of a PDF document: its media type, and where its rendering is stored."""

PDF = "application/pdf"
INDEX = "index.html"
TEXT = "text"  # of all pages; stored with the PDF itself


def rendered_folder(path: str) -> str:
    """Return the folder in which the rendered parts of the PDF file ``path`` are stored."""
    return f"{path}.rendered"
