"""Messages and signals: telling processes what happened outside."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Response

from perdure.access.principal import Principal
from perdure.app import Perdure
from perdure.app.confirming import vetted
from perdure.app.messages import Sent
from perdure.surfaces.http.making import acting
from perdure.surfaces.http.problems import RefusedRequest

TAGS = ("messages",)
STATUSES = {"buffered": 202, "accepted": 202, "no_subscription": 202, "ambiguous": 202}
"""What is kept for later, or for somebody who looks after dead letters; the rest has happened."""


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message for whoever waits under the key. Under one `message_id` it counts once.

    One that would begin processes that carry grave verbs is confirmed as calls of them are.
    """

    name: str
    key: str = ""
    data: dict[str, Any] = {}
    message_id: str = ""
    confirm: str = ""
    phrase: str = ""


class Published(Message, frozen=True):
    """The same, kept for somebody who will wait as long as `ttl_seconds` says."""

    ttl_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signal for everyone who waits for it, confirmed as a message is."""

    name: str
    data: dict[str, Any] = {}
    message_id: str = ""
    confirm: str = ""
    phrase: str = ""


class Heard(msgspec.Struct, frozen=True):
    """How many waits a signal ended and instances it began; null where the engine does not count them."""

    name: str
    reached: int | None


@acting("/messages", "message.publish", tags=TAGS, twofold=True)
async def publish_message(perdure: Perdure, principal: Principal, data: Published) -> Response[Sent]:
    """Send a message to the instance that waits for it, or to the processes that start by it.

    200 when it was correlated, started something or came before; 202 when nobody wants it yet (buffered for its time to
    live, otherwise kept as a dead letter) or it was accepted by an engine that does not say who takes it.
    """
    perdure = vetted(perdure, principal, "message.publish", data.data, data.confirm, data.phrase)
    sent = await perdure.send(data.name, data.key, data.data, message_id=data.message_id, ttl_seconds=data.ttl_seconds)
    return Response(sent, status_code=STATUSES.get(sent.outcome, 200))


@acting("/messages/correlate", "message.correlate", tags=TAGS)
async def correlate_message(perdure: Perdure, principal: Principal, data: Message) -> Sent:
    """Send a message to who waits now or to nobody.

    Nobody is 404 `message.no_subscription`, several are 409 `message.ambiguous`; nothing is kept.
    """
    perdure = vetted(perdure, principal, "message.correlate", data.data, data.confirm, data.phrase)
    sent = await perdure.send(data.name, data.key, data.data, message_id=data.message_id, is_for_now=True)
    if sent.outcome == "no_subscription":
        raise RefusedRequest(404, "message.no_subscription", f"Nobody waits for it: {sent.reason}.", "Publish it.")
    if sent.outcome == "ambiguous":
        hint = "Give them different keys, or publish it and choose one of them for the dead letter."
        raise RefusedRequest(409, "message.ambiguous", f"Several instances wait for it: {sent.reason}.", hint)
    return sent


@acting("/signals", "signal.send", tags=TAGS)
async def send_signal(perdure: Perdure, principal: Principal, data: Signal) -> Heard:
    """Tell everyone who waits for a signal, and begin the processes that start by it."""
    perdure = vetted(perdure, principal, "signal.send", data.data, data.confirm, data.phrase)
    return Heard(data.name, await perdure.signal(data.name, data.data, message_id=data.message_id))


ROUTES: tuple[Any, ...] = (publish_message, correlate_message, send_signal)
