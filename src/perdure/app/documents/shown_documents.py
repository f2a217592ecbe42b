"""Documents that data refer to, by the hash of what somebody sees who opens them: a decision binds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.documents.references import SCHEMES
from perdure.documents.machine.document_machine import DocumentMachine
from perdure.documents.machine.document_state import Document, Version
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.sources import parse_id

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

MOST_REFERENCES = 200
"""How many references of one payload are looked at; data that hold more are bound by their own hash alone."""
ABSENT = ("absent",)
PREFIXES = tuple(f"{scheme}://" for scheme in SCHEMES)


class ShownDocuments:
    """Tells what data show of documents."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def __call__(self, tenant: str, read: Callable[[], Awaitable[Any]]) -> bytes:
        """The hash of the versions that data refer to; empty where they refer to none."""
        if not self._runtime.catalogue.documents:
            return b""
        found = sorted({*references_in(await read())})[:MOST_REFERENCES]
        if not found:
            return b""
        told = [(each, *(await self._told(tenant, each))) for each in found]
        return sha256(msgspec.json.encode(told)).digest()

    async def check(self, tenant: str, reference: str) -> None:
        """Refuse a reference to a document that the tenant has not; without document types none is checked."""
        if not reference.startswith(PREFIXES) or not self._runtime.catalogue.documents:
            return
        if ABSENT[0] in await self._told(tenant, reference):
            hint = "Store it first, and send what that answers."
            raise RejectedError(Rejection("not_found", "find", "document", reference[:200], "there is none here", hint))

    async def _told(self, tenant: str, reference: str) -> tuple[Any, ...]:
        scheme, _, place = reference.partition("://")
        owner, _, rest = place.partition("/")
        letters, *words = rest.split("/")
        if owner != tenant:
            return ABSENT
        try:
            aggregate = await self._runtime.kernel.read(parse_id(letters, "document"), Origin(tenant, ""))
        except (QuarantinedError, RejectedError):
            return ABSENT
        if aggregate.kind != DocumentMachine.kind:
            return ABSENT
        state: Document = aggregate.state
        if scheme == "version" and words and words[0].isdecimal():
            return _version(next((each for each in state.versions if each.number == int(words[0])), None))
        return (len(state.versions), state.superseded_by, *_version(state.current))


def references_in(data: Any) -> Iterator[str]:
    """The references to documents that data hold, however deep."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if value.startswith(PREFIXES):
                yield value
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)


def _version(version: Version | None) -> tuple[Any, ...]:
    if version is None:
        return ABSENT
    hashes = (version.data, version.extracted, version.blob.hash if version.blob is not None else None)
    return (version.number, *(each.hex() if each is not None else "" for each in hashes))
