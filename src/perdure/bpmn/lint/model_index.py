"""A model indexed for rules: what is where, what leads where, what is attached to what. Built once, in one pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.lint.contract import Contract, VerbContract, same_name
from perdure.bpmn.lint.findings import OLDEST_RELEASE, Profile, Release, Target
from perdure.bpmn.lint.flow_graph import Graph
from perdure.bpmn.model import (
    Association,
    CallActivity,
    CompensationTrigger,
    Event,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
    Trigger,
)
from perdure.verb_contract import FlagContract

T = TypeVar("T")


class Room(msgspec.Struct, frozen=True):
    """A process or subprocess as a place that holds nodes; `id` is that of its owner."""

    id: str
    owner: Process | SubProcess
    process: Process
    parent: Room | None
    body: Scope

    def kind(self) -> str:
        return self.owner.kind if isinstance(self.owner, SubProcess) else "process"


class Index:
    """Everything a rule may ask of some processes of a model."""

    def __init__(
        self, model: Model, processes: Iterable[Process], profile: Profile, target: Target, contract: Contract | None,
        others: Iterable[str] = (), knows_all: bool = False, release: Release = OLDEST_RELEASE,
    ) -> None:  # fmt: skip
        self.model, self.profile, self.target, self.contract = model, profile, target, contract
        self.written: Model = model
        """The model as its author wrote it; another than `model` in the contract profile, which is compiled first."""
        self.is_strict = False
        self.notes: dict[str, Any] = {}
        """What rules have looked up once for all of them."""
        self.policies: PolicyCatalogue | None = None
        self.definitions = model.definitions
        self.processes = tuple(processes)
        self.others = frozenset((*others, *(contract.processes if contract is not None else ())))
        self.knows_all = knows_all
        self.release = release
        self.messages = {each.id: each for each in model.definitions.messages}
        self.signals = {each.id: each for each in model.definitions.signals}
        self.errors = {each.id: each for each in model.definitions.errors}
        self.escalations = {each.id: each for each in model.definitions.escalations}
        self.rooms: list[Room] = []
        self.nodes: dict[str, Node] = {}
        self.flows: dict[str, Flow] = {}
        self.associations: list[Association] = []
        self.room_of: dict[str, Room] = {}
        self.boundaries: dict[str, list[Event]] = defaultdict(list)
        self._incoming: dict[str, list[Flow]] = defaultdict(list)
        self._outgoing: dict[str, list[Flow]] = defaultdict(list)
        for process in self.processes:
            self._add(process)
        if model.definitions.collaboration is not None:
            self.associations.extend(model.definitions.collaboration.associations)

    def _add(self, process: Process) -> None:
        waiting = [Room(process.id, process, process, None, process.body)]
        while waiting:
            room = waiting.pop()
            self.rooms.append(room)
            self._furnish(room)
            inner = [node for node in room.body.nodes if isinstance(node, SubProcess)]
            waiting.extend(Room(node.id, node, process, room, node.body) for node in reversed(inner))

    def _furnish(self, room: Room) -> None:
        for node in room.body.nodes:
            self.nodes[node.id] = node
            self.room_of[node.id] = room
            if isinstance(node, Event) and node.position == "boundary":
                self.boundaries[node.attached_to].append(node)
        for flow in room.body.flows:
            self.flows[flow.id] = flow
            self.room_of[flow.id] = room
            self._incoming[flow.target].append(flow)
            self._outgoing[flow.source].append(flow)
        self.associations.extend(room.body.associations)

    def incoming(self, id: str) -> list[Flow]:
        return self._incoming.get(id, [])

    def outgoing(self, id: str) -> list[Flow]:
        return self._outgoing.get(id, [])

    def tasks(self, *kinds: str) -> Iterator[Task]:
        return (node for node in self.each(Task) if not kinds or node.kind in kinds)

    def gateways(self, *kinds: str) -> Iterator[Gateway]:
        return (node for node in self.each(Gateway) if not kinds or node.kind in kinds)

    def events(self, *positions: str) -> Iterator[Event]:
        return (node for node in self.each(Event) if not positions or node.position in positions)

    def subprocesses(self, *kinds: str) -> Iterator[SubProcess]:
        return (node for node in self.each(SubProcess) if not kinds or node.kind in kinds)

    def activities(self) -> Iterator[Task | SubProcess | CallActivity]:
        return (node for node in self.nodes.values() if isinstance(node, (Task, SubProcess, CallActivity)))

    def each(self, kind: type[T]) -> Iterator[T]:
        return (node for node in self.nodes.values() if isinstance(node, kind))

    def triggers(self, kind: type[T], *positions: str) -> Iterator[tuple[Event, T]]:
        """Events with a trigger of this kind, each with the trigger."""
        for event in self.events(*positions):
            for trigger in event.triggers:
                if isinstance(trigger, kind):
                    yield event, trigger

    def starts(self, room: Room) -> list[Event]:
        return [node for node in room.body.nodes if isinstance(node, Event) and node.position == "start"]

    def has_start(self, room: Room) -> bool:
        """Whether it is said where a token begins."""
        return bool(self.starts(room)) or any(map(self.is_instantiating, room.body.nodes))

    def starting_catches(self) -> Iterator[Event]:
        """Catching events behind event gateways that start instances: they start them as start events do."""
        for gateway in self.gateways("event"):
            for flow in self.outgoing(gateway.id) if gateway.is_instantiating else ():
                target = self.nodes.get(flow.target)
                if isinstance(target, Event):
                    yield target

    def calls(self) -> Iterator[tuple[Task | Event, str]]:
        """Nodes that call a verb, each with the verb's name."""
        for task in self.tasks("service", "send", "business_rule"):
            if task.type:
                yield task, task.type
        for event in self.events("throw", "end"):
            if event.type:
                yield event, event.type

    def intakes(self) -> Iterator[tuple[Node, str]]:
        """Waits that name an intake verb, each with the verb's name."""
        for node in self.nodes.values():
            if node.properties.get("intake"):
                yield node, node.properties["intake"]

    def handlers_of(self, event: Event) -> list[Node]:
        """The compensation handlers a boundary event is joined to, whichever way the association is drawn."""
        return [self.nodes[id] for id in self._joined.get(event.id, ()) if id in self.nodes]

    def message_name(self, id: str) -> str:
        return self.messages[id].name if id in self.messages else ""

    @cached_property
    def _joined(self) -> dict[str, list[str]]:
        joined: dict[str, list[str]] = defaultdict(list)
        for association in self.associations:
            joined[association.source].append(association.target)
            joined[association.target].append(association.source)
        return joined

    @cached_property
    def compensates(self) -> dict[str, list[str]]:
        """The compensation boundary events each handler is joined to."""
        found: dict[str, list[str]] = defaultdict(list)
        for event, _ in self.triggers(CompensationTrigger, "boundary"):
            for handler in self.handlers_of(event):
                found[handler.id].append(event.id)
        return found

    @cached_property
    def event_starts(self) -> dict[str, list[Event]]:
        """For each scope, the start events of the event subprocesses directly in it."""
        found: dict[str, list[Event]] = defaultdict(list)
        for room in self.rooms:
            if room.parent is not None and room.kind() == "event":
                found[room.parent.id].extend(self.starts(room))
        return found

    @cached_property
    def verbs(self) -> dict[str, VerbContract]:
        """The verbs of the contract by name, under one spelling."""
        return {} if self.contract is None else {same_name(verb.name): verb for verb in self.contract.verbs}

    @cached_property
    def flags(self) -> dict[str, FlagContract]:
        return {} if self.contract is None else {flag.name: flag for flag in self.contract.flags}

    @cached_property
    def graph(self) -> Graph:
        return Graph.of(self)

    def is_apart(self, node: Node) -> bool:
        """Whether a node is not reached by sequence flows: handlers, event subprocesses, what is free in an ad-hoc."""
        if isinstance(node, (Task, SubProcess, CallActivity)) and node.is_for_compensation:
            return True
        if isinstance(node, SubProcess) and node.kind == "event":
            return True
        return self.room_of[node.id].kind() == "ad_hoc"

    def is_instantiating(self, node: Node) -> bool:
        return isinstance(node, (Task, Gateway)) and node.is_instantiating


def transaction_around(room: Room) -> Room | None:
    """The nearest transaction that a room is, or is inside of."""
    around: Room | None = room
    while around is not None and around.kind() != "transaction":
        around = around.parent
    return around


def triggers_of(node: Node, kind: type[T]) -> list[T]:
    triggers: tuple[Trigger, ...] = node.triggers if isinstance(node, Event) else ()
    return [trigger for trigger in triggers if isinstance(trigger, kind)]


def is_named(text: str) -> bool:
    return bool(text.strip())
