"""Writes the reference of document types from their keys and the shipped reasons: `python -m tests.documents.pages`."""

from __future__ import annotations

from perdure.verbs.document_keys import DOCUMENT_KEYS, Key
from perdure.verbs.document_types import SHIPPED_REASONS
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "document-types-yaml.md"
GENERATED = "<!-- generated: python -m tests.documents.pages -->\n"
TITLES = {
    "document": (
        "A type",
        "`documents` maps the name of a type, lower-case words joined by hyphens or underscores, to:",
    ),
    "document_content": ("`content`", "A type has `data_schema`, `content` or both."),
    "document_verify": (
        "`verify`",
        "Groups and four eyes bind people on every surface; the verbs of decisions know neither.",
    ),
    "document_extraction": ("`extraction`", "An extraction needs an `extracted_schema`."),
    "rejection_reason": (
        "A rejection reason",
        "`rejection_reasons` maps a code, upper-case words joined by underscores, to:",
    ),
}
EXAMPLE = """documents:
  passport:
    description: Passport of a natural person
    data_schema:
      properties:
        name: {type: string, required: true}
        number: {type: string}
    content: {media_types: [image/jpeg, image/png, application/pdf], max_bytes: 10000000}
    extracted_schema: {properties: {name: {type: string, required: true}}}
    extraction: {verb: lab.read, confidence: 0.8}
    scan: lab.scan
    validity: P10Y
    retention: P5Y
    verify: {groups: [compliance], four_eyes: true}
rejection_reasons:
  NO_APOSTILLE:
    category: authenticity
    client: Please have the copy certified with an apostille.
    operator: A foreign deed without an apostille.
"""


def page() -> str:
    parts = [
        f"# Document types\n\n{GENERATED}",
        "Types and reasons stand in [definition files](verb-yaml.md), in the folder `documents` beside them, or in\n"
        "what `documents` in [`perdure.yaml`](configuration.md) names. A key that is not listed here is an error with\n"
        "its file, line and column. How types are used: [documents](../how-to/documents.md).\n",
        f"```yaml\n{EXAMPLE}```\n",
    ]
    parts += [_place(place, *told) for place, told in TITLES.items()]
    rows = "\n".join(
        f"| `{each.code}` | {each.category} | {each.client} | {each.operator} | `{each.next_action}` | "
        f"{'yes' if each.retryable else 'no'} |"
        for each in SHIPPED_REASONS.values()
    )
    parts.append(
        "## The reasons that ship\n\nA reason of a project under one of these codes takes its place. `perdure "
        "documents reasons` lists all of them.\n\n| code | category | for the client | for operators | next | again |\n"
        f"|---|---|---|---|---|---|\n{rows}\n"
    )
    return "\n".join(parts)


def _place(place: str, title: str, text: str) -> str:
    rows = "\n".join(_row(name, key) for name, key in DOCUMENT_KEYS[place].items())
    return f"## {title}\n\n{text}\n\n| key | meaning | default |\n|---|---|---|\n{rows}\n"


def _row(name: str, key: Key) -> str:
    return f"| `{name}` | {key.meaning} | {key.default or 'required'} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
