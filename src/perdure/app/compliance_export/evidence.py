"""The evidence of a document: chains, definitions and keys, each under its own hash or id."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.compliance_export.document import Chain, Document


class Evidence(msgspec.Struct):
    """What was gathered from a store, or found in a document."""

    root: str
    chains: dict[str, Chain]
    verbs: dict[str, dict[str, Any]]
    """By hash, exactly what was hashed: a release that knows more fields must not add them."""
    models: dict[str, str]
    """Deployed processes by hash, as canonical JSON."""
    public_keys: dict[str, str]
    key_changes: list[str] = []
    order: list[str] = []
    """The chain of each record in the order of commits; empty where the order was not kept."""
    has_outcomes: bool = True
    """Whether outcome events are told; documents of before have none."""
    writings: dict[str, str] = {}
    """The XML of deployed processes by hash, as a document keeps it."""


def evidence_in(document: Document) -> Evidence:
    """The evidence a document holds."""
    return Evidence(
        document.id,
        {each.id: each for each in document.chains},
        {each.hash: each.definition for each in document.verbs},
        {each.hash: each.definition for each in document.definitions},
        dict(document.public_keys),
        list(document.key_changes),
        [document.chains[each].id for each in document.order if each < len(document.chains)],
        bool(document.outcome_events),
        {each.hash: each.xml for each in document.definitions},
    )
