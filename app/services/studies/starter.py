"""The small study that a new one can start from: two queries about tulips, to edit and import."""

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import topkapi.app
from topkapi.app.services.importing.layout.head import slug_of

EXAMPLE = "Small example"


def starter_files(name: str) -> dict[str, str]:
    """Return the files of the starter study by their names."""
    folder, slug = Path(topkapi.app.__file__).parent / "starter", slug_of(name)
    quoted = json.dumps(name, ensure_ascii=False)
    return {
        source.name: source.read_text(encoding="utf-8")
        .replace('"NAME"', quoted)
        .replace("SLUG", slug)
        for source in sorted(folder.iterdir())
    }


def starter_zip(name: str = EXAMPLE) -> bytes:
    """Return the starter study as a .zip."""
    with BytesIO() as file:
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for path, text in starter_files(name).items():
                archive.writestr(f"{slug_of(name)}/{path}", text)
        return file.getvalue()
