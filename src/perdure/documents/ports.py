"""Ports of documents: the rows they are found by, and the blobs outside the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from perdure.documents.search_query import SearchQuery
from perdure.journal import DocumentRow
from perdure.sources import Id, Micros


class DocumentFound(NamedTuple):
    """A document in a list; `number` is its place, larger for newer ones."""

    number: int
    id: Id
    row: DocumentRow


class DocumentLists(Protocol):
    """Lists of documents of one tenant, newest first, a page before a place."""

    async def find(
        self, tenant: str, *, subject: str = "", type: str = "", status: str = "", correlation: str = "",
        words: SearchQuery | None = None, before: int = 0, most: int = 100,
    ) -> list[DocumentFound]:  # fmt: skip
        """Documents that fit every filter given; `before` 0 begins with the newest."""
        ...

    async def count_to_verify(self, tenant: str, type: str, most: int) -> int:
        """How many documents of a type hold a version that nobody has decided on, up to a bound."""
        ...

    async def tenants_of_blob(self, hash: bytes) -> list[str]:
        """The tenants with a document that refers to a blob."""
        ...

    async def with_blob(self, tenant: str, hash: bytes, most: int) -> list[Id]:
        """Documents of a tenant that refer to a blob."""
        ...


class BlobStored(NamedTuple):
    """A blob that is durable: its hash, its size, the digests of its parts in their order, its head and its tail."""

    hash: bytes
    size: int
    parts: tuple[bytes, ...]
    head: bytes
    tail: bytes


class BlobFound(NamedTuple):
    """A blob in storage: the folder of its tenant, its hash and when it was last put there."""

    folder: str
    hash: bytes
    size: int
    stored_at: Micros


class ObjectFound(NamedTuple):
    """A small object in a list."""

    name: str
    size: int


class SmallObjects(Protocol):
    """Objects of a few megabytes at most, under names that the platform makes: parts of unfinished uploads."""

    async def create(self, name: str, data: bytes) -> bool:
        """Store an object and make it durable; False, and nothing changed, where one of that name is there."""
        ...

    async def fetch(self, name: str) -> bytes | None:
        """The bytes of an object; None where there is none."""
        ...

    async def listed(self, prefix: str) -> list[ObjectFound]:
        """Every object whose name begins with the words of a prefix, in the order of names."""
        ...

    async def delete(self, name: str) -> None:
        """Remove an object; nothing happens where there is none."""
        ...


class Blobs(Protocol):
    """Content-addressed storage of one platform. Names come from hashes alone, never from what somebody wrote."""

    @property
    def objects(self) -> SmallObjects:
        """Objects beside the blobs."""
        ...

    async def put(self, tenant: str, content: AsyncIterator[bytes], most: int) -> BlobStored:
        """Store content and make it durable before this returns; refused when it is longer than `most` bytes."""
        ...

    def read(self, tenant: str, hash: bytes, parts: Sequence[bytes], first: int = 0) -> AsyncIterator[bytes]:
        """The content part by part from one of them, each checked before it is given."""
        ...

    async def check(self, tenant: str, hash: bytes) -> str:
        """Empty when the stored bytes have their hash; otherwise what is wrong: `missing` or `changed`."""
        ...

    async def describe(self, tenant: str, hash: bytes) -> BlobStored | None:
        """A blob that was stored before, read once; None when it is not there or its bytes were changed."""
        ...

    async def remove(self, folder: str, hash: bytes, stored_before: Micros) -> bool:
        """Remove a blob unless it was put there again since; True when it is gone."""
        ...

    def folder(self, tenant: str) -> str:
        """The folder that the blobs of a tenant are in."""
        ...

    def listed(self) -> AsyncIterator[BlobFound]:
        """Every blob in storage."""
        ...

    async def tidy(self, before: Micros) -> int:
        """Remove content that was begun before a time and never became a blob; how many pieces were."""
        ...

    async def close(self) -> None:
        """Give back what the storage holds; files of a store in memory are removed."""
        ...
