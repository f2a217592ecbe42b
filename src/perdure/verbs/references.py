"""References: what `call.resolve(uri)` asks for, and the port that whoever fetches a scheme answers to.

| a reference | gives |
|---|---|
| of a scheme with a resolver, within its bounds | what the resolver returns |
| of no known scheme, of a verb it is not for, or too large | UnresolvableError, which says what to change |
| too slow | Transient, so that the attempt is made again as its verb says |
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from perdure.errors import PerdureError, Transient
from perdure.verbs.verb_patterns import reaches

MAX_BYTES = 4 * 1024 * 1024
TIMEOUT_SECONDS = 30.0
RECORD = "record"
"""The scheme of references to records."""
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,31}")


class UnresolvableError(PerdureError):
    """A reference that cannot be fetched here."""

    code = "call.unresolvable"


class Wanted(msgspec.Struct, frozen=True):
    """A reference that a handler asks for: on whose behalf, for which verb, and how many bytes may come back."""

    uri: str
    tenant: str
    principal: str
    verb: str
    max_bytes: int = MAX_BYTES
    call: str = ""
    """The id of the call, runbook or instance that the handler works for."""
    key: str = ""
    """The id of the key that the call came with, where it is known already."""

    @property
    def place(self) -> str:
        """What stands after the scheme."""
        return self.uri.partition("://")[2]


Resolver = Callable[[Wanted], Awaitable[Any]]
"""Fetches what a reference stands for: text, bytes or JSON, never more than `wanted.max_bytes` of it."""


class Bounds(msgspec.Struct, frozen=True):
    """How much a resolver may bring, how long it may take, and the patterns of the verbs it works for."""

    max_bytes: int = MAX_BYTES
    timeout_seconds: float = TIMEOUT_SECONDS
    verbs: tuple[str, ...] = ("*",)


class BoundedResolver:
    """A resolver that is held to its bounds, whatever it is."""

    def __init__(self, resolver: Resolver, bounds: Bounds) -> None:
        self._resolver, self._bounds = resolver, bounds

    async def __call__(self, wanted: Wanted) -> Any:
        bounds, shown = self._bounds, wanted.uri[:200]
        if not reaches(bounds.verbs, wanted.verb):
            hint = "Name the verb in the `verbs` of its resolver in perdure.yaml."
            raise UnresolvableError("resolve", "reference", shown, f"it is not for '{wanted.verb}'", hint)
        asked = msgspec.structs.replace(wanted, max_bytes=bounds.max_bytes)
        try:
            async with asyncio.timeout(bounds.timeout_seconds) as limit:
                found = await self._resolver(asked)
        except TimeoutError as error:
            if not limit.expired():
                raise
            fact = (
                f"Expected to resolve reference '{shown}', but nothing came within {bounds.timeout_seconds:g} seconds."
            )
            raise Transient(fact) from error
        if (size := _size(found)) > bounds.max_bytes:
            raise too_large(wanted.uri, f"it has {size:,} bytes", bounds.max_bytes)
        return found


def too_large(uri: str, fact: str, max_bytes: int) -> UnresolvableError:
    """The error of a reference that brings more than its resolver may."""
    hint = "Raise `max_bytes` of its resolver in perdure.yaml, or fetch a smaller part."
    return UnresolvableError("resolve", "reference", uri[:200], f"{fact} and may have {max_bytes:,}", hint)


def _size(found: Any) -> int:
    if isinstance(found, bytes | bytearray | memoryview):
        return len(found)
    if isinstance(found, str):
        return len(found.encode("utf-8", "surrogatepass"))
    try:
        return len(msgspec.json.encode(found))
    except (TypeError, ValueError, RecursionError):
        return 0  # an object of the resolver's own, which bounded itself
