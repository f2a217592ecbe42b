"""Uploads that come in several requests, kept beside the blobs until they are finished or too old.

| name | holds |
|---|---|
| `uploads/<tenant's digest>/open/<id>` | the size of an upload, when it began, and a digest of who began it |
| `uploads/<tenant's digest>/parts/<id>/<offset>` | bytes from an offset on; a name is taken once |
| `uploads/<tenant's digest>/done/<id>` | the blob that an upload became |

| what happens | what becomes of it |
|---|---|
| bytes come at the offset that is next | written as they come, each part durable before the next is read |
| bytes come at another offset | refused; the answer says which is next |
| the sender goes away | what came until then is kept, and the offset says how much that is |
| the server is killed | the part that was being received is lost, the ones before it are not |
| two send at once | each part is written by one of them; the other is refused |
| it is finished before all bytes came | refused, and nothing is lost |
| the content is not what its sender says it is | refused; it begins again at offset 0 |
| it is finished twice, or killed while it is finished | the same blob |
| it is not finished in time | refused, and removed by the collection |
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from typing import NamedTuple

import msgspec

from perdure.blobs.content_parts import PART_BYTES
from perdure.blobs.media_types import media_type_of
from perdure.documents.ports import Blobs, ObjectFound
from perdure.errors import RejectedError, Rejection, RejectionCode
from perdure.payload import digest_text
from perdure.sources import SECOND, Micros, iso
from perdure.typed_reading import read_json

UPLOADS = "uploads"
KEPT_TIME: Micros = 24 * 3600 * SECOND
"""The time in which an upload has to be finished."""
MOST_OPEN = 100
"""Unfinished uploads of one tenant."""
MOST_PARTS = 10_000
"""Parts of one upload: whoever sends it in crumbs is told to send more at once."""


class Opened(msgspec.Struct, frozen=True):
    """An upload as it was begun."""

    size: int
    begun_at: Micros
    by: bytes

    @property
    def expires_at(self) -> Micros:
        return self.begun_at + KEPT_TIME


class Finished(msgspec.Struct, frozen=True):
    """The blob that an upload became."""

    blob: str
    size: int
    media_type: str


class Progress(NamedTuple):
    """An upload and how far it came."""

    id: str
    opened: Opened
    offset: int
    finished: Finished | None = None


class PartialUploads:
    """The uploads of one platform; whoever began one is the only one who goes on with it."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._objects = blobs.objects

    async def begin(self, tenant: str, principal: str, id: str, size: int, now: Micros) -> Progress:
        """Begin an upload of so many bytes."""
        folder = self._folder(tenant)
        is_full = len(await self._objects.listed(f"{folder}/open")) >= MOST_OPEN
        if is_full and await self._unfinished(folder, now) >= MOST_OPEN:
            fact, hint = f"{MOST_OPEN} uploads are unfinished, as many as there may be", "Finish some, or wait a day."
            raise _refused("blocked", id, fact, hint, "begin")
        opened = Opened(size, now, _digest(principal))
        await self._objects.create(f"{folder}/open/{id}", msgspec.json.encode(opened))
        return Progress(id, opened, 0)

    async def show(self, tenant: str, principal: str, id: str, now: Micros) -> Progress:
        """How far an upload came."""
        folder = self._folder(tenant)
        data = await self._objects.fetch(f"{folder}/open/{id}")
        opened = read_json(data, Opened) if data is not None else None
        if opened is None or opened.by != _digest(principal):
            raise _refused("not_found", id, "you began none of that id, or it is gone", "Begin another one.")
        if now >= opened.expires_at:
            fact = f"it was not finished until {iso(opened.expires_at)}"
            raise _refused("wrong_state", id, fact, "Begin another one.")
        done = await self._objects.fetch(f"{folder}/done/{id}")
        if done is not None:
            return Progress(id, opened, opened.size, read_json(done, Finished))
        return Progress(id, opened, _end(await self._parts(folder, id)))

    async def send(
        self, tenant: str, principal: str, id: str, offset: int, content: AsyncIterator[bytes], now: Micros
    ) -> Progress:
        """Take content from an offset on; whatever came before its sender went away stays."""
        found = await self.show(tenant, principal, id, now)
        if found.finished is not None:
            raise _refused("wrong_state", id, "it is finished", do="send to")
        if offset != found.offset:
            raise _refused("wrong_state", id, *_next(found.offset), do=f"send from byte {offset:,} to")
        writer = _Writer(self._blobs, f"{self._folder(tenant)}/parts/{id}", found)
        try:
            async for data in content:
                await writer.take(data)
        except Exception:
            await writer.flush()
            raise
        await writer.flush()
        return Progress(id, found.opened, writer.offset)

    async def finish(self, tenant: str, principal: str, id: str, said: str, now: Micros) -> Finished:
        """Make a blob of an upload; `said` is the digest that its sender knows it by, or empty."""
        found, folder = await self.show(tenant, principal, id, now), self._folder(tenant)
        if found.finished is not None:
            return found.finished
        if found.offset < found.opened.size:
            fact = f"only {found.offset:,} of its {found.opened.size:,} bytes came"
            raise _refused("wrong_state", id, fact, f"Go on from byte {found.offset}.", "finish")
        parts = await self._parts(folder, id)
        stored = await self._blobs.put(tenant, self._content(parts), found.opened.size)
        finished = Finished(digest_text(stored.hash), stored.size, media_type_of(stored.head, stored.tail).media_type)
        if said and said != finished.blob:
            await self._delete(parts)
            fact = f"its content is {finished.blob} and was said to be {said[:80]}"
            raise _refused("invalid", id, fact, "Send it again from byte 0.", "finish")
        await self._objects.create(f"{folder}/done/{id}", msgspec.json.encode(finished))
        await self._delete(parts)
        return finished

    async def tidy(self, now: Micros) -> int:
        """Remove uploads whose time is over; how many were. Their first object goes last."""
        removed = 0
        for each in await self._objects.listed(UPLOADS):
            _, tenant, kind, id, *_ = each.name.split("/")
            if kind != "open":
                continue
            data = await self._objects.fetch(each.name)
            if data is None or now < read_json(data, Opened).expires_at:
                continue
            folder = f"{UPLOADS}/{tenant}"
            await self._delete(await self._parts(folder, id))
            await self._objects.delete(f"{folder}/done/{id}")
            await self._objects.delete(each.name)
            removed += 1
        return removed

    async def _unfinished(self, folder: str, now: Micros) -> int:
        done = {each.name.rpartition("/")[2] for each in await self._objects.listed(f"{folder}/done")}
        count = 0
        for each in await self._objects.listed(f"{folder}/open"):
            data = await self._objects.fetch(each.name)
            is_open = data is not None and now < read_json(data, Opened).expires_at
            count += is_open and each.name.rpartition("/")[2] not in done
        return count

    async def _parts(self, folder: str, id: str) -> list[ObjectFound]:
        return await self._objects.listed(f"{folder}/parts/{id}")

    async def _content(self, parts: list[ObjectFound]) -> AsyncIterator[bytes]:
        for part in parts:
            data = await self._objects.fetch(part.name)
            if data is None or len(data) != part.size:
                id = part.name.split("/")[-2]
                raise _refused("wrong_state", id, "part of it is gone", "Ask how far it came, and go on.", "finish")
            yield data

    async def _delete(self, parts: list[ObjectFound]) -> None:
        """Last part first: whatever is left is content from its beginning."""
        for part in reversed(parts):
            await self._objects.delete(part.name)

    def _folder(self, tenant: str) -> str:
        return f"{UPLOADS}/{self._blobs.folder(tenant)}"


class _Writer:
    """Writes content in parts, each under the offset that it begins at."""

    def __init__(self, blobs: Blobs, folder: str, found: Progress) -> None:
        self._objects, self._folder, self._found = blobs.objects, folder, found
        self._held = bytearray()
        self.offset = found.offset

    async def take(self, data: bytes) -> None:
        size = self._found.opened.size
        if self.offset + len(self._held) + len(data) > size:
            fact = f"it has more than the {size:,} bytes that it was begun with"
            raise _refused("invalid", self._found.id, fact, "Begin another one with its size.", "send to")
        self._held += data
        while len(self._held) >= PART_BYTES:
            await self._write(bytes(self._held[:PART_BYTES]))
            del self._held[:PART_BYTES]

    async def flush(self) -> None:
        if self._held:
            await self._write(bytes(self._held))
            self._held.clear()

    async def _write(self, data: bytes) -> None:
        is_crumb = len(data) < PART_BYTES and self.offset + len(data) < self._found.opened.size
        if is_crumb and len(await self._objects.listed(self._folder)) >= MOST_PARTS:
            fact, hint = f"it came in {MOST_PARTS:,} parts, as many as there may be", "Send more bytes at once."
            raise _refused("invalid", self._found.id, fact, hint, "send to")
        if not await self._objects.create(f"{self._folder}/{self.offset:016x}", data):
            fact, hint = "somebody else sends to it", "Ask how far it came, and go on from there."
            raise _refused("wrong_state", self._found.id, fact, hint, "send to")
        self.offset += len(data)


def _end(parts: list[ObjectFound]) -> int:
    """The offset after the last part; parts follow each other without a gap."""
    if not parts:
        return 0
    last = parts[-1]
    return int(last.name.rpartition("/")[2], 16) + last.size


def _next(offset: int) -> tuple[str, str]:
    return f"the next byte of it is {offset:,}", f"Go on from byte {offset}."


def _digest(principal: str) -> bytes:
    return sha256(b"perdure\0upload\0" + principal.encode()).digest()


def _refused(code: RejectionCode, id: str, fact: str, hint: str = "", do: str = "find") -> RejectedError:
    return RejectedError(Rejection(code, do, "upload", id[:80], fact, hint))
