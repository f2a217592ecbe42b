"""A signed webhook as channel: the message as JSON, signed as all webhooks are, its effect id as `webhook-id`."""

from __future__ import annotations

import msgspec

from perdure.channels.channel import UNSURE, RequestMessage, UnsureError, masked_text
from perdure.channels.channel_settings import WebhookSettings
from perdure.channels.egress_policy import Egress
from perdure.channels.http_sender import Sender
from perdure.channels.webhook_signatures import sign
from perdure.errors import BusinessError, RejectedError, Transient
from perdure.sources import Sources

GONE, TIMED_OUT = 410, "ReadTimeout"


class WebhookChannel:
    """Posts to one url."""

    def __init__(self, settings: WebhookSettings, egress: Egress, sources: Sources) -> None:
        self._settings = settings
        self._egress = egress
        self._sources = sources
        self._sender: Sender | None = None

    def fault(self, to: str) -> str:
        return ""

    def masked(self, to: str) -> str:
        return masked_text(to)

    async def send(self, message: RequestMessage) -> None:
        settings = self._settings
        try:
            target = await self._egress.target(settings.url)
        except RejectedError as error:
            if error.rejection.code == "blocked":
                raise Transient(str(error)) from error
            raise BusinessError("channel.refused", str(error)) from error
        body = msgspec.json.encode(message.body())
        headers = sign(settings.secret.load(settings.name)[0], message.effect_id, self._sources.now(), body)
        if self._sender is None:
            self._sender = Sender()
        answer = await self._sender.send(target, headers, body)
        if answer.is_taken:
            return
        if answer.status == GONE:
            raise BusinessError("channel.refused", f"{settings.name}: the receiver wants no more.")
        said = answer.reason or str(answer.status)
        if not answer.status and TIMED_OUT in said:
            raise UnsureError(f"{UNSURE}: {settings.name} did not answer in time.", answer.after)
        raise Transient(f"{settings.name}: {said}", answer.after)

    async def close(self) -> None:
        if self._sender is not None:
            await self._sender.close()
