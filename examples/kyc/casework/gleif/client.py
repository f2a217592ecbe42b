"""Asks GLEIF: one request at a time within its limit, tried again when that may help, read into records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import quote

import msgspec

from casework.gleif.limits import TokenBucket
from casework.gleif.recordings import Recordings
from casework.gleif.records import LeiRecord, Many, One, ReportingException, is_lei
from casework.gleif.transports import Answer, FileTransport, HttpTransport, Transport, Unreachable
from perdure import BusinessError, Transient

ATTEMPTS = 4
BASE_SECONDS = 0.5
MAX_SECONDS = 30.0
PAGE_SIZE = 100
MAX_PAGES = 50
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
Level = Literal["direct", "ultimate"]
Document = TypeVar("Document")


class Gleif:
    """The API as this example uses it. An unknown LEI is a business error; an outage that lasts is `Transient`."""

    def __init__(
        self,
        transport: Transport,
        bucket: TokenBucket | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        page_size: int = PAGE_SIZE,
    ) -> None:
        self._transport, self._bucket = transport, bucket
        self._sleep, self._page_size = sleep, page_size

    async def record(self, lei: str) -> LeiRecord:
        if not is_lei(lei):
            raise BusinessError("LEI_INVALID", f"'{lei[:40]}' is not an LEI: its check digits do not fit")
        found = await self._one(f"lei-records/{quote(lei)}", One[LeiRecord])
        if found is None:
            raise BusinessError("LEI_NOT_FOUND", f"GLEIF knows no entity '{lei}'")
        return found

    async def parent(self, lei: str, level: Level = "direct") -> LeiRecord | None:
        """The parent that consolidates it in its accounts; None when none is published."""
        return await self._one(f"lei-records/{quote(lei)}/{level}-parent", One[LeiRecord])

    async def exception(self, lei: str, level: Level = "direct") -> ReportingException | None:
        """Why there is no such parent, when that was reported."""
        return await self._one(f"lei-records/{quote(lei)}/{level}-parent-reporting-exception", One[ReportingException])

    async def children(self, lei: str) -> list[LeiRecord]:
        return await self._all(f"lei-records/{quote(lei)}/direct-children", {})

    async def managed_funds(self, lei: str) -> list[LeiRecord]:
        return await self._all(f"lei-records/{quote(lei)}/managed-funds", {})

    async def search(self, name: str) -> list[LeiRecord]:
        return await self._all("lei-records", {"filter[entity.legalName]": name})

    async def successor(self, lei: str) -> list[LeiRecord]:
        """The entity and what it became, to the one that is active or has no successor; a circle ends it."""
        chain = [await self.record(lei)]
        seen = {lei}
        while not chain[-1].is_active and (following := chain[-1].successor) and following not in seen:
            seen.add(following)
            chain.append(await self.record(following))
        return chain

    async def _one(self, target: str, type: type[One[Document]]) -> Document | None:
        answer = await self._get(target, {})
        return None if answer.status == 404 else _decoded(answer, type, target).data

    async def _all(self, target: str, parameters: Mapping[str, str]) -> list[LeiRecord]:
        found: list[LeiRecord] = []
        for number in range(1, MAX_PAGES + 1):
            asked = {**parameters, "page[size]": str(self._page_size), "page[number]": str(number)}
            answer = await self._get(target, asked)
            if answer.status == 404:
                return found
            page = _decoded(answer, Many[LeiRecord], target)
            found.extend(page.data)
            if number >= page.meta.pagination.last_page:
                return found
        raise BusinessError("TOO_MANY_ENTITIES", f"{target} has more than {MAX_PAGES} pages")

    async def _get(self, target: str, parameters: Mapping[str, str]) -> Answer:
        told, delay = "", BASE_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            if self._bucket is not None:
                await self._bucket.take()
            wait = delay
            try:
                answer = await self._transport.get(target, parameters)
            except Unreachable as error:
                told = str(error)
            else:
                if answer.status not in AGAIN:
                    return answer
                told, wait = f"HTTP {answer.status}", _asked_for(answer, delay)
            if attempt < ATTEMPTS:
                await self._sleep(min(wait, MAX_SECONDS))
                delay *= 2
        raise Transient(f"GLEIF does not answer for {target}: {told}", after=min(wait, MAX_SECONDS))


@asynccontextmanager
async def gleif_at(place: str) -> AsyncIterator[Gleif]:
    """A client for an address, or for a folder of recordings."""
    if "://" in place:
        async with HttpTransport(place) as transport:
            yield Gleif(transport, _bucket(place))
    else:
        yield Gleif(FileTransport(_recordings(Path(place))))


@lru_cache(4)
def _bucket(place: str) -> TokenBucket:
    """One limit for all calls of this process to a place."""
    return TokenBucket()


@lru_cache(4)
def _recordings(folder: Path) -> Recordings:
    return Recordings(folder)


def _asked_for(answer: Answer, otherwise: float) -> float:
    return float(answer.retry_after) if answer.retry_after.isdecimal() else otherwise


def _decoded(answer: Answer, type: type[Document], target: str) -> Document:
    if answer.status != 200:
        raise BusinessError("GLEIF_REFUSED", f"GLEIF answered {answer.status} for {target}")
    try:
        return msgspec.json.decode(answer.body, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Transient(f"GLEIF's answer for {target} cannot be read: {error}") from error
