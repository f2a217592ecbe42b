"""Checks messages: each matches its checksum, and the record that tells of it tells of exactly this row."""

from __future__ import annotations

from perdure.journal.row_digests import ROW_PREFIX, read_row
from perdure.kernel.ports import APPLIED, InboxRow
from perdure.kernel.unit_row_digests import MESSAGE, SETTLED, message_digest, settled_digest
from perdure.store.audit.audit_reader import Reader
from perdure.store.audit.findings import Report, found, orphaned
from perdure.store.audit.journalled_rows import Epoch, anchors_in
from perdure.store.checksums import SETTLED as SETTLED_ANSWER
from perdure.store.checksums import is_whole
from perdure.store.ports import Row

MESSAGES = 50
"""Messages looked at together: those that are kept have their data with them."""


async def check_messages(reader: Reader, report: Report, epoch: Epoch) -> None:
    async for _, *columns, sums, is_there, told_by, told, body, hash in reader.pages(
        "scan_messages", -(2**63), 0, MESSAGES
    ):
        row, name = InboxRow(*columns), f"message '{columns[1]}' of tenant '{columns[0]}'"
        if not is_there:
            report.add([orphaned("inbox", columns[7])])
        if not is_whole(row, sums):
            report.add([found("AUD041", "inbox", name)])
        elif not told_by and not told and epoch.began:
            report.before_anchors += 1
        elif body is None:
            report.add([found("AUD028", "inbox", name)])
        elif not is_told(row, (told_by, body, hash)):
            report.add([found("AUD026", "inbox", name)])
    async for _, tenant, message_id in reader.pages("stuck_messages", -(2**63), 0):
        report.add([found("AUD040", "inbox", f"message '{message_id}' of tenant '{tenant}'")])


def is_told(row: InboxRow, record: Row) -> bool:
    """Whether a record tells of a message as it is now."""
    id, body, hash = record
    digests = message_digests(row)
    if id.startswith(ROW_PREFIX) and (told := read_row(id, body, hash)) is not None:
        return told.key == (row.tenant, row.message_id) and told.digest in digests
    return any(
        name == row.message_id and ((table == MESSAGE and digest == digests[0]) or (table == SETTLED and digests[1:]))
        for table, name, digest in anchors_in(body)
    )


def message_digests(row: InboxRow) -> list[bytes]:
    """How a record may tell of a message: as the row it is, and as acted on when it is."""
    digests = [message_digest(row)]
    if (row.status, row.answer, row.body) == (APPLIED, SETTLED_ANSWER, None):
        digests.append(settled_digest(row.tenant, row.message_id))
    return digests
