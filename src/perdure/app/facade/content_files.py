"""Content of files as it is sent and received: read piece by piece, hashed on the way, written beside and renamed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from perdure.errors import BlobDamagedError, RejectedError, Rejection
from perdure.payload import digest_text

CHUNK = 1024 * 1024
Content = bytes | Path | AsyncIterator[bytes]
Progress = Callable[[int, int], None]
"""How many bytes have been sent or received, of how many; 0 where nobody knows."""


async def pieces(content: Content, progress: Progress | None = None) -> AsyncIterator[bytes]:
    """Content piece by piece; `progress` hears how far it came."""
    done, size = 0, _size(content)
    async for data in _pieces(content):
        yield data
        done += len(data)
        if progress is not None:
            progress(done, size)


def _size(content: Content) -> int:
    if isinstance(content, bytes):
        return len(content)
    return content.stat().st_size if isinstance(content, Path) else 0


async def _pieces(content: Content) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
    elif isinstance(content, Path):
        with await asyncio.to_thread(content.open, "rb") as file:
            while data := await asyncio.to_thread(file.read, CHUNK):
                yield data
    else:
        async for data in content:
            yield data


class HashedFile:
    """Content of a known size, read in order from any offset; what was passed over is hashed all the same."""

    def __init__(self, content: bytes | Path) -> None:
        self._content = content
        self._hash = sha256()
        self._place = 0
        self._file: BinaryIO | None = None
        self.size = _size(content)

    async def read(self, offset: int, most: int) -> bytes:
        """So many bytes from an offset on, which never goes back."""
        if self._file is None:
            given = self._content
            self._file = BytesIO(given) if isinstance(given, bytes) else await asyncio.to_thread(given.open, "rb")
        while self._place < offset:
            await self._next(min(CHUNK, offset - self._place))
        return await self._next(min(most, self.size - self._place))

    async def _next(self, count: int) -> bytes:
        assert self._file is not None
        data = await asyncio.to_thread(self._file.read, count)
        if len(data) != count:
            fact, hint = f"it ended at byte {self._place + len(data):,} of {self.size:,}", "Send it again."
            raise RejectedError(Rejection("invalid", "send", "file", _name(self._content), fact, hint))
        self._hash.update(data)
        self._place += count
        return data

    @property
    def digest(self) -> str:
        """The digest of what was read; of all of it at the end."""
        return digest_text(self._hash.digest())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


async def written(
    content: AsyncIterator[bytes], file: Path, blob: str, size: int, progress: Progress | None = None
) -> None:
    """Write content beside a file and rename it once its digest is that of the blob: the file is whole or not there."""
    beside, hash, done = file.with_name(file.name + ".part"), sha256(), 0
    try:
        with await asyncio.to_thread(beside.open, "wb") as target:
            async for data in content:
                hash.update(data)
                await asyncio.to_thread(target.write, data)
                done += len(data)
                if progress is not None:
                    progress(done, size)
        if digest_text(hash.digest()) != blob:
            fact = f"{done:,} bytes came that are not those of {size:,} bytes which were stored"
            raise BlobDamagedError("download", "blob", blob, fact, "Download it again.")
        await asyncio.to_thread(beside.rename, file)
    finally:
        beside.unlink(missing_ok=True)


def _name(content: bytes | Path) -> str:
    return content.name if isinstance(content, Path) else "content"
