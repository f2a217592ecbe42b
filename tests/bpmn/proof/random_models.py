"""Random processes: sound ones, and sound ones with something changed."""

from __future__ import annotations

import random

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.verb_contract import FlagContract
from tests.bpmn.machine.generator import FLAGS, Maker

CONTRACTS = tuple(FlagContract(name, "boolean", initial=False) for name in FLAGS)


def random_process(seed: int, size: int, changes: int) -> Deployed:
    maker = Maker(seed, size)
    process = maker.process()
    process = replace(process, body=changed(process.body, random.Random(seed), changes))
    return Deployed(
        process=process, messages=tuple(maker.messages.values()), signals=tuple(maker.signals.values()),
        errors=tuple(maker.errors.values()), profile="open", is_loose=True,
    )  # fmt: skip


def with_handlers(deployed: Deployed) -> Deployed:
    """With an event subprocess that lets everything stand, and one beside it that catches what goes wrong there."""
    let = _handler("let", m.SignalTrigger("knock"), is_interrupting=False)
    mend = _handler("mend", m.ErrorTrigger("e_MISSING"), is_interrupting=True)
    body = deployed.process.body
    process = replace(deployed.process, body=replace(body, nodes=(*body.nodes, let, mend)))
    knock = m.Signal(id="knock", name="knock")
    return replace(deployed, process=process, signals=(*deployed.signals, knock))


def _handler(id: str, trigger: m.Trigger, *, is_interrupting: bool) -> m.SubProcess:
    start = m.Event(id=f"{id}_start", position="start", triggers=(trigger,), is_interrupting=is_interrupting)
    work = m.Task(id=f"{id}_work", kind="service", type=f"{id}_work")
    flow = m.Flow(id=f"{id}_flow", source=start.id, target=work.id)
    return m.SubProcess(id=id, kind="event", body=m.Scope(nodes=(start, work), flows=(flow,)))


def random_writes(deployed: Deployed, seed: int) -> dict[str, tuple[str, ...]]:
    chance = random.Random(seed)
    types = [node.type for node in m.nodes(deployed.process.body) if isinstance(node, m.Task) and node.type]
    return {type: tuple(name for name in FLAGS if chance.random() < 0.3) for type in types}


def changed(body: m.Scope, chance: random.Random, changes: int) -> m.Scope:
    """So many changes that may make a process unsound: another kind of gateway, no default, another target."""
    for _ in range(changes):
        body = chance.choice((_gateway, _gateway, _default, _target, _inside))(body, chance)
    return body


def _gateways(body: m.Scope) -> list[m.Gateway]:
    return [node for node in body.nodes if isinstance(node, m.Gateway) and node.kind != "event"]


def _with(body: m.Scope, changed: m.Node) -> m.Scope:
    return replace(body, nodes=tuple(changed if node.id == changed.id else node for node in body.nodes))


def _gateway(body: m.Scope, chance: random.Random) -> m.Scope:
    found = _gateways(body)
    kinds: list[m.GatewayKind] = ["exclusive", "parallel", "inclusive"]
    return _with(body, replace(chance.choice(found), kind=chance.choice(kinds))) if found else body


def _default(body: m.Scope, chance: random.Random) -> m.Scope:
    found = _gateways(body)
    return _with(body, replace(chance.choice(found), default="")) if found else body


def _target(body: m.Scope, chance: random.Random) -> m.Scope:
    races = {node.id for node in body.nodes if isinstance(node, m.Gateway) and node.kind == "event"}
    flows = [flow for flow in body.flows if flow.source not in races]
    targets = [node.id for node in body.nodes if _may_be_entered(node)]
    if not flows:
        return body
    flow = chance.choice(flows)
    moved = replace(flow, target=chance.choice(targets))
    return replace(body, flows=tuple(moved if each.id == flow.id else each for each in body.flows))


def _may_be_entered(node: m.Node) -> bool:
    if isinstance(node, m.Event):
        return node.position not in ("start", "boundary")
    return not (isinstance(node, m.SubProcess) and node.kind == "event")


def _inside(body: m.Scope, chance: random.Random) -> m.Scope:
    found = [node for node in body.nodes if isinstance(node, m.SubProcess)]
    if not found:
        return body
    chosen = chance.choice(found)
    return _with(body, replace(chosen, body=changed(chosen.body, chance, 1)))
