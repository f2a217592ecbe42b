"""Contract cases of the conformance suite: single promises of the engine contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from perdure.bpmn.machine.journal_entries import InstanceEnded, InstanceStarted
from perdure.bpmn.xml import write_model
from perdure.engine import Job, LifecycleEvent
from perdure.errors import RejectedError
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text
from perdure.testing.conformance import order_process as o
from perdure.testing.conformance.case import Case, EngineWorld
from perdure.testing.scenarios.scenario import Scenario

Promise = Callable[[EngineWorld], Awaitable[list[str]]]


def contract_cases(folder: Path) -> list[Case]:
    """Every promise; the model they are shown on is written into the folder."""
    model = folder / "order.bpmn"
    model.write_text(write_model(o.order()), encoding="utf-8")
    scenario = Scenario(file="contract", model=model, profile="open", process=o.PROCESS)
    return [Case(promise.__name__, scenario, _played(promise), frozenset(needs)) for promise, needs in PROMISES.items()]


def _played(promise: Promise) -> Callable[[Scenario, EngineWorld], Awaitable[list[str]]]:
    async def play(scenario: Scenario, world: EngineWorld) -> list[str]:
        refusal = await world.deploy(o.order())
        return list(refusal.sentences) if refusal is not None else await promise(world)

    return play


# --- repeated, pinned, checked, seen, journalled -------------------------------------------------------------------


async def a_start_under_one_key_counts_once(world: EngineWorld) -> list[str]:
    begun = [await world.engine.start(o.PROCESS, world.origin, idempotency_key="one") for _ in range(3)]
    await world.idle()
    found = await world.instances.newest(world.origin, process=o.PROCESS)
    return _same("instances", [each.id for each in found], [begun[0].id])


async def a_message_id_counts_once(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    sent = [await _pay(world, "m1") for _ in range(3)]
    now = await _now(world, begun)
    return [
        *_same("outcomes", sent, ["correlated", "duplicate", "duplicate"]),
        *_same("tokens", _standing(now), ["check"]),
    ]


async def a_message_that_nobody_wants_says_so(world: EngineWorld) -> list[str]:
    return _same("outcome", await _pay(world, "m1"), "no_subscription")


async def a_kept_message_meets_the_wait_that_opens_later(world: EngineWorld) -> list[str]:
    kept = await world.engine.publish(o.MESSAGE, o.KEY, world.origin, message_id="m1", ttl_seconds=60)
    now = await _begun(world)
    return [*_same("outcome", kept.outcome, "buffered"), *_same("tokens", _standing(now), ["check"])]


async def a_signal_that_nobody_hears_reaches_none(world: EngineWorld) -> list[str]:
    return _same("reached", (await world.engine.signal("nobody", world.origin)).reached, 0)


async def an_instance_stays_on_its_version(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    await world.deploy(o.order(is_checked=False))
    await _pay(world, "m1")
    now = await _now(world, begun)
    return [*_same("version", now.state.process_version, 1), *_same("tokens", _standing(now), ["check"])]


async def an_instance_goes_on_under_another_version(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    await world.deploy(o.order(is_checked=False))
    await world.engine.migrate(begun.id, world.origin)
    await _pay(world, "m1")
    return _same("state", (await _now(world, begun)).state.status, "completed")


async def what_is_not_there_is_refused(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    asked = {
        "a process": world.engine.start("nowhere", world.origin),
        "a task": world.engine.complete_task(begun.id, 99, world.origin),
    }
    codes = {what: await _refused(each) for what, each in asked.items()}
    after = await _now(world, begun)
    return [
        *_same("refusals", codes, {"a process": "not_found", "a task": "wrong_state"}),
        *_same("version", after.version, begun.version),
    ]


async def an_answer_is_in_the_journal(world: EngineWorld) -> list[str]:
    begun = await world.engine.start(o.PROCESS, world.origin, data={"amount": 7})
    stored = await world.instances.read(begun.id, world.origin)
    told = await world.instances.history(begun.id, world.origin)
    data = await world.instances.data(stored)
    await world.idle()
    return [
        *_same("state", stored.state.status, "active"),
        *_same("data", data, {"amount": 7}),
        *_same("first entry", type(told[0].entries[0]).__name__, InstanceStarted.__name__),
    ]


async def a_held_instance_does_not_move(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    await world.engine.suspend(begun.id, world.origin)
    held = (await _now(world, begun)).state.status
    resumed = await world.engine.resume(begun.id, world.origin)
    return _same("states", [held, resumed.state.status], ["suspended", "active"])


async def a_task_is_handed_on_and_completed(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    await _pay(world, "m1")
    now = await _now(world, begun)
    number = _node(now, "check")
    await world.engine.claim_task(now.id, number, world.origin)
    await world.engine.delegate_task(now.id, number, world.origin, to=world.origin.principal)
    await world.engine.complete_task(now.id, number, world.origin, data={"checked": True})
    ended = await _now(world, begun)
    data = await world.instances.data(ended)
    return [*_same("state", ended.state.status, "completed"), *_same("data", data, {"checked": True})]


# --- jobs and events -----------------------------------------------------------------------------------------------


async def a_job_that_completes_moves_its_instance_on(world: EngineWorld) -> list[str]:
    begun, (job,) = await _with_jobs(world, lambda job: job.complete({"charged": True}))
    now = await _now(world, begun)
    return [
        *_same("job", (job.type, job.attempt, job.instance), (o.JOB, 1, id_text(begun.id))),
        *_same("tokens", _standing(now), ["await-paid"]),
        *_same("data", await world.instances.data(now), {"charged": True}),
    ]


async def a_job_that_fails_comes_again_under_its_key(world: EngineWorld) -> list[str]:
    async def answer(job: Job) -> None:
        await (job.fail("not now") if job.attempt == 1 else job.complete())

    begun, jobs = await _with_jobs(world, answer)
    now = await _now(world, begun)
    return [
        *_same("attempts", [job.attempt for job in jobs], [1, 2]),
        *_same("keys", len({job.key for job in jobs}), 1),
        *_same("tokens", _standing(now), ["await-paid"]),
    ]


async def a_business_error_meets_its_boundary(world: EngineWorld) -> list[str]:
    begun, _ = await _with_jobs(world, lambda job: job.throw(o.DECLINED))
    now = await _now(world, begun)
    return [*_same("state", now.state.status, "completed"), *_same("incidents", _incidents(now), [])]


async def a_job_that_cannot_go_on_is_an_incident(world: EngineWorld) -> list[str]:
    begun, _ = await _with_jobs(world, lambda job: job.fail("never", "permanent_contract"))
    stuck = await _now(world, begun)
    found = _incidents(stuck)
    await world.engine.retry_incident(begun.id, _node(stuck, "charge"), world.origin)
    now = await _now(world, begun)
    return [*_same("incidents", found, ["charge"]), *_same("tokens", _standing(now), ["await-paid"])]


async def a_job_without_an_answer_is_given_out_again(world: EngineWorld) -> list[str]:
    stream = world.engine.jobs([o.JOB])
    begun = await world.engine.start(o.PROCESS, world.origin)
    await anext(stream)
    await stream.close()
    return _same("tokens", _standing(await _now(world, begun)), ["await-paid"])


async def events_come_in_order_from_any_position(world: EngineWorld) -> list[str]:
    begun = await _begun(world)
    first = await _events(world, 0, begun)
    await world.engine.cancel(begun.id, world.origin)
    await world.idle()
    again, later = await _events(world, 0, begun), await _events(world, first[-1].position, begun)
    ends = [type(entry) for each in later for entry in each.entries]
    return [
        *_same("events", [*first, *later], again),
        *_same("end", ends.count(InstanceEnded), 1),
        *_same("order", [each.position for each in again], sorted({each.position for each in again})),
    ]


PROMISES: dict[Promise, tuple[str, ...]] = {
    a_start_under_one_key_counts_once: ("start_once",),
    a_message_id_counts_once: ("message_once", "message_outcome"),
    a_message_that_nobody_wants_says_so: ("message_outcome",),
    a_kept_message_meets_the_wait_that_opens_later: ("message_outcome",),
    a_signal_that_nobody_hears_reaches_none: ("signal_count",),
    an_instance_stays_on_its_version: (),
    an_instance_goes_on_under_another_version: ("migrate",),
    what_is_not_there_is_refused: (),
    an_answer_is_in_the_journal: (),
    a_held_instance_does_not_move: ("suspend",),
    a_task_is_handed_on_and_completed: ("delegate",),
    a_job_that_completes_moves_its_instance_on: (),
    a_job_that_fails_comes_again_under_its_key: (),
    a_business_error_meets_its_boundary: (),
    a_job_that_cannot_go_on_is_an_incident: (),
    a_job_without_an_answer_is_given_out_again: (),
    events_come_in_order_from_any_position: (),
}


# --- looks ---------------------------------------------------------------------------------------------------------


async def _begun(world: EngineWorld) -> Aggregate:
    """An instance whose job has completed: it waits to be paid, or goes on if that was kept for it."""
    return await _now(world, await world.engine.start(o.PROCESS, world.origin))


async def _now(world: EngineWorld, aggregate: Aggregate) -> Aggregate:
    await world.idle()
    return await world.instances.read(aggregate.id, world.origin)


async def _pay(world: EngineWorld, message_id: str) -> str:
    return (await world.engine.publish(o.MESSAGE, o.KEY, world.origin, message_id=message_id)).outcome


async def _with_jobs(world: EngineWorld, answer: Callable[[Job], Awaitable[None]]) -> tuple[Aggregate, list[Job]]:
    """An instance, and the jobs it gave out until nothing was left to do, each answered."""
    stream = world.engine.jobs([o.JOB])
    jobs: list[Job] = []

    async def work() -> None:
        async for job in stream:
            jobs.append(job)
            await answer(job)

    worker = asyncio.create_task(work())
    begun = await world.engine.start(o.PROCESS, world.origin)
    await world.idle()
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    await stream.close()
    return begun, jobs


async def _events(world: EngineWorld, position: int, begun: Aggregate) -> list[LifecycleEvent]:
    """Those of an instance that are there now."""
    wanted = (await world.instances.read(begun.id, world.origin)).version
    found: list[LifecycleEvent] = []
    async for event in world.engine.follow(world.origin, position):
        if event.instance == begun.id:
            found.append(event)
            if event.sequence == wanted:
                break
    return found


async def _refused(asked: Awaitable[object]) -> str:
    try:
        await asked
    except RejectedError as error:
        return error.rejection.code
    return "accepted"


def _standing(aggregate: Aggregate) -> list[str]:
    return sorted(node.element for node in aggregate.state.nodes.values() if node.parent)


def _incidents(aggregate: Aggregate) -> list[str]:
    return [node.element for node in aggregate.state.nodes.values() if node.incident is not None]


def _node(aggregate: Aggregate, element: str) -> int:
    return next((node.number for node in aggregate.state.nodes.values() if node.element == element), 0)


def _same(what: str, found: object, expected: object) -> list[str]:
    return [] if found == expected else [f"{what}: expected {expected!r}, found {found!r}"]
