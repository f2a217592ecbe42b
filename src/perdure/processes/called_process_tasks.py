"""Human tasks of processes that an aggregate called or would call; its own machine knows none of them.

| a called instance | tasks that an act on the caller leaves behind |
|---|---|
| runs | those that wait or may still come |
| has completed | none: its model has decided |
| was stopped or has failed | those that waited or might have come before that |
| has not begun | those of the latest version of its process |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.flag_choices import avoided_tasks
from perdure.bpmn.machine.guarded_tasks import guards_ahead, guards_of_process
from perdure.bpmn.machine.journal_entries import CancelRequested, InstanceEnded
from perdure.bpmn.machine.reachability import left_behind
from perdure.bpmn.machine.state import ENDED, ROOT, Instance
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.overrides import Guard
from perdure.processes.instance_reader import InstanceReader
from perdure.sources import Id, id_text

MAX_DEPTH = 20
"""How deep calls of calls are looked into."""
DECIDED = ("completed", "terminated")
"""How an instance ends by its model."""


async def tasks_of_instance(
    reader: InstanceReader, id: Id, origin: Origin, depth: int = 0, process: str = "", askers: tuple[str, ...] = ()
) -> tuple[Guard, ...]:
    """Tasks of an instance that wait or may still come, with those of the instances it called.

    Of one that was stopped, those it left behind; of one that has not begun, those of its `process`.
    """
    if depth > MAX_DEPTH:
        return ()
    try:
        aggregate = await reader.read(id, origin)
    except RejectedError:
        return await tasks_of_process(reader, process, askers, origin, depth) if process else ()
    state: Instance | None = aggregate.state
    assert state is not None
    if state.status in DECIDED:
        return ()
    if state.status in ENDED or "compensating" in (state.status, state.before):
        state = await _before_its_end(reader, aggregate, origin)
    if state is None:
        return ()
    definition = await reader.definitions.load(state.process, state.definition, aggregate.tenant)
    own = _named(guards_ahead(TokenGame(definition.plan, state, 0)), state.process)
    return (*own, *await _tasks_of_calls(reader, aggregate, state, definition.plan, [ROOT], origin, depth + 1))


async def tasks_of_process(
    reader: InstanceReader, process: str, askers: tuple[str, ...], origin: Origin, depth: int = 0
) -> tuple[Guard, ...]:
    """Tasks of a process that has not begun, and of those it calls; none of one that is not deployed."""
    if depth > MAX_DEPTH:
        return ()
    deployed = await reader.definitions.find(process, origin)
    if deployed is None or not deployed.state.versions:
        return ()
    latest = max(deployed.state.versions, key=lambda each: (each.status == "active", each.number))
    plan = (await reader.definitions.load(process, latest.hash, origin.tenant)).plan
    own = _named(guards_of_process(plan, askers), process)
    calls = [spot.node.process for spot in plan.spots.values() if isinstance(spot.node, m.CallActivity)]
    inner = [await tasks_of_process(reader, each, askers, origin, depth + 1) for each in calls if each != process]
    return (*own, *(guard for each in inner for guard in each))


async def tasks_below(
    reader: InstanceReader,
    aggregate: Aggregate,
    cancels: tuple[int, ...],
    starts: tuple[str, ...],
    origin: Origin,
    flags: Mapping[str, str | bool | int] | None = None,
) -> tuple[Guard, ...]:
    """Tasks of processes that tokens called which are taken away, or would have called which are put elsewhere.

    `flags` are set by hand, and may lead tokens past calls.
    """
    state: Instance = aggregate.state
    plan = (await reader.loaded(aggregate)).plan
    gone = [number for number in cancels if number in state.nodes]
    left = {state.nodes[number].element for number in gone}
    past = [each for start in starts if start in plan.spots for each in left_behind(plan, start, left)]
    past += avoided_tasks(TokenGame(plan, state, 0), dict(flags or {}))
    return (
        *await _tasks_of_calls(reader, aggregate, state, plan, gone, origin),
        *await _tasks_of_elements(reader, aggregate, plan, past, origin),
    )


async def tasks_lost(
    reader: InstanceReader, aggregate: Aggregate, lost: list[str], origin: Origin
) -> tuple[Guard, ...]:
    """Tasks of processes that an instance would have called by elements that another version may avoid."""
    plan = (await reader.loaded(aggregate)).plan
    return await _tasks_of_elements(reader, aggregate, plan, lost, origin)


async def _tasks_of_elements(
    reader: InstanceReader, aggregate: Aggregate, plan: Plan, elements: Iterable[str], origin: Origin
) -> tuple[Guard, ...]:
    askers, found = _askers(aggregate.state), list[Guard]()
    for element in dict.fromkeys(elements):
        node = plan.spots[element].node
        if isinstance(node, m.CallActivity):
            found.extend(await tasks_of_process(reader, node.process, askers, origin))
    return tuple(found)


async def _tasks_of_calls(
    reader: InstanceReader, aggregate: Aggregate, state: Instance, plan: Plan, numbers: list[int], origin: Origin,
    depth: int = 0,
) -> tuple[Guard, ...]:  # fmt: skip
    """Tasks of the instances that tokens, and those inside them, called."""
    found: list[Guard] = []
    for number in dict.fromkeys(each for outer in numbers for each in (outer, *inside(state, outer))):
        node = state.nodes[number]
        call = plan.spots[node.element].node if node.element in plan.spots else None
        if node.kind == "call" and isinstance(call, m.CallActivity):
            id = child_id(aggregate.tenant, f"node:{id_text(aggregate.id)}:{number}")
            found.extend(await tasks_of_instance(reader, id, origin, depth, call.process, _askers(state)))
    return tuple(found)


async def _before_its_end(reader: InstanceReader, aggregate: Aggregate, origin: Origin) -> Instance | None:
    """An instance as it was before it was stopped, or before the command in which it failed."""
    told = await reader.history(aggregate.id, origin)
    ends = [any(isinstance(entry, CancelRequested | InstanceEnded) for entry in each.entries) for each in told]
    state: Instance | None = None
    for each in told[: ends.index(True) if True in ends else len(told)]:
        for entry in each.entries:
            state = reader.machine.apply(state, entry)
    return state


def _askers(state: Instance) -> tuple[str, ...]:
    return (state.principal, *state.behind)


def _named(guards: tuple[Guard, ...], process: str) -> tuple[Guard, ...]:
    return tuple(replace(guard, name=f"{guard.name} of '{process}'") for guard in guards)
