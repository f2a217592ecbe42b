"""Refused messages: a refusal of a server becomes the outcome that the platform itself reports."""

from __future__ import annotations

from perdure.app.calls.views import ReceiptView
from perdure.app.message_views import Sent
from perdure.app.operations.messages import Message
from perdure.app.operations.operation import Request
from perdure.app.operations.waits import SendCompletion
from perdure.engine import MessageOutcome
from perdure.errors import RejectedError

_PREFIX = "it was not applied: "
_OUTCOMES: dict[str, MessageOutcome] = {
    "message.no_subscription": "no_subscription", "message.ambiguous": "ambiguous",
}  # fmt: skip


def undelivered(request: Request, refused: RejectedError) -> ReceiptView | Sent | None:
    """What became of a completion or a message that nobody, or more than one, waits for; None of other refusals."""
    told = refused.data
    match request:
        case SendCompletion() if told.get("dead_letter"):
            return ReceiptView("dead_letter", str(told.get("message_id", "")), refused.fact.removeprefix(_PREFIX))
        case Message(name=name, key=key, message_id=message_id) if told.get("code") in _OUTCOMES:
            return Sent(name, key, _OUTCOMES[told["code"]], str(told.get("message_id", message_id)), refused.fact)
    return None
