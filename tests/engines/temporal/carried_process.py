"""A process of ours with the Temporal engine, driven by lines of JSON; tests kill it.

python -m tests.engines.temporal.carried_process STORE ENGINE FOLDER
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import msgspec
from msgspec.structs import replace

from perdure import Transient
from perdure.app.perdure import Perdure
from perdure.bpmn.machine.commands import Suspend
from perdure.bpmn.model import Association, CompensationTrigger, Event
from perdure.engine import EngineSettings
from perdure.engines.temporal.activities import CarrierActivities
from perdure.engines.temporal.dispatch_rows import Staged
from perdure.errors import EngineUnavailableError, PerdureError
from perdure.journal import Origin
from perdure.kernel.ports import Attachments
from perdure.store.audit import verify
from perdure.verbs import Call, Result, load_text
from tests.engines.embedded.process_models import (
    END,
    START,
    boundary,
    flow,
    fork,
    line,
    message,
    model,
    pause,
    service,
    user,
    wait,
)

VERBS = """
verbs:
- {name: t.one, output_schema: {properties: {one: {type: integer}}}, execution: {kind: sync}}
- {name: t.two, output_schema: {properties: {two: {type: integer}}}, execution: {kind: sync}}
- {name: t.flag, contract: {writes_flags: [orch_secret]}, execution: {kind: sync}}
- name: t.flaky
  output_schema: {properties: {flaky: {type: integer}}}
  execution: {kind: sync, retry: {max_attempts: 3, base_delay: PT1S}}
- {name: t.slow, output_schema: {properties: {slow: {type: string}}}, execution: {kind: sync}}
- name: t.durable
  input_schema: {properties: {given: {type: integer}}}
  execution: {kind: durable, process: carried, sub_verbs: [t.one]}
- name: t.patient
  input_schema: {properties: {given: {type: integer}}}
  execution:
    kind: durable
    process: carried
    sub_verbs: [t.one]
    policy: {timeout: P1D, unreachable: {timeout: PT2S, base_delay: PT0.2S, max_delay: PT0.2S}}
- name: t.stubborn
  input_schema: {properties: {given: {type: integer}}}
  execution:
    kind: durable
    process: carried
    sub_verbs: [t.one]
    policy: {timeout: P1D, unreachable: {timeout: P1D, base_delay: PT0.2S, max_delay: PT0.2S}}
- name: t.hasty
  input_schema: {properties: {given: {type: integer}}}
  execution: {kind: durable, process: carried, sub_verbs: [t.one], policy: {timeout: P1D, unreachable: {timeout: PT0S}}}
"""
ORIGIN = Origin("default", "local")
UNDO = service("undo", "t.two", is_for_compensation=True)
UNDONE = line(
    "undone",
    service("book", "t.one"),
    user("ask"),
    Event(id="throw", position="throw", triggers=(CompensationTrigger(),)),
    more=(boundary("on-book", "book", CompensationTrigger()), UNDO),
)
BODY = UNDONE.definitions.processes[0].body
LINKED = replace(BODY, associations=(Association(id="link", source="on-book", target="undo"),))
MODELS = [
    replace(UNDONE, definitions=replace(
        UNDONE.definitions, processes=(replace(UNDONE.definitions.processes[0], body=LINKED),)
    )),
    line("retried", service("try", "t.flaky")),
    line(
        "journey", service("first", "t.one"), pause("sleep", "PT1S"), wait("await", "paid"), user("review"),
        service("last", "t.two"), messages=(message("paid", key="order-1"),),
    ),
    line("flagged", service("mark", "t.flag"), wait("await", "told"), service("last", "t.two"),
         messages=(message("told", key="order-1"),)),
    line("slow", service("work", "t.slow")),
    line("carried", service("only", "t.one")),
    model(
        "branches", (START, fork("f"), service("a", "t.one"), service("b", "t.two"), fork("j"), END),
        (flow("start", "f"), flow("f", "a"), flow("f", "b"), flow("a", "j"), flow("b", "j"), flow("j", "end")),
    ),
    line("short", service("a", "t.one"), pause("sleep", "PT1S"), service("b", "t.two")),
]  # fmt: skip


class Carried:
    def __init__(self, perdure: Perdure) -> None:
        self._perdure = perdure
        self._engine = perdure.runtime.engine

    @property
    def _carrier(self) -> Any:
        """The one engine outside of this process."""
        (carrier,) = self._engine.outside.values()  # type: ignore[attr-defined]
        return carrier

    async def deploy(self) -> int:
        for each in MODELS:
            await self._engine.deploy(each, ORIGIN, profile="open")
        return len(MODELS)

    async def start(self, process: str, key: str = "", until: str = "committed", **data: Any) -> str:
        started = await self._engine.start(process, ORIGIN, idempotency_key=key, data=data, until=until)  # type: ignore[arg-type]
        return (await self._perdure.instances.get(_letters(started.id))).id

    async def starts(self, process: str, count: int) -> list[str]:
        return list(await asyncio.gather(*(self.start(process, f"{process}-{n}", n=n) for n in range(count))))

    async def call(self, given: int, verb: str = "t.durable") -> str:
        return (await self._perdure.call(verb, {"given": given})).id

    async def status(self, id: str) -> Any:
        return msgspec.to_builtins(await self._perdure.status(id))

    async def lose_answers(self) -> None:
        """Starts reach the server from now on, and neither answers nor activities reach us."""
        client, follower = self._carrier.client, self._carrier.follower
        self._kept = (client.start, follower.append)
        lost = EngineUnavailableError("reach", "engine", client.address.text, "its answer was lost")

        async def start(*args: Any) -> None:
            await self._kept[0](*args)
            raise lost

        async def append(*args: Any, **options: Any) -> None:
            raise lost

        client.start, follower.append = start, append

    async def find_answers(self) -> None:
        client, follower = self._carrier.client, self._carrier.follower
        client.start, follower.append = self._kept

    async def hold(self) -> None:
        """Activities that take jobs begin from now on, and do not end."""
        self._begun = begun = asyncio.Event()

        async def taken(activities: CarrierActivities, body: bytes) -> int:
            begun.set()
            await asyncio.Event().wait()
            return 0

        CarrierActivities._taken = taken  # type: ignore[method-assign]

    async def held(self) -> bool:
        """Wait until an activity has begun."""
        return await self._begun.wait()

    async def instances(self) -> list[str]:
        return [each.state for each in (await self._perdure.listing.instances()).items]

    async def called(self, id: str) -> str:
        return (await self._perdure.status(id)).state

    async def publish(self, id: str, name: str = "paid") -> str:
        return (await self._engine.publish(name, "order-1", ORIGIN, message_id=id)).outcome

    async def complete(self, instance: str, **data: Any) -> str:
        shown = await self._perdure.runtime.instances.read(instance, ORIGIN)
        node = next(node.number for node in shown.state.nodes.values() if node.kind == "task")
        done = await self._engine.complete_task(
            instance, node, ORIGIN, data=data, until="end", message_id=f"t-{instance}-{node}"
        )
        return str(done.state.status)

    async def reached(self, instance: str, element: str) -> str:
        """Wait until a token stands on an element; `end` is the end."""
        for _ in range(7_500):
            state = (await self._perdure.runtime.instances.read(instance, ORIGIN)).state
            if element in (state.status, *(node.element for node in state.nodes.values())):
                break
            await asyncio.sleep(0.02)
        return str(state.status)

    async def suspend(self, instance: str) -> str:
        return str((await self._engine.suspend(instance, ORIGIN)).state.status)

    async def cancel(self, instance: str) -> str:
        return str((await self._engine.cancel(instance, ORIGIN)).state.status)

    async def move(self, instance: str, to: str, **how: Any) -> dict[str, Any]:
        return msgspec.to_builtins(await self._engine.move(instance, ORIGIN, to, **how))

    async def impact(self) -> Any:
        """What a deployment means for the builds that host what runs."""
        return msgspec.to_builtins((await self._perdure.deployments.check()).carriers)

    async def change_code(self) -> None:
        """From now on this process replays with a workflow that another release could have brought."""
        from perdure.engines.temporal import host_builds  # noqa: PLC0415  only this test changes it
        from tests.engines.temporal.other_workflow import OtherWorkflow  # noqa: PLC0415  the same

        host_builds.WORKFLOWS[:] = [OtherWorkflow]

    async def lease(self) -> int:
        return self._perdure.runtime.lease.number

    async def stage(self, instance: str, worker: int) -> str:
        """Keep the dispatch of a suspension as the process with a lease does, and do not send it."""
        current = await self._perdure.runtime.instances.read(instance, ORIGIN)
        rows = self._carrier.commands._rows
        name = rows.name(current.id)
        await rows.write(name, Staged(current.id, current.version, ORIGIN, Suspend(), Attachments(), b"", worker))
        return str(name)

    async def resend(self, name: str) -> bool:
        return bool(await self._carrier.commands.resend("default", name))

    async def resume(self, instance: str) -> str:
        return str((await self._engine.resume(instance, ORIGIN)).state.status)

    async def engine_of(self, instance: str) -> tuple[str, str]:
        """The engine of an instance as pages show it, with its link there."""
        view = await self._perdure.instances.get(instance)
        return view.engine, view.engine_link

    async def engines(self) -> dict[str, Any]:
        return {each.name: msgspec.to_builtins(each) for each in await self._perdure.engines()}

    async def start_as(self, process: str, tenant: str) -> str:
        """Begin an instance for another tenant, with everything deployed for it."""
        origin = Origin(tenant, "local")
        for each in MODELS:
            await self._engine.deploy(each, origin, profile="open")
        return _letters((await self._engine.start(process, origin)).id)

    async def engine_as(self, instance: str, tenant: str) -> str:
        return (await self._perdure.acting(tenant=tenant).instances.get(instance)).engine

    async def show(self, instance: str) -> dict[str, Any]:
        view = await self._perdure.instances.get(instance)
        told = await self._perdure.runtime.instances.history(instance, ORIGIN)
        entries = [[type(entry).__name__ for entry in each.entries] for each in told]
        return {
            "state": view.state,
            "data": view.data,
            "entries": entries,
            "sequence": [each.sequence for each in told],
        }

    async def audit(self) -> list[str]:
        runtime = self._perdure.runtime
        report = await verify(runtime.store, runtime.machines, {}, dry=True)
        return [str(each) for each in report.findings if "seal" not in each.place]


def _letters(id: bytes) -> str:
    from perdure.sources import Id, id_text  # noqa: PLC0415

    return id_text(Id(id))


def handlers(folder: Path) -> dict[str, Any]:
    def ran(call: Call) -> None:
        with (folder / "runs.log").open("a") as log:
            log.write(f"{call.idempotency_key}\n")

    async def one(call: Call) -> dict[str, int]:
        ran(call)
        return {"one": 1}

    async def two(call: Call) -> dict[str, int]:
        ran(call)
        return {"two": 2}

    async def slow(call: Call) -> dict[str, str]:
        ran(call)
        while not (folder / "go").exists():
            await asyncio.sleep(0.02)
        return {"slow": call.idempotency_key}

    async def flag(call: Call) -> Result:
        ran(call)
        return Result({}, flags={"orch_secret": "violet"})

    tried: list[str] = []

    async def flaky(call: Call) -> dict[str, int]:
        ran(call)
        tried.append(call.idempotency_key)
        if len(tried) == 1:
            raise Transient("not yet")
        return {"flaky": len(tried)}

    return {"t.flaky": flaky, "t.one": one, "t.two": two, "t.slow": slow, "t.flag": flag}


@cache
def _answers() -> TextIO:
    """The pipe to the test, for answers alone: what libraries print goes to the log."""
    kept = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return kept


def say(answer: Any) -> None:
    print(json.dumps(answer), file=_answers(), flush=True)


async def answer_lines(carried: Carried) -> None:
    """Answer lines of JSON until there are no more."""
    loop = asyncio.get_running_loop()
    say("ready")
    while text := await loop.run_in_executor(None, sys.stdin.readline):
        do, args = json.loads(text)
        try:
            answer = await getattr(carried, do)(**args)
        except PerdureError as error:
            answer = {"error": error.code, "text": str(error)}
        say(answer)


async def main(store: str, engine: str, folder: str) -> None:
    logging.basicConfig(level=logging.ERROR)
    given = msgspec.json.decode(engine, type=EngineSettings) if engine.startswith("{") else engine
    opened = Perdure.open(store, definitions=load_text(VERBS), handlers=handlers(Path(folder)), engine=given)
    try:
        async with opened as perdure:
            await answer_lines(Carried(perdure))
    except PerdureError as error:
        say({"error": error.code, "text": str(error)})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # the SDK aborts now and then while Python ends
