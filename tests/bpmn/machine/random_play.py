"""Plays every element on the pure machine, with people interfering and everything arriving twice and too late."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import flags_of
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.state import ENDED, ROOT, Failure
from perdure.errors import Rejection
from perdure.human_tasks import Person
from perdure.journal import Decision
from perdure.verb_contract import FlagContract
from tests.bpmn.machine.generator import ERRORS
from tests.bpmn.machine.oracles import Oracle, check_state
from tests.bpmn.machine.play import HASH, ID, ORIGIN, SECOND, Player
from tests.bpmn.machine.wide import INTAKE, WideMaker

STRICT = (
    FlagContract("orch_a", "boolean", merge="any"), FlagContract("orch_b", "boolean", merge="all"),
    FlagContract("orch_c", "boolean", writers=(INTAKE,)),
)  # fmt: skip


def wide_plan(seed: int, size: int = 14) -> Plan:
    maker = WideMaker(seed, size)
    process = maker.process()
    is_loose = seed % 3 != 0
    deployed = Deployed(
        process=process, messages=tuple(maker.messages.values()), signals=tuple(maker.signals.values()),
        errors=tuple(maker.errors.values()), escalations=tuple(maker.escalations.values()), profile="open",
        is_loose=is_loose, flags=() if is_loose else STRICT, compensation=maker.compensation,
    )  # fmt: skip
    return Plan(deployed, HASH)


class WildPlayer(Player):
    """A player whose every entry is judged by an oracle, and whom people interrupt."""

    def __init__(self, plan: Plan, seed: int) -> None:
        super().__init__(plan, seed)
        self.plan = plan
        self.oracle = Oracle(plan)
        self.late: list[c.RecordJob] = []
        """What workers that hold a job will report, sooner or later."""
        self.is_modified = False

    # --- asking --------------------------------------------------------------------------------------------------

    def ask(self, command: c.Command) -> str:
        decision = self.machine.decide(ID, self.state, command, ORIGIN, self.now, 0.5)
        if isinstance(decision, Rejection):
            is_suspended = self.state is not None and self.state.status == "suspended"
            assert is_suspended or "orch_" in decision.fact or isinstance(command, c.Modify), decision
            return "rejected"
        self._check(decision)
        if decision.entries:
            self.state = decision.state if decision.state is not None else self._applied(decision)
            self.journal.extend(decision.entries)
        self._judge(decision)
        return decision.answer

    def _judge(self, decision: Decision) -> None:
        assert self.state is not None
        for entry in decision.entries:
            self.oracle.read(entry)
            if isinstance(entry, e.JobStarted):
                outcome = c.JobDone(b"late" * 8, {})
                self.late.append(
                    c.RecordJob(node=entry.number, attempt=entry.attempt, job_worker=entry.worker, outcome=outcome)
                )
        check_state(self.state, self.machine.rows(ID, self.state))

    # --- what happens by itself ----------------------------------------------------------------------------------

    def stimuli(self) -> list[tuple[str, int]]:
        assert self.state is not None
        found = super().stimuli()
        found.extend(("call", node.number) for node in self.state.nodes.values() if _is_calling(node))
        met = {watch.number for watch in self.state.watches.values() if watch.is_met and watch.kind != "condition"}
        found = [each for each in found if each[0] in ("retry", "wake", "job", "task", "call") or each[1] not in met]
        found.extend(("condition", w.number) for w in self.state.watches.values() if w.kind == "condition")
        return found

    def _command(self, kind: str, number: int, is_kind: bool) -> c.Command:
        assert self.state is not None
        match kind:
            case "call":
                return self._end_call(number, is_kind)
            case "condition":
                return c.Modify(flags=self._wanted(number, is_kind), reason="so that it goes on", worker=1)
            case "message" if self.chance.random() < 0.5:
                return c.Correlate(watch=number, message_id=f"m{self.now}", message=b"m" * 32, worker=1)
            case "task":
                message = b"t" * 32 if self.chance.random() < 0.5 else b""
                flags = {} if message else self._flags(is_kind)
                return c.CompleteTask(
                    node=number, who=Person("ana"), flags=flags, message=message, writer=INTAKE, worker=1
                )
            case _:
                return super()._command(kind, number, is_kind)

    def _wanted(self, number: int, is_kind: bool) -> dict[str, str | bool | int]:
        assert self.state is not None
        event = self.plan.spots[self.state.watches[number].event].node
        assert isinstance(event, m.Event)
        names = [name for t in event.triggers if isinstance(t, m.ConditionalTrigger) for name in flags_of(t.condition)]
        return {name: is_kind or self.chance.random() < 0.5 for name in names}

    def _end_call(self, number: int, is_kind: bool) -> c.Command:
        luck = 1.0 if is_kind else self.chance.random()
        if luck < 0.15:
            return c.Escalate(node=number, code="LOUD", worker=1)
        if luck < 0.3:
            code = self.chance.choice(ERRORS)
            return c.EndCall(node=number, status="failed", failure=Failure("permanent_business", code, "no"), worker=1)
        if luck < 0.35:
            return c.EndCall(node=number, status="cancelled", worker=1)
        return c.EndCall(node=number, status="completed", head=b"c" * 32, worker=1)

    # --- what people and the network do --------------------------------------------------------------------------

    def interfere(self) -> None:
        """One thing nobody waited for."""
        assert self.state is not None
        acts = (self._again, self._too_late, self._suspend, self._lease, self._resolve, self._modify, self._raise)
        weights = (6, 6, 2, 3, 2, 0.3, 1)
        (act,) = self.chance.choices(acts, weights)
        act()

    def _again(self) -> None:
        """Something twice: the second time changes nothing."""
        stimuli = [each for each in self.stimuli() if each[0] in ("job", "timer", "wake", "task")]
        if not stimuli or self.state is None or self.state.status == "suspended":
            return
        kind, number = self.chance.choice(stimuli)
        command = self._command(kind, number, is_kind=False)
        if self.ask(command) == "rejected":
            return
        before = self.state
        if kind == "task":
            second = self.machine.decide(ID, self.state, command, ORIGIN, self.now, 0.5)
            assert isinstance(second, Rejection), second
        else:
            assert self.ask(command) in ("discarded", "gone")
        assert self.state is not None and before.nodes == self.state.nodes and before.watches == self.state.watches

    def _too_late(self) -> None:
        """A worker reports about a token that is gone; a message comes for a wait that is over."""
        assert self.state is not None
        gone = [each for each in self.late if not self._is_held(each)]
        if gone:
            assert self.ask(self.chance.choice(gone)) == "discarded"
        ended = [entry.number for entry in self.journal if isinstance(entry, e.Armed)]
        ended = [number for number in ended if number not in self.state.watches]
        if ended:
            number = self.chance.choice(ended)
            assert self.ask(c.Correlate(watch=number, message_id="late", head=b"l" * 32, worker=1)) == "ignored"
            assert self.ask(c.FireTimer(number=number, kind="watch", due=1, worker=1)) == "gone"

    def _is_held(self, report: c.RecordJob) -> bool:
        assert self.state is not None
        node = self.state.nodes.get(report.node)
        job = node.job if node is not None else None
        return job is not None and (job.status, job.attempt, job.worker) == (
            "leased",
            report.attempt,
            report.job_worker,
        )

    def _suspend(self) -> None:
        self.ask(c.Suspend(reason="lunch"))
        for _ in range(self.chance.randint(0, 3)):
            if self.stimuli() and self.state is not None and self.state.status not in ENDED:
                self.step(is_kind=False)
        if self.state is not None and self.state.status == "suspended":
            self.now += self.chance.randint(0, 100) * SECOND
            self.ask(c.Resume(timers=self.chance.choice(("keep", "shift")), worker=1))

    def _lease(self) -> None:
        """The process that held a job is gone; another takes over."""
        assert self.state is not None
        held = [node for node in self.state.nodes.values() if node.job is not None and node.job.status == "leased"]
        if held:
            node = self.chance.choice(held)
            assert node.job is not None
            worker = node.job.worker + 1
            self.ask(c.LeaseJob(node=node.number, worker=worker, abandoned=node.job.worker))

    def _resolve(self) -> None:
        assert self.state is not None
        stuck = [node.number for node in self.state.nodes.values() if node.incident is not None]
        if stuck:
            error = self.chance.choice(("", "", *ERRORS))
            self.ask(c.ResolveIncident(node=self.chance.choice(stuck), error=error, reason="by hand", worker=1))

    def _raise(self) -> None:
        assert self.state is not None
        jobs = [node.number for node in self.state.nodes.values() if node.kind in ("job", "wait", "task", "gate")]
        if jobs:
            self.ask(c.RaiseIncident(node=self.chance.choice(jobs), code="looked.odd", text="Someone must look."))

    def _modify(self) -> None:
        """Tokens taken away and put elsewhere by hand: a join may wait for ever afterwards."""
        assert self.state is not None
        nodes = [number for number in self.state.nodes if number != ROOT]
        cancels = tuple(self.chance.sample(nodes, min(len(nodes), self.chance.randint(0, 2))))
        starts = tuple(self.chance.sample(list(self.plan.spots), self.chance.randint(0, 1)))
        if self.ask(c.Modify(cancels=cancels, starts=starts, reason="to see", worker=1)) != "rejected":
            self.is_modified = True

    def give_up(self) -> None:
        """Cancel, with compensation or without, and let it end."""
        self.ask(c.Cancel(reason="enough", compensates=self.chance.random() < 0.7, worker=1))

    def report_everything(self) -> None:
        """Every job that was begun is reported in the end, however late."""
        for report in self.late:
            assert self.ask(report) == "discarded"


def _is_calling(node: object) -> bool:
    return getattr(node, "kind", "") == "call" and getattr(node, "incident", None) is None
