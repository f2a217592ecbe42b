"""A hosted instance: the instance machine with its outbox and its memory of dispatches, free of Temporal.

Pure: the workflow gives time and chance, so that a replay decides the same.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

import msgspec

from perdure.bpmn.machine.commands import Command, FireTimer, LeaseJob, Migrate, StartInstance
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan, plan_of
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.cron import next_cron
from perdure.engines.temporal.wire import Begun, Dispatch, Known, Made, Reply
from perdure.errors import Rejection
from perdure.identifiers import id_text
from perdure.journal import Decision, JobRow, Origin, Rows, TimerRow

MAX_KNOWN = 200
PLATFORM = "perdure"
_read_definition = msgspec.json.Decoder(Deployed).decode
InstanceMachine({})  # its types are learned here: workflows decide in threads, and msgspec learns in one only


@lru_cache(256)
def plan_for(hash: bytes, data: bytes) -> Plan:
    """The plan of a definition as stored; ValueError when its bytes are not those of its hash."""
    if sha256(data).digest() != hash:
        raise ValueError(f"the definition {hash.hex()} does not have the hash it is named by")
    return plan_of(_read_definition(data), hash)


class HostedInstance:
    """One instance as its workflow holds it."""

    def __init__(self, begun: Begun) -> None:
        self._begun = begun
        self.id, self.tenant = begun.instance, begun.tenant
        self._definitions = dict(begun.definitions)
        self._plans = {hash: plan_for(hash, data) for hash, data in self._definitions.items()}
        self._machine = InstanceMachine(self._plans, next_cron)
        self._machine.host = begun.engine
        if begun.semantics != self._machine.semantics:
            raise RuntimeError(f"the instance is decided by semantics {begun.semantics}, not {self._machine.semantics}")
        self.version = begun.version
        self.state: Instance | None = self._machine.decode(begun.state) if begun.state else None
        self.outbox: list[Made] = list(begun.outbox)
        self._known = dict(begun.known)
        self._vain: set[TimerRow] = set()
        """Timers that led to nothing: they are not fired for ever."""

    # --- commands ------------------------------------------------------------------------------------------------

    def refusal(self, dispatch: Dispatch, now: int) -> Reply | None:
        """The reply to a dispatch that changes nothing; None for one that has to be decided."""
        if dispatch.id in self._known:
            return self._again(dispatch)
        if dispatch.expected != self.version:
            return self._reply("moved", dispatch)
        decision = self._decided(dispatch, now, 0.5)
        if isinstance(decision, Rejection):
            return self._reply("refused", dispatch, rejection=decision)
        if not decision.entries:
            return self._reply("quiet", dispatch, decision.answer)
        return None

    def decide(self, dispatch: Dispatch, now: int, chance: float) -> Reply:
        """Decide a dispatch, once; the version it was prepared for acknowledges the decisions before it."""
        if dispatch.id in self._known:
            return self._again(dispatch)
        if dispatch.expected != self.version:
            return self._reply("moved", dispatch)
        self.acknowledge(dispatch.expected)
        decision = self._decided(dispatch, now, chance)
        if isinstance(decision, Rejection):
            return self._reply("refused", dispatch, rejection=decision)
        if not decision.entries:
            return self._reply("quiet", dispatch, decision.answer)
        self._learn(dispatch)
        self._keep(decision, dispatch.id, dispatch.origin, type(dispatch.command).__name__, now)
        return self._reply("decided", dispatch, decision.answer, sequence=self.version)

    def _decided(self, dispatch: Dispatch, now: int, chance: float) -> Decision | Rejection:
        hash = _leads_to(dispatch.command)
        if hash and hash not in self._plans:
            try:
                self._plans[hash] = plan_for(hash, dispatch.definition)
            except (ValueError, msgspec.DecodeError) as error:
                return Rejection("invalid", "decide", "instance", id_text(self.id), str(error))
        command = _without_worker(dispatch.command)
        return self._machine.decide(self.id, self.state, command, dispatch.origin, now, chance)

    def _learn(self, dispatch: Dispatch) -> None:
        hash = _leads_to(dispatch.command)
        if hash and hash not in self._definitions:
            self._definitions[hash] = dispatch.definition

    def _keep(self, decision: Decision, dispatch: str, origin: Origin, command: str, now: int) -> None:
        for entry in decision.entries:
            self.state = self._machine.apply(self.state, entry)
        self.version += 1
        record = self._machine.records.encode(now, command, origin, decision.entries)
        made = Made(self.version, now, dispatch, origin, record, decision.answer, decision.keeps, decision.refusal)
        self.outbox.append(made)
        if dispatch:
            self._known[dispatch] = Known(self.version, decision.answer)
            while len(self._known) > MAX_KNOWN:
                del self._known[next(iter(self._known))]

    def _again(self, dispatch: Dispatch) -> Reply:
        known = self._known[dispatch.id]
        return self._reply("decided", dispatch, known.answer, sequence=known.sequence)

    def _reply(
        self, outcome: str, dispatch: Dispatch, answer: str = "", rejection: Rejection | None = None, sequence: int = 0
    ) -> Reply:
        made = tuple(each for each in self.outbox if each.sequence > dispatch.expected)
        return Reply(outcome, self.version, answer, made, rejection, sequence)  # type: ignore[arg-type]

    # --- by itself -----------------------------------------------------------------------------------------------

    def fire(self, timer: TimerRow, now: int, chance: float) -> bool:
        """Fire a timer that is due; whether anything was decided."""
        command = FireTimer(number=timer.step, kind=timer.kind, due=timer.due)
        origin = Origin(self.tenant, PLATFORM)
        decision = self._machine.decide(self.id, self.state, command, origin, now, chance)
        if isinstance(decision, Rejection) or not decision.entries:
            self._vain.add(timer)
            return False
        self._keep(decision, "", origin, type(command).__name__, now)
        return True

    def acknowledge(self, version: int) -> None:
        """Our journal has the decisions up to a version."""
        self.outbox = [each for each in self.outbox if each.sequence > version]

    # --- looks ---------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        if self.state is None or self.has_left:
            return Rows()
        return self._machine.rows(self.id, self.state)

    @property
    def has_left(self) -> bool:
        """Whether another engine carries the instance by now."""
        return self.state is not None and self.state.carrier not in ("", self._begun.engine)

    @property
    def is_over(self) -> bool:
        return self.state is not None and (self.state.status in ENDED or self.has_left)

    def next_timer(self) -> TimerRow | None:
        timers = [row for row in self.rows.timers if row not in self._vain]
        return min(timers, key=lambda row: (row.due, row.step, row.kind), default=None)

    def ready_jobs(self) -> list[JobRow]:
        return [row for row in self.rows.jobs if row.worker == 0]

    def carried(self) -> Begun:
        """What the next run begins with."""
        wanted = {self.state.definition, *(past[0] for past in self.state.past)} if self.state is not None else set()
        return msgspec.structs.replace(
            self._begun,
            version=self.version,
            state=self._machine.encode(self.state) if self.state is not None else b"",
            definitions={hash: data for hash, data in self._definitions.items() if hash in wanted},
            outbox=tuple(self.outbox),
            known=self._known,
            runs=self._begun.runs + 1,
        )


def _leads_to(command: Command) -> bytes:
    return command.definition if isinstance(command, StartInstance | Migrate) else b""


def _without_worker(command: Command) -> Command:
    """Jobs are activities: no command but a lease begins one in the same decision."""
    if isinstance(command, LeaseJob) or not getattr(command, "worker", 0):
        return command
    return msgspec.structs.replace(command, worker=0)
