"""E-mail to a real server: encrypted, in the reader's language, refused now or for good, with no forged header."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from perdure.channels.channel import UNSURE, RequestMessage, UnsureError
from perdure.channels.channel_settings import Password, SmtpSettings
from perdure.channels.message_template import MessageTemplate, render
from perdure.channels.smtp_channel import SmtpChannel
from perdure.errors import BusinessError, Transient
from perdure.sources import SystemSources
from tests.channels.certificates import self_signed
from tests.channels.mail_server import Mailbox, mail_server

pytestmark = pytest.mark.req("T13")
EFFECT = "01kdvdna00f7eapdvp50sr39s3"
MESSAGE = RequestMessage(
    EFFECT, "default", "c:1", 1, "anna@example.com", "Passport", "A copy in colour", "", "https://x.test/ask#token",
    "2026-12-01", "", "passport",
)  # fmt: skip


def channel(mailbox: Mailbox, **more: Any) -> SmtpChannel:
    settings = SmtpSettings("mail", "127.0.0.1", "KYC desk <kyc@bank.test>", mailbox.port, "none")
    return SmtpChannel(replace(settings, **more), SystemSources())


async def test_a_message_is_plain_and_html_with_its_effect_id_and_a_link() -> None:
    async with mail_server() as mailbox:
        await channel(mailbox).send(replace(MESSAGE, reason="Too <dark> & blurred"))
        await channel(mailbox).send(replace(MESSAGE, language="de", due=""))
    mail = mailbox.mails[0]
    assert mail["Message-ID"] == f"<{EFFECT}@bank.test>" and mail["To"] == "anna@example.com"
    assert mail["Subject"] == "We need a document from you: Passport" and mail["Auto-Submitted"] == "auto-generated"
    assert "Too <dark> & blurred" in mailbox.text(0) and "https://x.test/ask#token" in mailbox.text(0)
    html = mail.get_body(("html",))
    assert html is not None
    assert '<a href="https://x.test/ask#token">' in html.get_content()
    assert "Too &lt;dark&gt; &amp; blurred" in html.get_content()
    assert "Dieser Link" in mailbox.text(1) and "bis" not in mailbox.text(1), "a line without its value is left out"


@pytest.mark.parametrize(
    "to",
    ["", "anna", "anna@", "a b@example.com", "anna@example.com\nBcc: eve@evil.test", "a@b.test,c@d.test", "<a@b.test>",
     "anna@example.com\r\nRCPT TO:<eve@evil.test>", f"{'a' * 65}@example.com"],
)  # fmt: skip
async def test_nothing_is_sent_to_what_is_no_address(to: str) -> None:
    async with mail_server() as mailbox:
        with pytest.raises(BusinessError, match="no e-mail address"):
            await channel(mailbox).send(replace(MESSAGE, to=to))
    assert mailbox.mails == []


async def test_no_value_forges_a_header_or_is_read_as_a_template() -> None:
    evil = "Passport\r\nBcc: eve@evil.test\n\nHello {link}"
    async with mail_server() as mailbox:
        await channel(mailbox).send(replace(MESSAGE, title=evil, text=evil, reason="\x00\x1b[31mred"))
    mail = mailbox.mails[0]
    assert mail["Bcc"] is None and mailbox.recipients == ["anna@example.com"]
    assert "Bcc: eve@evil.test" in mail["Subject"] and "\n" not in mail["Subject"]
    assert mailbox.text().count("https://x.test/ask#token") == 1, "a name inside a value stays a name"
    assert "\x1b" not in mailbox.text()


async def test_a_refusal_for_now_is_tried_again_and_one_for_good_is_not() -> None:
    async with mail_server() as mailbox:
        for answer, error in (("451 busy", Transient), ("554 no", BusinessError)):
            mailbox.answers = [answer]
            with pytest.raises(error, match=answer[:3]):
                await channel(mailbox).send(MESSAGE)
        with pytest.raises(BusinessError, match="550 no such mailbox"):
            await channel(mailbox).send(replace(MESSAGE, to="nobody@example.com"))
        mailbox.answers = ["lost"]
        with pytest.raises(UnsureError, match=UNSURE):
            await channel(mailbox).send(MESSAGE)
    with pytest.raises(Transient, match="cannot be reached"):
        await channel(mailbox).send(MESSAGE)


async def test_a_server_is_believed_by_its_certificate_and_told_a_password_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    monkeypatch.setenv("MAIL_PASSWORD", "sesame-open")
    told: list[Any] = []

    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> Any:
        from aiosmtpd.smtp import AuthResult  # noqa: PLC0415

        told.append(data.password)
        return AuthResult(success=data.password == b"sesame-open", handled=False)

    secured = {"user": "kyc", "password": Password("MAIL_PASSWORD"), "security": "starttls"}
    async with mail_server(tls_context=context, authenticator=check, auth_required=True) as mailbox:
        with pytest.raises(Transient, match="SSLCertVerificationError"):
            await channel(mailbox, **secured).send(MESSAGE)
        assert told == []
        await channel(mailbox, ca_file=certificate, **secured).send(MESSAGE)
        assert told == [b"sesame-open"] and len(mailbox.mails) == 1
        monkeypatch.setenv("MAIL_PASSWORD", "another one")
        with pytest.raises(Transient, match="user or password"):
            await channel(mailbox, ca_file=certificate, **secured).send(MESSAGE)
    async with mail_server(context) as mailbox:
        await channel(mailbox, ca_file=certificate, security="tls").send(MESSAGE)
        assert len(mailbox.mails) == 1


def test_a_template_knows_its_names() -> None:
    template = MessageTemplate("{title}", "{text} {token} {0.__class__}")
    assert template.unknown() == ["token", "0.__class__"]
    assert render(template, MESSAGE).text == "A copy in colour  "
