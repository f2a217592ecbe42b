"""Messages, signals and dead letters over the table of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.app.calls.views import ReceiptView
from perdure.app.facade.performer import Desk
from perdure.app.message_views import Sent
from perdure.app.operations import dead_letters, messages, waits
from perdure.app.operations.dead_letters import ReplayLetter
from perdure.app.operations.messages import Message, Published, Signal
from perdure.app.operations.waits import SendProgress
from perdure.engine import MessageOutcome
from perdure.errors import RejectedError, Rejection
from perdure.typed_reading import convert


class MessageDesk(Desk):
    """What happens outside, told to whoever waits for it.

    What begins something grave needs `confirm` where a server is asked, and the gravest a `phrase` too; the owner of a
    store confirms nothing.
    """

    async def publish(
        self,
        name: str,
        key: str = "",
        data: Mapping[str, Any] | None = None,
        *,
        message_id: str = "",
        ttl_seconds: float = 0,
        confirm: str = "",
        phrase: str = "",
    ) -> MessageOutcome:
        """Send a message to the instance that waits for it under a key, or to the processes that start by it.

        Under one message id it counts once. With a time to live it is kept until someone waits. What begins something
        grave needs `confirm`, the hash of the plan that a person has seen; the gravest a `phrase` too.
        """
        sent = await self.send(
            name, key, data, message_id=message_id, ttl_seconds=ttl_seconds, confirm=confirm, phrase=phrase
        )  # fmt: skip
        return sent.outcome

    async def send(
        self, name: str, key: str = "", data: Mapping[str, Any] | None = None, *, message_id: str = "",
        ttl_seconds: float = 0, is_for_now: bool = False, confirm: str = "", phrase: str = "",
    ) -> Sent:  # fmt: skip
        """As `publish`, or `correlate` when it is for now, with all there is to say about what became of it."""
        told = (name, key, dict(data or {}), message_id, confirm, phrase)
        if not is_for_now:
            return await self._performer.ask(messages.publish_message, Published(*told, ttl_seconds))
        return await self._performer.ask(messages.correlate_message, Message(*told))

    async def receive(self, envelope: Mapping[str, Any], *, confirm: str = "", phrase: str = "") -> Sent:
        """Take a message as an envelope: `message_name`, `correlation_key`, `message_id` and a `payload`.

        One that nobody waits for yet is kept for its `ttl_seconds`, a day by default.
        """
        try:
            request = convert({**envelope, "confirm": confirm, "phrase": phrase}, messages.Envelope)
        except msgspec.ValidationError as error:
            hint = "An envelope has message_name, correlation_key, message_id and payload."
            name = str(envelope.get("message_name", ""))[:80]
            raise RejectedError(Rejection("invalid", "take", "message", name, str(error), hint)) from None
        return await self._performer.ask(messages.receive_envelope, request)

    async def correlate(
        self, name: str, key: str = "", data: Mapping[str, Any] | None = None, *, message_id: str = "",
        confirm: str = "", phrase: str = "",
    ) -> MessageOutcome:  # fmt: skip
        """As `publish`, but for someone who waits now or for nobody."""
        sent = await self.send(
            name, key, data, message_id=message_id, is_for_now=True, confirm=confirm, phrase=phrase
        )  # fmt: skip
        return sent.outcome

    async def signal(
        self, name: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", confirm: str = "",
        phrase: str = "",
    ) -> int | None:  # fmt: skip
        """Tell everyone who waits for a signal, and begin the processes that start by it; how many were reached,
        or None where the engine does not count them."""
        request = Signal(name, dict(data or {}), message_id, confirm, phrase)
        return (await self._performer.ask(messages.send_signal, request)).reached

    async def progress(self, key: str, text: str) -> ReceiptView:
        """Say how it goes: shown, never resumes anything."""
        return await self._performer.ask(waits.send_progress, SendProgress(key, text))

    async def replay(
        self, message_id: str, *, key: str = "", instance: str = "", confirm: str = "", phrase: str = ""
    ) -> ReceiptView:
        """Deliver a dead letter again, perhaps under a corrected key, or to one of several instances that want it."""
        request = ReplayLetter(message_id, key, instance, confirm, phrase)
        return await self._performer.ask(dead_letters.replay_letter, request)
