"""A process of ours with the Camunda engine, driven by lines of JSON; tests kill it.

python -m tests.engines.camunda.carried_process STORE ENGINE FOLDER
"""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from perdure import BusinessError, Call, Transient
from perdure.app.perdure import Perdure
from perdure.bpmn import model as m
from perdure.engines.camunda.rest_client import Gone, Refused, WrongState
from perdure.engines.camunda.wire import Request, instance_key
from perdure.errors import EngineUnavailableError, PerdureError
from perdure.journal import Origin
from perdure.payload import digest_text
from perdure.sources import parse_id
from perdure.verbs import load_text
from perdure.work.ports import JobFound
from tests.engines.embedded.process_models import END, START, boundary, flow, line, message, model, service, user, wait
from tests.engines.temporal import carried_process as shared

VERBS = (
    shared.VERBS
    + """
- name: t.shaky
  output_schema: {properties: {shaky: {type: integer}}}
  execution: {kind: sync, retry: {max_attempts: 2, base_delay: PT0.1S, max_delay: PT0.1S}}
- {name: t.denied, execution: {kind: sync}}
"""
)
CAUGHT = model(
    "caught",
    (
        START, service("ask", "t.denied"),
        boundary("denied", "ask", m.ErrorTrigger("denied_error")),
        service("else", "t.two"), END, m.Event(id="other_end", position="end"),
    ),
    (
        flow("start", "ask"), flow("ask", "end"), flow("denied", "else"), flow("else", "other_end"),
    ),
    errors=(m.Error(id="denied_error", code="DENIED"),),
)  # fmt: skip
MODELS = [
    *shared.MODELS,
    line("shaky", service("try", "t.shaky"), service("after", "t.two")),
    CAUGHT,
    line("asks", user("review"), service("after", "t.two")),
    line("timed", user("await"), service("after", "t.two"),
         more=(boundary("late", "await", m.TimerTrigger("duration", m.Value("P1D"))),), flows=(flow("late", "end"),)),
    line("waits", service("one", "t.one"), wait("await", "go"), service("two", "t.two"),
         messages=(message("go", key="go-1"),)),
]  # fmt: skip
LONGER = line(
    "waits", service("one", "t.one"), wait("await", "go"), service("more", "t.one"), service("two", "t.two"),
    messages=(message("go", key="go-1"),),
)  # fmt: skip


class Carried(shared.Carried):
    """What tests ask beyond what they ask on every carrier."""

    async def deploy(self) -> int:
        for each in MODELS:
            await self._engine.deploy(each, shared.ORIGIN, profile="open")
        return len(MODELS)

    async def key(self, instance: str) -> str:
        """The process instance in Camunda."""
        return str(await self._carrier.commands.keys.key_of(parse_id(instance)))

    async def incidents(self, instance: str, at_least: int = 1) -> list[tuple[int, str, str]]:
        for _ in range(2_000):
            view = await self._perdure.instances.get(instance)
            if len(view.incidents) >= at_least:
                break
            await asyncio.sleep(0.02)
        return [(each.token, each.code, each.text) for each in view.incidents]

    async def retry(self, instance: str, token: int) -> str:
        return (await self._perdure.instances.retry(instance, token)).state

    async def cancel(self, instance: str) -> str:
        return (await self._perdure.instances.cancel(instance)).state

    async def cancel_all(self) -> int:
        """Leave nothing that waits: the tests of a session share a broker."""
        found = await self._perdure.runtime.instances.newest(shared.ORIGIN, status="active")
        for each in found:
            await self._engine.cancel(each.id, shared.ORIGIN)
        return len(found)

    async def go(self, id: str, ttl: float = 0) -> str:
        receipt = await self._engine.publish("go", "go-1", shared.ORIGIN, message_id=id, ttl_seconds=ttl)
        return receipt.outcome

    async def _task(self, instance: str) -> int:
        state = (await self._perdure.runtime.instances.read(instance, shared.ORIGIN)).state
        return next(node.number for node in state.nodes.values() if node.kind == "task")

    async def claim(self, instance: str, who: str) -> str:
        node = await self._task(instance)
        held = await self._engine.claim_task(instance, node, Origin("default", who))
        return str(held.state.nodes[node].task.claimed_by)

    async def task_key(self, instance: str) -> str:
        return await self._key(f"task/{instance}/{await self._task(instance)}")

    async def keys(self, instance: str, token: int) -> tuple[str, str]:
        """The keys of the job of a token and of its incident in Camunda."""
        state = (await self._perdure.runtime.instances.read(instance, shared.ORIGIN)).state
        node = state.nodes[token]
        job = await self._key(f"frame/{instance}/{token}/{node.job.run}")
        return job, await self._key(f"incident/{instance}/{token}/{node.incident.opened_at}")

    async def _key(self, name: str) -> str:
        for _ in range(2_000):
            if found := await self._carrier.commands.keys.read(name):
                return str(found)
            await asyncio.sleep(0.02)
        raise AssertionError(f"Camunda did not tell the key of {name}")

    async def payloads(self, instance: str) -> list[tuple[str, str]]:
        """The first payload of an instance and its head, each as text and hash."""
        runtime = self._perdure.runtime
        told = await runtime.instances.history(instance, shared.ORIGIN)
        state = (await runtime.instances.read(instance, shared.ORIGIN)).state
        hashes = (told[0].entries[0].head, state.head)
        texts = [await runtime.store.payload(parse_id(instance), hash) for hash in hashes]
        return [((text or b"").decode(), digest_text(hash)) for text, hash in zip(texts, hashes, strict=True)]

    async def deploy_longer(self) -> int:
        return (await self._engine.deploy(LONGER, shared.ORIGIN, profile="open")).version

    async def migrate(self, instance: str) -> int:
        return (await self._perdure.instances.migrate(instance)).version

    async def disturb(self) -> None:
        """From now on requests and what comes are late, and come twice."""
        DISTURBED.append(0)
        disturb(self._carrier)

    async def disturbances(self) -> int:
        return sum(DISTURBED)

    async def lose_answers(self, path: str) -> None:
        """Requests to a path are carried out from now on, and whatever is answered is lost."""
        engine = self._carrier
        once = self._once = engine.client._once

        async def losing(request: Request, *given: Any, **options: Any) -> Any:
            if not request.path.endswith(path):
                return await once(request, *given, **options)
            with suppress(Gone, WrongState, Refused):
                LOST.append(instance_key(await once(request, *given, **options)))
            raise EngineUnavailableError("reach", "engine", engine.client.address.text, "its answer was lost")

        engine.client._once = losing

    async def refuse(self, path: str = "/process-instances") -> None:
        """Camunda refuses to begin anything from now on, or whatever else is asked under a path."""
        engine = self._carrier
        once = self._once = engine.client._once

        async def refusing(request: Request, *given: Any, **options: Any) -> Any:
            if request.path == path:
                raise Refused("INVALID_ARGUMENT: it cannot begin there")
            return await once(request, *given, **options)

        engine.client._once = refusing

    async def lost(self) -> list[str]:
        """The process instances that requests began whose answers were lost."""
        return [each for each in LOST if each]

    async def carried_out(self) -> int:
        """How many requests were carried out whose answers were lost."""
        return len(LOST)

    async def take(self, instance: str) -> bool:
        """Take the only job of an instance, as its worker does when it comes."""
        id = parse_id(instance)
        state = (await self._perdure.runtime.instances.read(id, shared.ORIGIN)).state
        (node,) = [each for each in state.nodes.values() if each.job is not None]
        found = JobFound(id, node.number, shared.ORIGIN.tenant, 0, node.job.definition)
        return bool(await self._carrier.worker._leases.lease(found))

    async def deaf(self) -> None:
        """No job comes any more."""
        await self._carrier.worker.close()

    async def give_up(self, call: str) -> str:
        return (await self._perdure.cancel(call)).state

    async def find_answers(self) -> None:
        self._carrier.client._once = self._once

    async def deliveries(self, instance: str) -> int:
        """Every job that this process took is brought to its worker once more."""
        for job in list(TAKEN):
            await self._carrier.worker.tried(job)
        return len(TAKEN)


TAKEN: list[Any] = []
DISTURBED: list[int] = []
LOST: list[str] = []
MAX_LATE_SECONDS = 0.2
RARELY = 0.03


def disturb(engine: Any) -> None:
    """Delays, and duplicates of what may come twice: jobs, records, and requests whose answer was lost."""
    chance = Random(35)
    once, take, keep = engine.client._once, engine.worker.take, engine.tail._keep

    async def late() -> None:
        DISTURBED[0] += 1
        await asyncio.sleep(chance.random() * MAX_LATE_SECONDS)

    async def sent(request: Request, *given: Any, **options: Any) -> Any:
        is_doubled = request.path.endswith("/completion") and chance.random() < 0.3
        if is_doubled:
            await late()
            await once(request, *given, **options)
            raise EngineUnavailableError("reach", "engine", engine.client.address.text, "its answer was lost")
        return await once(request, *given, **options)

    async def taken(job: Any) -> None:
        await late()
        await take(job)
        if chance.random() < 0.3:
            await late()
            await take(job)

    async def kept(body: bytes) -> None:
        if chance.random() < RARELY:  # each record is a request of its own, and all come again after a kill
            await late()
            await keep(body)
        await keep(body)

    engine.client._once, engine.worker.take, engine.tail._keep = sent, taken, kept


def noted(engine: Any) -> None:
    if not hasattr(engine, "outside"):
        return
    (carrier,) = engine.outside.values()
    take = carrier.worker.take

    async def noting(job: Any) -> None:
        TAKEN.append(job)
        await take(job)

    carrier.worker.take = noting


def handlers(folder: Path) -> dict[str, Any]:
    async def shaky(call: Call) -> dict[str, int]:
        with (folder / "shaky.log").open("a") as log:
            log.write(f"{call.attempt}\n")
        if not (folder / "mended").exists():
            raise Transient("the other side is away")
        return {"shaky": call.attempt}

    async def denied(call: Call) -> None:
        raise BusinessError("DENIED", "not for you")

    return {**shared.handlers(folder), "t.shaky": shaky, "t.denied": denied}


async def main(store: str, engine: str, folder: str) -> None:
    logging.basicConfig(level=logging.WARNING)
    opened = Perdure.open(store, definitions=load_text(VERBS), handlers=handlers(Path(folder)), engine=engine)
    try:
        async with opened as perdure:
            noted(perdure.runtime.engine)
            await shared.answer_lines(Carried(perdure))
    except PerdureError as error:
        shared.say({"error": error.code, "text": str(error)})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
