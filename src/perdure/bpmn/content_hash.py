"""The content hash of a process: one definition, one hash, whichever way it was written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tree import Among, Both, Compare, Either, Foreign, Not
from perdure.bpmn.model import (
    Definitions,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    MessageTrigger,
    Process,
    Scope,
    SignalTrigger,
    SubProcess,
    Task,
    nodes,
)
from perdure.errors import RejectedError, Rejection
from perdure.payload import canonical, digest, digest_text

FORM = 1
"""Of what is hashed. Another form is another hash for every definition ever deployed."""


def content_hash(
    definitions: Definitions,
    process: str,
    *,
    policies: Mapping[str, Any] | None = None,
    bindings: Mapping[str, Any] | None = None,
) -> str:
    """`sha256:` of the whole canonical definition of one process; see `canonical_definition`."""
    return digest_text(digest(canonical_definition(definitions, process, policies=policies, bindings=bindings)))


def canonical_definition(
    definitions: Definitions,
    process: str,
    *,
    policies: Mapping[str, Any] | None = None,
    bindings: Mapping[str, Any] | None = None,
) -> bytes:
    """RFC 8785 bytes of a process, of the root elements it refers to, of its policies and bindings.

    Does not depend on: the drawing, other processes of the file, the order of root elements, nodes, annotations and
    associations, the order among flows that leave different nodes. A field that has its default is left out, so that
    a field added later leaves old hashes as they are.
    """
    found = next((each for each in definitions.processes if each.id == process), None)
    if found is None:
        known = ", ".join(each.id for each in definitions.processes)
        raise RejectedError(
            Rejection("not_found", "hash", "process", process, "the file has no such process", f"It has: {known}.")
        )
    content = {
        "form": FORM,
        "process": _without_body(found),
        "scopes": {id: _scope(scope) for id, scope in _scopes(found)},
        **{kind: _by_id(each) for kind, each in _referred(definitions, found).items() if each},
        **({"policies": dict(policies)} if policies else {}),
        **({"bindings": dict(bindings)} if bindings else {}),
    }
    return canonical(content)


def _scopes(process: Process) -> Iterator[tuple[str, Scope]]:
    """Each scope with the id of what holds it: side by side, since nesting them would nest the JSON too deep."""
    yield process.id, process.body
    for node in nodes(process.body):
        if isinstance(node, SubProcess):
            yield node.id, node.body


def _scope(scope: Scope) -> dict[str, Any]:
    lists = {
        "nodes": [
            _without_body(node) if isinstance(node, SubProcess) else _fields(node)
            for node in sorted(scope.nodes, key=lambda node: node.id)
        ],
        # The order of the flows that leave a node is the order in which they are tried.
        "flows": [_plain(flow) for flow in sorted(scope.flows, key=lambda flow: flow.source)],
        "associations": _by_id(scope.associations),
        "annotations": _by_id(scope.annotations),
    }
    return {name: each for name, each in lists.items() if each}


def _without_body(holder: Process | SubProcess) -> dict[str, Any]:
    fields = _fields(msgspec.structs.replace(holder, body=Scope()))
    del fields["body"]
    return fields


def _by_id(found: Any) -> list[Any]:
    return [_plain(each) for each in sorted(found, key=lambda each: each.id)]


def _referred(definitions: Definitions, process: Process) -> dict[str, list[msgspec.Struct]]:
    wanted = set(_references(process))
    kinds: dict[str, tuple[Any, ...]] = {
        "messages": definitions.messages,
        "signals": definitions.signals,
        "errors": definitions.errors,
        "escalations": definitions.escalations,
    }
    return {kind: [each for each in found if (kind, each.id) in wanted] for kind, found in kinds.items()}


def _references(process: Process) -> Iterator[tuple[str, str]]:
    for node in nodes(process.body):
        if isinstance(node, Task):
            yield "messages", node.message
        for trigger in node.triggers if isinstance(node, Event) else ():
            match trigger:
                case MessageTrigger(message):
                    yield "messages", message
                case SignalTrigger(signal):
                    yield "signals", signal
                case ErrorTrigger(error):
                    yield "errors", error
                case EscalationTrigger(escalation):
                    yield "escalations", escalation
                case _:
                    pass


def _plain(value: Any) -> Any:
    """A value of the model as JSON: defaults left out, conditions as text."""
    match value:
        case Foreign(text, language=language):
            return {"foreign": text, **({"language": language} if language else {})}
        case Compare() | Among() | Both() | Either() | Not():
            return show_condition(value)
        case msgspec.Struct():
            return _fields(value)
        case tuple() | list():
            return [_plain(each) for each in value]
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case _:
            return value


def _fields(value: msgspec.Struct) -> dict[str, Any]:
    config, names, defaults = value.__struct_config__, value.__struct_fields__, value.__struct_defaults__
    tag = {str(config.tag_field): config.tag} if config.tag is not None else {}
    missing = (msgspec.NODEFAULT,) * (len(names) - len(defaults))
    given = ((name, getattr(value, name), default) for name, default in zip(names, missing + defaults, strict=True))
    # The default of every table is the empty one.
    return tag | {name: _plain(each) for name, each, default in given if each not in (default, {})}
