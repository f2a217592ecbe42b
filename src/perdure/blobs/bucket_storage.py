"""Blobs in a bucket of an object store that speaks S3.

| name | holds |
|---|---|
| `<tenant's digest>/<2 letters>/<62 letters>` | a blob |
| `incoming/<time>-<letters>` | content of several parts, before it is copied to the place of its hash |
| `held/<time>/<tenant's digest>/<hash>` | a mark: a blob was put there, or is about to be referred to |
| `leaving/<tenant's digest>/<hash>` | a mark, with its time: a blob is about to be removed |
| `uploads/…` | parts of unfinished uploads |

A bucket can neither rename nor touch. Who puts or needs a blob writes a mark and then looks whether it is leaving;
who removes one writes that it is leaving and then looks for marks. One of the two sees the other, whatever the order.

| a process stops | what is left |
|---|---|
| while parts are sent | nothing that has a name; the bucket's rule for incomplete uploads removes them |
| before or after the copy | content in `incoming`, removed by `tidy`; perhaps a blob that nothing refers to |
| while a blob is removed | the mark that it is leaving, which counts for `LEAVING_TIME` |
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from perdure.blobs.bucket_address import BucketAddress
from perdure.blobs.bucket_errors import is_absent, told
from perdure.blobs.content_parts import PART_BYTES, Digests, checked, damaged
from perdure.blobs.folder_storage import tenant_folder
from perdure.documents.ports import BlobFound, BlobStored, ObjectFound
from perdure.errors import StoreSettingError, StoreUnavailableError
from perdure.payload import digest_text
from perdure.sources import SECOND, Micros, fresh_secret

if TYPE_CHECKING:
    from obstore.store import ObjectStore

INCOMING, HELD, LEAVING = "incoming", "held", "leaving"
SENT_BYTES = 8 * 1024 * 1024
"""Bytes of one part of a multipart upload."""
SENT_AT_ONCE = 2
LEAVING_TIME: Micros = 900 * SECOND
"""The time after which a mark of somebody who removes a blob counts no longer; a removal takes seconds."""
REMOVAL_TIME: Micros = 60 * SECOND
"""The time within which whoever removes a blob does so, or leaves it."""
SENDING_TIME: Micros = 24 * 3600 * SECOND
"""The time that content may take to be sent; its name says when that began."""
RETRIES, RETRY_SECONDS, REQUEST_SECONDS = 5, 30, 60


def open_bucket(address: BucketAddress, now: Callable[[], Micros]) -> BucketStorage:
    """The storage at an address. The package is loaded here, and only here."""
    try:
        from obstore.store import S3Store  # noqa: PLC0415  only who names a bucket needs it
    except ImportError as error:
        fact, hint = "the package 'obstore' is not installed", "Install it: pip install 'perdure[s3]'."
        raise StoreSettingError("open", "blobs at", address.shown, fact, hint) from error
    config: Any = {"checksum_algorithm": "SHA256", **address.settings()}
    store = S3Store(
        address.bucket,
        prefix=address.prefix or None,
        config=config,
        client_options={
            "allow_http": address.endpoint.startswith("http://"),
            "timeout": timedelta(seconds=REQUEST_SECONDS),
        },
        retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
    )
    return BucketStorage(store, address.shown, now)


class BucketStorage:
    """Implements `Blobs` over an object store."""

    def __init__(self, store: ObjectStore, place: str, now: Callable[[], Micros]) -> None:
        """`place` is what errors say; `now` is the clock that the age of blobs is counted by."""
        self._store = store
        self._shown = place
        self._now = now
        self.objects = BucketObjects(store, place)

    async def put(self, tenant: str, content: AsyncIterator[bytes], most: int) -> BlobStored:
        digests = Digests(most)
        begun, is_whole = await _begun(content, digests)
        if is_whole:
            stored = digests.stored()
            await self._claim(tenant, stored.hash)
            with told(self._shown):
                await self._store.put_async(self._place(tenant, stored.hash), begun)
            return stored
        return await self._put_parts(tenant, begun, content, digests)

    async def _put_parts(
        self, tenant: str, begun: bytes, content: AsyncIterator[bytes], digests: Digests
    ) -> BlobStored:
        """Sent in parts to a name of its own, then copied to the place that its hash gives."""
        name = f"{INCOMING}/{self._now():016x}-{fresh_secret(16).hex()}"
        passing = _passing(begun, content, digests)
        try:
            with told(self._shown):
                await self._store.put_async(
                    name, passing, use_multipart=True, chunk_size=SENT_BYTES, max_concurrency=SENT_AT_ONCE
                )
                stored = digests.stored()
                await self._claim(tenant, stored.hash)
                await self._store.copy_async(name, self._place(tenant, stored.hash))
        finally:
            await passing.aclose()
            await self.objects.delete(name)
        return stored

    async def read(self, tenant: str, hash: bytes, parts: Sequence[bytes], first: int = 0) -> AsyncIterator[bytes]:
        name = self._place(tenant, hash)
        async for part in checked(self._chunks(name, hash, first), hash, tuple(parts[first:])):
            yield part

    async def _chunks(self, name: str, hash: bytes, first: int) -> AsyncIterator[bytes]:
        """Part by part, each asked for by itself: a connection that breaks costs one of them."""
        place = first * PART_BYTES
        with told(self._shown):
            try:
                size = (await self._store.head_async(name))["size"]
                while place < size:
                    end = min(place + PART_BYTES, size)
                    data = bytes(await self._store.get_range_async(name, start=place, end=end))
                    yield data
                    place += len(data)
            except FileNotFoundError as error:
                if is_absent(error):
                    raise damaged(hash, "it is missing") from error
                raise

    async def check(self, tenant: str, hash: bytes) -> str:
        digests = await self._digests(self._place(tenant, hash))
        if digests is None:
            return "missing"
        return "" if digests.size and digests.stored().hash == hash else "changed"

    async def describe(self, tenant: str, hash: bytes) -> BlobStored | None:
        """Read once more; the mark keeps it from being collected as long as a new one."""
        if not await self._hold(tenant, hash):
            return None
        digests = await self._digests(self._place(tenant, hash))
        stored = digests.stored() if digests is not None and digests.size else None
        return stored if stored is not None and stored.hash == hash else None

    async def _digests(self, name: str) -> Digests | None:
        with told(self._shown):
            try:
                found = await self._store.get_async(name)
            except Exception as error:
                if is_absent(error):
                    return None
                raise
            digests = Digests(found.meta["size"])
            async for data in found.stream(min_chunk_size=PART_BYTES):
                digests.take(bytes(data))
        return digests

    def folder(self, tenant: str) -> str:
        return tenant_folder(tenant)

    async def remove(self, folder: str, hash: bytes, stored_before: Micros) -> bool:
        """Where a request fails the mark stays for its time: the request may still be carried out."""
        begun, leaving = self._now(), f"{LEAVING}/{folder}/{hash.hex()}"
        with told(self._shown):
            await self._store.put_async(leaving, str(begun).encode())
        is_gone = False
        if (folder, hash) not in await self._marks(stored_before) and self._now() - begun < REMOVAL_TIME:
            is_gone = await self._delete(_name(folder, hash))
        await self.objects.delete(leaving)
        return is_gone

    async def _delete(self, name: str) -> bool:
        with told(self._shown):
            try:
                await self._store.head_async(name)
            except Exception as error:
                if is_absent(error):
                    return False
                raise
            await self._store.delete_async(name)
        return True

    async def listed(self) -> AsyncIterator[BlobFound]:
        marks = await self._marks(0)
        with told(self._shown):
            async for page in self._store.list():
                for found in page:
                    if (place := _place_of(found["path"])) is not None:
                        yield BlobFound(*place, found["size"], marks.get(place, 0))

    async def tidy(self, before: Micros) -> int:
        """Content that never got its place, and marks that are too old to mean anything."""
        removed = 0
        for prefix, until in ((INCOMING, before - SENDING_TIME), (HELD, before)):
            for found in await self.objects.listed(prefix):
                if _time_of(found.name) < until:
                    await self.objects.delete(found.name)
                    removed += prefix == INCOMING
        return removed

    async def close(self) -> None:
        return None

    async def _claim(self, tenant: str, hash: bytes) -> None:
        """Hold the place of a blob that is about to be put there."""
        if not await self._hold(tenant, hash):
            fact, hint = "equal content is being removed this moment", "Send it again."
            raise StoreUnavailableError("store", "blob", digest_text(hash), fact, hint)

    async def _hold(self, tenant: str, hash: bytes) -> bool:
        """Mark a blob as needed, and only then look: False while somebody removes it."""
        folder = tenant_folder(tenant)
        with told(self._shown):
            await self._store.put_async(f"{HELD}/{self._now():016x}/{folder}/{hash.hex()}", b"-")
        data = await self.objects.fetch(f"{LEAVING}/{folder}/{hash.hex()}")
        return data is None or not data.isdigit() or self._now() - int(data) >= LEAVING_TIME

    async def _marks(self, since: Micros) -> dict[tuple[str, bytes], Micros]:
        """The blobs that were put or needed since a time, with the last of those times."""
        found: dict[tuple[str, bytes], Micros] = {}
        for mark in await self.objects.listed(HELD):
            _, _, folder, letters = mark.name.split("/")
            if (time := _time_of(mark.name)) >= since:
                place = (folder, bytes.fromhex(letters))
                found[place] = max(time, found.get(place, 0))
        return found

    def _place(self, tenant: str, hash: bytes) -> str:
        return _name(tenant_folder(tenant), hash)


class BucketObjects:
    """Implements `SmallObjects`: the store itself lets only one be first under a name."""

    def __init__(self, store: ObjectStore, place: str) -> None:
        self._store = store
        self._shown = place

    async def create(self, name: str, data: bytes) -> bool:
        from obstore.exceptions import AlreadyExistsError  # noqa: PLC0415  loaded with the store

        with told(self._shown):
            try:
                await self._store.put_async(name, data, mode="create")
            except AlreadyExistsError:
                return False
        return True

    async def fetch(self, name: str) -> bytes | None:
        with told(self._shown):
            try:
                return bytes(await (await self._store.get_async(name)).bytes_async())
            except Exception as error:
                if is_absent(error):
                    return None
                raise

    async def listed(self, prefix: str) -> list[ObjectFound]:
        with told(self._shown):
            return sorted([ObjectFound(found["path"], found["size"]) async for found in _each(self._store, prefix)])

    async def delete(self, name: str) -> None:
        with told(self._shown):
            try:
                await self._store.delete_async(name)
            except Exception as error:
                if not is_absent(error):
                    raise


async def _each(store: ObjectStore, prefix: str) -> AsyncIterator[Any]:
    async for page in store.list(prefix):
        for found in page:
            yield found


async def _begun(content: AsyncIterator[bytes], digests: Digests) -> tuple[bytes, bool]:
    """Content up to one part; whether that is all of it."""
    held = bytearray()
    async for data in content:
        digests.take(data)
        held += data
        if len(held) > PART_BYTES:
            return bytes(held), False
    return bytes(held), True


async def _passing(begun: bytes, rest: AsyncIterator[bytes], digests: Digests) -> AsyncGenerator[bytes, None]:
    yield begun
    async for data in rest:
        digests.take(data)
        yield data


def _name(folder: str, hash: bytes) -> str:
    letters = hash.hex()
    return f"{folder}/{letters[:2]}/{letters[2:]}"


def _place_of(name: str) -> tuple[str, bytes] | None:
    """The tenant's folder and the hash of a blob's name; None for other names."""
    match name.split("/"):
        case [folder, start, rest] if (len(folder), len(start), len(rest)) == (32, 2, 62):
            try:
                return folder, bytes.fromhex(start + rest)
            except ValueError:
                return None
    return None


def _time_of(name: str) -> Micros:
    return int(name.split("/")[1].partition("-")[0], 16)
