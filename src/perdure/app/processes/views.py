"""Process views: a deployed process, and its picture with the state of an instance on it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.app.instances.replay import Trail
from perdure.app.processes.model_review import FindingView, ProofView, Review
from perdure.bpmn.contract.compilation import decompile
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.model import (
    CallActivity,
    Definitions,
    Diagram,
    Event,
    Gateway,
    Lane,
    Model,
    Node,
    SubProcess,
    Task,
    nodes,
)
from perdure.bpmn.svg import Mark, Marks
from perdure.bpmn.xml import write_model
from perdure.engine import ProcessVersion, Told
from perdure.verbs.consequence_tier import Consequence


class ProcessView(msgspec.Struct, frozen=True):
    """A version of a process: what it is made of, and everything that was pinned when it was deployed."""

    process: str
    version: int
    status: str
    hash: str
    profile: str
    verb: str
    elements: list[dict[str, str]]
    flags: dict[str, Any]
    bindings: dict[str, dict[str, Any]]
    xml: str
    consequence: str
    """The gravest tier that it can reach as deployed now; `reaches` are all verbs that it can."""
    reaches: list[str]
    merge: dict[str, str] = {}
    """How values that branches write to one path of the data become one, by JSON pointer."""
    engine: str = ""
    """The name of the engine on which an instance begins now."""


class ReviewedProcess(ProcessView, frozen=True):
    """The same with what lint finds in it and what a proof says; without a proof it does not lint."""

    findings: list[FindingView] = []
    verdict: ProofView | None = None


def reviewed(view: ProcessView, review: Review) -> ReviewedProcess:
    told = {name: getattr(view, name) for name in view.__struct_fields__}
    return ReviewedProcess(**told, findings=review.findings, verdict=next(iter(review.proofs), None))


def process_view(
    found: ProcessVersion,
    deployed: Deployed,
    consequence: Consequence,
    diagram: Diagram | None = None,
    engine: str = "",
) -> ProcessView:
    return ProcessView(
        found.process, found.version, found.status, found.hash, deployed.profile, deployed.verb,
        [_element(node) for node in nodes(deployed.process.body)],
        {flag.name: _flag(flag) for flag in deployed.flags},
        {
            name: {"verb": each.verb, "version": each.version, "hash": each.hash,
                   "max_attempts": each.retry.max_attempts, "policy": msgspec.to_builtins(each.retry),
                   "effects": each.effects}
            for name, each in deployed.bindings.items()
        },
        write_model(model_of(deployed, diagram)), consequence.tier, list(consequence.verbs),
        dict(deployed.merge), engine,
    )  # fmt: skip


def model_of(deployed: Deployed, diagram: Diagram | None = None) -> Model:
    """A file of its own with the process in it, drawn as it was deployed; without a diagram one is made anew."""
    own = {node.id for node in nodes(deployed.process.body)}
    written, messages = deployed.process, deployed.messages
    if deployed.mirrors:
        written, messages, _ = decompile(deployed.process, deployed.messages, deployed.mirrors)
    process = replace(written, lanes=tuple(_lane(each, own) for each in written.lanes))
    return Model(
        definitions=Definitions(
            id=f"{process.id}-definitions", processes=(process,), messages=messages,
            signals=deployed.signals, errors=deployed.errors, escalations=deployed.escalations,
        ),
        diagram=diagram,
    )  # fmt: skip


def _lane(lane: Lane, own: AbstractSet[str]) -> Lane:
    """Without nodes of other processes, which are not in this file."""
    members = tuple(each for each in lane.members if each in own)
    return replace(lane, members=members, lanes=tuple(_lane(each, own) for each in lane.lanes))


def _flag(flag: Any) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(flag)
    return {name: value for name, value in whole.items() if name != "name" and value not in (None, [], (), False, "")}


def _element(node: Node) -> dict[str, str]:
    """A node of the model; a task that says itself how often it is tried says it here."""
    retries = getattr(node, "retries", None)
    own = {"max_attempts": str(max(1, retries))} if retries is not None else {}
    return {**_kind(node), **own}


def _kind(node: Node) -> dict[str, str]:
    match node:
        case Task():
            kind, type = f"{node.kind} task", node.type
        case SubProcess():
            kind, type = f"{node.kind.replace('_', '-')} subprocess", ""
        case CallActivity():
            kind, type = "call activity", node.process
        case Gateway():
            kind, type = f"{node.kind} gateway", ""
        case Event():
            kind, type = f"{node.position} event", node.type
    return {"id": node.id, "kind": kind, "name": node.name, "type": type}


def marks_of(state: Instance, history: list[Told]) -> Marks:
    """Where tokens stand, how often each element was left behind, what is stuck, and the way taken."""
    trail = Trail()
    for told in history:
        trail.add(told.entries)
    return state_marks(state, trail.done, list(trail.steps))


def state_marks(state: Instance, done: dict[str, int], path: list[str]) -> Marks:
    nodes_here = [node for node in state.nodes.values() if node.parent]
    stuck = frozenset(node.element for node in nodes_here if node.incident is not None)
    waiting = frozenset(node.element for node in nodes_here if node.kind in ("task", "wait", "gate"))
    elements: dict[str, Mark] = {}
    for element in dict.fromkeys((*done, *(node.element for node in nodes_here))):
        tokens = sum(node.element == element for node in nodes_here)
        elements[element] = Mark(
            tokens=tokens, completed=done.get(element, 0), has_incident=element in stuck,
            is_waiting=element in waiting, state="active" if tokens else "completed",
        )  # fmt: skip
    return Marks(elements=elements, path=tuple(dict.fromkeys(path)), is_numbered=False)
