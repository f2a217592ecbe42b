"""Compliance documents: one call with all that belongs to it, to be read and checked by anybody, without a store."""

from perdure.app.exporting.checking import Verdict, check_document, is_document
from perdure.app.exporting.form import FORMAT
from perdure.app.exporting.gathering import export_document
from perdure.app.exporting.page import page_of

__all__ = ["FORMAT", "Verdict", "check_document", "export_document", "is_document", "page_of"]
