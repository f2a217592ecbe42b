"""The allowance of content that no document refers to: whoever stores and stores fills the disk of everybody.

| content | counts |
|---|---|
| comes in | byte by byte, for its tenant and for whoever sends it |
| was refused, or broke off | what came, as long as it is not collected |
| is referred to by a version | no longer |
| was stored before `KEPT_TIME` | no longer: it is collected |

Of one process: each server of a store allows as much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from perdure.errors import TenantBusyError
from perdure.sources import SECOND, Micros, Sources
from perdure.verbs.document_types import LARGEST_BLOB

KEPT_TIME: Micros = 3600 * SECOND
MOST_OF_TENANT = 4 * LARGEST_BLOB
MOST_OF_CLIENT = 100_000_000
"""Of whoever shows the token of a request, unless its largest files are larger than half of that."""


class KeptContent:
    """Content that came, as long as nothing refers to it."""

    __slots__ = ("at", "hash", "is_counted", "size", "tenant", "who")

    def __init__(self, tenant: str, who: str, at: Micros) -> None:
        self.tenant, self.who, self.at = tenant, who, at
        self.hash, self.size, self.is_counted = b"", 0, False


class ContentAllowance:
    """What each tenant and each client may store without a document."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._kept: deque[KeptContent] = deque()

    async def counted(
        self, content: AsyncIterator[bytes], kept: KeptContent, most_of_client: int = 0
    ) -> AsyncIterator[bytes]:
        """The same content, refused at the piece that is too much; `most_of_client` bounds its sender as well."""
        self.take(kept, 0, most_of_client)
        async for piece in content:
            self.take(kept, len(piece), most_of_client)
            yield piece

    def take(self, kept: KeptContent, size: int, most_of_client: int = 0) -> None:
        """So many bytes more came; refused where they are too many."""
        if not kept.is_counted:
            kept.is_counted = True
            self._kept.append(kept)
        kept.size += size
        self._check(kept, most_of_client)

    def begin(self, tenant: str, who: str) -> KeptContent:
        """Content that is about to come."""
        return KeptContent(tenant, who, self._sources.monotonic())

    def stored(self, kept: KeptContent, hash: bytes) -> None:
        """All of it came. The same content counts once."""
        if any(each.hash == hash and each.tenant == kept.tenant for each in self._kept):
            self._kept.remove(kept)
        kept.hash = hash

    def referred(self, tenant: str, hash: bytes) -> None:
        """A version refers to content: it is not for nothing any more."""
        self._kept = deque(each for each in self._kept if (each.tenant, each.hash) != (tenant, hash))

    def _check(self, kept: KeptContent, most_of_client: int) -> None:
        before = self._sources.monotonic() - KEPT_TIME
        while self._kept and self._kept[0].at < before:
            self._kept.popleft()
        mine = [each for each in self._kept if each.tenant == kept.tenant]
        if sum(each.size for each in mine) > MOST_OF_TENANT:
            raise _busy(kept, f"{MOST_OF_TENANT:,} bytes came in an hour for this tenant without a document")
        if most_of_client and sum(each.size for each in mine if each.who == kept.who) > most_of_client:
            raise _busy(kept, f"{most_of_client:,} bytes came in an hour for this request and were of no use")


def _busy(kept: KeptContent, fact: str) -> TenantBusyError:
    return TenantBusyError("store", "content of", kept.who[:200], fact, "Hand in what was stored, or wait an hour.")
