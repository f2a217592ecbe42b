"""The view of a delivery: what every surface shows of a request that was sent."""

from __future__ import annotations

import msgspec


class DeliveryView(msgspec.Struct, frozen=True):
    """What was sent: by which channel, to which address (masked), under which effect id, and what came of it."""

    channel: str
    address: str
    effect_id: str
    status: str
    """waiting, sent, failed or over."""
    attempts: int
    sent_at: str | None = None
    is_possible_repeat: bool = False
    """An earlier attempt may have been taken as well: who receives it tells by the effect id."""
    error: str = ""
