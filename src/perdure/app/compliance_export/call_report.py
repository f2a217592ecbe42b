"""The report of a call or runbook: its steps, their data, their attempts and the people involved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perdure.app.compliance_export.document import StepTold
from perdure.app.compliance_export.journal_replay import ChainReplay, Moment, hash_text
from perdure.app.compliance_export.journal_report import ChainReport, failure_text
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.runbooks.machine.journal_entries import (
    AttemptStarted,
    CompletionIgnored,
    CompletionReceived,
    PayloadErased,
)
from perdure.runbooks.machine.runbook_machine import token_key
from perdure.runbooks.machine.state import step_id
from perdure.sources import id_text, iso
from perdure.verbs.definition import VerbDefinition
from perdure.verbs.sentences import render

Verbs = dict[str, VerbDefinition]


class CallReport(ChainReport):
    """Compares each step before and after an entry, whatever the entry is called."""

    def __init__(self, chronicle: ChainReplay) -> None:
        super().__init__(chronicle)
        self._frames: dict[int, int] = {}
        for moment in chronicle.moments():
            self._look(moment)
        self.bury()

    def _look(self, moment: Moment) -> None:
        entry, number = moment.entry, _step_of(moment)
        where = f"step {number}" if number else ""
        self.acted(moment, where)
        for each, old, new in self._changed(entry, number):
            self._step(moment, each, old, new)
        if isinstance(entry, CompletionReceived | CompletionIgnored):
            token = self.chronicle.state.steps[entry.step - 1].tokens[entry.token - 1]
            key = token_key(self.chronicle.id, entry.step, token)
            self.arrived(moment, moment.name, token.name, key, entry.message_id)
        elif isinstance(entry, PayloadErased):
            self.erased(moment)

    def _changed(self, entry: Any, number: int) -> Iterator[tuple[int, Any, Any]]:
        """The steps an entry changed: only the one it names, where it names one."""
        before = self.chronicle.before.steps if self.chronicle.before is not None else ()
        after = self.chronicle.state.steps
        if before is after:
            return
        first = getattr(entry, "first", 1)  # where a plan grew, those before are unchanged
        for each in [number] if number else range(first, len(after) + 1):
            old = before[each - 1] if each <= len(before) else None
            new = after[each - 1]
            if old is not new:
                yield each, old, new

    def _step(self, moment: Moment, number: int, old: Any, new: Any) -> None:
        where = f"step {number}"
        for what in ("input", "result"):
            before, after = getattr(old, what, None), getattr(new, what, None)
            if after and after != before:
                values = (self._value(before), self._value(after))
                self.crossed(moment, what, where, new.verb, before, after, values)
        if getattr(old, "frame", None) != new.frame and new.frame is not None:
            self._frame(moment, number, getattr(old, "frame", None), new)
        was, now = getattr(old, "incident", None), new.incident
        if now is not None and now != was:
            self.raised(moment, number, where, now.code, now.text)
        elif was is not None and now is None:
            self.resolved(moment, number)

    def _frame(self, moment: Moment, number: int, old: Any, new: Any) -> None:
        frame = new.frame
        is_same = old is not None and (old.attempt, old.started_at) == (frame.attempt, frame.started_at)
        if not is_same:
            ran_under = moment.entry.definition if isinstance(moment.entry, AttemptStarted) else b""
            hash_in = new.input if ran_under else b""
            self._frames[number] = self.framed(
                f"step {number}", new.verb, frame.attempt, iso(frame.started_at), ran_under, hash_in
            )  # fmt: skip
        if frame.status == "completed" and new.result:
            self.brought(self._frames[number], hash_out=hash_text(new.result))
        if frame.status != "started":
            self.ended(self._frames[number], frame.status, iso(frame.ended_at or None), failure_text(frame.failure))

    def _value(self, hash: bytes | None) -> Any:
        return self.chronicle.value(hash_text(hash)) if hash else None

    def steps(self, verbs: Verbs) -> list[StepTold]:
        return [
            self._told(number, step, verbs) for number, step in enumerate(self.chronicle.state.steps, 1)
        ]  # fmt: skip

    def _told(self, number: int, step: Any, verbs: Verbs) -> StepTold:
        letters, tenant = self.chronicle.id, self.chronicle.chain.tenant
        carrier = id_text(child_id(tenant, f"step:{step_id(letters, number)}")) if step.carrier is not None else ""
        args = self._value(step.input)
        return StepTold(
            of=letters, number=number, name=name_of(step), verb=step.verb, version=step.version,
            definition=hash_text(step.definition), sentence=sentence_of(step, args, verbs), state=step.status,
            input=hash_text(step.input), result=hash_text(step.result), error=failure_text(step.error),
            carrier=carrier,
        )  # fmt: skip


def name_of(step: Any) -> str:
    """The name a plan gave a step; a call outside a plan has none."""
    return getattr(step, "name", "") or getattr(getattr(step, "links", None), "name", "")


def sentence_of(step: Any, args: Any, verbs: Verbs) -> str:
    """The step in a person's words, as its own definition says it."""
    definition = verbs.get(hash_text(step.definition))
    if definition is None:
        return step.verb or name_of(step) or "Choose the way"
    return render(definition, args if isinstance(args, dict) else {})


def _step_of(moment: Moment) -> int:
    number = getattr(moment.entry, "step", 0)
    return number if isinstance(number, int) else 0
