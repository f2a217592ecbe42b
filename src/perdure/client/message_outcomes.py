"""Refusals that are no errors here: what nobody waited for, as the platform itself tells it."""

from __future__ import annotations

from perdure.app.calls.views import ReceiptView
from perdure.engine import MessageOutcome
from perdure.errors import RejectedError

_PREFIX = "it was not applied: "
_OUTCOMES: dict[str, MessageOutcome] = {
    "message.no_subscription": "no_subscription", "message.ambiguous": "ambiguous",
}  # fmt: skip


def dead_letter_of(refused: RejectedError) -> ReceiptView | None:
    """The receipt of a completion that became a dead letter."""
    if not refused.data.get("dead_letter"):
        return None
    return ReceiptView("dead_letter", str(refused.data.get("message_id", "")), refused.fact.removeprefix(_PREFIX))


def outcome_of(refused: RejectedError) -> MessageOutcome | None:
    """What became of a message that nobody, or more than one, waits for now."""
    return _OUTCOMES.get(str(refused.data.get("code", "")))
