"""Verbs as every surface shows them: a row of a list, or everything that is declared."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.verbs import Verb


class VerbRow(msgspec.Struct, frozen=True):
    """A verb in a list."""

    name: str
    version: int
    kind: str
    description: str
    consequence: str
    sentences: list[str]
    domain: str = ""


class Verbs(msgspec.Struct, frozen=True):
    """Verbs by name; there are never so many that they need pages."""

    items: list[VerbRow]
    next: str | None = None


class VerbView(msgspec.Struct, frozen=True):
    """Everything declared about one version of a verb. `process` carries it, where it is durable and has one."""

    name: str
    version: int
    versions: list[int]
    kind: str
    description: str
    consequence: str
    domain: str
    sentences: dict[str, Any]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    execution: dict[str, Any]
    index: list[str]
    writes: list[str]
    process: str
    metadata: dict[str, Any]
    content_hash: str
    contract: dict[str, Any] | None = None
    """The most that it promised to write and to raise; None where nothing is promised."""


def verb_row(verb: Verb) -> VerbRow:
    told = verb.definition
    return VerbRow(
        verb.name,
        verb.version,
        told.execution.kind,
        told.description,
        told.consequence,
        list(told.sentences.step),
        told.domain,
    )


def verb_view(verb: Verb, versions: list[int]) -> VerbView:
    definition = verb.definition
    told: dict[str, Any] = msgspec.to_builtins(definition)
    return VerbView(
        name=verb.name,
        version=verb.version,
        versions=versions,
        kind=definition.execution.kind,
        description=definition.description,
        consequence=definition.consequence,
        domain=definition.domain,
        sentences=told["sentences"],
        input_schema=told["input_schema"],
        output_schema=told["output_schema"],
        execution=told["execution"],
        index=list(told["index"]),
        writes=list(told["writes"]),
        process=definition.execution.process or "",
        metadata=told["metadata"],
        content_hash=verb.content_hash,
        contract=told["contract"],
    )
