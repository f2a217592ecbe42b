"""The channels of a project by name, each opened when it is first used, and what goes into every message."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import msgspec

from perdure.channels.channel import UNSURE, Channel, RequestMessage, UnsureError
from perdure.channels.channel_settings import (
    ChannelSettings,
    FileSettings,
    QueueSettings,
    RowSettings,
    SmtpSettings,
    WaySettings,
    WebhookSettings,
)
from perdure.errors import PerdureError, StoreSettingError, Transient

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

CORRELATION = "perdure-correlation-id"


class OpenChannels:
    """The channels of a runtime. `secret` signs the tokens of links; without it messages have none."""

    def __init__(
        self, runtime: Runtime, settings: ChannelSettings | None = None, *, secret: bytes = b"", public_url: str = ""
    ) -> None:
        self._runtime = runtime
        self._settings = settings or ChannelSettings()
        self._open: dict[str, Channel] = {}
        self.secret = secret
        self.link = self._settings.link or (f"{public_url}/ask" if public_url else "")
        self.callback = f"{public_url}/api/workflow/task-complete" if public_url else ""
        self.default = self._settings.default
        self.token_seconds = self._settings.token_seconds
        self.names = [each.name for each in self._settings.ways]

    def find(self, name: str) -> Channel | None:
        """The channel of that name; None where the project has none."""
        settings = self._settings.way(name)
        if settings is not None and name not in self._open:
            self._open[name] = self._opened(settings)
        return self._open.get(name)

    async def close(self) -> None:
        for channel in self._open.values():
            await channel.close()
        self._open.clear()

    def _opened(self, settings: WaySettings) -> Channel:
        # The libraries that send are loaded by those who do.
        match settings:
            case SmtpSettings():
                from perdure.channels.smtp_channel import SmtpChannel  # noqa: PLC0415

                return SmtpChannel(settings, self._runtime.sources)
            case WebhookSettings():
                from perdure.channels.egress_policy import Egress  # noqa: PLC0415
                from perdure.channels.webhook_channel import WebhookChannel  # noqa: PLC0415

                egress = Egress(self._runtime.hooks.allowed, setting="hooks.egress.allow")
                return WebhookChannel(settings, egress, self._runtime.sources)
            case FileSettings():
                from perdure.channels.file_channel import FileChannel  # noqa: PLC0415

                return FileChannel(settings.folder)
            case QueueSettings():
                from perdure.channels.handed_channel import HandedChannel  # noqa: PLC0415

                return HandedChannel(lambda message: self._publish(settings, message))
            case RowSettings():
                from perdure.channels.handed_channel import HandedChannel  # noqa: PLC0415

                return HandedChannel(lambda message: self._insert(settings, message))
            case _:
                assert_never(settings)

    async def _publish(self, settings: QueueSettings, message: RequestMessage) -> None:
        body, headers = msgspec.json.encode(message.body()), {CORRELATION: message.correlation_id}
        try:
            await self._runtime.buses.publish(
                settings.broker, settings.destination, body, message_id=message.effect_id, headers=headers
            )
        except StoreSettingError as error:
            raise Transient(str(error)) from error
        except PerdureError as error:
            raise UnsureError(f"{UNSURE}: {error}") from error

    async def _insert(self, settings: RowSettings, message: RequestMessage) -> None:
        await self._runtime.store.outbox.put(
            message.tenant, message.effect_id, settings.name, message.to, message.correlation_id,
            msgspec.json.encode(message.body()).decode(),
        )  # fmt: skip
