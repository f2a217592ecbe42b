"""Human tasks of the processes that an aggregate called, which its own machine does not know of."""

from __future__ import annotations

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.overrides import guards_ahead, guards_of_process, left_behind
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.overrides import Guard
from perdure.processes.instance_reader import InstanceReader
from perdure.sources import Id, id_text

MAX_DEPTH = 20
"""How deep calls of calls are looked into."""


async def tasks_of_instance(reader: InstanceReader, id: Id, origin: Origin, depth: int = 0) -> tuple[Guard, ...]:
    """Tasks of an instance that wait or may still come, with those of the instances it called."""
    try:
        aggregate = await reader.read(id, origin)
    except RejectedError:
        return ()
    state: Instance = aggregate.state
    if state.status in ENDED or depth > MAX_DEPTH:
        return ()
    definition = await reader.loaded(aggregate)
    own = _named(guards_ahead(TokenGame(definition.plan, state, 0)), state.process)
    calls = [node.number for node in state.nodes.values() if node.kind == "call"]
    below = [await tasks_of_instance(reader, _called(aggregate, each), origin, depth + 1) for each in calls]
    return (*own, *(guard for each in below for guard in each))


async def tasks_of_process(
    reader: InstanceReader, process: str, askers: tuple[str, ...], origin: Origin
) -> tuple[Guard, ...]:
    """Tasks of a process that has not begun; none of one that is not deployed."""
    try:
        found = await reader.definitions.choose(process, None, origin, "look at")
    except RejectedError:
        return ()
    definition = await reader.definitions.load(process, found.hash, origin.tenant)
    return _named(guards_of_process(definition.plan, askers), process)


async def tasks_below(
    reader: InstanceReader, aggregate: Aggregate, cancels: tuple[int, ...], starts: tuple[str, ...], origin: Origin
) -> tuple[Guard, ...]:
    """Tasks of processes that tokens called which are taken away, or would have called which are put elsewhere."""
    state: Instance = aggregate.state
    nodes = [each for number in cancels if number in state.nodes for each in (number, *inside(state, number))]
    found: list[Guard] = []
    for number in nodes:
        if state.nodes[number].kind == "call":
            found.extend(await tasks_of_instance(reader, _called(aggregate, number), origin))
    plan = (await reader.loaded(aggregate)).plan
    left = {state.nodes[number].element for number in cancels if number in state.nodes}
    for start in starts:
        for element in left_behind(plan, start, left) if start in plan.spots else ():
            node = plan.spots[element].node
            if isinstance(node, m.CallActivity):
                askers = (state.principal, *state.behind)
                found.extend(await tasks_of_process(reader, node.process, askers, origin))
    return tuple(found)


def _called(aggregate: Aggregate, number: int) -> Id:
    return child_id(aggregate.tenant, f"node:{id_text(aggregate.id)}:{number}")


def _named(guards: tuple[Guard, ...], process: str) -> tuple[Guard, ...]:
    return tuple(replace(guard, name=f"{guard.name} of '{process}'") for guard in guards)
