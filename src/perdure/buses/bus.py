"""The port of a bus: publish, consume with a group, acknowledge after our commit, hold, and leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec


class Delivery(msgspec.Struct, frozen=True):
    """One message as a broker delivered it."""

    place: str
    """The broker's own name of it: stream and entry, topic, partition and offset, stream and sequence."""
    body: bytes
    headers: Mapping[str, str] = {}
    tries: int = 1
    """How often it was delivered, as far as the broker knows: brokers may say less than is true, never more."""
    token: Any = None
    """The broker's handle of it."""


class Consumer(Protocol):
    """One member of a group. Whatever is delivered and not acknowledged is delivered again, to it or to another."""

    async def receive(self, most: int, seconds: float) -> list[Delivery]:
        """New messages, and those that a dead consumer left; none when none came within so many seconds."""
        ...

    async def acknowledge(self, settled: Sequence[Delivery]) -> None:
        """Never deliver these again. Called after the commit that counted or parked them."""
        ...

    async def hold(self, open: Sequence[Delivery]) -> None:
        """Say that these are still being worked on, so that no other consumer gets them meanwhile."""
        ...

    async def close(self) -> None:
        """Leave the group. Messages that were not acknowledged go to the others."""
        ...


class Bus(Protocol):
    """A connection to one broker."""

    async def publish(
        self, destination: str, body: bytes, *, message_id: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Hand a message to the broker; returns once the broker has it.

        The same `message_id` is the same message: a repeat may arrive once or twice. A message that is sent again on
        purpose needs an id of its own, or a broker that remembers ids drops it in silence.
        """
        ...

    async def consume(self, source: str, group: str, member: str, claim_seconds: float) -> Consumer:
        """Join a group at a source, from its beginning when the group is new.

        Messages of a member that gave no sign for `claim_seconds` go to the others.
        """
        ...

    async def lag(self, source: str, group: str) -> int | None:
        """How many messages a group has not acknowledged; None where there is no such source or group yet."""
        ...

    async def close(self) -> None: ...
