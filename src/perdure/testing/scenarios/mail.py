"""Messages and signals of the pure world: who waits for them, what is kept for later, what they start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.plan import Plan
from perdure.bpmn.machine.process import ArmedStart, first_time, next_time
from perdure.bpmn.machine.state import ENDED, Instance, Watch
from perdure.cron import next_cron
from perdure.errors import RejectedError
from perdure.sources import Micros
from perdure.testing.scenarios.heads import Heads

WORKER = 1


class Letter(NamedTuple):
    """A message or signal on its way; kept until it expires when nobody waits for it."""

    name: str
    key: str
    id: str
    expires: Micros
    data: Mapping[str, Any] = MappingProxyType({})
    flags: Mapping[str, str | bool | int] = MappingProxyType({})
    sender: bytes = b""
    writer: str = ""


class Board(Protocol):
    """What mail needs of its world."""

    @property
    def now(self) -> Micros: ...
    @property
    def instances(self) -> dict[bytes, Instance]: ...
    @property
    def latest(self) -> dict[str, tuple[Plan, int]]: ...
    @property
    def heads(self) -> Heads: ...
    def command(self, id: bytes, command: Any, by: str = "") -> None: ...
    def begin(self, process: str, by: str = "", **given: Any) -> bytes: ...


class Mail:
    def __init__(self, board: Board) -> None:
        self._board = board
        self._seen: set[tuple[str, ...]] = set()
        self._kept: list[Letter] = []
        self._timers: list[_Timer] = []

    def publish(self, letter: Letter) -> str:
        """What became of a message: correlated, started, buffered, no_subscription, ambiguous or duplicate."""
        known = ("message", letter.name, letter.key, letter.id)
        if known in self._seen:
            return "duplicate"
        outcome = self._route(letter)
        if outcome not in ("no_subscription", "ambiguous"):  # a dead letter may be sent again
            self._seen.add(known)
        return outcome

    def _route(self, letter: Letter) -> str:
        waits = list(_waits(self._board.instances, "message", letter.name, letter.key))
        if len({id for id, _ in waits}) > 1:
            return "ambiguous"
        if waits:
            self._correlate(*waits[0], letter)
            return "correlated"
        if self._start("message", letter):
            return "started"
        if letter.expires > self._board.now:
            self._kept.append(letter)
            return "buffered"
        return "no_subscription"

    def broadcast(self, letter: Letter) -> int:
        """A signal reaches everyone who waits, and every process that starts with it."""
        known = ("signal", letter.name, letter.id)
        if known in self._seen:
            return 0
        self._seen.add(known)
        waits = list(_waits(self._board.instances, "signal", letter.name, ""))
        for id, watch in waits:
            # Its own instance has heard a signal when it threw it.
            if id != letter.sender and watch.number in self._board.instances[id].watches:
                self._correlate_or_lose(id, watch, letter)
        return len(waits) + self._start("signal", letter)

    def opened(self, id: bytes) -> None:
        """Waits have opened: messages kept for any of them are given to them, the oldest first."""
        for letter in list(self._kept):
            own = {id: self._board.instances[id]}
            wait = next(_waits(own, "message", letter.name, letter.key), None)
            if wait is not None and letter in self._kept and letter.expires > self._board.now:
                self._kept.remove(letter)
                self._correlate_or_lose(*wait, letter)

    def _correlate_or_lose(self, id: bytes, watch: Watch, letter: Letter) -> None:
        """One that is refused what it brings is a dead letter: nobody is there to be told."""
        with suppress(RejectedError):
            self._correlate(id, watch, letter)

    def _correlate(self, id: bytes, watch: Watch, letter: Letter) -> None:
        head = self._board.heads.merged(self._board.instances[id].head, dict(letter.data)) if letter.data else b""
        command = c.Correlate(
            watch=watch.number, message_id=letter.id, head=head, flags=dict(letter.flags), writer=letter.writer,
            worker=WORKER,
        )  # fmt: skip
        self._board.command(id, command)

    def _start(self, kind: str, letter: Letter) -> int:
        count = 0
        for process, (plan, _) in list(self._board.latest.items()):
            for element, name in _starts(plan, kind):
                if name == letter.name:
                    head = self._board.heads.keep(dict(letter.data))
                    self._board.begin(process, start=element, message_id=letter.id, flags=dict(letter.flags), head=head)
                    count += 1
        return count

    # --- start timers -----------------------------------------------------------------------------------------

    def deployed(self) -> None:
        """Arms the start timers of the latest versions."""
        self._timers = [
            timer
            for process, (plan, _) in self._board.latest.items()
            for timer in _timers(plan, process, self._board.now)
        ]

    def due_starts(self) -> Iterator[Micros]:
        yield from (timer.due for timer in self._timers)

    def fire_starts(self) -> bool:
        """Begins the first instance that is due."""
        due = sorted(timer for timer in self._timers if timer.due <= self._board.now)
        if not due:
            return False
        timer = due[0]
        self._timers.remove(timer)
        if timer.cycle:
            armed = ArmedStart(0, 0, timer.due, timer.left, timer.since)
            again, left = next_time(timer.cycle, armed, self._board.now, next_cron)
            if again:
                self._timers.append(timer._replace(due=again, left=left))
        self._board.begin(timer.process, start=timer.element, message_id=f"start:{timer.due}")
        return True


class _Timer(NamedTuple):
    due: Micros
    process: str
    element: str
    cycle: str
    left: int
    since: Micros


def _timers(plan: Plan, process: str, now: Micros) -> Iterator[_Timer]:
    for node in plan.deployed.process.body.nodes:
        if isinstance(node, m.Event) and node.position == "start":
            for trigger in node.triggers:
                if isinstance(trigger, m.TimerTrigger):
                    due, left = first_time(trigger.kind, trigger.value.text, now, next_cron)
                    if due:
                        cycle = trigger.value.text if trigger.kind == "cycle" else ""
                        yield _Timer(due, process, node.id, cycle, left, now)


def _starts(plan: Plan, kind: str) -> Iterator[tuple[str, str]]:
    """Start events and instantiating tasks of a process that this kind of thing starts, with the name it has."""
    for node in plan.deployed.process.body.nodes:
        if isinstance(node, m.Event) and node.position == "start":
            yield from _triggers(plan, node, kind)
        if kind == "message" and isinstance(node, m.Task) and node.is_instantiating and node.kind == "receive":
            yield node.id, plan.message_name(node.message)
        if isinstance(node, m.Gateway) and node.is_instantiating:
            for flow in plan.spots[node.id].out:
                yield from _arms(plan, plan.spots[flow.target].node, kind)


def _arms(plan: Plan, node: m.Node, kind: str) -> Iterator[tuple[str, str]]:
    """What starts an instance behind an event-based gateway."""
    if isinstance(node, m.Task) and kind == "message" and node.kind == "receive":
        yield node.id, plan.message_name(node.message)
    if isinstance(node, m.Event):
        yield from _triggers(plan, node, kind)


def _triggers(plan: Plan, event: m.Event, kind: str) -> Iterator[tuple[str, str]]:
    for trigger in event.triggers:
        if kind == "message" and isinstance(trigger, m.MessageTrigger):
            yield event.id, plan.message_name(trigger.message)
        if kind == "signal" and isinstance(trigger, m.SignalTrigger):
            yield event.id, plan.signal_name(trigger.signal)


def _waits(instances: Mapping[bytes, Instance], kind: str, name: str, key: str) -> Iterator[tuple[bytes, Watch]]:
    for id, state in instances.items():
        if state.status in ENDED or state.status == "suspended":
            continue
        for watch in state.watches.values():
            if watch.kind == kind and watch.name == name and watch.key == key and not watch.is_met:
                yield id, watch
