"""A deployed process arranged for running: every look-up the token game makes is one step here."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.bpmn.machine.state import Job
from perdure.bpmn.task_properties import NO_RULES, TaskRules, rules_of
from perdure.verb_contract import FlagContract, RetryPolicy


class Spot(msgspec.Struct, kw_only=True):
    """A node of the model with its surroundings. `area` is the id of the scope it stands in."""

    node: m.Node
    id: str
    area: str
    out: tuple[m.Flow, ...] = ()
    into: tuple[m.Flow, ...] = ()
    boundaries: tuple[m.Event, ...] = ()
    """Boundary events attached to it, in the order of the file; those for compensation are left out."""
    handler: str = ""
    """The activity that undoes it, by the association of its compensation event."""
    intake: str = ""
    default: str = ""
    is_plain: bool = False
    """Every flow out of it is taken: none has a condition, and there is no default."""
    is_event_subprocess: bool = False
    rules: TaskRules = NO_RULES
    """Four eyes and the ladder of a user task."""


class Area(msgspec.Struct, kw_only=True):
    """The process or a subprocess as a scope."""

    id: str
    nodes: tuple[m.Node, ...]
    starts: tuple[str, ...]
    """Where tokens begin: none start events, or, without any, what nothing leads to."""
    subs: tuple[tuple[m.SubProcess, m.Event], ...]
    """Event subprocesses, each with its start event."""
    undo: str = ""
    """The event subprocess that compensates this scope as a whole."""


class Plan:
    """Read-only once made; shared by all instances of the definition."""

    def __init__(self, deployed: Deployed, hash: bytes) -> None:
        self.deployed = deployed
        self.hash = hash
        self.process = deployed.process.id
        self.spots: dict[str, Spot] = {}
        self.areas: dict[str, Area] = {}
        self.messages = {each.id: each for each in deployed.messages}
        self.signals = {each.id: each for each in deployed.signals}
        self.errors = {each.id: each for each in deployed.errors}
        self.escalations = {each.id: each for each in deployed.escalations}
        self.contracts: dict[str, FlagContract] = {each.name: each for each in deployed.flags}
        self.most_moves = 0
        """How many moves one command may cause; 0 for as many as the game allows."""
        self.links: dict[tuple[str, str], str] = {}
        self._into: dict[str, dict[str, frozenset[str]]] = {}
        self._flows_into: dict[str, dict[str, frozenset[str]]] = {}
        self._joined = _joined(deployed.process.body)
        self._add(self.process, deployed.process.body)
        self.can_undo = bool(deployed.compensation) or any(spot.handler for spot in self.spots.values())
        self.remembers = self.can_undo or any(area.undo for area in self.areas.values())
        """Whether anything of it can be undone later."""
        self.ripens = any(_ripens(spot.node) for spot in self.spots.values())
        """Whether a join may go on because of what happened elsewhere."""
        self.summed = tuple(contract.name for contract in deployed.flags if contract.merge == "sum")
        self._definitions = {type: _short(binding) for type, binding in deployed.bindings.items()}
        self._hashes = {type: _hash(binding) for type, binding in deployed.bindings.items()}

    def _add(self, id: str, body: m.Scope) -> None:
        out = _grouped(body.flows, "source")
        into = _grouped(body.flows, "target")
        boundaries: dict[str, list[m.Event]] = {}
        handlers: dict[str, str] = {}
        activities = {node.id for node in body.nodes if isinstance(node, m.Activity)}
        for event in (node for node in body.nodes if isinstance(node, m.Event) and node.position == "boundary"):
            if not _undoes(event):
                boundaries.setdefault(event.attached_to, []).append(event)
            for joined in self._joined.get(event.id, ()) if _undoes(event) else ():
                if joined in activities:
                    handlers.setdefault(event.attached_to, joined)
        for node in body.nodes:
            flows, default = out.get(node.id, ()), getattr(node, "default", "")
            self.spots[node.id] = Spot(
                node=node, id=node.id, area=id, out=flows, into=into.get(node.id, ()),
                boundaries=tuple(boundaries.get(node.id, ())), handler=handlers.get(node.id, ""),
                intake=node.properties.get("intake", ""), rules=rules_of(node.properties), default=default,
                is_plain=not default and all(each.condition is None for each in flows),
                is_event_subprocess=isinstance(node, m.SubProcess) and node.kind == "event",
            )  # fmt: skip
            if isinstance(node, m.Event) and node.position == "catch":
                for trigger in node.triggers:
                    if isinstance(trigger, m.LinkTrigger):
                        self.links[id, trigger.name] = node.id
        self.areas[id] = _area(id, body, into, frozenset(handlers.values()))
        for node in body.nodes:
            if isinstance(node, m.SubProcess):
                self._add(node.id, node.body)

    def initial_flags(self) -> dict[str, str | bool | int]:
        return {contract.name: contract.starting_value() for contract in self.deployed.flags}

    def binding(self, type: str) -> Binding | None:
        return self.deployed.bindings.get(type)

    def definition(self, type: str) -> int:
        """The first eight bytes of the bound verb's hash as a signed number; 0 when the type is not bound."""
        return self._definitions.get(type, 0)

    def definition_hash(self, type: str) -> bytes:
        """The content hash of the bound verb; empty when the type is not bound."""
        return self._hashes.get(type, b"")

    def type_of(self, element: str, job: Job) -> str:
        """The type of a job of an element: its task's, its intake's; one that undoes stays what was done calls for."""
        spot = self.spots.get(element)
        if spot is None or job.purpose == "undo":
            return job.type
        return spot.intake if job.purpose == "intake" else getattr(spot.node, "type", "")

    def policy(self, type: str, element: str) -> RetryPolicy:
        binding = self.deployed.bindings.get(type)
        policy = binding.retry if binding is not None else RetryPolicy()
        spot = self.spots.get(element)
        retries = getattr(spot.node, "retries", None) if spot is not None else None
        return policy if retries is None else msgspec.structs.replace(policy, max_attempts=max(1, retries))

    def error_code(self, id: str) -> str:
        error = self.errors.get(id)
        return (error.code or error.name or error.id) if error is not None else id

    def escalation_code(self, id: str) -> str:
        found = self.escalations.get(id)
        return (found.code or found.name or found.id) if found is not None else id

    def message_name(self, id: str) -> str:
        message = self.messages.get(id)
        return (message.name or message.id) if message is not None else id

    def signal_name(self, id: str) -> str:
        signal = self.signals.get(id)
        return (signal.name or signal.id) if signal is not None else id

    def upstream(self, gateway: str) -> dict[str, frozenset[str]]:
        """Per incoming flow of a gateway: from where a token may still reach it without passing the gateway."""
        known = self._into.get(gateway)
        if known is None:
            known = self._into[gateway] = {
                flow.id: frozenset(self._before(flow.source, gateway)) for flow in self.spots[gateway].into
            }
        return known

    def surely_upstream(self, gateway: str) -> dict[str, frozenset[str]]:
        """As upstream, by sequence flows alone: what a boundary event may add is no promise of the token's own way."""
        known = self._flows_into.get(gateway)
        if known is None:
            known = self._flows_into[gateway] = {
                flow.id: frozenset(self._before(flow.source, gateway, boundaries=False))
                for flow in self.spots[gateway].into
            }
        return known

    def _before(self, element: str, gateway: str, *, boundaries: bool = True) -> dict[str, None]:
        found: dict[str, None] = {}
        waiting = [element]
        while waiting:
            current = waiting.pop()
            if current == gateway or current in found:
                continue
            found[current] = None
            spot = self.spots[current]
            waiting.extend(flow.source for flow in spot.into)
            if isinstance(spot.node, m.Event):
                if boundaries and spot.node.position == "boundary":
                    waiting.append(spot.node.attached_to)
                waiting.extend(self._link_sources(spot))
        return found

    def _link_sources(self, spot: Spot) -> list[str]:
        node = spot.node
        if not isinstance(node, m.Event) or node.position != "catch":
            return []
        names = [trigger.name for trigger in node.triggers if isinstance(trigger, m.LinkTrigger)]
        if not names:
            return []
        return [
            other.id
            for other in self.areas[spot.area].nodes
            if isinstance(other, m.Event) and other.position == "throw"
            for trigger in other.triggers
            if isinstance(trigger, m.LinkTrigger) and trigger.name in names
        ]


def plan_of(deployed: Deployed, hash: bytes) -> Plan:
    """The plan of a deployed definition; `hash` is its content hash."""
    return Plan(deployed, hash)


def _hash(binding: Binding) -> bytes:
    return bytes.fromhex(binding.hash.removeprefix("sha256:"))


def _short(binding: Binding) -> int:
    return int.from_bytes(_hash(binding)[:8], "big", signed=True)


def _ripens(node: m.Node) -> bool:
    return isinstance(node, m.Gateway) and node.kind in ("inclusive", "complex")


def _joined(body: m.Scope) -> dict[str, list[str]]:
    """What each end of an association is joined to, whichever way it is drawn and wherever it stands in the file."""
    found: dict[str, list[str]] = {}
    for scope in m.scopes(body):
        for association in scope.associations:
            found.setdefault(association.source, []).append(association.target)
            found.setdefault(association.target, []).append(association.source)
    return found


def _undoes(event: m.Event) -> bool:
    return any(isinstance(trigger, m.CompensationTrigger) for trigger in event.triggers)


def _grouped(flows: Iterable[m.Flow], end: str) -> dict[str, tuple[m.Flow, ...]]:
    found: dict[str, list[m.Flow]] = {}
    for flow in flows:
        found.setdefault(getattr(flow, end), []).append(flow)
    return {id: tuple(each) for id, each in found.items()}


def _area(id: str, body: m.Scope, into: dict[str, tuple[m.Flow, ...]], handlers: frozenset[str]) -> Area:
    events = [node for node in body.nodes if isinstance(node, m.Event) and node.position == "start"]
    none = tuple(event.id for event in events if not event.triggers)
    subs = tuple(
        (node, start)
        for node in body.nodes
        if isinstance(node, m.SubProcess) and node.kind == "event"
        for start in node.body.nodes
        if isinstance(start, m.Event) and start.position == "start"
    )
    starts = none if events else tuple(node.id for node in body.nodes if _begins(node, into, handlers))
    undo = next((sub.id for sub, start in subs if _undoes(start)), "")
    return Area(id=id, nodes=body.nodes, starts=starts, subs=subs, undo=undo)


def _begins(node: m.Node, into: dict[str, tuple[m.Flow, ...]], handlers: frozenset[str]) -> bool:
    if node.id in into or node.id in handlers:
        return False
    if isinstance(node, m.Event):
        links = any(isinstance(trigger, m.LinkTrigger) for trigger in node.triggers)
        return node.position in ("catch", "throw", "end") and not (links and node.position == "catch")
    if isinstance(node, m.SubProcess) and node.kind == "event":
        return False
    return not (isinstance(node, m.Task | m.SubProcess | m.CallActivity) and node.is_for_compensation)
