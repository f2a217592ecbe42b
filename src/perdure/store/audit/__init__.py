"""The audit: everything stored is checked against everything else, and calls are exported to be checked elsewhere."""

from perdure.store.audit.call_export import document_of, export
from perdure.store.audit.export_verification import verify_export
from perdure.store.audit.findings import CODES, Finding, Report
from perdure.store.audit.store_verification import Anchor, verify

__all__ = ["CODES", "Anchor", "Finding", "Report", "document_of", "export", "verify", "verify_export"]
