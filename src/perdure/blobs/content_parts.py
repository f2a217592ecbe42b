"""Parts of content: digests that let each part be checked before it is given to a reader."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256

from perdure.documents.ports import BlobStored
from perdure.errors import BlobDamagedError, RejectedError, Rejection
from perdure.payload import digest_text

PART_BYTES = 4 * 1024 * 1024
"""What is held in memory of one stream."""
HEAD_BYTES = 4096
TAIL_BYTES = 66_000
"""Enough for the end mark of an archive with a comment."""


class Digests:
    """Digests of content that passes by: of all of it and of its parts."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._whole = sha256()
        self._part = sha256()
        self._filled = 0
        self._parts: list[bytes] = []
        self.size = 0
        self._head = b""
        self._tail = b""

    def take(self, data: bytes) -> None:
        """One more piece; a rejection when that is more than there may be."""
        self.size += len(data)
        if self.size > self._most:
            fact = f"it has more than {self._most:,} bytes"
            raise RejectedError(Rejection("invalid", "store", "content", "blob", fact, "Send a smaller file."))
        self._whole.update(data)
        if len(self._head) < HEAD_BYTES:
            self._head += data[: HEAD_BYTES - len(self._head)]
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        view = memoryview(data)
        while view:
            room = PART_BYTES - self._filled
            self._part.update(view[:room])
            self._filled += len(view[:room])
            view = view[room:]
            if self._filled == PART_BYTES:
                self._end_part()

    def _end_part(self) -> None:
        self._parts.append(self._part.digest())
        self._part, self._filled = sha256(), 0

    def stored(self) -> BlobStored:
        """What is known of the content once all of it passed."""
        if self._filled:
            self._end_part()
        if not self.size:
            fact, hint = "it is empty", "Send a file with something in it."
            raise RejectedError(Rejection("invalid", "store", "content", "blob", fact, hint))
        return BlobStored(self._whole.digest(), self.size, tuple(self._parts), self._head, self._tail)


async def checked(content: AsyncIterator[bytes], hash: bytes, parts: tuple[bytes, ...]) -> AsyncIterator[bytes]:
    """Content in its parts, each with its digest; an error names the blob before anything else is given."""
    held, place = bytearray(), 0
    async for data in content:
        held += data
        while len(held) >= PART_BYTES:
            part = bytes(held[:PART_BYTES])
            del held[:PART_BYTES]
            yield _same(part, hash, parts, place)
            place += 1
    if held:
        yield _same(bytes(held), hash, parts, place)
        place += 1
    if place != len(parts):
        raise damaged(hash, f"it ends after part {place} of {len(parts)}")


def _same(part: bytes, hash: bytes, parts: tuple[bytes, ...], place: int) -> bytes:
    if place >= len(parts) or sha256(part).digest() != parts[place]:
        raise damaged(hash, f"part {place + 1} of {len(parts)} is not what was stored")
    return part


def damaged(hash: bytes, fact: str) -> BlobDamagedError:
    return BlobDamagedError(
        "read", "blob", digest_text(hash), fact, "Restore it from a backup; `perdure audit verify` names its documents."
    )
