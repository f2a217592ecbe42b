"""What was committed, in the order of the commits, judged entry by entry as it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from perdure.kernel.ports import Unit
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import id_text

AFTER_THE_END = (
    e.CompletionIgnored, e.AttemptDiscarded, e.AmendmentProposed, e.AmendmentApproved, e.PayloadErased,
)  # fmt: skip
ENDS = (e.StepCompleted, e.StepFailed, e.CallCancelled)


@dataclass
class Told:
    """One call as its journal tells it."""

    id: bytes
    verb: str
    key: str
    parent: str
    entries: list[tuple[str, Any]] = field(default_factory=list)
    """The command and the entry it led to."""
    version: int = 0
    holder: int = 0
    """The lease the running attempt belongs to."""
    retry_at: int = 0
    dues: list[int] = field(default_factory=list)
    """When each token is due, 0 for never."""
    end: tuple[str, Any] | None = None

    @property
    def name(self) -> str:
        return f"{self.verb} {id_text(self.id)}"

    def count(self, kind: type) -> int:
        return sum(type(entry) is kind for _, entry in self.entries)


class History:
    """Told of every commit at its moment. `violated` is called with each broken promise."""

    def __init__(self, violated: Callable[[str], None]) -> None:
        self.violated = violated
        self.calls: dict[bytes, Told] = {}
        self.fenced: set[int] = set()
        self.owners: dict[int, str] = {}
        """Which process took each lease."""
        self.received: dict[str, bytes] = {}
        self._codec = RunbookMachine().records

    def committed(self, process: str, fence: int, unit: Unit) -> list[str]:
        """Take a unit in; returns the names of its entries."""
        if fence in self.fenced:
            self.violated(f"lease {fence} wrote after it was taken away")
        names = []
        for row in unit.records:
            record = self._codec.decode(row.body)
            for entry in record.entries:
                names.append(type(entry).__name__)
                self._take(process, unit, row.sequence, record.command, entry)
        return names

    def _take(self, process: str, unit: Unit, sequence: int, command: str, entry: Any) -> None:
        assert unit.id is not None
        told = self.calls.get(unit.id)
        if isinstance(entry, e.CallStarted):
            if told is not None:
                self.violated(f"{told.name} was started twice")
            told = self.calls[unit.id] = Told(unit.id, entry.verb, entry.idempotency_key, entry.parent)
        if told is None:
            self.violated(f"{id_text(unit.id)} was changed before it was started")
            return
        if sequence not in (told.version, told.version + 1):
            self.violated(f"{told.name}: record {sequence} follows record {told.version}")
        told.version = sequence
        is_outcome = command == "RecordAttempt" and told.holder and not isinstance(entry, AFTER_THE_END)
        if is_outcome and self.owners.get(told.holder) != process:
            self.violated(f"{told.name}: {process} recorded an attempt that lease {told.holder} holds")
        self._judge(told, command, entry)
        told.entries.append((command, entry))

    def _judge(self, told: Told, command: str, entry: Any) -> None:
        if told.end is not None and not isinstance(entry, AFTER_THE_END):
            self.violated(f"{told.name}: {type(entry).__name__} after its end by {type(told.end[1]).__name__}")
        match entry:
            case e.AttemptStarted():
                self._attempt(told, command, entry)
            case e.AttemptFailed():
                told.holder, told.retry_at = 0, entry.retry_at
            case e.StepParked():
                told.holder = 0
                told.dues.append(entry.due)
            case e.Escalated():
                told.dues.append(0)
            case e.IncidentRaised():
                told.holder = told.retry_at = 0
            case e.TimedOut():
                due = told.dues[entry.token - 1]
                if command == "FireTimer" and (entry.at < due or not due):
                    self.violated(f"{told.name}: timed out at {entry.at}, due at {due}")
            case e.CompletionReceived():
                self._completion(told, entry)
            case e.StepCompleted() | e.StepFailed() | e.CallCancelled():
                told.holder, told.end = 0, (command, entry)
            case _:
                pass

    def _attempt(self, told: Told, command: str, entry: e.AttemptStarted) -> None:
        if told.holder and told.holder not in self.fenced:
            self.violated(f"{told.name}: taken from lease {told.holder}, which is alive")
        if entry.interruptions and told.verb == "s.cautious":
            self.violated(f"{told.name}: ran again without a person's word")
        if command == "FireTimer" and (not told.retry_at or entry.at < told.retry_at):
            self.violated(f"{told.name}: tried again at {entry.at}, due at {told.retry_at}")
        told.holder, told.retry_at = entry.worker, 0

    def _completion(self, told: Told, entry: e.CompletionReceived) -> None:
        if entry.message_id in self.received:
            other = self.calls[self.received[entry.message_id]].name
            self.violated(f"message {entry.message_id} ended the wait of {told.name} and before that of {other}")
        if any(type(each) is e.CompletionReceived and each.token == entry.token for _, each in told.entries):
            self.violated(f"{told.name}: token {entry.token} was completed twice")
        self.received[entry.message_id] = told.id
