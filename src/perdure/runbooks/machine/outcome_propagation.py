"""Outcome propagation: a step's outcome makes others ready, skips them, or ends the runbook."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from perdure.errors import InvariantBroken
from perdure.human_tasks import OF_GATE, changed_parts, documents_in, without_documents
from perdure.journal import Decision
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.apply import apply
from perdure.runbooks.machine.attempt_outcomes import attempt_number, outcome_entries
from perdure.runbooks.machine.dag_progress import (
    course_of,
    is_active,
    is_not_begun,
    is_over,
    is_untouched,
    lost,
    needed_by,
    seen_at_gate,
)
from perdure.runbooks.machine.state import ENDED, PENDING, Runbook, VerbPin, links_of

ENDINGS = (e.StepCompleted, e.ChoiceMade, e.StepSkipped, e.StepCancelled, e.FailurePassed)


MAX_NAMED = 5
"""How many added steps are named where a gate opens again because of them."""
MAX_ROUNDS = 16
"""How many times in a row what was just begun may let something else begin in the same commit."""

Begin = Callable[[Runbook, list[int]], tuple[c.Launch, ...]]
"""How steps that are ready in a state begin; those it does not know how to are left out."""


class Flow:
    """Entries applied as they are made, each with what follows from it."""

    def __init__(self, state: Runbook, now: int, *opened_by: e.Entry) -> None:
        """`opened_by` are the entries that led to the state and belong to the same record."""
        self.state = state
        self.now = now
        self.entries: list[e.Entry] = list(opened_by)
        self._unfollowed: deque[Any] = deque()
        self._is_resumed = False

    def emit(self, *entries: e.Entry) -> None:
        for entry in entries:
            self.entries.append(entry)
            self.state = apply(self.state, entry)
            self._unfollowed.append(entry)

    def settle(self) -> None:
        """Follow everything to its end, then see whether the runbook has come to one."""
        self._follow_all()
        self._conclude()

    def decision(self, answer: str = "applied") -> Decision:
        return Decision(tuple(self.entries), answer, state=self.state)

    # --- following -----------------------------------------------------------------------------------------------

    def _follow_all(self) -> None:
        while True:
            while self._unfollowed:
                self._follow(self._unfollowed.popleft())
            course = course_of(self.state)
            if course.stops or not course.held:
                return
            for number in course.held:
                self.emit(e.StepReady(number, self.now))

    def _follow(self, entry: Any) -> None:
        kind = type(entry)
        if kind is e.CompletionReceived:
            self._is_resumed = True
        elif kind is e.StepsAdded:
            for number in range(entry.first, entry.first + len(entry.steps)):
                self._welcome(number)
            if entry.document:
                self._ask_again(tuple(f"plan: step '{each.name}' added" for each in entry.steps[:MAX_NAMED]))
        elif kind is e.StepFailed:
            self._failed(entry.step)
        elif kind is e.GateAnswered and entry.agrees:
            self._admit(entry.step)
        elif kind is e.StepRetried:
            self._again(entry.step)
        elif kind in ENDINGS:
            self._over(entry.step, is_passing=kind is e.FailurePassed)

    def _over(self, number: int, is_passing: bool) -> None:
        step = self.state.steps[number - 1]
        links = links_of(step)
        if self._is_resumed and step.status == "completed" and (decider := course_of(self.state).decider) is not None:
            self._is_resumed = False
            self._reconsider(number, decider)
        if links.decides and not is_passing:
            failed = self.state.steps[links.decides - 1]
            if failed.status == "failed" and not links_of(failed).is_passed:
                self.emit(e.FailurePassed(links.decides, self.now))
        if links.is_passed and not is_passing:
            return  # what hung on it went on when its failure was passed
        for dependent in links.dependents:
            self._weigh(dependent, number)

    def _weigh(self, number: int, by: int) -> None:
        """One of what a step hangs on is over: it may be the last, or the one it cannot do without."""
        step = self.state.steps[number - 1]
        if not is_untouched(step):
            return
        why: Any = lost(self.state, links_of(step), by)
        if why:
            self.emit(e.StepSkipped(number, self.now, why))
        elif links_of(step).unmet == 0:
            self._welcome(number)  # another it needs may have gone without a result and not been followed yet

    def _welcome(self, number: int) -> None:
        """A step that may have nothing to wait for: what it hangs on is over, with or without a result."""
        step = self.state.steps[number - 1]
        if not is_untouched(step):
            return
        links = links_of(step)
        for each in needed_by(links):
            why: Any = lost(self.state, links, each) if is_over(self.state.steps[each - 1]) else ""
            if why:
                self.emit(e.StepSkipped(number, self.now, why))
                return
        if links.unmet == 0:
            self._admit(number)

    def _admit(self, number: int) -> None:
        step = self.state.steps[number - 1]
        if not is_untouched(step):
            return
        links = links_of(step)
        course = course_of(self.state)
        if links.gate and not links.is_open:
            self.emit(e.GateClosed(number, self.now, links.gate))
        elif changed := self._changed(number):
            self.emit(e.GateReopened(number, self.now, changed, links.gate))
        elif not course.stops:
            self.emit(e.StepReady(number, self.now))
        elif number not in course.held:
            self.emit(e.StepsHeld(self.now, (number,)))

    def _again(self, number: int) -> None:
        """A step somebody retries waits for no other failure, but for its gate it does."""
        links = links_of(self.state.steps[number - 1])
        if links.gate and not links.is_open:
            self.emit(e.GateClosed(number, self.now, links.gate))
        elif changed := self._changed(number):
            self.emit(e.GateReopened(number, self.now, changed, links.gate))
        else:
            self.emit(e.StepReady(number, self.now))

    def _changed(self, number: int) -> tuple[str, ...]:
        """The parts of what was agreed to at a gate that are not as they were."""
        agreed_on = without_documents(links_of(self.state.steps[number - 1]).agreed_on)
        return changed_parts(agreed_on, seen_at_gate(self.state, number), OF_GATE) if agreed_on else ()

    def _ask_again(self, changes: tuple[str, ...]) -> None:
        """Open the gates again of steps that were agreed to under another plan and have not begun."""
        course = course_of(self.state)
        for number in (*course.ready, *course.held):
            if self._changed(number):
                gate = links_of(self.state.steps[number - 1]).gate
                self.emit(e.GateReopened(number, self.now, changes, gate))

    def _failed(self, number: int) -> None:
        links = links_of(self.state.steps[number - 1])
        if links.on_failure == "continue":
            self.emit(e.FailurePassed(number, self.now))
        elif links.on_failure == "decide" and links.alternative is not None:
            self._ask_for(number, links.alternative)
        elif links.on_failure == "ask":
            self.emit(e.FailureAsked(number, self.now))
        elif links.on_failure == "stop" and (ready := course_of(self.state).ready):
            self.emit(e.StepsHeld(self.now, ready))

    def _ask_for(self, number: int, pin: VerbPin) -> None:
        """A decision about a failure, in a step of its own."""
        links = links_of(self.state.steps[number - 1])
        again = f"/{links.round}" if links.round else ""
        added = e.Added(
            f"{links.name}/decision{again}", pin.verb, pin.version, pin.definition, on_failure="ask", decides=number
        )
        self.append((added,))

    def _reconsider(self, number: int, decider: VerbPin) -> None:
        """A resume: what hangs on the step waits for a decision first."""
        step = self.state.steps[number - 1]
        waiting = [each for each in links_of(step).dependents if is_untouched(self.state.steps[each - 1])]
        if step.verb == decider.verb or self._is_decided_next(waiting, decider):
            return
        added = e.Added(
            f"{links_of(step).name}/resumed", decider.verb, decider.version, decider.definition, after=(number,)
        )
        asked = len(self.state.steps) + 1
        self.append((added,))
        if waiting:
            self.emit(e.EdgesAdded(self.now, tuple((each, asked) for each in waiting)))

    def _is_decided_next(self, waiting: list[int], decider: VerbPin) -> bool:
        """Whether the decision itself is all that a resume lets begin."""
        steps = [self.state.steps[each - 1] for each in waiting]
        is_alone = bool(steps) and all(each.verb == decider.verb for each in steps)
        return is_alone and any(links_of(each).unmet == 0 for each in steps)

    def append(self, steps: tuple[e.Added, ...]) -> None:
        """Steps the runbook itself adds: they have no arguments of their own."""
        self.emit(e.StepsAdded(self.now, course_of(self.state).plan, b"", len(self.state.steps) + 1, steps))

    # --- commands that come with others --------------------------------------------------------------------------

    def change(self, step: int, change: c.Change) -> None:
        """What a decision does to the plan; when it ends the runbook, steps that have begun are left as they are."""
        self.emit(e.DecisionMade(step, self.now, change.reason, change.confidence, change.is_last))
        if change.added:
            first = len(self.state.steps) + 1
            self.emit(e.StepsAdded(self.now, change.plan, change.document, first, change.added))
        skips: Iterable[int] = range(1, len(self.state.steps) + 1) if change.is_last else change.skips
        for number in skips:
            if is_not_begun(self.state.steps[number - 1]):
                self.emit(e.StepSkipped(number, self.now, "decision", change.reason))
        if change.is_last and not course_of(self.state).is_sealed:
            self.emit(e.RunbookSealed(self.now))

    def begin(self, begin: Begin, worker: int, before: Runbook | None) -> None:
        """Launch what has just become ready, and what becomes ready by that, as far as `begin` knows how."""
        seen = set(before.course.ready) if before is not None and before.course is not None else set()
        for _ in range(MAX_ROUNDS):
            self._follow_all()
            ready = [each for each in course_of(self.state).ready if each not in seen]
            if not ready:
                return
            seen.update(ready)
            self.launch(begin(self.state, ready), worker)

    def launch(self, launches: tuple[c.Launch, ...], worker: int) -> int:
        """Begin those that are ready and whose locks are free here; how many were."""
        begun = 0
        for each in launches:
            self._follow_all()
            if each.step > len(self.state.steps) or self.state.steps[each.step - 1].status != "ready":
                continue
            if each.locks and not set(each.locks).isdisjoint(course_of(self.state).locks):
                continue
            if changed := self._changed_at_launch(each):
                gate = links_of(self.state.steps[each.step - 1]).gate
                self.emit(e.GateReopened(each.step, self.now, (changed,), gate))
            else:
                self._launch(each, worker)
            begun += 1
        return begun

    def _changed_at_launch(self, launch: c.Launch) -> str:
        """What differs in a step from what was agreed to: its arguments, where it began before, or their documents."""
        step = self.state.steps[launch.step - 1]
        links = links_of(step)
        if not links.agreed_on:
            return ""
        if links.round and step.input and launch.input not in (b"", step.input):
            return "arguments"
        return "documents" if launch.input and documents_in(links.agreed_on) != launch.documents.hex() else ""

    def _launch(self, launch: c.Launch, worker: int) -> None:
        number, outcome, now = launch.step, launch.outcome, self.now
        if type(outcome) is c.Chosen:
            self.emit(e.ChoiceMade(number, now, outcome.side))
            return
        if type(outcome) is c.Misfit:
            self.emit(e.IncidentRaised(number, now, outcome.code, outcome.text))
            return
        if type(outcome) is c.Lacking:
            self.emit(e.StepSkipped(number, now, "input", outcome.text))
            return
        attempt = attempt_number(self.state.steps[number - 1])
        self.emit(e.StepBegun(number, now, launch.input, launch.locks))
        if type(outcome) is c.Park:
            waits = len(self.state.steps[number - 1].tokens)
            askers = self.state.askers
            self.emit(*outcome_entries(number, attempt, outcome, now, 0.0, waits=waits, askers=askers))
        else:
            self.emit(e.AttemptStarted(number, attempt, now, worker, 0, self.state.steps[number - 1].definition))

    # --- the end -------------------------------------------------------------------------------------------------

    def _conclude(self) -> None:
        course = course_of(self.state)
        if self.state.status in ENDED or is_active(course):
            return
        if course.ending:
            how: Any = "failed" if course.unrecovered else course.ending
            self.emit(e.CompensationEnded(self.now, how, course.unrecovered))
        elif course.stops or course.fails:
            self.emit(e.RunbookFailed(self.now))
        elif course.is_sealed:
            if course.counts[PENDING]:
                fact = f"{course.counts[PENDING]} steps can neither run nor be skipped"
                raise InvariantBroken("end", "runbook", links_of(self.state.steps[0]).name, fact)
            self.emit(e.RunbookCompleted(self.now))
