"""A world without a store: the pure machine, a clock that is a number, and messages in memory. Thousands a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine
from typing import Any, TypeVar

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import entries as e
from perdure.bpmn.machine.calling import handed, only, returned
from perdure.bpmn.machine.machine import InstanceMachine
from perdure.bpmn.machine.places import place_of
from perdure.bpmn.machine.plan import Plan, plan_of
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.bpmn.model import CallActivity, Model
from perdure.cron import next_cron
from perdure.engines.embedded.calls import CANNOT_CALL, MAX_CALLS, shared_flags
from perdure.engines.embedded.changes import CALLER_SUSPENDED, is_held_by_caller
from perdure.engines.embedded.merging import nested
from perdure.engines.embedded.notices import TTL_SECONDS
from perdure.errors import InvariantBroken, MergeConflictError, RejectedError, Rejection
from perdure.journal import Origin, TimerRow
from perdure.sources import SECOND, Micros, id_text, parse_id
from perdure.spans import Span, later
from perdure.testing.clock import VirtualSources
from perdure.testing.scenarios import values as v
from perdure.testing.scenarios.checking import refusal_of
from perdure.testing.scenarios.deploying import contracts_of, definition_hash, deployed_from, misfits, promised_by
from perdure.testing.scenarios.heads import Heads
from perdure.testing.scenarios.intakes import Intakes
from perdure.testing.scenarios.mail import Letter, Mail
from perdure.testing.scenarios.playing import play
from perdure.testing.scenarios.pure_jobs import Jobs
from perdure.testing.scenarios.resting import Unrest
from perdure.testing.scenarios.stubs import Stubs
from perdure.testing.scenarios.trail import Trail
from perdure.testing.scenarios.world import Refusal

MAX_ROUNDS = 100_000
WORKER = 1
HEARD = (e.JobStarted, e.Armed, e.WatchMet, e.Thrown, e.InstanceEnded)
"""Entries after which something happens by itself."""
T = TypeVar("T")


def run_pure(scenario: v.Scenario, seed: int = 0) -> v.Outcome:
    """How the scenario goes on the machine alone."""
    return _driven(play(scenario, PureWorld(scenario, seed)))


def _driven(made: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never waits for anything."""
    try:
        made.send(None)
    except StopIteration as done:
        value: T = done.value
        return value
    raise InvariantBroken("play", "scenario", "pure", "it waited for something")


class PureWorld:
    """Everything here is decided by `InstanceMachine`; this only carries commands and what they throw about."""

    def __init__(self, scenario: v.Scenario, seed: int = 0) -> None:
        self._scenario = scenario
        self._clock = VirtualSources(seed)
        self._plans: dict[bytes, Plan] = {}
        self._latest: dict[str, tuple[Plan, int]] = {}
        self._machine = InstanceMachine(self._plans, next_cron)
        self._states: dict[bytes, Instance] = {}
        self._journal: dict[bytes, list[e.Entry]] = {}
        self._timers: dict[bytes, tuple[TimerRow, ...]] = {}
        self._starts: dict[str, Micros] = {}
        self._todo: deque[tuple[bytes, Any]] = deque()
        self._held: list[tuple[bytes, Any]] = []
        self._heads = Heads()
        self._mail = Mail(self)
        self._jobs = Jobs(self, Stubs(scenario.verbs), self._heads)
        self._origin = Origin()
        self._trail = Trail(Unrest(self._clock.now))
        self._intakes = Intakes()
        self._misfits: dict[str, v.Flags] = {}

    # --- what the parts of this world ask of it ---------------------------------------------------------------

    @property
    def trail(self) -> Trail:
        return self._trail

    @property
    def now(self) -> Micros:
        return self._clock.now()

    @property
    def instances(self) -> dict[bytes, Instance]:
        return self._states

    @property
    def latest(self) -> dict[str, tuple[Plan, int]]:
        """The plan and version that new instances of a process take."""
        return self._latest

    @property
    def heads(self) -> Heads:
        return self._heads

    def command(self, id: bytes, command: Any, by: str = "") -> None:
        """Decides at once; what is refused raises, what follows is done later."""
        origin = Origin(principal=by) if by else self._origin
        state = self._states.get(id)
        made = self._machine.decide(id, state, command, origin, self.now, self._clock.random())
        if isinstance(made, Rejection):
            raise RejectedError(made)
        after = made.state
        if after is None:
            after = state
            for entry in made.entries:
                after = self._machine.apply(after, entry)
        if after is None:
            return
        self._states[id] = after
        self._journal.setdefault(id, []).extend(made.entries)
        self._timers[id] = self._machine.rows(id, after).timers
        self.trail.saw(id, made.entries)
        self._todo.extend((id, entry) for entry in made.entries if isinstance(entry, HEARD))

    def begin(self, process: str, by: str = "", **given: Any) -> bytes:
        """A new instance of the latest version."""
        plan, version = self._newest(process)
        id = self._clock.new_id()
        head = given.pop("head", None) or self._heads.keep({})
        command = c.StartInstance(
            definition=plan.hash, process=process, process_version=version, head=head, worker=WORKER, **given
        )
        self.command(id, command, by)
        return id

    # --- a world ------------------------------------------------------------------------------------------------

    async def deploy(self, model: Model) -> Refusal | None:
        refusal = refusal_of(model, self._scenario, self._latest)
        if refusal is not None:
            return refusal
        contracts = contracts_of(model, self._scenario)
        self._intakes.learn(model.definitions)
        self._misfits |= misfits(self._scenario, model, contracts)
        self._jobs.learn(promised_by(contracts))
        for process in model.definitions.executable():
            deployed = deployed_from(model.definitions, process, self._scenario, contracts)
            plan = plan_of(deployed, definition_hash(deployed))
            version = self._latest[process.id][1] + 1 if process.id in self._latest else 1
            self._plans[plan.hash] = plan
            self._latest[process.id] = (plan, version)
        self._mail.deployed()
        return None

    async def start(self, process: str, step: v.Start) -> None:
        flags, head = {**self._misfits.get(process, {}), **step.flags}, self._heads.keep(step.data)
        self.begin(process, flags=flags, head=head, business_key=step.business_key)
        self.settle()

    async def publish(self, message: v.Message) -> None:
        id = message.id or id_text(self._clock.new_id())
        expires = self.now + int(message.ttl_seconds * SECOND)
        writer = self._intakes.of_message(message.name)
        self._mail.publish(Letter(message.name, message.key, id, expires, message.data, message.flags, writer=writer))
        self.settle()

    async def signal(self, signal: v.Signal) -> None:
        id = signal.id or id_text(self._clock.new_id())
        writer = self._intakes.of_signal(signal.name)
        self._mail.broadcast(Letter(signal.name, "", id, 0, signal.data, signal.flags, writer=writer))
        self.settle()

    async def complete_task(self, id: bytes, node: int, step: v.Task) -> None:
        head = self._heads.merged(self._states[id].head, step.data)
        who = v.actor(self._states[id], node, step)
        command = c.CompleteTask(
            node=node, who=who, head=head, flags=step.flags, writer=self._intakes.of_task(step.element), worker=WORKER,
            message_id=id_text(self._clock.new_id()),
        )  # fmt: skip
        self._ask(id, command, who.name)

    async def cancel(self, id: bytes, step: v.Cancel) -> None:
        self._ask(id, c.Cancel(reason=step.reason, compensates=step.compensates, worker=WORKER))

    async def suspend(self, id: bytes) -> None:
        self._suspend(id, "")
        self.settle()

    def _suspend(self, id: bytes, reason: str) -> None:
        self.command(id, c.Suspend(reason=reason))
        for child in self._called(id):
            self._suspend(child, CALLER_SUSPENDED)

    async def resume(self, id: bytes, step: v.Resume) -> None:
        for child in self._called(id):
            if is_held_by_caller(self._journal[child]):
                await self.resume(child, step)
        self._ask(id, c.Resume(timers=step.timers, worker=WORKER))
        held, self._held = self._held, []
        self._todo.extend(held)
        self._mail.opened(id)
        self.settle()

    def _called(self, id: bytes) -> list[bytes]:
        """The instances that it has called and that have not ended."""
        parent = f"node:{id_text(id)}:"
        return [
            child for child, state in self._states.items() if state.parent.startswith(parent) and not state.ended_at
        ]

    async def retry(self, id: bytes, node: int, step: v.Retry) -> None:
        self._ask(id, c.RetryIncident(node=node, flags=step.flags, worker=WORKER))

    async def resolve(self, id: bytes, node: int, step: v.Resolve) -> None:
        head = self._heads.merged(self._states[id].head, step.data)
        self._ask(id, c.ResolveIncident(node=node, head=head, flags=step.flags, error=step.error, worker=WORKER))

    async def modify(self, id: bytes, cancels: tuple[int, ...], step: v.Modify) -> None:
        self._ask(id, c.Modify(cancels=cancels, starts=step.start, flags=step.flags, worker=WORKER))

    async def migrate(self, id: bytes, step: v.Migrate) -> None:
        plan, _ = self._latest[self._states[id].process]
        self._ask(id, c.Migrate(definition=plan.hash, mapping=step.mapping, worker=WORKER))

    async def advance(self, seconds: float, months: int = 0) -> None:
        target = later(self.now, Span(months, int(seconds * SECOND)))
        self.settle()
        for _ in range(MAX_ROUNDS):
            due = self._next_due()
            if due is None or due > target:
                self._clock.move_to(target)
                return
            self._clock.move_to(max(self.now, due))
            self.settle()
        raise InvariantBroken("advance", "scenario", str(seconds), f"more than {MAX_ROUNDS} things fell due")

    async def crash(self) -> None:
        """States come back from bytes and from their entries alike; whatever a worker held is taken over."""
        for id, state in list(self._states.items()):
            self._states[id] = self._reopened(id, state)
        self._jobs.lost()
        self.settle()

    async def states(self) -> dict[bytes, Instance]:
        return self._states

    async def data(self, id: bytes) -> dict[str, Any]:
        return self._heads.read(self._states[id].head)

    async def close(self) -> None:
        return None

    # --- what happens by itself -------------------------------------------------------------------------------

    def _ask(self, id: bytes, command: Any, by: str = "") -> None:
        self.command(id, command, by)
        self.settle()

    def settle(self) -> None:
        """Until nothing is left to do now."""
        while self._react() or self._fire_due() or self._jobs.finish_due(self.now):
            self._trail.unrest.check()

    def _react(self) -> bool:
        if not self._todo:
            return False
        id, entry = self._todo.popleft()
        match entry:
            case e.JobStarted():
                self._jobs.started(id, entry)
            case e.Armed(kind="message") | e.WatchMet(is_met=False):
                self._mail.opened(id)
            case e.Thrown():
                self._thrown(id, entry)
            case e.InstanceEnded():
                self._ended(id)
            case _:
                pass
        return True

    def _thrown(self, id: bytes, entry: e.Thrown) -> None:
        message_id = f"perdure:{id_text(id)}/{entry.kind}/{entry.number}"
        match entry.kind:
            case "message":
                expires = self.now + int(TTL_SECONDS * SECOND)
                self._mail.publish(Letter(entry.name, entry.key, message_id, expires))
            case "signal":
                self._mail.broadcast(Letter(entry.name, "", message_id, self.now, sender=id))
            case "call":
                self._call(id, entry)
            case "cancel_call":
                self._cancel_called(f"node:{id_text(id)}:{entry.number}")
            case "escalation":
                if (caller := self._caller(id)) is not None:
                    self.command(caller[0], c.Escalate(node=caller[1], code=entry.name, worker=WORKER))

    def _call(self, id: bytes, entry: e.Thrown) -> None:
        parent = self._states[id]
        if entry.number not in parent.nodes:
            return
        if parent.status == "suspended":
            self._held.append((id, entry))
            return
        if self._depth(id) > MAX_CALLS:
            self.command(id, c.RaiseIncident(node=entry.number, code=CANNOT_CALL, text="Too many calls."))
            return
        try:
            flags = shared_flags(parent.flags, self._newest(entry.name)[0].deployed)
            flags = only(flags, handed(self._call_of(id, entry.number)))
            self.begin(entry.name, parent=f"node:{id_text(id)}:{entry.number}", flags=flags, head=parent.head)
        except RejectedError as error:
            text = f"The called process could not be started. {error}"
            self.command(id, c.RaiseIncident(node=entry.number, code=CANNOT_CALL, text=text))

    def _newest(self, process: str) -> tuple[Plan, int]:
        if process not in self._latest:
            raise RejectedError(Rejection("not_found", "start", "process", process, "it is not deployed"))
        return self._latest[process]

    def _call_of(self, id: bytes, number: int) -> CallActivity:
        state = self._states[id]
        call = self._plans[state.definition].spots[state.nodes[number].element].node
        assert isinstance(call, CallActivity)
        return call

    def _depth(self, id: bytes) -> int:
        caller = self._caller(id)
        return 1 if caller is None else 1 + self._depth(caller[0])

    def _cancel_called(self, parent: str) -> None:
        for id, state in list(self._states.items()):
            if state.parent == parent and state.status not in ENDED:
                self.command(id, c.Cancel(reason="the call was cancelled", worker=WORKER))

    def _ended(self, id: bytes) -> None:
        state, caller = self._states[id], self._caller(id)
        if caller is not None and caller[1] in self._states[caller[0]].nodes:
            written = {name: state.flags[name] for name in state.written if name in state.flags}
            flags = shared_flags(written, self._plans[self._states[caller[0]].definition].deployed)
            flags = only(flags, returned(self._call_of(*caller)))
            try:
                head = self._brought(id, *caller) if state.status in ("completed", "terminated") else b""
            except MergeConflictError as error:
                self.command(caller[0], c.RaiseIncident(node=caller[1], code=error.code, text=str(error)))
                return
            command = c.EndCall(
                node=caller[1], status=state.status, head=head, flags=flags, failure=state.failure, worker=WORKER
            )
            self.command(caller[0], command)

    def _brought(self, id: bytes, caller: bytes, number: int) -> bytes:
        """The caller's data with what a called process has changed since it began."""
        began = next(entry for entry in self._trail.entries[id] if isinstance(entry, e.InstanceStarted))
        parent, state = self._states[caller], self._states[id]
        patch = nested(self._heads.change(began.head, state.head), place_of(parent, parent.nodes[number]))
        return self._heads.merged_since(began.head, parent.head, state.process, patch) if patch else b""

    def _caller(self, id: bytes) -> tuple[bytes, int] | None:
        """The instance and node that called this one."""
        kind, _, rest = self._states[id].parent.partition(":")
        letters, _, node = rest.partition(":")
        return (parse_id(letters), int(node)) if kind == "node" else None

    def _fire_due(self) -> bool:
        due = [
            (timer.due, id, timer) for id, timers in self._timers.items() for timer in timers if timer.due <= self.now
        ]
        if due:
            _, id, timer = min(due, key=lambda each: each[0])
            self.command(id, c.FireTimer(number=timer.step, kind=timer.kind, due=timer.due, worker=WORKER))
        return bool(due) or self._mail.fire_starts()

    def _next_due(self) -> Micros | None:
        times = [timer.due for timers in self._timers.values() for timer in timers]
        return min([*times, *self._jobs.ends(), *self._mail.due_starts()], default=None)

    def _reopened(self, id: bytes, state: Instance) -> Instance:
        read = self._machine.decode(self._machine.encode(state))
        replayed: Instance | None = None
        for entry in self._journal[id]:
            replayed = self._machine.apply(replayed, entry)
        if replayed is None or self._machine.encode(replayed) != self._machine.encode(read):
            raise InvariantBroken("replay", "instance", id_text(id), "its entries do not lead to its state")
        return read
