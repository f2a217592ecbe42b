"""Plays an instance on the pure machine: random stimuli, every promise checked after every command."""

from __future__ import annotations

import random

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.journal_entries import Entry
from perdure.bpmn.machine.state import CONTAINERS, ENDED, ROOT, Failure, Instance
from perdure.errors import Rejection
from perdure.human_tasks import Person
from perdure.journal import Decision, Origin
from tests.bpmn.machine.generator import ERRORS, FLAGS, Maker

ID = b"i" * 16
HASH = b"h" * 32
ORIGIN = Origin("acme", "ana", "")
SECOND = 1_000_000


def random_plan(seed: int, size: int = 12) -> Plan:
    return Plan(random_deployed(seed, size), HASH)


def random_deployed(seed: int, size: int = 12) -> Deployed:
    maker = Maker(seed, size)
    process = maker.process()
    return Deployed(
        process=process, messages=tuple(maker.messages.values()), signals=tuple(maker.signals.values()),
        errors=tuple(maker.errors.values()), profile="open", is_loose=True,
    )  # fmt: skip


class Player:
    """One instance and its journal."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.machine = InstanceMachine({HASH: plan})
        self.chance = random.Random(seed)
        self.now = SECOND
        self.state: Instance | None = None
        self.journal: list[Entry] = []
        self.process = plan.process

    def ask(self, command: c.Command) -> str:
        """Decide, apply, and check that everything agrees."""
        decision = self.machine.decide(ID, self.state, command, ORIGIN, self.now, 0.5)
        assert not isinstance(decision, Rejection), decision
        self._check(decision)
        if decision.entries:
            self.state = decision.state if decision.state is not None else self._applied(decision)
            self.journal.extend(decision.entries)
        return decision.answer

    def _applied(self, decision: Decision) -> Instance | None:
        state = self.state
        for entry in decision.entries:
            state = self.machine.apply(state, entry)
        return state

    def _check(self, decision: Decision) -> None:
        if decision.entries:
            after = self._applied(decision)
            assert after is not None
            assert decision.state is None or decision.state == after, "journal and decision differ"
            assert self.machine.decode(self.machine.encode(after)) == after
            check_tokens(after)
            self.machine.rows(ID, after)

    def start(self) -> None:
        flags = {name: self.chance.random() < 0.5 for name in FLAGS}
        self.ask(
            c.StartInstance(
                definition=HASH, process=self.process, process_version=1, head=b"0" * 32, flags=dict(flags), worker=1
            )
        )

    def reopen(self) -> None:
        """Forget everything but the journal."""
        state: Instance | None = None
        for entry in self.journal:
            state = self.machine.apply(state, entry)
        assert state == self.state
        self.state = state

    def stimuli(self) -> list[tuple[str, int]]:
        """What may happen next."""
        assert self.state is not None
        found: list[tuple[str, int]] = []
        for node in self.state.nodes.values():
            if node.incident is not None:
                found.append(("retry", node.number))
            elif node.kind == "job" and node.job is not None:
                found.append(("wake" if node.job.status == "pending" else "job", node.number))
            elif node.kind == "task":
                found.append(("task", node.number))
        for watch in self.state.watches.values():
            if watch.kind != "condition":
                found.append((watch.kind, watch.number))
        return found

    def step(self, *, is_kind: bool) -> bool:
        """One random stimulus; `is_kind` ones lead to an end. False when nothing can happen."""
        stimuli = self.stimuli()
        if not stimuli:
            return False
        kind, number = self.chance.choice(stimuli)
        self.now += self.chance.randint(0, 5) * SECOND
        self.ask(self._command(kind, number, is_kind))
        return True

    def _command(self, kind: str, number: int, is_kind: bool) -> c.Command:
        assert self.state is not None
        match kind:
            case "job":
                return self._record(number, is_kind)
            case "wake":
                job = self.state.nodes[number].job
                assert job is not None
                self.now = max(self.now, job.retry_at)
                return c.FireTimer(number=number, kind="retry", due=job.retry_at, worker=1)
            case "task":
                return c.CompleteTask(
                    node=number, who=Person("ana"), flags=self._flags(is_kind), writer="intake", worker=1
                )
            case "timer":
                due = self.state.watches[number].due
                self.now = max(self.now, due)
                return c.FireTimer(number=number, kind="watch", due=due, worker=1)
            case "retry":
                return c.RetryIncident(node=number, worker=1)
            case _:
                return c.Correlate(watch=number, message_id=f"m{self.now}", worker=1)

    def _flags(self, is_kind: bool) -> dict[str, str | bool | int]:
        if is_kind:
            return {"orch_a": False}
        return {name: self.chance.random() < 0.5 for name in FLAGS if self.chance.random() < 0.5}

    def _record(self, number: int, is_kind: bool) -> c.Command:
        assert self.state is not None
        job = self.state.nodes[number].job
        assert job is not None
        luck = 1.0 if is_kind else self.chance.random()
        outcome: c.JobDone | c.JobFault = c.JobDone(bytes([job.run % 256]) * 32, self._flags(is_kind))
        if luck < 0.1:
            outcome = c.JobFault(Failure("permanent_business", self.chance.choice(ERRORS), "no"))
        elif luck < 0.2:
            outcome = c.JobFault(Failure("transient_external", "down", "try later"))
        return c.RecordJob(node=number, attempt=job.attempt, job_worker=job.worker, outcome=outcome, worker=1)


def check_tokens(state: Instance) -> None:
    """No orphan: every token has a place, every watch a token, and an instance that has ended holds nothing."""
    if state.status in ENDED:
        assert not state.nodes and not state.watches
        return
    for node in state.nodes.values():
        assert node.number == ROOT or node.parent in state.nodes, f"{node.element} stands in a scope that is gone"
        if node.kind == "scope":
            inside = any(each.parent == node.number for each in state.nodes.values())
            assert inside or node.incident is not None, f"{node.element} is empty and goes on"
        assert node.number == ROOT or state.nodes[node.parent].kind in CONTAINERS
    for watch in state.watches.values():
        assert watch.node in state.nodes, f"{watch.event} is armed on a token that is gone"
