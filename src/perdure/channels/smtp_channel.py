"""E-mail by SMTP: one message to one address, encrypted, under a Message-ID that is the same however often it is sent.

| the server says | what happens |
|---|---|
| 4xx, no connection, a timeout before the text was handed over, a wrong password | another attempt |
| 5xx to the recipient, the sender or the text | the request fails with what it said |
| nothing any more, after the text was handed over | sent again under the same Message-ID: the reader may get it twice |
"""

from __future__ import annotations

import asyncio
import re
import smtplib
import ssl
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr, parseaddr
from typing import NoReturn

from perdure.channels.channel import UNSURE, RequestMessage, UnsureError
from perdure.channels.channel_settings import SmtpSettings
from perdure.channels.message_template import SHIPPED, one_line, render
from perdure.errors import BusinessError, Transient
from perdure.sources import SECOND, Sources

SECONDS = 30.0
MAX_ADDRESS = 254
REFUSED = "channel.refused"
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


class SmtpChannel:
    """Sends e-mails through one server, a connection for each."""

    def __init__(self, settings: SmtpSettings, sources: Sources) -> None:
        self._settings = settings
        self._sources = sources

    def fault(self, to: str) -> str:
        return "" if len(to) <= MAX_ADDRESS and _ADDRESS.fullmatch(to) else "it is no e-mail address"

    def masked(self, to: str) -> str:
        name, _, domain = to.rpartition("@")
        return f"{name[:1]}…@{domain}"

    async def send(self, message: RequestMessage) -> None:
        if fault := self.fault(message.to):
            raise BusinessError("channel.address", f"{self.masked(message.to)}: {fault}.")
        mail = self.written(message)
        password = self._settings.password.text(self._settings.name) if self._settings.password is not None else ""
        await asyncio.to_thread(self._deliver, mail, message.to, password)

    async def close(self) -> None:
        return None

    def written(self, message: RequestMessage) -> EmailMessage:
        """The e-mail: plain text, and the same words as HTML."""
        settings = self._settings
        templates = {**SHIPPED, **settings.templates}
        template = templates.get(message.language) or templates.get(settings.language) or SHIPPED["en"]
        rendered = render(template, message)
        mail = EmailMessage(policy=SMTP)
        name, sender = parseaddr(settings.sender)
        mail["From"] = formataddr((one_line(name), sender))
        mail["To"] = message.to
        mail["Subject"] = rendered.subject
        mail["Date"] = format_datetime(datetime.fromtimestamp(self._sources.now() / SECOND, UTC))
        mail["Message-ID"] = f"<{message.effect_id}@{sender.rpartition('@')[2]}>"
        mail["Auto-Submitted"] = "auto-generated"
        if settings.reply_to:
            mail["Reply-To"] = settings.reply_to
        mail.set_content(rendered.text)
        mail.add_alternative(rendered.html, subtype="html")
        return mail

    def _deliver(self, mail: EmailMessage, to: str, password: str) -> None:
        is_handed_over = False
        try:
            server = self._connected(password)
            try:
                _check(server.mail(parseaddr(self._settings.sender)[1]))
                _check(server.rcpt(to))
                is_handed_over = True
                _check(server.data(mail.as_bytes()))
            finally:
                _leave(server)
        except (OSError, smtplib.SMTPException) as error:
            self._failed(error, is_handed_over)

    def _connected(self, password: str) -> smtplib.SMTP:
        settings = self._settings
        context = ssl.create_default_context(cafile=str(settings.ca_file) if settings.ca_file else None)
        server: smtplib.SMTP
        if settings.security == "tls":
            server = smtplib.SMTP_SSL(settings.host, settings.port, timeout=SECONDS, context=context)
        else:
            server = smtplib.SMTP(settings.host, settings.port, timeout=SECONDS)
        try:
            server.ehlo_or_helo_if_needed()
            if settings.security == "starttls":
                server.starttls(context=context)
            if settings.user:
                server.login(settings.user, password)
        except BaseException:
            server.close()
            raise
        return server

    def _failed(self, error: OSError | smtplib.SMTPException, is_handed_over: bool) -> NoReturn:
        place = f"{self._settings.host}:{self._settings.port}"
        if isinstance(error, smtplib.SMTPAuthenticationError):
            raise Transient(f"{place} refused user or password.") from error
        if isinstance(error, smtplib.SMTPResponseException) and error.smtp_code >= 0:
            text = one_line(_text(error.smtp_error))[:300]
            if error.smtp_code >= 500:
                raise BusinessError(REFUSED, f"{place} refused it for good: {error.smtp_code} {text}") from error
            raise Transient(f"{place} refused it for now: {error.smtp_code} {text}") from error
        if is_handed_over:
            raise UnsureError(f"{UNSURE}: {place} was lost after the message was handed over.") from error
        if isinstance(error, smtplib.SMTPNotSupportedError):
            raise BusinessError(REFUSED, f"{place} does not support what the channel asks for: {error}") from error
        raise Transient(f"{place} cannot be reached: {type(error).__name__}.") from error


def _check(answer: tuple[int, bytes]) -> None:
    code, text = answer
    if not 200 <= code < 300:
        raise smtplib.SMTPResponseException(code, text)


def _leave(server: smtplib.SMTP) -> None:
    try:
        server.quit()
    except (OSError, smtplib.SMTPException):
        server.close()


def _text(said: bytes | str) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else said
