"""The limit of dead letters: those of a tenant are counted before one more is kept, so that none fills the store."""

from __future__ import annotations

from typing import Any, Protocol

from perdure.errors import TenantBusyError

MOST_LETTERS = 10_000


class LetterStore(Protocol):
    """The reads that tell whether a tenant may have one more dead letter."""

    async def count_dead(self, tenant: str, most: int) -> int: ...
    async def message(self, tenant: str, message_id: str) -> Any: ...


async def check_room(store: LetterStore, tenant: str, message_id: str) -> None:
    """Refuse a letter that nobody takes where too many wait already; a letter that is known costs no room."""
    if await store.count_dead(tenant, MOST_LETTERS) < MOST_LETTERS:
        return
    if await store.message(tenant, message_id) is None:
        fact = f"nobody takes it and {MOST_LETTERS:,} dead letters wait already"
        raise TenantBusyError("keep", "message", message_id, fact, "Replay or discard some of them first.")
