"""The way in: a process and what its verbs may do give a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import product

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.model import Definitions, Event, Gateway, Process, Task
from perdure.bpmn.proof.counterexample_replay import Replay
from perdure.bpmn.proof.enabled_moves import Move, Moves
from perdure.bpmn.proof.finding_builder import Judge
from perdure.bpmn.proof.flag_values import Domain, Open
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.proof_subject import abstract, deployed_of, domains_of
from perdure.bpmn.proof.state_checks import Inspector
from perdure.bpmn.proof.state_search import SECOND, Explorer, Now, Reductions, Told
from perdure.bpmn.proof.state_transitions import After, Stepper, Taken, start_command
from perdure.bpmn.proof.undeclared_flags import unset_findings
from perdure.bpmn.proof.verb_effects import Environment
from perdure.bpmn.proof.verdict import Bounds, Finding, Statistics, Verdict, Word
from perdure.errors import RejectedError, Rejection
from perdure.sources import effort_clock
from perdure.verb_contract import FlagContract

BOUNDS = Bounds()


class Proof:
    """One proof: the machine, the search and what came of it."""

    def __init__(
        self, deployed: Deployed, flags: tuple[FlagContract, ...], environment: Environment, *, bounds: Bounds = BOUNDS,
        now: Now | None = None, told: Told = lambda states: None, is_reduced: bool = True,
        free: frozenset[str] = frozenset(), parked: Instance | None = None,
    ) -> None:  # fmt: skip
        """`parked` is the state that the search begins from, default: every start of the process."""
        self.plan = abstract(deployed)
        self._parked = parked
        self.domains = domains_of(deployed, flags)
        self._now = now or effort_clock()
        self._began = self._now()
        self.outline = Outline(self.plan, self.domains, environment)
        self.moves = Moves(self.outline, self.domains, environment, is_lazy=is_reduced)
        # Timers are untimed: the next time of a cron expression is simply later.
        self.machine = InstanceMachine({self.plan.hash: self.plan}, cron=lambda text, after: after + SECOND)
        self.stepper = Stepper(self.machine, self.domains)
        self._inspector = Inspector(self.outline)
        self._reductions = Reductions(is_reduced, free)
        self.replay = Replay(self.machine, self.plan.hash, self.plan.process, self.domains, self.moves, parked)
        self._judge = Judge(
            self.outline, self.moves, self.stepper, self._inspector, self.replay, is_whole=parked is None
        )  # fmt: skip
        self._findings: tuple[Finding, ...] = ()
        self.explorer = Explorer(
            self.starts, self.outline, self.domains, self.moves, self.stepper, self._inspector, bounds, self._now, told,
            self._reductions,
        )  # fmt: skip

    def verdict(self) -> Verdict:
        self.explorer.run()
        self._findings = self._judge.findings(self.explorer)
        return Verdict(
            process=self.plan.process, word=_word(self._findings, self.explorer), bound=self.explorer.bound,
            findings=self._findings, statistics=self._statistics(),
        )  # fmt: skip

    def confirmed(self) -> tuple[Finding, ...]:
        """Of what was found, that which the steps really lead to, and what can never happen in whatever way."""
        return tuple(each for each in self._findings if not each.steps or self._judge.is_shown(each))

    def starts(self) -> Iterator[After]:
        """Every way the process may begin, with every value of flags that must be known from the start."""
        if self._parked is not None:
            yield After(Taken(Move(0, "start", self.plan.process, 0)), self._parked.copy(), ())
            return
        for element, name in _starts(self.plan.deployed.process):
            move = Move(0, "start", element, 0, name)
            for flags in self._initial():
                command = start_command(self.plan.hash, self.plan.process, name, flags)
                fixed = tuple((each, flags[each]) for each in sorted(flags) if type(flags[each]) is not Open
                              and self.domains[each].initial is None)  # fmt: skip
                yield from self.stepper.start(command, move._replace(flags=fixed))

    def _initial(self) -> Iterator[dict[str, Scalar]]:
        known: dict[str, Scalar] = {}
        chosen: list[Domain] = []
        for domain in self.domains.values():
            if domain.initial is not None:
                known[domain.name] = domain.initial
            elif domain.is_eager or not self._reductions.is_on:
                chosen.append(domain)
            else:
                known[domain.name] = Open(domain.name)
        for values in product(*(domain.values for domain in chosen)):
            yield {**known, **{domain.name: value for domain, value in zip(chosen, values, strict=True)}}

    def _statistics(self) -> Statistics:
        graph = self.explorer.graph
        seconds = (self._now() - self._began) / SECOND
        return Statistics(
            states=len(graph), transitions=graph.transitions, bytes=graph.bytes, seconds=seconds,
            reductions=dict(sorted(self._reductions.used.items())),
        )  # fmt: skip


def prove(
    subject: Definitions | Deployed,
    process: str = "",
    flags: Collection[FlagContract] | None = None,
    *,
    may_raise: Mapping[str, Collection[str]] | None = None,
    writes: Mapping[str, Collection[str]] | None = None,
    compensation: Mapping[str, str] | None = None,
    bounds: Bounds = BOUNDS,
    now: Now | None = None,
    told: Told = lambda states: None,
    is_reduced: bool = True,
) -> Verdict:
    """Whether every way through a process ends well.

    Without `flags` the values are those the conditions speak of, and whatever arrives may write them. `told` hears now
    and then how many states were looked at.
    """
    if isinstance(subject, Definitions):
        subject = deployed_of(subject, chosen_process(subject, process), compensation or {})
    declared = tuple(flags) if flags is not None else subject.flags
    is_loose = flags is None and not subject.flags
    environment = Environment(may_raise or {}, writes or {}, is_loose)
    question = Question(subject, declared, environment, now or effort_clock(), told)
    return question.verdict(bounds) if is_reduced else question.unreduced(bounds)


class Question:
    """A process to be proved, asked exactly first and, when that takes too long, with flags of any value."""

    def __init__(
        self, deployed: Deployed, flags: tuple[FlagContract, ...], environment: Environment, now: Now, told: Told,
        parked: Instance | None = None,
    ) -> None:  # fmt: skip
        self._deployed, self._flags, self._environment = deployed, flags, environment
        self._now, self._told, self._parked = now, told, parked

    def proof(self, bounds: Bounds, is_reduced: bool = True, free: frozenset[str] = frozenset()) -> Proof:
        return Proof(
            self._deployed, self._flags, self._environment, bounds=bounds, now=self._now, told=self._told,
            is_reduced=is_reduced, free=free, parked=self._parked,
        )  # fmt: skip

    def verdict(self, bounds: Bounds) -> Verdict:
        return self._told_of_flags(self._verdict(bounds))

    def parked_verdict(self, bounds: Bounds) -> Verdict:
        """The verdict on what may follow the parked state; counterexamples begin with what happens there."""
        verdict = self._verdict(bounds)
        return replace(verdict, findings=tuple(replace(each, steps=each.steps[1:]) for each in verdict.findings))

    def unreduced(self, bounds: Bounds) -> Verdict:
        return self._told_of_flags(self.proof(bounds, is_reduced=False).verdict())

    def _told_of_flags(self, verdict: Verdict) -> Verdict:
        """With what the values that were taken for granted leave out."""
        if not self._environment.is_loose:
            return verdict
        told = {each.element for each in verdict.findings}
        unset = unset_findings(self._deployed.process, told)
        return replace(verdict, findings=(*verdict.findings, *unset))

    def _verdict(self, bounds: Bounds) -> Verdict:
        exact = self.proof(bounds)
        free = frozenset(name for name, domain in exact.domains.items() if not domain.is_eager)
        if not free:
            return exact.verdict()
        half = replace(bounds, seconds=bounds.seconds / 2)
        verdict = self.proof(half).verdict()
        if verdict.word != "undecided":
            return verdict
        loose = self.proof(half, free=free)
        return _together(verdict, loose.verdict(), loose.confirmed())


def _together(exact: Verdict, loose: Verdict, confirmed: tuple[Finding, ...]) -> Verdict:
    """With flags of any value more can happen: no fault there is none here, a fault there counts once confirmed."""
    statistics = _added(exact.statistics, loose.statistics)
    if any(finding.severity == "error" for finding in confirmed):
        return replace(exact, word="refuted", bound=loose.bound, findings=confirmed, statistics=statistics)
    if loose.word == "proved":
        return replace(exact, word="proved", bound="", findings=confirmed, statistics=statistics)
    return replace(exact, statistics=statistics)


def _added(first: Statistics, second: Statistics) -> Statistics:
    used = Counter(first.reductions) + Counter(second.reductions) + Counter({"flags of any value": 1})
    return Statistics(
        states=first.states + second.states, transitions=first.transitions + second.transitions,
        bytes=max(first.bytes, second.bytes), seconds=first.seconds + second.seconds,
        reductions=dict(sorted(used.items())),
    )  # fmt: skip


def _word(findings: tuple[Finding, ...], explorer: Explorer) -> Word:
    if any(finding.severity == "error" for finding in findings):
        return "refuted"
    return "undecided" if explorer.bound else "proved"


def chosen_process(definitions: Definitions, process: str) -> Process:
    found = [each for each in definitions.executable() if not process or each.id == process]
    if len(found) == 1:
        return found[0]
    ids = ", ".join(each.id for each in definitions.executable()) or "none"
    fact = "the file has no such executable process" if process or not found else "the file has several"
    raise RejectedError(Rejection("not_found", "prove", "process", process, fact, f"Executable here: {ids}."))


def _starts(process: Process) -> list[tuple[str, str]]:
    """The element a start is about, and what the machine is told to start at (empty for none events)."""
    events = [node for node in process.body.nodes if isinstance(node, Event) and node.position == "start"]
    found = [(event.id, event.id) for event in events if event.triggers]
    found += [(event.id, "") for event in events if not event.triggers][:1]
    if events:
        return found
    arms = [node for node in process.body.nodes if _instantiates(node)]
    for node in arms:
        if isinstance(node, Task):
            found.append((node.id, node.id))
        else:
            found += [(flow.target, flow.target) for flow in process.body.flows if flow.source == node.id]
    return found or [(process.id, "")]


def _instantiates(node: object) -> bool:
    return isinstance(node, Task | Gateway) and node.is_instantiating
