"""The view of a message that was sent."""

from __future__ import annotations

import msgspec

from perdure.engine import MessageOutcome, Receipt
from perdure.sources import id_text


class Sent(msgspec.Struct, frozen=True):
    """What became of a message: taken by a wait, kept, the start of instances, wanted by nobody or by several.

    `instances` are those that took it, began by it, or compete for it.
    """

    name: str
    key: str
    outcome: MessageOutcome
    message_id: str
    reason: str = ""
    instances: list[str] = []


def sent_view(name: str, key: str, receipt: Receipt) -> Sent:
    ids = [id_text(each) for each in receipt.instances]
    return Sent(name, key, receipt.outcome, receipt.message_id, receipt.reason, ids)
