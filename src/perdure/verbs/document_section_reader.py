"""The readers of `documents:` and `rejection_reasons:`, the types of documents and the reasons for refusing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.durations import DurationError, parse_business_days, parse_span
from perdure.verbs.compiled_schema import CompiledSchema, SchemaFault
from perdure.verbs.document_types import (
    CATEGORIES,
    DEFAULT_MAX_BYTES,
    DEFAULT_RETENTION,
    FOREVER,
    LARGEST_BLOB,
    MAX_TYPE_NAME,
    MEDIA_TYPE,
    NEXT_ACTIONS,
    REASON_CODE,
    TYPE_NAME,
    DocumentType,
    Extraction,
    RejectionReason,
    Verification,
)
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.schema_shorthand import SchemaReader, with_definitions
from perdure.verbs.yaml_nodes import Node, Report

HINTS = {"validity": "Write e.g. P10Y or 30 business days.", "retention": "Write e.g. P10Y or P90D."}


class DocumentReader:
    """Reads the document types of one file."""

    def __init__(self, file: str, report: Report, definitions: Mapping[str, Any]) -> None:
        self._file = file
        self._report = report
        self._definitions = definitions

    def read(self, name: str, node: Node) -> DocumentType:
        fields = Fields(node, "document", self._file, self._report)
        if len(name) > MAX_TYPE_NAME or not TYPE_NAME.fullmatch(name):
            hint = "Use lower-case words joined by hyphens or underscores: passport, board-resolution."
            fields.wrong(None, "name", f"'{name[:MAX_TYPE_NAME]}' is not the name of a document type", hint)
        media_types, max_bytes = self._content(fields)
        data_schema = self._schema(fields, "data_schema")
        if data_schema is None and not media_types:
            hint = "Add data_schema, or content: {media_types: [application/pdf]}."
            fields.wrong(None, "content", f"documents of type '{name}' could hold neither data nor a file", hint)
        extraction = self._extraction(fields)
        return DocumentType(
            name=name,
            description=fields.text("description"),
            data_schema=data_schema,
            extracted_schema=self._schema(fields, "extracted_schema"),
            media_types=media_types,
            max_bytes=max_bytes,
            validity=self._span(fields, "validity", ""),
            verification=self._verification(fields),
            retention=self._span(fields, "retention", DEFAULT_RETENTION, FOREVER),
            extraction=extraction,
            scan=fields.text("scan"),
            file=self._file,
            line=node.line,
        )

    def _schema(self, fields: Fields, key: str) -> dict[str, Any] | None:
        node = fields.get(key)
        if node is None:
            return None
        schema = SchemaReader(self._file, self._report, self._definitions).arguments(node)
        whole = with_definitions(schema, self._definitions)
        try:
            CompiledSchema(whole)
        except SchemaFault as fault:
            fields.wrong(node, "schema", f"the schema is not valid: {fault.reason}"[:300])
        return whole

    def _content(self, fields: Fields) -> tuple[tuple[str, ...], int]:
        content = fields.child("content", "document_content")
        if content is None:
            return (), DEFAULT_MAX_BYTES
        media_types = content.texts("media_types")
        if not media_types:
            content.wrong(None, "media_types", "no media type is allowed", "Write e.g. [application/pdf, image/*].")
        for each in media_types:
            if not MEDIA_TYPE.fullmatch(each):
                hint = "Write e.g. application/pdf or image/*."
                content.wrong(content.get("media_types"), "media_types", f"'{each[:80]}' is not a media type", hint)
        return media_types, content.integer("max_bytes", DEFAULT_MAX_BYTES, 1, LARGEST_BLOB)

    def _verification(self, fields: Fields) -> Verification:
        part = fields.child("verify", "document_verify")
        if part is None:
            return Verification()
        groups, four_eyes = part.texts("groups"), part.boolean("four_eyes")
        return Verification(
            groups, four_eyes, part.boolean("by_verb", not groups and not four_eyes), part.boolean("agents")
        )

    def _extraction(self, fields: Fields) -> Extraction | None:
        part = fields.child("extraction", "document_extraction")
        if part is None:
            return None
        if "extracted_schema" not in fields:
            hint = "Add extracted_schema with the fields it fills."
            fields.wrong(fields.get("extraction"), "extraction", "there are no fields to extract", hint)
        return Extraction(part.text("verb", required=True), part.fraction("confidence", 0.0))

    def _span(self, fields: Fields, key: str, default: str, *words: str) -> str:
        text = fields.text(key, default)
        if not text or text in words or (key == "validity" and parse_business_days(text) is not None):
            return text
        try:
            if parse_span(text) > (0, 0):
                return text
            fields.wrong(fields.get(key), "duration", f"'{text}' is no time at all", "Write e.g. P10Y.")
        except DurationError as error:
            fields.wrong(fields.get(key), "duration", f"'{error.id}' is refused: {error.fact}", HINTS[key])
        return default


def read_reason(code: str, node: Node, file: str, report: Report) -> RejectionReason:
    """One rejection reason under its code."""
    fields = Fields(node, "rejection_reason", file, report)
    if len(code) > MAX_TYPE_NAME or not REASON_CODE.fullmatch(code):
        hint = "Use upper-case words joined by underscores: WRONG_SUBJECT."
        fields.wrong(None, "code", f"'{code[:MAX_TYPE_NAME]}' is not the code of a reason", hint)
    if "category" not in fields:
        fields.missing("category")
    action = fields.word("next_action", NEXT_ACTIONS, "ask_again")
    return RejectionReason(
        code,
        fields.word("category", CATEGORIES, "data"),
        fields.text("client", required=True),
        fields.text("operator", required=True),
        action,
        fields.boolean("retryable", action != "stop"),
        file,
        node.line,
    )
