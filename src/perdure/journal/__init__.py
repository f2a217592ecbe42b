"""The journal: entries, the records that hold them, their chain, and the contract of a machine.

One record per command holds all entries it caused. Records of one aggregate form a chain: each hash
covers the one before it and the exact bytes of the record. Entries name payloads by hash only, so
that data can be erased while the chain still verifies.
"""

from perdure.journal.chain import genesis, link
from perdure.journal.machine import (
    NO_ROWS,
    BlobRow,
    Decision,
    DocumentRow,
    IncidentRow,
    JobRow,
    ListedMachine,
    Machine,
    Notice,
    ParkedRow,
    PartedMachine,
    Rows,
    SearchedMachine,
    TimerRow,
    Written,
)
from perdure.journal.record import (
    RECORD_VERSION,
    Deed,
    Entries,
    Origin,
    Record,
    RecordCodec,
    RecordRow,
    Sieve,
    SourcePosition,
)
from perdure.journal.row_digests import Anchor, RowRecord, anchored
from perdure.journal.state_parts import Parts
from perdure.journal.upcasters import Upcaster, grown, lift, read_form

__all__ = [
    "NO_ROWS",
    "RECORD_VERSION",
    "Anchor",
    "BlobRow",
    "Decision",
    "Deed",
    "DocumentRow",
    "Entries",
    "IncidentRow",
    "JobRow",
    "ListedMachine",
    "Machine",
    "Notice",
    "Origin",
    "ParkedRow",
    "PartedMachine",
    "Parts",
    "Record",
    "RecordCodec",
    "RecordRow",
    "RowRecord",
    "Rows",
    "SearchedMachine",
    "Sieve",
    "SourcePosition",
    "TimerRow",
    "Upcaster",
    "Written",
    "anchored",
    "genesis",
    "grown",
    "lift",
    "link",
    "read_form",
]
