"""Verbs and handlers for the engine's tests, and a sandbox that carries their processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from perdure.errors import BusinessError, Transient
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Call, Catalogue, Result, load_text

VERBS = """
verbs:
- {name: t.one, execution: {kind: sync}}
- {name: t.two, execution: {kind: sync}}
- {name: t.three, execution: {kind: sync}}
- {name: t.four, execution: {kind: sync}}
- {name: t.five, execution: {kind: sync}}
- {name: t.same, execution: {kind: sync}}
- {name: t.same-too, execution: {kind: sync}}
- name: t.narrow
  input_schema: {properties: {given: {type: integer}}, required: [given]}
  execution: {kind: sync}
- {name: t.flaky, execution: {kind: sync, retry: {max_attempts: 3, base_delay: PT1S, jitter: 0}}}
- {name: t.refused, execution: {kind: sync}}
- {name: t.cautious, execution: {kind: sync, redelivery: incident}}
- name: t.contract
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution: {kind: sync}
- name: t.intake
  input_schema: {properties: {answer: {type: string}}, required: [answer]}
  execution: {kind: sync}
- name: t.carried
  input_schema: {properties: {given: {type: integer}}}
  output_schema: {required: [t_one], properties: {t_one: {type: integer}, extra: {type: string}}}
  execution: {kind: durable, process: carried, sub_verbs: [t.one, t.two, t.contract], payload: {in: {given: $given}}}
- name: t.long
  execution: {kind: durable}
"""

ORIGIN = Origin("default", "ada")


class Handlers:
    """Counts runs and keys; each verb `t.x` writes the field `t_x`."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.keys: dict[str, set[str]] = {}
        self.seen: dict[str, list[dict[str, Any]]] = {}
        self.flags: dict[str, dict[str, Any]] = {}
        self.is_broken = True

    def bound(self, catalogue: Catalogue) -> dict[str, Callable[..., Any]]:
        own = {"t.flaky": self.flaky, "t.refused": self.refused, "t.contract": self.contract, "t.intake": self.intake}
        same = {"t.same": self.same, "t.same-too": self.same}
        names = [verb.name for verb in catalogue if not verb.is_durable]
        return {name: own.get(name) or same.get(name) or self.plain for name in names}

    def count(self, call: Call) -> None:
        self.runs[call.verb] += 1
        self.keys.setdefault(call.verb, set()).add(call.idempotency_key)
        self.seen.setdefault(call.verb, []).append(dict(call.args))

    async def plain(self, call: Call) -> Result:
        self.count(call)
        written = {call.verb.replace(".", "_").replace("-", "_"): self.runs[call.verb]}
        return Result(written, self.flags.get(call.verb, {}))

    async def same(self, call: Call) -> dict[str, Any]:
        self.count(call)
        return {"shared": call.verb}

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

    async def intake(self, call: Call) -> Result:
        self.count(call)
        return Result({"answered": call.args["answer"]}, self.flags.get(call.verb, {}))


class World:
    """A sandbox, its handlers, and short ways to look at instances."""

    def __init__(self, sandbox: Sandbox, handlers: Handlers) -> None:
        self.sandbox, self.handlers = sandbox, handlers
        self.engine: Any = sandbox.runtime.engine
        self.instances = sandbox.runtime.instances
        self.definitions = sandbox.runtime.definitions

    async def deploy(self, model: Any, **more: Any) -> Any:
        return await self.engine.deploy(model, ORIGIN, **more)

    async def start(self, process: str, **more: Any) -> Aggregate:
        begun = await self.engine.start(process, ORIGIN, **more)
        return await self.now(begun)

    async def now(self, aggregate: Aggregate) -> Aggregate:
        """The instance when nothing is left to do."""
        await self.sandbox.run_until_idle()
        return await self.instances.read(aggregate.id, ORIGIN)

    async def data(self, aggregate: Aggregate) -> Any:
        return await self.instances.data(await self.instances.read(aggregate.id, ORIGIN))

    async def entries(self, aggregate: Aggregate) -> list[str]:
        told = await self.instances.history(aggregate.id, ORIGIN)
        return [type(entry).__name__ for each in told for entry in each.entries]

    def standing(self, aggregate: Aggregate) -> list[str]:
        """The elements tokens stand on."""
        return sorted(node.element for node in aggregate.state.nodes.values() if node.parent)

    @staticmethod
    def letters(aggregate: Aggregate) -> str:
        return id_text(aggregate.id)

    def node(self, aggregate: Aggregate, element: str) -> int:
        return next(node.number for node in aggregate.state.nodes.values() if node.element == element)


@asynccontextmanager
async def opened(url: str = "sqlite://", handlers: Handlers | None = None, **more: Any) -> AsyncIterator[World]:
    catalogue = load_text(more.pop("verbs", VERBS))
    made = handlers or Handlers()
    async with Sandbox.open(url, definitions=catalogue, handlers=made.bound(catalogue), **more) as sandbox:
        yield World(sandbox, made)
