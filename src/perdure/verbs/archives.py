"""Archives that others handed in: unpacked within bounds, whatever they say of themselves."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from perdure.errors import BusinessError

MAX_BYTES = 50_000_000
MAX_FILES = 1_000
_PIECE = 64 * 1024


class Unpacked(NamedTuple):
    """One file of an archive. Its name is a label that somebody wrote, never a path to write to."""

    name: str
    content: bytes


def unpacked(content: bytes, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> Iterator[Unpacked]:
    """The files of a zip archive, one after another, as long as all of them together have so many bytes.

    Bytes are counted as they come out, because the sizes that an archive names may be lies. More of them is
    BusinessError `archive.too_large`; what is no archive, is damaged or encrypted is `archive.unreadable`.
    """
    left = max_bytes
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            found = [each for each in archive.infolist() if not each.is_dir()]
            if len(found) > max_files:
                raise BusinessError("archive.too_large", f"the archive holds more than {max_files:,} files")
            for each in found:
                data = _read(archive, each, left, max_bytes)
                left -= len(data)
                yield Unpacked(each.filename, data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BusinessError("archive.unreadable", f"the archive cannot be read: {error}") from error


def _read(archive: zipfile.ZipFile, each: zipfile.ZipInfo, left: int, most: int) -> bytes:
    held = bytearray()
    with archive.open(each) as file:
        while piece := file.read(_PIECE):
            held += piece
            if len(held) > left:
                raise BusinessError("archive.too_large", f"the archive unpacks to more than {most:,} bytes")
    return bytes(held)
