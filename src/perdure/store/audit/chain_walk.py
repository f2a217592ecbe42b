"""Walks one aggregate's records: hashes recomputed from the first, entries replayed into a state."""

from __future__ import annotations

from typing import Any

from perdure.journal import Machine, genesis, link
from perdure.store.audit.findings import Finding, found
from perdure.store.audit.journalled_rows import Anchors
from perdure.store.audit.payload_references import hashes_in


class Walk:
    """Takes records in order; afterwards holds the last hash, the replayed state and what was wrong."""

    def __init__(self, id: bytes, tenant: str, kind: str, machine: Machine[Any, Any, Any] | None) -> None:
        self.id = id
        self.machine = machine
        self.state: Any = None
        self.head = genesis(tenant, kind, id)
        self.count = 0
        self.last = 0
        self.hashes: set[bytes] = set()
        self.anchors = Anchors()
        self.findings: list[Finding] = []
        self._is_broken = False
        self.is_replayed = machine is not None

    def take(self, sequence: int, body: bytes, hash: bytes) -> None:
        self.count += 1
        if not self._is_broken:
            self._check(sequence, body, hash)
        if self.is_replayed:
            self._replay(sequence, body)
        self.head, self.last = hash, sequence

    def _check(self, sequence: int, body: bytes, hash: bytes) -> None:
        """Only the first bad record is named: those after it stand on it."""
        if sequence != self.last + 1:
            self._is_broken = True
            fact = f"record {sequence} follows record {self.last}"
            self.findings.append(found("AUD003", "journal", fact, self.id, self.last + 1))
        elif link(self.head, body) != hash:
            self._is_broken = True
            fact = f"record {sequence} or what came before it was changed"
            self.findings.append(found("AUD002", "journal", fact, self.id, sequence))

    def _replay(self, sequence: int, body: bytes) -> None:
        assert self.machine is not None
        try:
            record = self.machine.records.decode(body)
            for entry in record.entries:
                self.state = self.machine.apply(self.state, entry)
            self.hashes.update(hashes_in(record.entries))
            self.anchors.take(record.anchors)
        except Exception as error:  # damaged bytes can make anything of a record
            self.is_replayed = False
            fact = f"record {sequence} gave {type(error).__name__} ({str(error)[:200]})"
            self.findings.append(found("AUD006", "journal", fact, self.id, sequence))
