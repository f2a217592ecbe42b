"""A store with calls worth exporting: carried, retried, answered by people, stuck, escalated, amended, erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from perdure.app.calls.views import CallView
from perdure.app.compliance_export import export_document
from perdure.store.sealer import Sealer
from perdure.store.signing_keys import SigningKey
from perdure.testing.sandbox import Sandbox
from tests.engines.embedded.engine_world import Handlers, World, opened
from tests.engines.embedded.process_models import call, line, message, service, user, wait

EVIL = "</script><img src=x onerror=alert(1)>&amp;\u2028\\u003c"
VERBS = """
verbs:
- {name: t.one, execution: {kind: sync}}
- {name: t.two, execution: {kind: sync}}
- {name: t.flaky, execution: {kind: sync, retry: {max_attempts: 3, base_delay: PT1S, jitter: 0}}}
- name: t.contract
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: {kind: sync}
- name: t.carried
  sentences: {step: "Carry {given} for {who}"}
  input_schema: {properties: {given: {type: integer}, who: {type: string}}}
  execution: {kind: durable, process: carried, sub_verbs: [t.one, t.two, t.flaky]}
- name: t.senior
  execution: {kind: durable}
- name: t.asked
  sentences: {step: "Ask about {case}"}
  input_schema: {properties: {case: {type: string}}}
  execution: {kind: durable, policy: {timeout: P1D, escalation: t.senior}}
"""
INNER = line("inner", service("check", "t.contract", name="Check it"))
OUTER = line(
    "carried", service("a", "t.one", name="Open the case"), service("f", "t.flaky"), user("review", name="Review it"),
    wait("answer", "m", name="Document upload"), call("c", "inner"), service("b", "t.two"),
    messages=(message("m", key="k"),),
)  # fmt: skip
BOTH = (*OUTER.definitions.processes, *INNER.definitions.processes)
CARRIED = replace(OUTER, definitions=replace(OUTER.definitions, processes=BOTH))


class Exporting(World):
    """A world with a key, whose documents can be made."""

    def __init__(self, sandbox: Sandbox, handlers: Handlers) -> None:
        super().__init__(sandbox, handlers)
        self.key = SigningKey(Ed25519PrivateKey.generate())

    async def seal(self) -> None:
        runtime = self.sandbox.runtime
        await Sealer(runtime.store, self.key, runtime.sources).seal_all()

    async def export(self, id: str, *, is_page: bool = False) -> bytes:
        return await export_document(self.sandbox, id, self.key.public_keys, is_page=is_page)

    async def carried(self, until: str = "end") -> CallView:
        """A call through everything its process holds; `until` names where to stop."""
        sandbox = self.sandbox
        for process in ("inner", "carried"):
            await self.deploy(CARRIED, process=process, profile="open")
        asked = await sandbox.acting(principal="ada").call("t.carried", {"given": 7, "who": EVIL})
        await sandbox.advance("PT5M")
        if until == "task":
            return await sandbox.status(asked.id)
        bob = sandbox.acting(principal="bob")
        task = (await bob.tasks.list())[0]
        await bob.tasks.claim(task.key)
        await bob.tasks.complete(task.key, {"verdict": "yes"})
        await sandbox.run_until_idle()
        await sandbox.acting(principal="mail").publish("m", "k", {"page": 1}, message_id="letter-1")
        await sandbox.run_until_idle()
        if until == "incident":
            return await sandbox.status(asked.id)
        self.handlers.is_broken = False
        await sandbox.acting(principal="eve").retry(asked.id)
        await sandbox.run_until_idle()
        return await sandbox.status(asked.id)

    async def escalated(self) -> CallView:
        """A call that timed out and was answered by what it was escalated to."""
        asked = await self.sandbox.call("t.asked", {"case": "C-7"})
        await self.sandbox.advance("P2D")
        parked = [each for each in await self.sandbox.parked() if each["verb"] == "t.senior"]
        await self.sandbox.complete(f"{parked[0]['id']}:1", {"ok": True}, message_id="answer-1")
        await self.sandbox.run_until_idle()
        return await self.sandbox.status(asked.id)

    async def amended(self) -> CallView:
        """A call whose arguments one person corrected and another approved."""
        asked = await self.sandbox.call("t.asked", {"case": "C-8"})
        ana, bob = self.sandbox.acting(principal="ana"), self.sandbox.acting(principal="bob")
        await ana.amend(asked.id, {"case": "C-9"}, reason="a slip of the pen")
        await bob.amend(asked.id, approve=1)
        return await self.sandbox.status(asked.id)

    async def erased(self) -> CallView:
        asked = await self.sandbox.call("t.one", {})
        return await self.sandbox.erase(asked.id, "the client asked for it")


@asynccontextmanager
async def exporting(url: str = "sqlite://") -> AsyncIterator[Exporting]:
    async with opened(url, verbs=VERBS) as world:
        yield Exporting(world.sandbox, world.handlers)


def members(document: dict[str, Any], of: str, *fields: str) -> list[tuple[Any, ...]]:
    """Chosen fields of the items of a member, in their order."""
    return [tuple(item[field] for field in fields) for item in document[of]]
