"""One delivery: signed, to the address that was checked, tried again or given up as the receiver's answer says."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.channels.egress_policy import Egress
from perdure.channels.http_sender import Sender
from perdure.channels.webhook_delivery import DEFINITION, MAX_ATTEMPTS, VERB, Delivery
from perdure.channels.webhook_settings import HookOut, Hooks, Secret
from perdure.channels.webhook_signatures import Signed, verify
from perdure.errors import BusinessError, Transient
from perdure.sources import SystemSources
from perdure.verbs.handlers import Call
from perdure.verbs.loader import load_text
from tests.channels.receiver import Receiver, answer

TEXT = "a secret of sixteen bytes and more"
BODY = {"type": "runbook_completed", "id": "01h"}

pytestmark = pytest.mark.req("P3")


class Buried(list[tuple[str, str, str, dict[str, Any], str]]):
    """Dead letters, as they were kept."""

    async def __call__(self, tenant: str, message_id: str, hook: str, args: dict[str, Any], reason: str) -> None:
        self.append((tenant, message_id, hook, args, reason))


def call(attempt: int = 1, hook: str = "crm", tenant: str = "default") -> Call:
    args = {"hook": hook, "event": "runbook_completed", "body": BODY}
    return Call(
        verb=VERB, version=1, args=args, call_id="01call", step_id="01call:1", tenant=tenant, principal="perdure",
        trace=None, idempotency_key="k", attempt=attempt,
    )  # fmt: skip


async def deliver(
    receiver: Receiver, buried: Buried, monkeypatch: pytest.MonkeyPatch, *, allowed: tuple[str, ...] = ("127.0.0.1",),
    counted: list[str] | None = None, **asked: Any,
) -> Any:  # fmt: skip
    monkeypatch.setenv("CRM_SECRET", TEXT)
    hooks = Hooks(leaving=(HookOut("crm", receiver.url, Secret(("CRM_SECRET",))),), allowed=allowed)
    count = [].append if counted is None else counted.append
    sender = Sender()
    try:
        return await Delivery(hooks, Egress(allowed), sender, SystemSources(), buried, count)(call(**asked))
    finally:
        await sender.close()


async def test_a_delivery_is_signed_and_its_id_is_that_of_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Receiver().listening() as receiver:
        assert await deliver(receiver, Buried(), monkeypatch) == {"status": 200}
    (got,) = receiver.received
    assert got.path == "/hooks?from=perdure" and got.headers["host"] == f"127.0.0.1:{receiver.port}"
    signed = verify([TEXT.encode()], got.headers, got.body, SystemSources().now())
    assert isinstance(signed, Signed) and signed.id == "01call"


@pytest.mark.parametrize("status", [500, 503, 404, 302, 307])
async def test_what_the_receiver_does_not_take_is_tried_again_and_no_redirect_followed(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = {"location": "http://169.254.169.254/"} if status in (302, 307) else {}
    async with Receiver(answer(status, b"no", **moved)).listening() as receiver:
        buried = Buried()
        with pytest.raises(Transient):
            await deliver(receiver, buried, monkeypatch)
    assert len(receiver.received) == 1 and not buried


async def test_a_receiver_that_asks_for_patience_is_given_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Receiver(answer(503, retry_after="17")).listening() as receiver:
        with pytest.raises(Transient) as later:
            await deliver(receiver, Buried(), monkeypatch)
    assert later.value.after == 17


async def test_a_receiver_that_is_not_there_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Receiver().listening() as receiver:
        pass
    with pytest.raises(Transient):
        await deliver(receiver, Buried(), monkeypatch)


@pytest.mark.parametrize(("status", "attempt"), [(410, 1), (500, MAX_ATTEMPTS)])
async def test_what_cannot_be_delivered_is_a_dead_letter_before_the_call_fails(
    status: int, attempt: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    buried = Buried()
    async with Receiver(answer(status, b"<gone>")).listening() as receiver:
        with pytest.raises(BusinessError) as failed:
            await deliver(receiver, buried, monkeypatch, attempt=attempt)
    assert failed.value.code == "hook.undeliverable"
    ((tenant, message_id, hook, args, reason),) = buried
    assert (tenant, message_id, hook, args["body"]) == ("default", "hook:01call", "crm", BODY)
    assert str(status) in reason and TEXT not in reason


async def test_an_address_inside_that_nobody_allowed_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    buried = Buried()
    async with Receiver().listening() as receiver:
        with pytest.raises(BusinessError):
            await deliver(receiver, buried, monkeypatch, allowed=())
    assert not receiver.received and "not on the public internet" in buried[0][-1]


async def test_a_hook_of_another_tenant_or_one_taken_away_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Receiver().listening() as receiver:
        assert await deliver(receiver, Buried(), monkeypatch, tenant="other") == {"status": 0}
        assert await deliver(receiver, Buried(), monkeypatch, hook="gone") == {"status": 0}
    assert not receiver.received


@pytest.mark.req("X21")
async def test_every_attempt_is_counted_by_what_became_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    async with Receiver(answer(200), answer(503), answer(410)).listening() as receiver:
        await deliver(receiver, Buried(), monkeypatch, counted=counted)
        with pytest.raises(Transient):
            await deliver(receiver, Buried(), monkeypatch, counted=counted)
        with pytest.raises(BusinessError):
            await deliver(receiver, Buried(), monkeypatch, counted=counted)
        with pytest.raises(BusinessError):
            await deliver(receiver, Buried(), monkeypatch, counted=counted, allowed=())
    assert counted == ["delivered", "retried", "failed", "refused"]


def test_the_verb_of_deliveries_loads() -> None:
    verb = load_text(DEFINITION).get(VERB)
    assert verb.definition.execution.retry.max_attempts == MAX_ATTEMPTS
