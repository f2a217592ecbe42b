"""Definitions and files that the tests of documents share."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from perdure.testing import Sandbox
from perdure.verbs.loader import load_text

DEFINITIONS = """
documents:
  passport:
    description: Passport of a natural person
    data_schema:
      properties:
        name: {type: string, required: true}
        number: {type: string}
    extracted_schema: {properties: {name: {type: string}, number: {type: string}}}
    content: {media_types: [image/jpeg, image/png, application/pdf], max_bytes: 12000000}
    validity: P10Y
    retention: P1Y
    verify: {groups: [compliance], four_eyes: true}
  form:
    data_schema: {properties: {title: {type: string}, amount: {type: integer}}}
    retention: forever
  letter:
    content: {media_types: [application/pdf, "text/*"]}
"""
PDF = b"%PDF-1.7\n1 0 obj <<>> endobj\n" + b"x" * 300 + b"\ntrailer <<>>\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64 + b"IEND\xaeB`\x82"
JPEG = b"\xff\xd8\xff\xe0" + b"\1" * 64 + b"\xff\xd9"


def opened(url: str, folder: Path, **more: Any) -> AbstractAsyncContextManager[Sandbox]:
    return Sandbox.open(url, definitions=load_text(DEFINITIONS), blobs=folder / "blobs", **more)
