"""Fair slots: a tenant holds at most as many slots as are left free, so that the next tenant finds one.

A tenant alone holds half of them, each of two a third, each of three a quarter. Takers that wait are served by tenants
in turn: a slot that falls free goes to the tenant that has waited longest for its turn, whoever asked for more.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque


class FairSlots:
    """Slots of one process, shared by tenants; used by its event loop alone."""

    def __init__(self, total: int) -> None:
        self._free = total
        self._held: dict[str, int] = {}
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        """Takers by tenant; the tenant whose turn is next stands first."""

    @property
    def free(self) -> int:
        return self._free

    def held_by(self, tenant: str) -> int:
        return self._held.get(tenant, 0)

    def waiting_of(self, tenant: str) -> int:
        return len(self._waiting.get(tenant, ()))

    def take_at_once(self, tenant: str) -> bool:
        """Take a slot if the tenant may have one now and nobody of the tenant waits."""
        held = self._held.get(tenant, 0)
        if held >= self._free or tenant in self._waiting:
            return False
        self._held[tenant] = held + 1
        self._free -= 1
        return True

    async def take(self, tenant: str) -> None:
        """Take a slot, once it is the tenant's turn."""
        if self.take_at_once(tenant):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(tenant)  # the turn came when nobody wanted it any more
            else:
                self._forget(tenant, turn)
            raise

    def give_back(self, tenant: str) -> None:
        """Let the next one have a slot."""
        held = self._held[tenant] - 1
        if held:
            self._held[tenant] = held
        else:
            del self._held[tenant]
        self._free += 1
        if self._waiting:
            self._serve()

    def _serve(self) -> None:
        """Serve tenants in turn until none of those who wait may have more."""
        for tenant in list(self._waiting):
            if self._held.get(tenant, 0) >= self._free:
                continue
            turns = self._waiting.pop(tenant)
            while turns:
                if not (turn := turns.popleft()).done():  # who was cancelled has not left the queue yet
                    turn.set_result(None)
                    self._held[tenant] = self._held.get(tenant, 0) + 1
                    self._free -= 1
                    break
            if turns:
                self._waiting[tenant] = turns  # behind the others

    def _forget(self, tenant: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(tenant)
        if turns is not None and turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[tenant]
