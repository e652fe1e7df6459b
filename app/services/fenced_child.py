"""The child process of a fence: reads tasks from standard input, writes answers as frames."""

import io
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from typing import IO

from topkapi.app.services.fence import limits
from topkapi.app.services.fence.children import (
    END,
    MISSING,
    REFUSED,
    BadFrame,
    Frame,
    UnreadableBytes,
    read_frame,
    read_head,
    write_frame,
)
from topkapi.app.services.fence.confinement import confine
from topkapi.app.services.pages.pdf import TEXT

_ROWS, _FRAME = 16, 4 * 1024**2  # rows decoded at once, bytes of a frame
Task = Callable[[IO[bytes], str], Iterator[Frame]]


def pdf(data: IO[bytes], path: str) -> Iterator[Frame]:
    """Yield the rendered parts of a PDF file, and at last its text."""
    from topkapi.app.services.pages.pdf_rendering import BadPdf, check_pdf, pdf_text, rendered_pdf

    raw = data.read()
    try:
        check_pdf(raw)
        yield from rendered_pdf(raw, path)
        yield TEXT, pdf_text(raw).encode()
    except BadPdf as error:
        raise UnreadableBytes(str(error)) from None


def picture(data: IO[bytes], _path: str) -> Iterator[Frame]:
    """Refuse a picture that cannot be decoded; yield nothing."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # compared here, with a limit of our own
    with Image.open(data) as found:
        _refuse_many(found.width * found.height)
        found.draft(None, (1, 1))  # a JPEG is read whole and kept at an eighth of its size
        found.load()
    yield from ()


def pixels(data: IO[bytes], _path: str) -> Iterator[Frame]:
    """Refuse a picture of too many pixels; a browser shows what else is wrong with it."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(data) as found:
            count = found.width * found.height
    except Exception:
        count = 0
    _refuse_many(count)
    yield from ()


def _refuse_many(count: int) -> None:
    if count > limits.MAX_PIXELS:
        raise UnreadableBytes(f"it has {count:,} pixels; the limit is {limits.MAX_PIXELS:,}")


def parquet(data: IO[bytes], _argument: str) -> Iterator[Frame]:
    """Yield the rows of a Parquet file as lines of JSON, a few megabytes at a time."""
    from pyarrow import ArrowException

    held: list[str] = []
    size = 0
    try:
        for line in _rows(data):
            held.append(line)
            size += len(line)
            if size >= _FRAME:
                yield "rows", "\n".join(held).encode()
                held, size = [], 0
    except MemoryError:  # Arrow's own is an ArrowException, too
        raise UnreadableBytes(limits.TOO_LARGE) from None
    except (ArrowException, OSError) as error:
        raise UnreadableBytes(str(error)) from None
    yield "rows", "\n".join(held).encode()


def _rows(data: IO[bytes]) -> Iterator[str]:
    """Yield each row as JSON; both the sizes in the footer and those of the rows are limited."""
    from pyarrow.parquet import ParquetFile

    packed = data.seek(0, os.SEEK_END)
    most = min(limits.MAX_UNPACKED, max(limits.MAX_FILE, limits.MAX_RATIO * packed))
    problem = f"it unpacks to more than {most // 1024**2:,} MB"
    file = ParquetFile(data, buffer_size=_FRAME)
    groups = map(file.metadata.row_group, range(file.num_row_groups))
    if sum(group.total_byte_size for group in groups) > most:
        raise UnreadableBytes(problem)
    for batch in file.iter_batches(batch_size=_ROWS, use_threads=False):
        for row in batch.to_pylist():
            line = json.dumps(row, default=_plain)
            most -= len(line)
            if most < 0:
                raise UnreadableBytes(problem)
            yield line


def _plain(value: object) -> str | None:
    """Return a value that JSON lacks, such as a date, as text; bytes are no text."""
    return None if isinstance(value, bytes) else str(value)


TASKS: dict[str, Task] = {"pdf": pdf, "picture": picture, "pixels": pixels, "parquet": parquet}


def main() -> None:
    """Answer one task after another until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no frame
    _limit_process()
    with tempfile.TemporaryFile() as large, suppress(BadFrame, BrokenPipeError):
        confine()
        while True:
            _answer(sys.stdin.buffer, answers, large)


def _answer(requests: IO[bytes], answers: IO[bytes], large: IO[bytes]) -> None:
    name, argument = read_frame(requests, limits.MAX_PATH)
    _, size = read_head(requests, limits.MAX_UNPACKED)
    large.seek(0)
    large.truncate()
    with io.BytesIO() if size <= limits.MAX_FILE else nullcontext(large) as data:
        _copy(requests, data, size)
        before = _used()
        try:
            frames = TASKS[name](data, argument.decode())
            while True:
                _allow(min(_used() + limits.STEP_SECONDS, before + limits.TASK_SECONDS))
                frame = next(frames, None)
                if frame is None:
                    break
                write_frame(answers, *frame)
        except (BadFrame, BrokenPipeError):
            raise
        except UnreadableBytes as error:
            write_frame(answers, REFUSED, str(error).encode())
        except ImportError:
            write_frame(answers, MISSING, b"")
        except MemoryError:
            write_frame(answers, REFUSED, limits.TOO_LARGE.encode())
        except Exception:
            write_frame(answers, REFUSED, b"it is damaged")
        else:
            write_frame(answers, END, b"")


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    while size:
        piece = source.read(min(size, 1 << 20))
        if not piece:
            raise BadFrame
        target.write(piece)
        size -= len(piece)
    target.seek(0)


def _limit_process() -> None:
    """Limit what the system can limit: macOS knows no limit of the memory."""
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.MAX_UNPACKED),
        (resource.RLIMIT_DATA, limits.CHILD_MEMORY),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _allow(seconds: float) -> None:
    """End the process when it has used this much processor time in total."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
