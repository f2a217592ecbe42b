"""Handler overrides of an environment: the same verbs with other handlers, unseen by their callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from perdure.verb_contract import RetryPolicy
from perdure.verbs.canonical_layout_reader import Draft
from perdure.verbs.compiled_schema import CompiledSchema
from perdure.verbs.definition import INSTANT_COMPLETE, PARK, Execution, VerbDefinition, same_verb_name
from perdure.verbs.example_values import example_of
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.yaml_nodes import Node, Report

MAPPING_NAME = "<overrides>"
_ABSENT: Any = object()


class Override:
    """One line of an environment file."""

    __slots__ = ("fields", "handler", "pattern", "result")

    def __init__(self, pattern: str, fields: Fields) -> None:
        self.pattern = same_verb_name(pattern)
        self.fields = fields
        self.handler = fields.text("handler", required=True)
        result = fields.get("result")
        self.result: Any = _ABSENT if result is None else result.plain()
        if result is not None and self.handler != INSTANT_COMPLETE:
            fields.wrong(result, "result", f"only {INSTANT_COMPLETE} takes a result")

    def matches(self, definition: VerbDefinition) -> bool:
        return fnmatchcase(same_verb_name(definition.name), self.pattern)


def read_overrides(node: Node, file: str, report: Report) -> list[Override]:
    """Verb name or glob to a handler, or to a mapping of handler and result."""
    if not isinstance(node.value, dict):
        report.add((file, node.line, node.column), "override.wrong_type", "", "expected verb names and handlers")
        return []
    return [Override(pattern, _whole(child, file, report)) for pattern, child in node.value.items()]


def _whole(node: Node, file: str, report: Report) -> Fields:
    is_short = isinstance(node.value, str)
    return Fields(node.with_children({"handler": node}) if is_short else node, "override", file, report)


def node_of(value: Any, path: str = "") -> Node:
    """A node for a value that was given in Python rather than in a file."""
    if isinstance(value, Mapping):
        return Node({str(key): node_of(child, str(key)) for key, child in value.items()}, 1, 1, path)
    if isinstance(value, list | tuple):
        return Node([node_of(child, path) for child in value], 1, 1, path)
    return Node(value, 1, 1, path)


def apply_overrides(drafts: Sequence[Draft], overrides: Sequence[Override]) -> list[VerbDefinition]:
    """The effective definitions; an exact name beats a glob, a longer glob a shorter one."""
    ordered = sorted(overrides, key=lambda each: ("*" not in each.pattern, len(each.pattern)), reverse=True)
    for override in ordered:
        if not any(override.matches(draft.definition) for draft in drafts):
            names = [draft.definition.name for draft in drafts]
            hint = did_you_mean(override.pattern, names)
            override.fields.wrong(None, "no_match", f"no verb is named like '{override.pattern}'", hint)
    return [_effective(draft.definition, ordered) for draft in drafts]


def _effective(definition: VerbDefinition, ordered: Sequence[Override]) -> VerbDefinition:
    for override in ordered:
        if override.matches(definition):
            execution = _overridden(definition, override)
            return msgspec.structs.replace(definition, execution=execution, override=override.handler)
    return definition


def _overridden(definition: VerbDefinition, override: Override) -> Execution:
    execution = definition.execution
    if override.handler == INSTANT_COMPLETE:
        params = {"result": _result(definition, override)}
        return Execution(kind="sync", handler=INSTANT_COMPLETE, params=params, effects="none", retry=RetryPolicy())
    if override.handler == PARK:
        return msgspec.structs.replace(
            execution, kind="durable", handler=PARK, params={}, process=None, sub_verbs=(), effects="none"
        )
    return msgspec.structs.replace(execution, handler=override.handler)


def _result(definition: VerbDefinition, override: Override) -> Any:
    """The configured result, or the smallest one the output schema accepts."""
    schema = definition.output_schema or {}
    result = (example_of(schema) if schema else {}) if override.result is _ABSENT else override.result
    for violation in CompiledSchema(schema).violations(result)[:1]:
        lead = "no result could be made up for" if override.result is _ABSENT else "the result does not fit"
        reason = f"{lead} '{definition.name}': {violation.path}: {violation.reason}"
        override.fields.wrong(override.fields.get("result"), "result", reason, "Configure result: {…}.")
    return result
