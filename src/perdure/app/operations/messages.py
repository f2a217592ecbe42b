"""Operations on messages and signals: telling processes what happened outside."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import field

from perdure.app.message_views import Sent, sent_view
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Data, Name
from perdure.app.operations.verb_scopes import DISCOVERED
from perdure.app.runbooks.confirmation import vetted
from perdure.errors import RejectedError, Rejection

TAG = "messages"
ENVELOPE_SECONDS = 86_400.0
"""How long an envelope that nobody waits for yet is kept, unless it says."""


class Message(Request, frozen=True):
    """A message for the instance that waits under the key. Under one `message_id` it counts once.

    One that would begin processes that reach grave verbs is confirmed as calls of them are.
    """

    name: str
    key: str = ""
    data: Data = field(default_factory=dict)
    message_id: str = ""
    confirm: str = ""
    phrase: str = ""


class Published(Message, frozen=True):
    """A message that is kept for a later wait as long as `ttl_seconds` says."""

    ttl_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class Envelope(Request, frozen=True):
    """What arrives from outside for a process of the contract profile.

    The wait is found by `message_name` and `correlation_key`; under one `message_id` a delivery counts once. Nothing
    else finds anything: the payload is what the wait is brought.
    """

    message_name: Name
    correlation_key: Name
    message_id: Name
    payload: Data = field(default_factory=dict)
    tenant_id: str = ""
    subject_id: str = ""
    correlation_id: str = ""
    causation_id: str = ""
    traceparent: str = ""
    tracestate: str = ""
    ttl_seconds: Annotated[float, msgspec.Meta(ge=0)] = ENVELOPE_SECONDS
    confirm: str = ""
    phrase: str = ""


class Signal(Request, frozen=True):
    """A signal for everyone who waits for it, confirmed as a message is."""

    name: str
    data: Data = field(default_factory=dict)
    message_id: str = ""
    confirm: str = ""
    phrase: str = ""


class Heard(msgspec.Struct, frozen=True):
    """How many waits a signal ended and instances it began; null where the engine does not count them."""

    name: str
    reached: int | None


@operation("message.publish", Route("POST", "/messages"), tag=TAG, scope=DISCOVERED)
async def publish_message(context: Context, request: Published) -> Sent:
    """Send a message to the instance that waits for it, or to the processes that start by it.

    200 when it was correlated, started something or came before; 202 when nobody wants it yet (buffered for its time to
    live, otherwise kept as a dead letter) or it was accepted by an engine that does not say who takes it.
    """
    receipt = await context.runtime.engine.publish(
        request.name,
        request.key,
        context.origin,
        message_id=request.message_id,
        ttl_seconds=request.ttl_seconds,
        data=request.data,
        vet=vetted(context, "message.publish", request.data, request.confirm, request.phrase, request.message_id),
    )
    return sent_view(request.name, request.key, receipt)


@operation("message.publish", Route("POST", "/messages/envelope"), tag=TAG, scope=DISCOVERED)
async def receive_envelope(context: Context, request: Envelope) -> Sent:
    """Take a message as an envelope: name, key and id, all required.

    One that nobody waits for yet is kept for its time to live, a day by default. An envelope for another tenant is
    refused.
    """
    for name in ("message_name", "correlation_key", "message_id"):
        if not getattr(request, name).strip():
            hint = "An envelope has message_name, correlation_key and message_id."
            raise RejectedError(
                Rejection("invalid", "take", "message", request.message_name, f"its {name} is empty", hint)
            )
    if request.tenant_id not in ("", context.origin.tenant):
        fact = "its tenant_id is not that of who sends it"
        raise RejectedError(Rejection("forbidden", "take", "message", request.message_name, fact))
    receipt = await context.runtime.engine.publish(
        request.message_name, request.correlation_key, context.origin, message_id=request.message_id,
        ttl_seconds=request.ttl_seconds, data=request.payload,
        vet=vetted(context, "message.publish", request.payload, request.confirm, request.phrase, request.message_id),
    )  # fmt: skip
    return sent_view(request.message_name, request.correlation_key, receipt)


@operation("message.correlate", Route("POST", "/messages/correlate"), tag=TAG, scope=DISCOVERED)
async def correlate_message(context: Context, request: Message) -> Sent:
    """Send a message to who waits now or to nobody.

    Nobody is 404 `message.no_subscription`, several are 409 `message.ambiguous`; either way it is a dead letter, and
    the steps it concerns say so among their outcome events.
    """
    vet = vetted(context, "message.correlate", request.data, request.confirm, request.phrase, request.message_id)
    receipt = await context.runtime.engine.correlate(
        request.name, request.key, context.origin, message_id=request.message_id, data=request.data, vet=vet
    )
    return sent_view(request.name, request.key, receipt)


@operation("signal.send", Route("POST", "/signals"), tag=TAG, scope=DISCOVERED)
async def send_signal(context: Context, request: Signal) -> Heard:
    """Tell everyone who waits for a signal, and begin the processes that start by it."""
    vet = vetted(context, "signal.send", request.data, request.confirm, request.phrase, request.message_id)
    told = await context.runtime.engine.signal(
        request.name, context.origin, message_id=request.message_id, data=request.data, vet=vet
    )
    return Heard(request.name, told.reached)
