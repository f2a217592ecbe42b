"""The subject of a proof: the process as the machine runs it, with the values its flags may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Atom, Condition, Scalar, atoms
from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.bpmn.machine.execution_plan import Plan, plan_of
from perdure.bpmn.model import (
    COMPLETED_COUNT,
    GIVEN_FLAGS,
    CallActivity,
    Definitions,
    Event,
    Message,
    MultiInstance,
    Node,
    Process,
    Scope,
    StandardLoop,
    SubProcess,
    Task,
    TimerTrigger,
    Value,
    nodes,
    scopes,
)
from perdure.bpmn.proof.flag_values import Domain, domain_of
from perdure.bpmn.proof.process_graph import own_conditions
from perdure.verb_contract import FLAG_NAME, FlagContract

FEW = 2
"""More iterations than this behave as this many."""
SAMPLES: dict[str, str] = {"duration": "PT1S", "date": "2100-01-01T00:00:00Z", "cycle": "R/PT1S", "key": "key"}


def deployed_of(definitions: Definitions, process: Process, compensation: Mapping[str, str]) -> Deployed:
    return Deployed(
        process=process, messages=definitions.messages, signals=definitions.signals, errors=definitions.errors,
        escalations=definitions.escalations, profile="open", is_loose=True, compensation=dict(compensation),
    )  # fmt: skip


def abstract(deployed: Deployed) -> Plan:
    """The plan of the process with few iterations, no retries, and flags that take whatever the proof gives them."""
    few = replace(deployed.process, body=_few(deployed.process.body))
    types = {node.type for node in nodes(few.body) if isinstance(node, Task | Event) and node.type}
    made = replace(
        deployed, process=few, profile="open", flags=(), is_loose=True, timeout_seconds=None,
        bindings={type: Binding(verb=type) for type in sorted(types)},
    )  # fmt: skip
    plan = plan_of(made, b"proof")
    # Without a cycle nothing needs nearly as many: a cycle shows sooner.
    plan.most_moves = 1_000 + 10 * len(plan.spots)
    return plan


def domains_of(deployed: Deployed, flags: tuple[FlagContract, ...]) -> dict[str, Domain]:
    """Every flag that something reads, with the classes of its values."""
    contracts = {each.name: each for each in flags}
    body = deployed.process.body
    met: dict[str, list[Atom]] = {}
    for condition in conditions(body):
        for atom in atoms(condition):
            met.setdefault(atom.flag, []).append(atom)
    used = dict(_uses(deployed))
    found: dict[str, Domain] = {}
    for name in sorted({*met, *used} - GIVEN_FLAGS):
        if not FLAG_NAME.fullmatch(name):
            continue
        use = used.get(name)
        if use is None:
            found[name] = domain_of(name, contracts.get(name), met[name])
        elif use == "count":
            kept = tuple(range(_most(deployed, name) + 1))
            found[name] = domain_of(name, contracts.get(name), met.get(name, ()), kept)
        else:
            found[name] = _sample(name, use, met.get(name, []))
    return found


def _sample(name: str, use: str, met: list[Atom]) -> Domain:
    """A flag the engine needs a text of: one that is fit, or every text it is compared with."""
    made = domain_of(name, None, met, (SAMPLES[use],), is_eager=True)
    texts = tuple(value for value in made.values if isinstance(value, str) and value)
    return Domain(name=name, values=texts or (SAMPLES[use],), initial=(texts or (SAMPLES[use],))[0], is_eager=True)


def conditions(body: Scope) -> Iterator[Condition]:
    """Every condition of a process."""
    for scope in scopes(body):
        for flow in scope.flows:
            if flow.condition is not None:
                yield flow.condition
        for node in scope.nodes:
            yield from (each for each in own_conditions(node) if each is not None)


def _uses(deployed: Deployed) -> Iterator[tuple[str, str]]:
    """Flags the engine takes the value of, and as what."""
    messages: dict[str, Message] = {each.id: each for each in deployed.messages}
    for message in messages.values():
        yield from _use(message.correlation, "key")
    for node in nodes(deployed.process.body):
        if isinstance(node, Event):
            for trigger in node.triggers:
                if isinstance(trigger, TimerTrigger):
                    yield from _use(trigger.value, trigger.kind)
        if isinstance(node, Task):
            for value in (node.assignee, node.groups, node.users, node.due):
                yield from _use(value, "key")
    for node in nodes(deployed.process.body):
        if isinstance(node, Task | SubProcess | CallActivity) and isinstance(node.repeat, MultiInstance):
            yield from _use(node.repeat.cardinality, "count")


def _use(value: Value | None, use: str) -> Iterator[tuple[str, str]]:
    if value is not None and value.kind == "flag":
        yield value.text, use


def _most(deployed: Deployed, flag: str) -> int:
    found = FEW
    for node in nodes(deployed.process.body):
        repeat = node.repeat if isinstance(node, Task | SubProcess | CallActivity) else None
        if isinstance(repeat, MultiInstance) and repeat.cardinality.text == flag:
            found = max(found, _needed(repeat))
    return found


def _needed(repeat: MultiInstance) -> int:
    """So many iterations that a condition on how many have ended can still come true, and false."""
    literals: list[Scalar] = []
    for atom in atoms(repeat.completion) if repeat.completion is not None else ():
        if atom.flag == COMPLETED_COUNT:
            literals += atom.literals if hasattr(atom, "literals") else (atom.literal,)
    return max([FEW, *(each + 1 for each in literals if isinstance(each, int) and each < 5)])


def _few(body: Scope) -> Scope:
    return replace(body, nodes=tuple(_few_times(node) for node in body.nodes))


def _few_times(node: Node) -> Node:
    if isinstance(node, SubProcess):
        node = replace(node, body=_few(node.body))
    if not isinstance(node, Task | SubProcess | CallActivity):
        return node
    if isinstance(node, Task) and node.groups is not None and "+" in node.groups.text:
        node = replace(node, groups=None)  # how many people answer is not what is proved
    match node.repeat:
        case MultiInstance(cardinality=Value(text=text, kind="literal")) if text.isdigit():
            most = str(min(int(text), _needed(node.repeat)))
            return replace(node, repeat=replace(node.repeat, cardinality=Value(most)))
        case StandardLoop(maximum=int(most)):
            return replace(node, repeat=replace(node.repeat, maximum=min(most, FEW)))
        case _:
            return node
