"""A channel: one port for what goes out to people and other systems, whichever way it goes.

| sending meets | what is raised | and then |
|---|---|---|
| taken | nothing | sent, with the time and the masked address |
| no connection, a temporary refusal | `Transient` | another attempt after a pause that grows |
| a connection that breaks after all was handed over | `UnsureError` | another attempt, recorded as a possible repeat |
| an address that nothing can be sent to, a refusal for good | `BusinessError` | the request fails with the reason |
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from perdure.errors import Transient


class UnsureError(Transient):
    """Raised when a message may have been taken: it is sent again under the same effect id."""


UNSURE = "It may have been taken"
"""The beginning of the message of an attempt after which nobody knows whether the message was taken."""


class RequestMessage(msgspec.Struct, frozen=True):
    """A request for a document as it goes out. `effect_id` is the same however often it is sent."""

    effect_id: str
    tenant: str
    correlation_id: str
    attempt: int
    """How often it was asked for: a second request for the same document has another effect id."""
    to: str
    title: str
    text: str
    reason: str
    """Why the last one was rejected, in words for the client."""
    link: str
    """The place where the client answers, with a token; empty where nothing signs tokens."""
    due: str
    language: str
    document_type: str
    callback: str = ""
    """The place where other systems bring the result."""

    def body(self) -> dict[str, Any]:
        """The message for machines: of the same shape in a webhook, a queue, a row and a file."""
        return {"type": "document.requested", **msgspec.to_builtins(self)}


class Channel(Protocol):
    """Sends requests. One instance serves every tenant."""

    def fault(self, to: str) -> str:
        """Why nothing can be sent to an address; empty when something can."""
        ...

    def masked(self, to: str) -> str:
        """The address as journals and screens show it."""
        ...

    async def send(self, message: RequestMessage) -> None:
        """Send a message; returns once somebody else has it."""
        ...

    async def close(self) -> None: ...


def masked_text(text: str) -> str:
    """A text of which only the beginning is shown."""
    return f"{text[:2]}…" if text else ""
