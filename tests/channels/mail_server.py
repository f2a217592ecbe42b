"""A real mail server for tests: keeps what it takes, and refuses what it is told to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, cast

from aiosmtpd.smtp import SMTP


class Mailbox:
    """What came, and what the server answers to the next messages before it takes one."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.answers: list[str] = []
        self.port = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address.startswith("nobody@"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        answer = self.answers.pop(0) if self.answers else "250 taken"
        if answer.startswith(("250", "lost")):
            self.recipients += envelope.rcpt_tos
            self.mails.append(cast(EmailMessage, message_from_bytes(envelope.content, policy=default)))
        if answer == "lost":
            server.transport.abort()
        return "250 taken" if answer == "lost" else answer

    def text(self, place: int = -1) -> str:
        body = self.mails[place].get_body(("plain",))
        assert body is not None
        return str(body.get_content())


@asynccontextmanager
async def mail_server(context: ssl.SSLContext | None = None, **settings: Any) -> AsyncIterator[Mailbox]:
    """A server on a free port, in the loop of the test; with a context it speaks TLS from the first byte."""
    mailbox, loop = Mailbox(), asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(mailbox, hostname="mail.test", loop=loop, **settings), "127.0.0.1", 0, ssl=context
    )
    mailbox.port = server.sockets[0].getsockname()[1]
    try:
        yield mailbox
    finally:
        server.close()
