"""A document is asked for by a channel: once, again after a rejection, and nobody else has a token of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from perdure.app.channels.open_channels import OpenChannels
from perdure.buses.bus_selection import Buses
from perdure.buses.bus_settings import Broker, BusSettings
from perdure.channels.channel_settings import (
    ChannelSettings,
    FileSettings,
    QueueSettings,
    RowSettings,
    SmtpSettings,
    WebhookSettings,
)
from perdure.channels.webhook_settings import Hooks, Secret
from perdure.channels.webhook_signatures import Signed, verify
from perdure.testing import Sandbox
from tests.buses.brokers import fresh_source, redis_url
from tests.channels.mail_server import Mailbox, mail_server
from tests.channels.receiver import Receiver
from tests.documents.papers import DEFINITIONS, PDF, opened
from tests.lifecycles.onboarding import written
from tests.surfaces.http.sandbox_server import SECRET, Server, person, served

__all__ = ["redis_url"]
LIFECYCLE = """
lifecycle: onboarding
states:
  OPEN:
    requirements:
      - type: document_exists
        document_type: passport
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(document.solicit :subject-entity-id $subject :document-type passport :to $email)"
            auto: true
            max_attempts: 2
            expires: P10D
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: DONE}
"""
PEOPLE = [person("clara", "reviewer", groups=("compliance",))]
ASKED = "/api/document-request"
EMAIL = "anna@example.com"


def channels(sandbox: Sandbox, *ways: Any) -> None:
    """The ways by which a sandbox asks; the first is the default."""
    settings = ChannelSettings(ways, ways[0].name, "https://bank.test/ask")
    sandbox.runtime.channels = OpenChannels(
        sandbox.runtime, settings, secret=SECRET, public_url="https://bank.test"
    )  # fmt: skip


def mail(mailbox: Mailbox) -> SmtpSettings:
    return SmtpSettings("mail", "127.0.0.1", "kyc@bank.test", mailbox.port, "none")


def token_in(text: str) -> str:
    found = re.search(r"https://bank\.test/ask#(\S+)", text)
    assert found is not None, text
    return found[1]


async def hand_in(server: Server, token: str, content: bytes) -> Any:
    answer = await server.waiting(token).ask(
        "POST", f"{ASKED}/content", content=content, headers={"Content-Type": "application/pdf"}
    )
    assert answer.status_code == 201, answer.text
    await server.idle()


async def reject(server: Server, reason: str, version: int = 1) -> None:
    (paper,) = (await server.of("clara").get("/api/documents"))["items"]
    await server.of("clara").post(f"/api/documents/{paper['id']}/reject", {"version": version, "reason": reason})
    await server.idle()


async def begun(server: Server, email: str = EMAIL) -> str:
    body = {"lifecycle": "onboarding", "subject": "anna", "context": {"email": email}}
    id = (await server.of("olga").post("/api/lifecycles", body, 201))["instance"]["id"]
    await server.idle()
    return str(id)


def house(url: str, folder: Path) -> Any:
    lifecycle = written(folder, LIFECYCLE)
    return served(url, verbs=DEFINITIONS, people=PEOPLE, blobs=folder / "blobs", lifecycles=[lifecycle])


@pytest.mark.both_stores
@pytest.mark.req("T13")
@pytest.mark.req("T15")
async def test_a_client_is_asked_by_mail_and_again_until_it_fits_or_nobody_asks_any_more(
    store_url: str, tmp_path: Path
) -> None:
    async with mail_server() as mailbox, house(store_url, tmp_path) as server:
        channels(server.sandbox, mail(mailbox))
        id = await begun(server)
        assert len(mailbox.mails) == 1 and mailbox.mails[0]["To"] == EMAIL
        status = await server.of("olga").get(f"/api/lifecycles/{id}")
        (sent,) = status["tasks"][0]["deliveries"]
        assert (sent["channel"], sent["address"], sent["status"]) == ("mail", "a…@example.com", "sent")
        assert mailbox.mails[0]["Message-ID"] == f"<{sent['effect_id']}@bank.test>" and not sent["is_possible_repeat"]
        assert EMAIL not in str(status["tasks"])
        first = token_in(mailbox.text())
        await hand_in(server, first, PDF)
        assert len(mailbox.mails) == 1, "what waits for a decision is not asked for again"
        await reject(server, "BLURRED")
        assert len(mailbox.mails) == 2 and "not sharp enough" in mailbox.text()
        assert (await server.waiting(first).get(ASKED))["status"] == "over"
        await hand_in(server, token_in(mailbox.text()), PDF + b"\n")
        await reject(server, "GLARE", 2)
        assert len(mailbox.mails) == 2, "two attempts are all"
        (blocker,) = (await server.of("olga").get(f"/api/lifecycles/{id}"))["blockers"]
        assert blocker["missing"] == ["document 'passport' is rejected (GLARE), not verified"]
        assert "as often as it may be" in blocker["reason"] and blocker["attempts"] == 2


@pytest.mark.req("T13")
@pytest.mark.req("T15")
async def test_nobody_is_asked_again_after_a_rejection_for_good(tmp_path: Path) -> None:
    async with mail_server() as mailbox, house("sqlite://", tmp_path) as server:
        channels(server.sandbox, mail(mailbox))
        id = await begun(server)
        await hand_in(server, token_in(mailbox.text()), PDF)
        await reject(server, "SUSPECTED_FORGERY")
        (blocker,) = (await server.of("olga").get(f"/api/lifecycles/{id}"))["blockers"]
        assert len(mailbox.mails) == 1 and "nobody is asked again" in blocker["reason"]


@pytest.mark.req("T13")
async def test_a_mail_is_tried_again_when_refused_for_now_and_fails_the_request_when_refused_for_good(
    tmp_path: Path,
) -> None:
    async with mail_server() as mailbox, house("sqlite://", tmp_path) as server:
        channels(server.sandbox, mail(mailbox))
        mailbox.answers = ["451 busy", "lost"]
        id = await begun(server)
        olga = server.of("olga")
        (sent,) = (await olga.get(f"/api/lifecycles/{id}"))["tasks"][0]["deliveries"]
        assert (sent["status"], sent["attempts"]) == ("waiting", 1) and "451 busy" in sent["error"]
        await server.sandbox.advance("PT1H")
        (sent,) = (await olga.get(f"/api/lifecycles/{id}"))["tasks"][0]["deliveries"]
        assert (sent["status"], sent["attempts"], sent["is_possible_repeat"]) == ("sent", 3, True)
        assert [each["Message-ID"] for each in mailbox.mails] == [f"<{sent['effect_id']}@bank.test>"] * 2
        await server.of("ada").post(f"/api/lifecycles/{id}/cancel", {"reason": "again"})
        id = await begun(server, "nobody@example.com")
        shown = await olga.get(f"/api/lifecycles/{id}")
        assert [each["status"] for each in shown["tasks"]] == ["failed", "failed"]
        assert "550 no such mailbox" in shown["blockers"][0]["reason"]


@pytest.mark.req("T7")
@pytest.mark.req("T13")
async def test_a_call_waits_until_the_document_is_verified_and_asks_again_by_itself(tmp_path: Path) -> None:
    async with mail_server() as mailbox, house("sqlite://", tmp_path) as server:
        channels(server.sandbox, mail(mailbox))
        olga = server.of("olga")
        args = {"subject_entity_id": "anna", "document_type": "passport", "to": EMAIL, "max_attempts": 2}
        call = await olga.post("/api/verbs/document.solicit/calls", {"args": args}, 201)
        await server.idle()
        shown = await olga.get(f"/api/calls/{call['id']}")
        assert shown["state"] == "parked" and "Asked by mail to a…@example.com" in str(shown)
        await hand_in(server, token_in(mailbox.text()), PDF)
        assert (await olga.get(f"/api/calls/{call['id']}"))["state"] == "parked"
        await reject(server, "BLURRED")
        assert len(mailbox.mails) == 2 and "sharper" in mailbox.text()
        assert (await server.waiting(token_in(mailbox.text(0))).get(ASKED))["status"] == "over"
        await hand_in(server, token_in(mailbox.text()), PDF + b"\n")
        (paper,) = (await olga.get("/api/documents"))["items"]
        await server.of("clara").post(f"/api/documents/{paper['id']}/verify", {"version": 2})
        await server.idle()
        shown = await olga.get(f"/api/calls/{call['id']}")
        assert shown["state"] == "completed"
        assert shown["result"]["cargo_ref"] == f"document://default/{paper['id']}"

        second = await olga.post(
            "/api/verbs/document.solicit/calls",
            {"args": {**args, "subject_entity_id": "boris", "until": "received"}},
            201,
        )
        await server.idle()
        await hand_in(server, token_in(mailbox.text()), PDF)
        assert (await olga.get(f"/api/calls/{second['id']}"))["state"] == "completed"


@pytest.mark.req("T7")
async def test_a_call_fails_with_the_reason_when_it_was_asked_for_often_enough(tmp_path: Path) -> None:
    async with mail_server() as mailbox, house("sqlite://", tmp_path) as server:
        channels(server.sandbox, mail(mailbox))
        args = {"subject_entity_id": "anna", "document_type": "passport", "to": EMAIL, "max_attempts": 1}
        call = await server.of("olga").post("/api/verbs/document.solicit/calls", {"args": args}, 201)
        await server.idle()
        await hand_in(server, token_in(mailbox.text()), PDF)
        await reject(server, "BLURRED")
        shown = await server.of("olga").get(f"/api/calls/{call['id']}")
        assert shown["state"] == "failed" and "BLURRED" in shown["error"]["message"], shown


@pytest.mark.req("T13")
@pytest.mark.req("V36")
async def test_nobody_has_the_request_of_somebody_else_sent_to_themselves(tmp_path: Path) -> None:
    async with mail_server() as mailbox, house("sqlite://", tmp_path) as server:
        channels(server.sandbox, mail(mailbox))
        id = await begun(server)
        asked = (await server.of("olga").get(f"/api/lifecycles/{id}"))["tasks"][0]["correlation_id"]
        args: dict[str, Any] = {
            "subject_entity_id": "anna", "document_type": "passport", "to": "eve@evil.test", "correlation_id": asked,
        }  # fmt: skip
        made = await server.of("olga").post("/api/verbs/document.solicit/calls", {"args": args}, 201)
        await server.idle()
        assert "somebody else" in str(await server.of("olga").get(f"/api/calls/{made['id']}"))
        direct = {"channel": "mail", "correlation_id": asked, "to": "eve@evil.test"}
        made = await server.of("olga").post("/api/verbs/perdure.send-request/calls", {"args": direct}, 201)
        await server.idle()
        assert "Only the platform" in str(await server.of("olga").get(f"/api/calls/{made['id']}"))
        assert mailbox.recipients == [EMAIL]


@pytest.mark.both_stores
@pytest.mark.req("T13")
async def test_a_request_is_one_file_and_one_row_under_its_effect_id(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        channels(perdure, FileSettings("files", tmp_path / "out"), RowSettings("rows"))
        for channel in ("files", "rows"):
            call = await perdure.call(
                "document.solicit",
                {"subject_entity_id": "anna", "document_type": "form", "channel": channel, "to": "desk-7"},
            )
            await perdure.run_until_idle()
            (sent,) = (await perdure.documents.request(f"{call.id}:document.solicit:1:1")).deliveries
            if channel == "files":
                (file,) = (tmp_path / "out").iterdir()
                assert file.name == f"{sent.effect_id}.json"
                body = msgspec.json.decode(file.read_bytes())
            else:
                (row,) = await perdure.runtime.store.outbox.read("default")
                assert (row.effect_id, row.channel, row.recipient) == (sent.effect_id, "rows", "desk-7")
                body = msgspec.json.decode(row.body)
            assert body["correlation_id"] == f"{call.id}:document.solicit:1:1"
            assert body["callback"] == "https://bank.test/api/workflow/task-complete"
            assert (body["type"], body["document_type"], body["to"]) == ("document.requested", "form", "desk-7")


@pytest.mark.req("T13")
async def test_a_request_is_published_under_its_effect_id(redis_url: str, tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        perdure.runtime.buses = Buses(BusSettings((Broker("office", redis_url),)))
        source = fresh_source()
        channels(perdure, QueueSettings("queue", "office", source))
        call = await perdure.call("document.solicit", {"subject_entity_id": "anna", "document_type": "form"})
        await perdure.run_until_idle()
        consumer = await (await perdure.runtime.buses.get("office")).consume(source, "desk", "one", 60.0)
        (came,) = await consumer.receive(10, 5.0)
        (sent,) = (await perdure.documents.request(f"{call.id}:document.solicit:1:1")).deliveries
        body = msgspec.json.decode(came.body)
        assert body["effect_id"] == sent.effect_id and body["correlation_id"] == f"{call.id}:document.solicit:1:1"
        await consumer.close()
        await perdure.runtime.buses.close()


@pytest.mark.req("T13")
async def test_a_request_is_posted_signed_under_its_effect_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_SECRET", "a secret of sixteen bytes and more")
    async with Receiver().listening() as receiver, opened("sqlite://", tmp_path) as perdure:
        perdure.runtime.hooks = Hooks(allowed=("127.0.0.1",))
        channels(perdure, WebhookSettings("portal", receiver.url, Secret(("PORTAL_SECRET",))))
        call = await perdure.call("document.solicit", {"subject_entity_id": "anna", "document_type": "form"})
        await perdure.run_until_idle()
        (sent,) = (await perdure.documents.request(f"{call.id}:document.solicit:1:1")).deliveries
        (came,) = receiver.received
        secret = b"a secret of sixteen bytes and more"
        signed = verify([secret], came.headers, came.body, perdure.runtime.sources.now())
        assert isinstance(signed, Signed) and signed.id == sent.effect_id and sent.status == "sent"
        await perdure.runtime.channels.close()
