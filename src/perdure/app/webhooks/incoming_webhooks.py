"""Incoming webhooks: signed messages of other systems are checked, read by the configuration, and counted once."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.app.runbooks.extension_policy import check_answer
from perdure.app.task_results.result_intake import Sender, outcome_of_answer
from perdure.app.wait_permissions import check_reach
from perdure.channels.webhook_settings import HookIn, Hooks
from perdure.channels.webhook_signatures import MAX_ID, Signed, verify
from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.lifecycles.task_results import read_result
from perdure.payload import parse

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure


COUNTED = {"duplicate": "retried", "known": "retried", "dead_letter": "failed"}
"""How outcomes are counted; any other one is of a message that was delivered."""


class HookReceipt(msgspec.Struct, frozen=True):
    """What became of a message: `outcome` as of a message or a completion."""

    outcome: str
    message_id: str
    reason: str = ""


class UnsignedError(RejectedError):
    """A message that nobody known has signed, or not lately."""

    code = "hook.unsigned"


async def receive(perdure: Perdure, hooks: Hooks, name: str, headers: Mapping[str, str], body: bytes) -> HookReceipt:
    """Take a message in on behalf of the hook's tenant; the same one again changes nothing."""
    metrics = perdure.runtime.metrics
    try:
        receipt = await _received(perdure, hooks, name, headers, body)
    except RejectedError:
        if metrics is not None:
            metrics.webhook_delivered("in", "refused")
        raise
    if metrics is not None:
        metrics.webhook_delivered("in", COUNTED.get(receipt.outcome, "delivered"))
    return receipt


async def _received(perdure: Perdure, hooks: Hooks, name: str, headers: Mapping[str, str], body: bytes) -> HookReceipt:
    hook = hooks.arriving_as(name)
    if hook is None:
        raise RejectedError(Rejection("not_found", "find", "hook", name[:80], "there is none of that name"))
    signed = verify(hook.secret.load(name), headers, body, perdure.runtime.sources.now(), hook.window_seconds)
    if not isinstance(signed, Signed):
        fact = "its time is outside the window" if signed == "hook.stale" else "its signature is not one of ours"
        hint = "Is the sender's clock right?" if signed == "hook.stale" else "Do both sides have the same secret?"
        raise UnsignedError(Rejection("forbidden", "take in", "message for", name, fact, hint))
    acting = perdure.acting(tenant=hook.tenant, principal=hook.principal)
    if hook.brings_results:
        return await _count(perdure, hook, body, signed.id)
    message_id = f"hook:{name}:{signed.id}"
    if len(message_id) > MAX_ID:
        message_id = f"hook:{name}:{sha256(signed.id.encode()).hexdigest()}"
    return await _deliver(acting, hook, _read(hook, body), message_id)


async def _count(perdure: Perdure, hook: HookIn, body: bytes, message_id: str) -> HookReceipt:
    """Count a task result; without an idempotency key of its own, the id of its message is its key."""
    result = read_result(body)
    if not result.idempotency_key:
        result = replace(result, idempotency_key=message_id)
    sender = Sender(f"hook:{hook.name}", hook.tenant, hook.principal, hook.verbs)
    receipt = await perdure.runtime.results.count(result, sender)
    if (metrics := perdure.runtime.metrics) is not None:
        metrics.task_result(sender.door, outcome_of_answer(receipt.answer))
    return HookReceipt(outcome_of_answer(receipt.answer), result.message_id)


async def _deliver(perdure: Perdure, hook: HookIn, data: dict[str, Any], message_id: str) -> HookReceipt:
    if hook.message:
        key = _at(data, hook.key)
        outcome = await perdure.publish(
            hook.message, key, data, message_id=message_id, ttl_seconds=hook.ttl_seconds
        )  # fmt: skip
        return HookReceipt(outcome, message_id)
    key, error, result = _at(data, hook.key or "key"), data.get("error"), data.get("result")
    sender = Principal(hook.tenant, hook.principal, "service", frozenset({"operator"}), verbs=hook.verbs)
    verb = str(data.get("verb") or hook.only_verb)
    await check_reach(perdure, sender, "completion.send", key, verb)
    await check_answer(perdure, sender, key, verb, result)
    receipt = await perdure.complete(
        key, result, error=str(error) if error is not None else None, message_id=message_id, verb=verb
    )
    return HookReceipt(receipt.answer, message_id, receipt.reason)


def _read(hook: HookIn, body: bytes) -> dict[str, Any]:
    try:
        data = parse(body)
    except (PerdureError, ValueError, RecursionError) as error:
        raise _malformed(hook, "its body is no JSON that could be kept") from error
    if not isinstance(data, dict):
        raise _malformed(hook, "its body is no JSON object")
    return data


def _at(data: dict[str, Any], path: str) -> str:
    """The text or number at a path of names; a hook without one has the empty key."""
    found: Any = data
    for name in filter(None, path.split(".")):
        found = found.get(name) if isinstance(found, dict) else None
    if not path:
        return ""
    if isinstance(found, bool) or not isinstance(found, str | int):
        fact, hint = f"it has no text at '{path}'", "The hook's key says where the key is found."
        raise RejectedError(Rejection("invalid", "take in", "message", path, fact, hint))
    return str(found)


def _malformed(hook: HookIn, fact: str) -> RejectedError:
    return RejectedError(Rejection("invalid", "take in", "message for", hook.name, fact[:200]))
