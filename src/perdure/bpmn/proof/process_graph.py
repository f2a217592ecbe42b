"""The process as a graph with masks: what each element may read, write and stop, and what lives behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from perdure.bpmn.conditions.tree import Condition, flags_of
from perdure.bpmn.machine.call_activity_flags import returned
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.model import (
    CallActivity,
    CancelTrigger,
    CompensationTrigger,
    ConditionalTrigger,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    Flow,
    Gateway,
    LinkTrigger,
    MessageTrigger,
    MultiInstance,
    Node,
    Scope,
    SignalTrigger,
    StandardLoop,
    SubProcess,
    Task,
    TerminateTrigger,
    TimerTrigger,
    Trigger,
)
from perdure.bpmn.proof.verb_effects import ANY_CODE, Environment, intake_of, verb_of

WORK = ("service", "send", "script", "business_rule")
UNDOES = (CompensationTrigger, CancelTrigger)
DONE = "done"
"""A flag of our own: what has completed and could be undone. Written by such activities, read by compensation."""


class Part(msgspec.Struct):
    """One element. Masks have one bit per flag; `after` and `live` are what may be read before it is written again."""

    id: str
    node: Node
    scope: str
    bit: int
    ins: list[Flow]
    outs: list[Flow]
    targets: list[str]
    boundaries: list[str]
    entry: int = 0
    """Flags read when it is entered and while it is active."""
    exit: int = 0
    """Flags read by the flows that leave it."""
    writes: int = 0
    live: int = 0
    inner: int = 0
    """Bits of every element inside it."""
    inner_reads: int = 0
    inner_writes: int = 0
    kills: bool = False
    """It may stop more than its own token, or undo."""
    rests: bool = False
    """A token surely stops here."""

    @property
    def join(self) -> str:
        """`parallel`, `inclusive`, `complex` when several flows lead into such a gateway; else empty."""
        is_join = isinstance(self.node, Gateway) and (len(self.ins) > 1 or self.node.kind == "complex")
        return self.node.kind if is_join and self.node.kind in ("parallel", "inclusive", "complex") else ""  # type: ignore[union-attr]

    @property
    def reads(self) -> int:
        return self.entry | self.exit


class Outline:
    """Every element of a process by id, the scopes they are in, and what is live where."""

    def __init__(self, plan: Plan, flags: Iterable[str], environment: Environment) -> None:
        self.plan = plan
        self.process = process = plan.deployed.process
        self.bits = {name: 1 << at for at, name in enumerate((*sorted(flags), DONE))}
        self.everything = sum(bit for name, bit in self.bits.items() if name != DONE)
        self.environment = environment
        self.parts: dict[str, Part] = {}
        self.members: dict[str, list[str]] = {}
        self.handlers: dict[str, list[str]] = {}
        """Event subprocesses by the scope they are in."""
        self.undoable: set[str] = set()
        self._before: dict[str, frozenset[str]] = {}
        self._read_scope(process.id, process.body)
        self._sum_up()
        self._settle()
        self.always = self._undo_reads()
        self.is_undone = self._is_undone()
        """Whether compensation ever happens."""
        self.undo_writes = self._undo_writes()
        self.is_tame = self._is_tame()
        """Whether tokens meet only where flows do: no signal thrown to ourselves, no gateway that counts."""
        self.single = self._single()
        """Elements that tokens reach without an event that lets the first one stand: one at a time is meant there."""
        self.merges = self._merges()
        """Elements where flows meet and nothing waits, with the flows by which one token at a time is meant to come."""
        self._aside: dict[str, frozenset[str]] = {}

    def mask(self, names: Iterable[str]) -> int:
        return sum({self.bits[name] for name in names if name in self.bits})

    def upstream(self, gateway: str) -> frozenset[str]:
        """From where a token may still reach a gateway."""
        if gateway not in self._before:
            found: frozenset[str] = frozenset()
            self._before[gateway] = found.union(*self.plan.upstream(gateway).values())
        return self._before[gateway]

    def starts(self, scope: str) -> list[str]:
        """Where tokens of a scope begin."""
        return [id for id in self.members[scope] if self._begins(self.parts[id])]

    def ancestors(self, id: str) -> Iterator[str]:
        """The scopes around an element, innermost first."""
        part = self.parts.get(id)
        while part is not None:
            yield part.scope
            part = self.parts.get(part.scope)

    def hold(self, scope: str) -> int:
        """What may be read because a scope is active: by its event subprocesses and boundary events."""
        found = self.always
        for handler in self.handlers.get(scope, ()):
            found |= self.parts[handler].live
        if (part := self.parts.get(scope)) is not None:
            found |= part.entry | self._scope_after(scope)
            for id in part.boundaries:
                found |= self.parts[id].live
        return found

    def _begins(self, part: Part) -> bool:
        node = part.node
        if isinstance(node, Event):
            return node.position == "start" or (node.position == "catch" and not part.ins and not _links(node))
        if isinstance(node, SubProcess) and node.kind == "event":
            return False
        is_undo = isinstance(node, Task | SubProcess | CallActivity) and node.is_for_compensation
        return not part.ins and not is_undo

    def _read_scope(self, id: str, body: Scope) -> None:
        self.members[id] = [node.id for node in body.nodes]
        for node in body.nodes:
            self.parts[node.id] = Part(node.id, node, id, 1 << len(self.parts), [], [], [], [])
        links = {trigger.name: node.id for node in body.nodes if isinstance(node, Event) and node.position == "catch"
                 for trigger in node.triggers if isinstance(trigger, LinkTrigger)}  # fmt: skip
        for flow in body.flows:
            if flow.source in self.parts and flow.target in self.parts:
                self.parts[flow.source].outs.append(flow)
                self.parts[flow.source].targets.append(flow.target)
                self.parts[flow.target].ins.append(flow)
        for node in body.nodes:
            self._read_node(id, node, links)
        self.undoable.update(node.id for node in body.nodes if self.plan.spots[node.id].handler)

    def _read_node(self, scope: str, node: Node, links: dict[str, str]) -> None:
        part = self.parts[node.id]
        part.rests = _rests(node)
        part.exit = self._conditions(flow.condition for flow in part.outs)
        part.writes = self._writes(node)
        part.entry = self._conditions(own_conditions(node)) | self.mask(_own_flags(node))
        match node:
            case Event():
                is_thrown = node.position in ("throw", "end")
                part.kills = is_thrown and any(_kills(trigger) for trigger in node.triggers)
                if is_thrown and any(isinstance(each, UNDOES) for each in node.triggers):
                    part.entry |= self.bits[DONE]
                if node.attached_to in self.parts:
                    self.parts[node.attached_to].boundaries.append(node.id)
                part.targets += _linked(node, links)
            case SubProcess():
                if node.kind == "event":
                    self.handlers.setdefault(scope, []).append(node.id)
                self._read_scope(node.id, node.body)
            case _:
                pass

    def _writes(self, node: Node) -> int:
        if isinstance(node, Gateway) or (isinstance(node, Event) and not node.triggers):
            return 0
        if isinstance(node, Event) and node.position in ("throw", "end"):
            return self._written(node.type) if node.type else 0
        if isinstance(node, CallActivity):
            return self._returned(node)
        if isinstance(node, SubProcess):
            return 0
        if isinstance(node, Event) and not any(isinstance(t, MessageTrigger | SignalTrigger) for t in node.triggers):
            return 0
        if isinstance(node, Task) and node.kind in ("none", "manual"):
            return 0
        is_work = isinstance(node, Task) and node.kind in WORK
        return self._written(verb_of(node) if is_work else intake_of(node))

    def _written(self, verb: str) -> int:
        names = self.environment.written(verb)
        found = self.everything if names is None else self.mask(names)
        return found | (self.bits[DONE] if verb in self.plan.deployed.compensation else 0)

    def _returned(self, call: CallActivity) -> int:
        written, names = self._written(call.process), returned(call)
        return written if names is None else written & (self.mask(names) | self.bits[DONE])

    def _conditions(self, conditions: Iterable[Condition | None]) -> int:
        return self.mask({name for each in conditions if each is not None for name in flags_of(each)})

    def _sum_up(self) -> None:
        for part in reversed(list(self.parts.values())):
            if part.id in self.undoable:
                part.writes |= self.bits[DONE]
            for id in self.members.get(part.id, ()):
                below = self.parts[id]
                part.inner |= below.bit | below.inner
                part.inner_reads |= below.reads | below.inner_reads
                part.inner_writes |= below.writes | below.inner_writes

    def _settle(self) -> None:
        moved = True
        while moved:
            moved = False
            for part in reversed(list(self.parts.values())):
                live = self._live(part)
                if live != part.live:
                    part.live, moved = live, True

    def _live(self, part: Part) -> int:
        found = part.entry | ((part.exit | self.after(part)) & ~self.kill(part))
        for id in (*part.boundaries, *(self.starts(part.id) if part.id in self.members else ())):
            found |= self.parts[id].live
        for handler in self.handlers.get(part.id, ()):
            found |= self.parts[handler].live
        return found

    def kill(self, part: Part) -> int:
        """Flags that are surely written anew when it succeeds; what repeats may end without having done so."""
        repeats = isinstance(part.node, Task | CallActivity) and part.node.repeat is not None
        return 0 if repeats else part.writes & ~self.bits[DONE]

    def after(self, part: Part) -> int:
        """What may be read behind an element before it is written again."""
        if not part.targets:
            return self._scope_after(part.scope)
        found = 0
        for id in part.targets:
            found |= self.parts[id].live
        return found

    def _scope_after(self, scope: str) -> int:
        part = self.parts.get(scope)
        return 0 if part is None else part.entry | part.exit | self.after(part)

    def _undo_reads(self) -> int:
        """Flags read by handlers of compensation that are processes themselves: they may run at any time."""
        found = 0
        for part in self.parts.values():
            if isinstance(part.node, SubProcess) and part.node.is_for_compensation:
                found |= part.inner_reads
        return found

    def caught(self, element: str) -> tuple[str, ...]:
        """The codes of the errors that are caught around an element."""
        found = [each.error for each in self._heard(element) if isinstance(each, ErrorTrigger)]
        return tuple(sorted({ANY_CODE if self._is_any(error) else self.plan.error_code(error) for error in found}))

    def escalated(self, element: str) -> tuple[str, ...]:
        """The codes of the escalations that are caught around an element."""
        found = [each.escalation for each in self._heard(element) if isinstance(each, EscalationTrigger)]
        named = [self.plan.escalations.get(each) for each in found]
        return tuple(sorted({each.code if each and each.code not in ("", "*") else ANY_CODE for each in named}))

    def _heard(self, element: str) -> list[Trigger]:
        """What boundary events and event subprocesses around an element listen to."""
        events: list[Event] = []
        inside = element
        for id in (element, *self.ancestors(element)):
            part = self.parts.get(id)
            events += [self.parts[each].node for each in part.boundaries] if part is not None else []  # type: ignore[misc]
            if id != element and not self._takes_over(inside):
                events += [start for sub, start in self.plan.areas[id].subs if sub.id != inside]
            inside = id
        return [trigger for event in events for trigger in event.triggers]

    def _takes_over(self, id: str) -> bool:
        """Whether this is an event subprocess that stops the scope around it: its others no longer listen then."""
        node = self.parts[id].node
        is_handler = isinstance(node, SubProcess) and node.kind == "event"
        return is_handler and any(self._interrupts(each) for each in self.starts(id))

    def _is_any(self, error: str) -> bool:
        named = self.plan.errors.get(error)
        return named is None or named.code in ("", "*")

    def _is_undone(self) -> bool:
        throws = any(
            isinstance(trigger, UNDOES) and part.node.position in ("throw", "end")
            for part in self.parts.values()
            if isinstance(part.node, Event)
            for trigger in part.node.triggers
        )
        return throws or (self.plan.can_undo and any(self._may_escape(part) for part in self.parts.values()))

    def _may_escape(self, part: Part) -> bool:
        """Whether an error of this element may be caught nowhere."""
        node = part.node
        verbs = (node.process,) if isinstance(node, CallActivity) else (verb_of(node), intake_of(node))
        raised = {code for verb in verbs if verb for code in self.environment.raised(verb) or ()}
        caught = self.caught(part.id)
        return bool(raised - set(caught)) and ANY_CODE not in caught

    def _undo_writes(self) -> int:
        """Flags written while undoing: only then does the order of what was done matter."""
        if not self.is_undone:
            return 0
        found = 0
        for verb in self.plan.deployed.compensation.values():
            found |= self._written(verb)
        for part in self.parts.values():
            if isinstance(part.node, Task | SubProcess | CallActivity) and part.node.is_for_compensation:
                found |= part.writes | part.inner_writes
        return found & self.everything

    def _is_tame(self) -> bool:
        thrown: set[str] = set()
        heard: set[str] = set()
        for part in self.parts.values():
            if part.join == "complex":
                return False
            if isinstance(part.node, Event):
                names = {each.signal for each in part.node.triggers if isinstance(each, SignalTrigger)}
                (thrown if part.node.position in ("throw", "end") else heard).update(names)
        return not thrown & heard

    def aside(self, event: str) -> frozenset[str]:
        """Elements that only tokens of an event that lets its activity stand reach, itself included."""
        if event not in self._aside:
            found = self._reach([event], interrupts_only=False)
            self._aside[event] = frozenset({event, *(found - self.single)})
        return self._aside[event]

    def _single(self) -> frozenset[str]:
        starts = [id for scope in self.members for id in self.starts(scope)]
        return frozenset(self._reach(starts, interrupts_only=True))

    def _merges(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for part in self.parts.values():
            flows = [flow.id for flow in part.ins if flow.source in self.single]
            is_end = isinstance(part.node, Event) and part.node.position == "end" and not part.node.triggers
            if len(flows) > 1 and not (part.join or part.rests or is_end or self._is_ad_hoc(part.scope)):
                found[part.id] = frozenset(flows)
        return found

    def _is_ad_hoc(self, scope: str) -> bool:
        """Whether activities are meant to run side by side there."""
        node = self.parts[scope].node if scope in self.parts else None
        return isinstance(node, SubProcess) and node.kind == "ad_hoc"

    def _reach(self, waiting: list[str], interrupts_only: bool) -> set[str]:
        found: set[str] = set()
        while waiting:
            id = waiting.pop()
            if id not in found:
                found.add(id)
                part = self.parts[id]
                waiting += part.targets
                waiting += [each for each in part.boundaries if not interrupts_only or self._interrupts(each)]
        return found

    def _interrupts(self, id: str) -> bool:
        node = self.parts[id].node
        return isinstance(node, Event) and node.is_interrupting

    def alive(self, element: str, kind: str) -> int:
        """What may be read because a token stands on an element."""
        part = self.parts.get(element)
        if part is None or kind == "scope":
            return self.hold(element) | (0 if part is None else part.live)
        # Whoever arrives last at a parallel join reads what is behind it, and knows so by its own place.
        return 0 if kind == "join" and part.join == "parallel" else part.live


def own_conditions(node: Node) -> Iterator[Condition | None]:
    if isinstance(node, Task | SubProcess | CallActivity):
        match node.repeat:
            case StandardLoop():
                yield node.repeat.condition
            case MultiInstance():
                yield node.repeat.completion
    if isinstance(node, SubProcess):
        yield node.completion
    if isinstance(node, Gateway):
        yield node.activation
    if isinstance(node, Event):
        yield from (trigger.condition for trigger in node.triggers if isinstance(trigger, ConditionalTrigger))


def _own_flags(node: Node) -> Iterator[str]:
    """Flags whose value an element takes up when it is entered."""
    repeat = node.repeat if isinstance(node, Task | SubProcess | CallActivity) else None
    if isinstance(repeat, MultiInstance) and repeat.cardinality.kind == "flag":
        yield repeat.cardinality.text
    if isinstance(node, Event):
        yield from (t.value.text for t in node.triggers if isinstance(t, TimerTrigger) and t.value.kind == "flag")


def _rests(node: Node) -> bool:
    match node:
        case Task():
            is_wait = node.kind in ("user", "receive") or (node.kind in WORK and bool(node.type))
            return is_wait and node.repeat is None
        case CallActivity():
            return node.repeat is None
        case Gateway():
            return node.kind == "event"
        case Event():
            waits = (MessageTrigger, TimerTrigger, SignalTrigger)
            is_wait = node.position == "catch" and all(isinstance(each, waits) for each in node.triggers)
            takes_in = node.position in ("boundary", "start") and bool(intake_of(node))
            sends = node.position in ("throw", "end") and bool(node.type)
            return bool(is_wait and node.triggers) or takes_in or sends
        case _:
            return False


def _kills(trigger: object) -> bool:
    return isinstance(
        trigger, ErrorTrigger | EscalationTrigger | CompensationTrigger | CancelTrigger | TerminateTrigger
    )


def _links(node: Event) -> bool:
    return any(isinstance(trigger, LinkTrigger) for trigger in node.triggers)


def _linked(node: Event, links: dict[str, str]) -> list[str]:
    """Where a link event leads."""
    names = [trigger.name for trigger in node.triggers if isinstance(trigger, LinkTrigger)]
    return [links[name] for name in names if name in links and node.position == "throw"]
