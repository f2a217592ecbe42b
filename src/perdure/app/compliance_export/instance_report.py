"""The report of an instance: its path, its data head by head, its jobs, tasks and messages."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.compliance_export.document import Passage, Visit
from perdure.app.compliance_export.journal_replay import ChainReplay, Moment, hash_text
from perdure.app.compliance_export.journal_report import ChainReport, failure_text
from perdure.bpmn.machine import journal_entries as e


class _Stay(msgspec.Struct):
    """A token at an element while the history is read."""

    element: str
    flow: str
    entered_at: str | None
    left_at: str | None = None
    how: str = ""


class InstanceReport(ChainReport):
    """Follows tokens by their numbers and the data by its head."""

    def __init__(self, chronicle: ChainReplay) -> None:
        super().__init__(chronicle)
        self.stays: list[_Stay] = []
        self.done: dict[str, int] = {}
        self._standing: dict[int, _Stay] = {}
        self._inside: dict[int, list[int]] = {}
        self._watches: dict[int, e.Armed] = {}
        self._verbs: dict[int, str] = {}
        self._jobs: dict[int, int] = {}
        self._done: int | None = None
        """The frame that completed last: the flags written next are its own."""
        self._head = b""
        self._envelope: Any = None
        for moment in chronicle.moments():
            self._look(moment)
        self.bury()

    def _look(self, moment: Moment) -> None:
        where = self._where(getattr(moment.entry, "number", 0))
        self.acted(moment, where)
        self._follow(moment)
        self._work(moment, where)
        self._hear(moment)
        if self.chronicle.state.head != self._head:
            self._changed(moment, where)

    def _where(self, number: int) -> str:
        stay = self._standing.get(number)
        return stay.element if stay is not None else ""

    def _follow(self, moment: Moment) -> None:
        entry = moment.entry
        match entry:
            case e.Entered():
                stay = _Stay(entry.element, entry.flow, moment.at)
                self.stays.append(stay)
                self._standing[entry.number] = stay
                self._inside.setdefault(entry.parent, []).append(entry.number)
            case e.Passed():
                self.stays.append(_Stay(entry.element, entry.flow, moment.at, moment.at, "passed"))
                self.done[entry.element] = self.done.get(entry.element, 0) + 1
            case e.Left():
                self._left(moment, entry.number, entry.how)
            case e.InstanceMigrated():
                self._migrated(entry)
            case _:
                pass

    def _left(self, moment: Moment, number: int, how: str) -> None:
        """The token goes, and everything inside it with it."""
        leaving = [number]
        while leaving:
            each = leaving.pop()
            leaving.extend(self._inside.pop(each, ()))
            stay = self._standing.pop(each, None)
            if stay is not None:
                stay.left_at, stay.how = moment.at, how
                if how == "completed" and each == number:
                    self.done[stay.element] = self.done.get(stay.element, 0) + 1
            if (job := self._jobs.pop(each, None)) is not None:
                self.ended(job, how, moment.at, "")
            self.resolved(moment, each, how)

    def _migrated(self, entry: e.InstanceMigrated) -> None:
        for number, stay in list(self._standing.items()):
            node = self.chronicle.state.nodes.get(number)
            if node is not None and node.element != stay.element:
                moved = _Stay(node.element, "", stay.entered_at)
                self.stays.append(moved)
                self._standing[number] = moved

    def _work(self, moment: Moment, where: str) -> None:
        entry = moment.entry
        match entry:
            case e.JobMade():
                self._verbs[entry.number] = entry.verb
            case e.JobStarted():
                verb = self._verbs.get(entry.number, "")
                self._jobs[entry.number] = self.framed(
                    where, verb, entry.attempt, moment.at, entry.definition, entry.head
                )  # fmt: skip
            case e.JobCompleted():
                self._done = self._jobs.get(entry.number)
                if self._done is not None:
                    self.brought(self._done, hash_out=hash_text(entry.head))
                self._job(moment, "completed")
            case e.FlagsWritten() if self._done is not None and self.frames[self._done].verb == entry.verb:
                self.brought(self._done, flags=dict(entry.flags))
                self._done = None
            case e.JobFailed():
                self._job(moment, "failed", failure_text(entry.failure))
            case e.JobAsked():
                self._job(moment, "completed")
            case e.JobHeld():
                self._job(moment, "failed", f"{entry.code}: {entry.text}")
            case e.JobDiscarded():
                place = self.framed(where, self._verbs.get(entry.number, ""), entry.attempt, None)
                self.ended(place, "discarded", moment.at, entry.why)
            case e.IncidentRaised():
                self._job(moment, "incident", f"{entry.code}: {entry.text}")
                self.raised(moment, entry.number, where, entry.code, entry.text)
            case e.IncidentResolved():
                self.resolved(moment, entry.number)
            case _:
                pass

    def _job(self, moment: Moment, outcome: str, error: str = "") -> None:
        place = self._jobs.pop(moment.entry.number, None)
        if place is not None:
            self.ended(place, outcome, moment.at, error)

    def _hear(self, moment: Moment) -> None:
        entry = moment.entry
        match entry:
            case e.Armed():
                self._watches[entry.number] = entry
            case e.Occurred() | e.WatchMet():
                watch = self._watches.get(entry.number)
                if watch is not None and watch.kind in ("message", "signal"):
                    self.arrived(moment, watch.kind, watch.name, watch.key, getattr(entry, "message_id", ""))
            case e.MessageIgnored():
                self.arrived(moment, "ignored", entry.what, "", entry.message_id)
            case e.PayloadErased():
                self.erased(moment)
            case _:
                pass

    def _changed(self, moment: Moment, where: str) -> None:
        before, after = self._head, self.chronicle.state.head
        envelope = self.chronicle.value(hash_text(after))
        values = (_data(self._envelope), _data(envelope))
        if isinstance(moment.entry, e.HeadChanged) and (trail := _trail(envelope)):
            where = trail[-1]["verb"]  # what people and messages bring is trailed under the element they brought it to
        self.crossed(moment, "head", where, getattr(moment.entry, "verb", ""), before, after, values)
        self._passed(self._envelope, envelope)
        self._head, self._envelope = after, envelope

    def _passed(self, before: Any, after: Any) -> None:
        """The trail entry a new head brings: heads carry the last twenty only, together they have all."""
        old, new = _trail(before), _trail(after)
        if new and new[-1:] != old[-1:]:
            self.trail.append(Passage(of=self.chronicle.id, **new[-1]))

    def path(self, names: dict[str, str]) -> list[Visit]:
        return [
            Visit(
                element=each.element, name=names.get(each.element, ""), flow=each.flow, entered_at=each.entered_at,
                left_at=each.left_at, how=each.how,
            )
            for each in self.stays
        ]  # fmt: skip


def _data(envelope: Any) -> Any:
    return envelope.get("data") if isinstance(envelope, dict) else None


def _trail(envelope: Any) -> list[dict[str, str]]:
    return envelope.get("sub_verb_trail", []) if isinstance(envelope, dict) else []
