"""Facts about documents: `document/<subject>/<type>` as guards read it, ids, statuses and dates alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.app.documents.views import day_text
from perdure.documents.ports import DocumentFound, DocumentLists
from perdure.journal.facts import fact_parts
from perdure.sources import id_text, iso
from perdure.verbs.document_types import SHIPPED_REASONS, RejectionReason

MOST = 100


class DocumentFacts:
    """The documents of one type about one subject, newest first, each by the version that counts."""

    kind = "document"

    def __init__(self, lists: DocumentLists, reasons: Mapping[str, RejectionReason] = SHIPPED_REASONS) -> None:
        self._lists = lists
        self._reasons = reasons

    async def read(self, tenant: str, key: str) -> Any:
        subject, type = fact_parts(key)
        found = await self._lists.find(tenant, subject=subject, type=type, most=MOST)
        if len(found) == MOST:
            # Evidence is not hidden by whatever was handed in after it.
            verified = await self._lists.find(
                tenant, subject=subject, type=type, status="verified", before=found[-1].number, most=MOST
            )
            found = [*found, *verified]
        return {"documents": [self._fact(each) for each in found]}

    def _fact(self, found: DocumentFound) -> dict[str, Any]:
        row = found.row
        fact = {
            "id": id_text(found.id), "version": row.version, "status": row.status,
            "valid_from": day_text(row.valid_from), "valid_to": day_text(row.valid_until),
            "created_at": iso(row.created_at),
            "verified_at": iso(row.decided_at) if row.status == "verified" else None, "rejection": row.reason or None,
        }  # fmt: skip
        if row.status == "rejected":
            reason = self._reasons.get(row.reason)
            fact["may_ask_again"] = reason is not None and reason.retryable
        return fact
