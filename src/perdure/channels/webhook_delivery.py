"""Webhook delivery: a verb of the platform itself, so that attempts, pauses and outcomes are durable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from perdure.channels.egress_policy import Egress
from perdure.channels.http_sender import Answer, Sender
from perdure.channels.webhook_settings import HookOut, Hooks
from perdure.channels.webhook_signatures import sign
from perdure.errors import BusinessError, RejectedError, StoreSettingError, Transient
from perdure.sources import Sources
from perdure.verbs.handlers import Call

VERB = "perdure.deliver-hook"
MAX_ATTEMPTS = 12
GONE = 410
PLATFORM = "perdure"
DEFINITION = f"""
- name: {VERB}
  version: 1
  domain: perdure
  description: Tell a subscriber what happened
  sentences: {{step: "Tell {{hook}} of {{event}}"}}
  consequence: benign
  index: [hook]
  input_schema:
    required: [hook, event, body]
    properties: {{hook: {{type: string}}, event: {{type: string}}, body: {{type: object}}}}
  execution:
    kind: sync
    effects: external
    retry: {{max_attempts: {MAX_ATTEMPTS}, backoff: exponential, base_delay: PT2S, max_delay: PT1H}}
"""
"""About eight hours of attempts."""

Count = Callable[[str], None]
"""Told of every attempt: delivered, retried, failed, refused."""
Bury = Callable[[str, str, str, dict[str, Any], str], Awaitable[None]]
"""Keep a dead letter: tenant, message id, hook, arguments of the delivery, reason. Once per message id."""


class Delivery:
    """The handler of the verb. What cannot be delivered becomes a dead letter before the call fails."""

    def __init__(
        self, hooks: Hooks, egress: Egress, sender: Sender, sources: Sources, bury: Bury,
        count: Count = lambda outcome: None,
    ) -> None:  # fmt: skip
        self._hooks = hooks
        self._egress = egress
        self._sender = sender
        self._sources = sources
        self._bury = bury
        self._count = count

    async def __call__(self, call: Call) -> dict[str, Any]:
        if call.principal != PLATFORM:
            # Whoever can ask for verbs could otherwise have us sign what never happened.
            raise BusinessError("hook.forged", "Only the platform itself tells subscribers what happened.")
        hook = self._hooks.leaving_as(str(call.args["hook"]), call.tenant)
        if hook is None:
            return {"status": 0}  # it was taken out of the configuration: nobody is to be told any more
        try:
            answer = await self._send(hook, call)
        except (RejectedError, StoreSettingError) as error:
            if isinstance(error, RejectedError) and error.rejection.code == "blocked":
                answer = Answer(0, error.fact)
            else:
                await self._give_up(call, hook, error.fact, "refused")
        if answer.is_taken:
            self._count("delivered")
            return {"status": answer.status}
        if answer.status == GONE or call.attempt >= MAX_ATTEMPTS:
            await self._give_up(call, hook, answer.reason or str(answer.status))
        self._count("retried")
        raise Transient(f"{hook.name}: {answer.reason or answer.status}", after=answer.after)

    async def _send(self, hook: HookOut, call: Call) -> Answer:
        target = await self._egress.target(hook.url)
        body = msgspec.json.encode(call.args["body"])
        headers = sign(hook.secret.load(hook.name)[0], call.call_id, self._sources.now(), body)
        return await self._sender.send(target, headers, body)

    async def _give_up(self, call: Call, hook: HookOut, reason: str, outcome: str = "failed") -> None:
        self._count(outcome)
        await self._bury(call.tenant, f"hook:{call.call_id}", hook.name, dict(call.args), reason)
        raise BusinessError("hook.undeliverable", f"{hook.name}: {reason}")
