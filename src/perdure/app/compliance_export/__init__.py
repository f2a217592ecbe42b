"""Compliance documents: one call with all that belongs to it, to be read and checked by anybody, without a store."""

from perdure.app.compliance_export.document import FORMAT
from perdure.app.compliance_export.evidence_collection import export_document
from perdure.app.compliance_export.html_page import page_of
from perdure.app.compliance_export.verification import Verdict, check_document, is_document

__all__ = ["FORMAT", "Verdict", "check_document", "export_document", "is_document", "page_of"]
