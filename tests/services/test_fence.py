"""Files that would crash, fill or hold the process that parses them are refused like others."""

import json
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from datetime import date
from functools import partial
from io import BytesIO
from pathlib import Path
from threading import Thread

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.cases import each_case
from tests.media import form_bomb, pdf_of, pdf_of_shape, png_of, tiling_bomb
from tests.studies import small_study, write_jsonl
from tests.waiting import until
from topkapi.app.services.fence import limits
from topkapi.app.services.fence.children import (
    BadFrame,
    Fence,
    UnreadableBytes,
    read_frame,
    write_frame,
)
from topkapi.app.services.importing import StudyRefused, open_source
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.kinds.base import Checked


def checked(folder: Path, name: str, data: bytes) -> Checked:
    """Check a study of two documents, the second of which is this file."""
    (folder / "pages").mkdir(parents=True)
    (folder / "study.toml").write_text('name = "Media"\n')
    (folder / "pages" / name).write_bytes(data)
    pages = [{"id": "text", "text": "Cut them."}, {"id": "file", "path": f"pages/{name}"}]
    write_jsonl(folder / "documents.jsonl", pages)
    write_jsonl(folder / "queries.jsonl", [{"id": "q", "text": "keep tulips"}])
    offered = ({"query": "q", "document": page["id"]} for page in pages)
    write_jsonl(folder / "candidates.jsonl", offered)
    with open_source(folder) as source:
        return check_study(source)


def refusal(folder: Path, name: str, data: bytes) -> str:
    with pytest.raises(StudyRefused) as refused:
        checked(folder, name, data)
    problem = refused.value.problems[0]
    assert (problem.file, problem.line, problem.field) == ("documents.jsonl", 2, "path")
    assert f"pages/{name}" in problem.problem
    assert children() == []
    return problem.problem


def children() -> list[psutil.Process]:
    """Return the children of fences, and zombies."""
    return [
        each
        for each in psutil.Process().children()
        if each.status() == psutil.STATUS_ZOMBIE or "fenced_child" in " ".join(each.cmdline())
    ]


def test_a_pdf_that_takes_all_memory_is_refused(tmp_path: Path) -> None:
    assert "more than 192 MB" in refusal(tmp_path, "bomb.pdf", form_bomb())


class WorkTimer(Thread):
    """A timer that counts what the child works, and expires after two seconds of it."""

    def __init__(self, child: psutil.Process, _seconds: float, expire: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._child, self._expire, self._is_cancelled = child, expire, False
        self._end = self._worked() + 2

    def _worked(self) -> float:
        return float(self._child.cpu_times().user)

    def cancel(self) -> None:
        self._is_cancelled = True

    def run(self) -> None:
        until(lambda: self._is_cancelled or self._worked() > self._end, "work of the child")
        if not self._is_cancelled:
            self._expire()


def test_a_pdf_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    guide, endless = pdf_of("Water the tulips"), tiling_bomb()
    with Fence() as fence:
        list(fence.ask("pdf", "a.pdf", BytesIO(guide), len(guide)))  # imports what it needs
        (child,) = children()
        timer = partial(WorkTimer, child)
        monkeypatch.setattr("topkapi.app.services.fence.children.Timer", timer)
        assert len(list(fence.ask("pdf", "a.pdf", BytesIO(guide), len(guide)))) == 3
        with pytest.raises(UnreadableBytes, match="seconds to read"):
            list(fence.ask("pdf", "a.pdf", BytesIO(endless), len(endless)))
    assert children() == []


@each_case("shape", [(1, 14_400), (14_400, 1), (200_000, 1), (0.001, 900)])
def test_a_pdf_page_of_extreme_shape_is_shown(tmp_path: Path, shape: tuple[float, float]) -> None:
    media = checked(tmp_path, "strip.pdf", pdf_of_shape(*shape)).media
    parts = dict(media.rendering("pages/strip.pdf"))
    assert (parts["1.webp"][8:12], parts["text"]) == (b"WEBP", b"")


def test_a_crash_is_a_refusal_and_the_next_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TASKS_PER_CHILD", 2)
    guide = pdf_of("Water the tulips")
    with Fence() as fence:
        for data, names in ((guide, ["1.webp", "index.html", "text"]), (form_bomb(), None)) * 2:
            answer = fence.ask("pdf", "a.pdf", BytesIO(data), len(data))
            if names is None:
                with pytest.raises(UnreadableBytes):
                    list(answer)
            else:
                assert [name for name, _ in answer] == names
    assert children() == []


def test_an_answer_that_is_not_read_leaves_no_child() -> None:
    guide = pdf_of("Water the tulips", "Cut the stems")
    with Fence() as fence:
        answer = fence.ask("pdf", "a.pdf", BytesIO(guide), len(guide))
        assert next(iter(answer))[0] == "1.webp"
        answer.close()
        assert children() == []


def test_the_child_has_no_settings_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", "postgresql://user:secret@host/name")
    guide = pdf_of("Water the tulips")
    with Fence() as fence:
        list(fence.ask("pdf", "a.pdf", BytesIO(guide), len(guide)))
        (child,) = children()
        assert not [name for name in child.environ() if name.startswith("TOPKAPI")]


ESCAPES = """
import sys
from pathlib import Path
from topkapi.app.services.fence.confinement import confine
if not confine():
    sys.exit(77)
import PIL.Image, pyarrow.parquet, pypdfium2
for name, escape in {
    "read": lambda: Path(sys.argv[1]).read_text(),
    "list": lambda: list(Path(sys.argv[1]).parent.iterdir()),
    "write": lambda: Path(sys.argv[1]).with_name("new").touch(),
    "system": lambda: Path("/etc/passwd").read_text(),
    "settings": lambda: Path(f"/proc/{sys.argv[2]}/environ").read_bytes(),
}.items():
    try:
        escape()
        print(name)
    except PermissionError:
        pass
"""


def test_the_child_opens_nothing_but_libraries(tmp_path: Path) -> None:
    secret = tmp_path / "secret.key"
    secret.write_text("secret")
    command = [sys.executable, "-P", "-c", ESCAPES, str(secret), str(os.getpid())]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 77:
        pytest.skip("this system has no Landlock")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    guide = pdf_of("Water the tulips")
    with Fence() as fence:
        list(fence.ask("pdf", "a.pdf", BytesIO(guide), len(guide)))
        (child,) = children()
        status = Path(f"/proc/{child.pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status, "the child has confined itself"


def chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def test_a_damaged_picture_is_refused(tmp_path: Path) -> None:
    whole = png_of(60)
    assert checked(tmp_path / "whole", "vase.png", whole).counts()["documents"] == 2
    assert "it is damaged" in refusal(tmp_path / "cut", "vase.png", whole[: len(whole) // 2])


def test_large_pictures_fit_into_the_memory_of_the_child(tmp_path: Path) -> None:
    """A photograph of 50 megapixels is read at an eighth of its size; a drawing of 20 whole."""
    photograph = BytesIO()
    Image.new("RGB", (8192, 6144), "#a03050").save(photograph, "JPEG")
    for name, data in (("vase.jpg", photograph.getvalue()), ("vase.png", png_of(5_000, 4_000))):
        assert checked(tmp_path / name, name, data).counts()["documents"] == 2
    drawing = BytesIO()
    Image.new("RGBA", (8_000, 7_500)).save(drawing, "PNG", compress_level=1)
    vast = refusal(tmp_path / "vast", "vase.png", drawing.getvalue())
    assert "it needs more than 192 MB to read" in vast


def test_a_parquet_file_of_long_pages_fits_into_the_memory_of_the_child(tmp_path: Path) -> None:
    texts = [f"tulip {number} " * 8_000 for number in range(300)]
    folder = small_study(tmp_path / "study")
    (folder / "documents.jsonl").write_bytes(parquet_of(pa.array(texts)))
    with open_source(folder) as source:
        assert check_study(source).counts()["documents"] == 300


def test_a_picture_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    header = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    assert "1,600,000,000 pixels" in refusal(tmp_path, "vast.png", data)


@each_case("data", [b"", b"\0", b"\xff" * 40, b"\0\1" + b"\0" * 7 + b"\5a"])
def test_what_is_no_frame_is_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        read_frame(BytesIO(data), 100)


def test_a_frame_reads_back_as_it_was_written() -> None:
    stream = BytesIO()
    write_frame(stream, "1.webp", b"\0picture")
    stream.seek(0)
    assert read_frame(stream, 100) == ("1.webp", b"\0picture")
    stream.seek(0)
    with pytest.raises(BadFrame):
        read_frame(stream, 7)


def parquet_of(text: pa.Array, *, use_dictionary: bool = True) -> bytes:
    """Return a Parquet file of documents with these texts."""
    ids = [f"d{number}" for number in range(len(text))]
    stream = BytesIO()
    table = pa.table({"id": ids, "text": text})
    pq.write_table(table, stream, compression="zstd", use_dictionary=use_dictionary)
    return stream.getvalue()


def test_a_parquet_file_of_long_values_is_refused_by_the_memory_it_needs(tmp_path: Path) -> None:
    data = parquet_of(pa.array(["x" * 4_000_000] * 40))  # the footer counts the value once
    assert "needs more than 192 MB" in parquet_refusal(tmp_path / "study", data)


def parquet_refusal(folder: Path, data: bytes) -> str:
    small_study(folder)
    (folder / "documents.jsonl").write_bytes(data)
    with pytest.raises(StudyRefused) as refused, open_source(folder) as source:
        check_study(source)
    assert refused.value.problems[0].file == "documents.jsonl"
    assert children() == []
    return refused.value.problems[0].problem


def test_a_parquet_file_that_unpacks_to_gigabytes_is_refused_by_its_footer(tmp_path: Path) -> None:
    whole = pa.array(["x" * 4_000_000] * 40)  # repeated values, packed to kilobytes
    data = parquet_of(whole, use_dictionary=False)
    assert len(data) < 100_000
    assert "unpacks to more than 64 MB" in parquet_refusal(tmp_path / "study", data)


def test_a_parquet_file_whose_footer_says_less_is_refused_by_its_rows(tmp_path: Path) -> None:
    repeated = pa.DictionaryArray.from_arrays([0] * 4000, ["x" * 1_000_000])
    data = parquet_of(repeated)
    assert len(data) < 100_000
    assert "unpacks to more than 64 MB" in parquet_refusal(tmp_path / "study", data)


def test_dates_and_bytes_in_a_parquet_file_do_not_hinder(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    ids = [json.loads(line)["id"] for line in (folder / "documents.jsonl").read_text().splitlines()]
    facts = {"id": ids, "text": ids, "seen": [date(2026, 1, 1)] * 6, "raw": [b"\xff"] * 6}
    pq.write_table(pa.table(facts), folder / "documents.jsonl")
    with open_source(folder) as source:
        assert check_study(source).counts()["documents"] == 6
