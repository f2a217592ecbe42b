"""The evidence of a document: chains, definitions and keys, each under its own hash or id."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.exporting.form import Chain, Document
from perdure.verbs.definition import VerbDefinition

PLACE_FIELDS = ("file", "line")


class Evidence(msgspec.Struct):
    """What was gathered from a store, or found in a document."""

    root: str
    chains: dict[str, Chain]
    verbs: dict[str, VerbDefinition]
    """By hash; where a definition was written down is not part of it."""
    models: dict[str, str]
    """Deployed processes by hash, as canonical JSON."""
    public_keys: dict[str, str]


def evidence_in(document: Document) -> Evidence:
    """The evidence a document holds; raises for definitions that are none."""
    return Evidence(
        document.id,
        {each.id: each for each in document.chains},
        {each.hash: msgspec.convert(each.definition, VerbDefinition) for each in document.verbs},
        {each.hash: each.definition for each in document.definitions},
        dict(document.public_keys),
    )


def definition_told(definition: VerbDefinition) -> dict[str, Any]:
    """A verb's definition as JSON, without the place it was written at: that is no part of what it means."""
    whole: dict[str, Any] = msgspec.to_builtins(definition)
    return {name: value for name, value in whole.items() if name not in PLACE_FIELDS}
