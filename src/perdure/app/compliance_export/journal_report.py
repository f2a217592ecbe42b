"""The report of a journal, collected during its replay: the parts that calls and instances share."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from perdure.app.compliance_export.document import (
    Act,
    Arrival,
    Asking,
    Change,
    Crossing,
    Frame,
    IncidentTold,
    Passage,
    Tombstone,
)
from perdure.app.compliance_export.journal_replay import ChainReplay, Moment, fields_of, hash_text
from perdure.app.compliance_export.json_diff import differences, given
from perdure.engine import sent_id
from perdure.runbooks.machine.runbook_machine import NOTICE

PEOPLE_PREFIXES = ("Task", "Amendment", "Gate", "Draft", "Proposal", "Override")
PEOPLE_ENTRIES = frozenset({
    "CancelRequested", "IncidentResolved", "PayloadErased", "InstanceSuspended", "InstanceResumed", "InstanceModified",
    "InstanceMigrated", "StepsAdded", "EdgesAdded", "StepSkipped", "StepRetried", "StepCancelled", "DecisionMade",
    "RunbookSealed", "CompensationStarted", "CarrierChanged",
})  # fmt: skip
"""Entries that stand for something a person did, or was asked to do."""
ASKED_FOR = frozenset({
    "CallStarted", "RunbookStarted", "InstanceStarted", "DraftOpened", "StepsAdded", "ProgressPosted",
    "CompletionReceived", "CompletionIgnored", "Occurred", "WatchMet", "MessageIgnored", "TaskActed", "TaskClaimed",
    "TaskCompleted", "TaskAnswered", "GateAnswered",
})  # fmt: skip
"""Entries that stand for something that came from outside, whoever it came from."""
PLATFORM = "perdure"
ASKED = frozenset({"TaskOpened", "GateClosed", "GateReopened"})
"""Put before people: nobody has acted yet."""


class ChainReport:
    """Collects. `where` names a step or an element."""

    def __init__(self, chronicle: ChainReplay) -> None:
        self.chronicle = chronicle
        self.data: list[Crossing] = []
        self.people: list[Act] = []
        self.asked: list[Asking] = []
        self.messages: list[Arrival] = []
        self.incidents: list[IncidentTold] = []
        self.frames: list[Frame] = []
        self.trail: list[Passage] = []
        self.tombstones: list[Tombstone] = []
        self._open: dict[int, int] = {}
        self._erased: Moment | None = None

    # --- data ----------------------------------------------------------------------------------------------------

    def crossed(
        self, moment: Moment, what: str, where: str, verb: str, before: bytes | None, after: bytes,
        values: tuple[Any, Any],
    ) -> None:  # fmt: skip
        """Data changed from one hash to another; the values behind them, where they are here."""
        changes: list[Change] = []
        omitted = 0
        is_here = self.chronicle.has(hash_text(after))
        if is_here:
            old, new = values
            changes, omitted = differences(old, new) if before and old is not None else given(new)
        self.data.append(Crossing(
            of=self.chronicle.id, sequence=moment.sequence, at=moment.at, what=what, where=where, verb=verb,
            by=moment.record.principal, before=hash_text(before), after=hash_text(after), changes=changes,
            omitted=omitted, is_erased=not is_here,
        ))  # fmt: skip

    def erased(self, moment: Moment) -> None:
        self._erased = moment

    def bury(self) -> None:
        """A tombstone for every hash that data crossed under, once all of it was erased."""
        moment = self._erased
        if moment is None:
            return
        hashes = dict.fromkeys(each.after for each in self.data)
        for hash in hashes:
            self.tombstones.append(Tombstone(
                of=self.chronicle.id, hash=hash, erased_at=moment.at, reason=moment.entry.reason,
                by=moment.record.principal,
            ))  # fmt: skip

    # --- people and messages ---------------------------------------------------------------------------------------

    def acted(self, moment: Moment, where: str) -> None:
        """Tell an entry that stands for an act of a person, or for something that was asked for from outside."""
        name, record = moment.name, moment.record
        if name in ASKED_FOR and record.principal != PLATFORM and not _is_notice(moment.entry):
            self.asked.append(Asking(
                of=self.chronicle.id, sequence=moment.sequence, at=moment.at, who=record.principal, by_key=record.key,
                what=name, where=where, details=fields_of(moment.entry),
            ))  # fmt: skip
        if not name.startswith(PEOPLE_PREFIXES) and name not in PEOPLE_ENTRIES:
            return
        by = getattr(moment.entry, "by", "")
        named = by[0] if isinstance(by, tuple) and by else by or moment.record.principal
        who = "" if name in ASKED else named
        self.people.append(Act(
            of=self.chronicle.id, sequence=moment.sequence, at=moment.at, who=who, what=name, where=where,
            details=fields_of(moment.entry),
        ))  # fmt: skip

    def arrived(self, moment: Moment, what: str, name: str, key: str, message_id: str) -> None:
        """Something came; what the platform tells itself is left out."""
        message_id = sent_id(message_id)
        if message_id.startswith(NOTICE):
            return
        self.messages.append(Arrival(
            of=self.chronicle.id, sequence=moment.sequence, at=moment.at, what=what, name=name, key=key,
            message_id=message_id, principal=moment.record.principal, payload=_brought(moment),
        ))  # fmt: skip

    # --- incidents and frames --------------------------------------------------------------------------------------

    def raised(self, moment: Moment, number: int, where: str, code: str, text: str) -> None:
        self._open[number] = len(self.incidents)
        self.incidents.append(IncidentTold(
            of=self.chronicle.id, where=where, code=code, text=text, raised_at=moment.at, resolved_at=None, how="",
            reason="", by="",
        ))  # fmt: skip

    def resolved(self, moment: Moment, number: int, how: str = "") -> None:
        place = self._open.pop(number, None)
        if place is not None:
            entry = moment.entry
            self.incidents[place] = replace(
                self.incidents[place], resolved_at=moment.at, how=how or getattr(entry, "how", "") or moment.name,
                reason=getattr(entry, "reason", ""), by=moment.record.principal,
            )  # fmt: skip

    def framed(
        self, where: str, verb: str, attempt: int, started_at: str | None, definition: bytes = b"",
        hash_in: bytes = b"",
    ) -> int:  # fmt: skip
        """A handler began; the place of its frame."""
        self.frames.append(Frame(
            of=self.chronicle.id, where=where, verb=verb, attempt=attempt, started_at=started_at, ended_at=None,
            outcome="started", error="", definition=hash_text(definition) if definition else "",
            hash_in=hash_text(hash_in) if hash_in else "",
        ))  # fmt: skip
        return len(self.frames) - 1

    def brought(self, place: int, **told: Any) -> None:
        """What an execution brought; nothing of one whose beginning does not say what came in."""
        if self.frames[place].hash_in:
            self.frames[place] = replace(self.frames[place], **told)

    def ended(self, place: int, outcome: str, at: str | None, error: str) -> None:
        self.frames[place] = replace(self.frames[place], outcome=outcome, ended_at=at, error=error)


def _is_notice(entry: Any) -> bool:
    """Whether an entry is about what the platform tells itself, or about its clock."""
    if type(entry).__name__ not in ("Occurred", "WatchMet", "MessageIgnored"):
        return False
    message_id = sent_id(getattr(entry, "message_id", ""))
    return not message_id or message_id.startswith(NOTICE)


def failure_text(failure: Any) -> str:
    return f"{failure.code}: {failure.message}" if failure is not None else ""


def _brought(moment: Moment) -> str:
    """The payload that came along, as far as an entry of the same record names it."""
    for entry in moment.record.entries:
        for field in ("message", "result"):
            value = getattr(entry, field, None)
            if isinstance(value, bytes) and value:
                return hash_text(value)
    return ""
