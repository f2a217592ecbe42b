"""What is crashed: short stories of one call each, whose steps a client repeats until they are acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from perdure.errors import BusinessError, RejectedError, Transient
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, Catalogue, load_text

DEFINITIONS = """
entities:
  ledger: {fields: {id: {type: string}, total: {type: integer}}, key: [id]}
verbs:
- {name: t.none, execution: {kind: sync, effects: none}}
- {name: t.external, execution: {kind: sync, effects: external}}
- {name: t.cautious, execution: {kind: sync, effects: external, redelivery: incident}}
- name: t.store
  input_schema: {properties: {id: {type: string}}}
  execution: {kind: sync, effects: store}
- name: t.flaky
  execution: {kind: sync, effects: external, retry: {max_attempts: 3, base_delay: PT1S, jitter: 0}}
- {name: t.refused, execution: {kind: sync, effects: external}}
- name: t.contract
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: {kind: sync, effects: external}
- {name: t.wait, execution: {kind: durable}}
- {name: t.spawn, execution: {kind: durable, effects: external}}
- {name: t.timed, execution: {kind: durable, policy: {timeout: PT1H}}}
- {name: t.escalating, execution: {kind: durable, policy: {timeout: PT1H, escalation: t.rescue}}}
- {name: t.rescue, execution: {kind: sync, effects: external}}
"""


def catalogue() -> Catalogue:
    return load_text(DEFINITIONS)


class Handlers:
    """Counts runs per verb and the keys they were given."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.keys: dict[str, set[str]] = {}
        self.is_broken = True

    def bound(self) -> dict[str, Callable[..., Any]]:
        return {
            "t.none": self.plain, "t.external": self.plain, "t.cautious": self.plain, "t.store": self.store,
            "t.flaky": self.flaky, "t.refused": self.refused, "t.contract": self.contract, "t.spawn": self.plain,
            "t.rescue": self.plain,
        }  # fmt: skip

    def count(self, call: Call) -> None:
        self.runs[call.verb] += 1
        self.keys.setdefault(call.verb, set()).add(call.idempotency_key)

    async def plain(self, call: Call) -> dict[str, Any]:
        self.count(call)
        return {"by": call.verb}

    async def store(self, call: Call) -> dict[str, Any]:
        self.count(call)
        record = await call.entities.create("ledger", {"id": call.args["id"], "total": 1})
        return {"version": record["version"]}

    async def flaky(self, call: Call) -> dict[str, Any]:
        self.count(call)
        if call.attempt < 3:
            raise Transient("not yet")
        return {"attempt": call.attempt}

    async def refused(self, call: Call) -> dict[str, Any]:
        self.count(call)
        raise BusinessError("CARD_DECLINED", "no")

    async def contract(self, call: Call) -> dict[str, Any]:
        self.count(call)
        return {} if self.is_broken else {"ok": True}


Act = Callable[["Story", Sandbox], Awaitable[None]]


@dataclass
class Story:
    """One run of a scenario: what the client knows survives the crash, as a client's memory does."""

    key: str
    handlers: Handlers
    id: str = ""
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    name: str
    verb: str
    steps: tuple[Act, ...]
    ends: str
    entries: tuple[str, ...]
    """What the journal must hold, each exactly as often as here."""


def start(verb: str) -> Act:
    async def act(story: Story, sandbox: Sandbox) -> None:
        args = {"id": story.key} if verb == "t.store" else {}
        view = await sandbox.call(verb, args, idempotency_key=story.key)
        story.id = view.id

    return act


async def complete(story: Story, sandbox: Sandbox) -> None:
    view = await sandbox.status(story.id)
    key = view.waiting_for.key if view.waiting_for is not None else f"{story.id}:1"
    receipt = await sandbox.complete(key, {"done": 1}, message_id=f"m-{story.key}")
    assert receipt.answer in ("applied", "duplicate")


async def fail_completion(story: Story, sandbox: Sandbox) -> None:
    await sandbox.complete(f"{story.id}:1", error="the client said no", message_id=f"m-{story.key}")


async def an_hour(story: Story, sandbox: Sandbox) -> None:
    await sandbox.advance("PT2H")


async def a_minute(story: Story, sandbox: Sandbox) -> None:
    await sandbox.advance("PT1M")


async def cancel(story: Story, sandbox: Sandbox) -> None:
    await sandbox.cancel(story.id)


async def mend_and_retry(story: Story, sandbox: Sandbox) -> None:
    story.handlers.is_broken = False
    view = await sandbox.status(story.id)
    if view.waiting_for is not None and view.waiting_for.kind == "incident":
        await sandbox.retry(story.id)
    await sandbox.run_until_idle()


async def resolve_if_stuck(story: Story, sandbox: Sandbox) -> None:
    await sandbox.run_until_idle()
    try:
        await sandbox.resolve(story.id, {"by": "hand"})
    except RejectedError as error:
        assert error.rejection.code == "wrong_state"


async def idle(story: Story, sandbox: Sandbox) -> None:
    await sandbox.run_until_idle()


SCENARIOS = (
    Scenario("sync none", "t.none", (start("t.none"),), "completed", ("CallStarted", "StepCompleted")),
    Scenario("sync store", "t.store", (start("t.store"),), "completed", ("CallStarted", "StepCompleted")),
    Scenario("sync external", "t.external", (start("t.external"), idle), "completed", ("CallStarted", "StepCompleted")),
    Scenario(
        "retry", "t.flaky", (start("t.flaky"), a_minute), "completed",
        ("CallStarted", "AttemptFailed", "AttemptFailed", "StepCompleted"),
    ),
    Scenario(
        "business error", "t.refused", (start("t.refused"), idle), "failed",
        ("CallStarted", "AttemptFailed", "StepFailed"),
    ),
    Scenario(
        "incident", "t.contract", (start("t.contract"), idle, mend_and_retry), "completed",
        ("CallStarted", "AttemptFailed", "IncidentRaised", "IncidentResolved", "StepCompleted"),
    ),
    Scenario(
        "park and complete", "t.wait", (start("t.wait"), complete), "completed",
        ("CallStarted", "StepParked", "CompletionReceived", "StepCompleted"),
    ),
    Scenario(
        "spawn, park, failed completion", "t.spawn", (start("t.spawn"), idle, fail_completion), "failed",
        ("CallStarted", "StepParked", "CompletionReceived", "StepFailed"),
    ),
    Scenario(
        "timeout", "t.timed", (start("t.timed"), an_hour), "failed",
        ("CallStarted", "StepParked", "TimedOut", "StepFailed"),
    ),
    Scenario(
        "escalation", "t.escalating", (start("t.escalating"), an_hour), "completed",
        ("CallStarted", "StepParked", "TimedOut", "Escalated", "CompletionReceived", "StepCompleted"),
    ),
    Scenario(
        "cancel", "t.wait", (start("t.wait"), cancel), "cancelled",
        ("CallStarted", "StepParked", "CancelRequested", "CallCancelled"),
    ),
)  # fmt: skip
