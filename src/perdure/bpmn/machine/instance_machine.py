"""The instance machine: decisions, application and rows behind the contract of the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, assert_never

import msgspec
from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.apply import apply
from perdure.bpmn.machine.commands import Command, Migrate
from perdure.bpmn.machine.decide import Tried, decide, tried_migration
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.human_tasks import LADDER
from perdure.bpmn.machine.journal_entries import (
    ENTRY_VERSION,
    Entry,
    IncidentRaised,
    IncidentResolved,
    InstanceEnded,
    Thrown,
)
from perdure.bpmn.machine.state import ENDED, STATE_VERSION, Instance, Job, Node, Watch
from perdure.bpmn.machine.token_game_state import Cron, no_cron
from perdure.bpmn.machine.transition_cache import TransitionCache
from perdure.bpmn.machine.upcasters import ENTRY_UPCASTERS, STATE_UPCASTERS
from perdure.errors import Rejection
from perdure.human_tasks import next_rung
from perdure.identifiers import id_text
from perdure.journal import (
    NO_ROWS,
    Decision,
    IncidentRow,
    JobRow,
    Notice,
    Origin,
    ParkedRow,
    RecordCodec,
    Rows,
    TimerRow,
    read_form,
)
from perdure.journal.notice_routes import IncidentRoute, Route, ThrownRoute

NOTICE = "perdure:"
THROWN = "thrown"
THROWN_TTL_SECONDS = 3600.0
"""How long a message that an instance throws is kept until someone waits for it."""
INSTANCE_ENDED = "instance_ended"
INSTANCE_TOLD = "instance_told"
RAISED, RESOLVED = "incident", "resolved"


MOVED = "it was moved, and the engine "


def elsewhere(carrier: str) -> str:
    """The fact by which a machine refuses what another engine carries."""
    return f"{MOVED}'{carrier}' carries it"


def is_elsewhere(fact: str) -> bool:
    """Whether a machine refused because another engine carries the instance."""
    return fact.startswith(MOVED)


_STATE = msgspec.msgpack.Decoder(Instance)


class InstanceMachine:
    """Pure: the same plans, state, command, time and chance always give the same entries.

    Only decisions need the plan of the instance's definition; the journal is replayed without any.
    """

    kind: ClassVar[str] = INSTANCE
    semantics: ClassVar[int] = 1

    def __init__(self, plans: Mapping[bytes, Plan], cron: Cron = no_cron, *, remembers: bool = False) -> None:
        """One that `remembers` moves decides the same, sooner."""
        self.plans = plans
        self._known = TransitionCache(self) if remembers else None
        self._cron = cron
        self.host = "embedded"
        """The engine that asks: what another one carries is not decided here."""
        self.records: RecordCodec[Entry] = RecordCodec(Entry, ENTRY_VERSION, ENTRY_UPCASTERS)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = _STATE

    def decide(
        self, id: bytes, state: Instance | None, command: Command, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        if state is not None and state.carrier and state.carrier != self.host and state.status not in ENDED:
            hint = f"Open the store with the engine '{state.carrier}'."
            return Rejection("wrong_state", "ask", "instance", id_text(id), elsewhere(state.carrier), hint)
        known = self._known.decide(state, command, origin, now) if self._known is not None else None
        return known or self.play(id, state, command, origin, now, chance)

    def play(
        self, id: bytes, state: Instance | None, command: Command, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection:
        """The token game, whatever is known of it."""
        decision = decide(self.plans, state, command, origin, now, chance, self._cron)
        if isinstance(decision, Decision):
            if decision.refusal is None:
                return decision
            return replace(decision, refusal=replace(decision.refusal, id=id_text(id)))
        if not decision.id.startswith("?"):
            return decision
        return replace(decision, id=id_text(id) + decision.id[1:])

    def tried(self, state: Instance, command: Migrate, now: int) -> Tried | Rejection:
        """Where a migration would lead, without anything being decided."""
        return tried_migration(self.plans, state, command, now, self._cron)

    def apply(self, state: Instance | None, entry: Entry) -> Instance:
        return apply(state, entry)

    def status(self, state: Instance) -> tuple[str, int]:
        return state.status, 0 if state.erased_at else state.ended_at

    def encode(self, state: Instance) -> bytes:
        return self._encoder.encode(state)

    def decode(self, data: bytes) -> Instance:
        return read_form(data, self._decoder, STATE_VERSION, STATE_UPCASTERS)

    def rows(self, id: bytes, state: Instance) -> Rows:
        if state.status in ENDED:
            return NO_ROWS
        is_open = state.status != "suspended"
        parked = [*_waits(state.watches.values())] if is_open and state.watches else []
        timers = [*_timers(state)] if is_open else []
        jobs: list[JobRow] = []
        incidents: list[IncidentRow] = []
        for node in state.nodes.values():
            if node.kind == "task":
                parked.append(_task_row(id_text(id), node))
            elif node.job is not None and (row := _job_row(node, node.job, is_open)) is not None:
                jobs.append(row)
            if node.incident is not None:
                incidents.append(IncidentRow(node.number, node.incident.code, node.incident.opened_at))
        return Rows(tuple(parked), tuple(timers), tuple(jobs), tuple(incidents))

    def notices(self, id: bytes, state: Instance, entries: tuple[Any, ...]) -> tuple[Notice, ...]:
        found: list[Notice] = []
        for entry in entries:
            if type(entry) not in _NOTABLE:
                continue
            if type(entry) is Thrown:
                route: Route = ThrownRoute(entry.kind, entry.number)
                found.append(Notice(f"{NOTICE}{id_text(id)}/{entry.kind}/{entry.number}", THROWN, route))
            elif type(entry) in (IncidentRaised, IncidentResolved) and state.parent.startswith("step:"):
                what = RAISED if type(entry) is IncidentRaised else RESOLVED
                route = IncidentRoute(what, entry.number, entry.at)
                found.append(Notice(f"{NOTICE}{id_text(id)}/{what}/{entry.number}/{entry.at}", INSTANCE_TOLD, route))
            elif type(entry) is InstanceEnded and state.parent:
                found.append(Notice(f"{NOTICE}{id_text(id)}/ended", INSTANCE_ENDED))
        return tuple(found)

    def payloads(self, state: Instance) -> tuple[tuple[bytes, ...], bool]:
        """The payloads the state refers to, and whether they were erased."""
        hashes = [state.head] if state.head else []
        for node in state.nodes.values():
            if node.job is not None:
                job = node.job
                hashes.extend(hash for hash in (job.base, job.message, job.question, job.answer) if hash)
            if node.task is not None and node.task.base:
                hashes.append(node.task.base)
            if node.task is not None:
                hashes.extend(each.answer for each in node.task.given if each.answer)
        hashes.extend(watch.message for watch in state.watches.values() if watch.message)
        return tuple(dict.fromkeys(hashes)), bool(state.erased_at)


_NOTABLE = frozenset({Thrown, IncidentRaised, IncidentResolved, InstanceEnded})


def _waits(watches: Any) -> Iterator[ParkedRow]:
    watch: Watch
    for watch in watches:
        if watch.kind in ("message", "signal") and not watch.has_come:
            yield ParkedRow(watch.node, watch.number, watch.name, watch.key, 0, 0, watch.kind)


def _task_row(letters: str, node: Node) -> ParkedRow:
    return ParkedRow(node.number, 0, node.element, f"{letters}:{node.number}", 0, 0, "task")


def _timers(state: Instance) -> Iterator[TimerRow]:
    for watch in state.watches.values():
        if watch.due and not watch.has_come:
            yield TimerRow(watch.number, "watch", watch.due)
    for node in state.nodes.values():
        if node.job is not None and node.job.retry_at and node.job.status == "pending":
            yield TimerRow(node.number, "retry", node.job.retry_at)
        if node.kind == "task" and node.task is not None and (rung := next_rung(node.task)) is not None:
            yield TimerRow(node.number, LADDER, rung[0])


def _job_row(node: Node, job: Job, is_open: bool) -> JobRow | None:
    if node.kind != "job" or node.incident is not None:
        return None
    match job.status:
        case "leased":
            return JobRow(node.number, job.worker, job.definition)
        case "ready":
            return JobRow(node.number, 0, job.definition) if is_open else None
        case "pending":
            return None
        case _:
            assert_never(job.status)
