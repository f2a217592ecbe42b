"""Answers of agents, read as data: the result of a verb or a decision, and its confidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.errors import PerdureError, SchemaViolationError
from perdure.payload import parse
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.handlers import Decide

PARTS = ("add", "skip", "finish", "reason", "confidence")
MAX_REASON = 4000


def plain(value: Any) -> Any:
    """JSON of what an agent library gave back; a text that is a JSON object is one."""
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return _object_in(value) if isinstance(value, str) else value


def _object_in(text: str) -> Any:
    stripped = text.strip().removeprefix("```json").removesuffix("```").strip()
    if not stripped.startswith("{"):
        return text
    try:
        return parse(stripped.encode())
    except (PerdureError, ValueError):
        return text  # a model may say anything: as text it is held against the verb's result, and refused there


def answer_of(verb: Verb, output: Any) -> Decide:
    """The answer with what it says of its own confidence; what is no part of the verb's result is left out of it."""
    if isinstance(output, Decide):
        return output
    value = plain(output)
    if isinstance(value, str):
        value = _placed(verb, value)
    if not isinstance(value, Mapping):
        return Decide({} if value is None else value)
    declared = (verb.definition.output_schema or {}).get("properties", {})
    taken = PARTS if verb.execution.decision else ("confidence",)
    parts = {name: value[name] for name in taken if name in value}
    data = {name: each for name, each in value.items() if name not in parts or name in declared}
    if declared and verb.execution.decision and isinstance(data.get("data"), Mapping) and "data" not in declared:
        data = dict(data["data"])  # the shape of `Decide` itself
    if not verb.execution.decision:
        return Decide(data, confidence=_confidence(verb, parts.get("confidence")))
    return _decided(verb, data, parts)


def _decided(verb: Verb, data: Any, parts: Mapping[str, Any]) -> Decide:
    add, skip = parts.get("add") or "", parts.get("skip") or []
    if not (isinstance(add, str) or (isinstance(add, list) and all(isinstance(each, Mapping) for each in add))):
        raise _unreadable(verb, "add", "a program or a list of calls", add)
    if not (isinstance(skip, list) and all(isinstance(each, str) for each in skip)):
        raise _unreadable(verb, "skip", "a list of names", skip)
    finish = parts.get("finish")
    if not isinstance(finish, bool | None):
        raise _unreadable(verb, "finish", "true or false", finish)
    reason = str(parts.get("reason") or "")[:MAX_REASON]
    calls = add if isinstance(add, str) else [dict(each) for each in add]
    return Decide(data, calls, list(skip), bool(finish), reason, _confidence(verb, parts.get("confidence")))


def _confidence(verb: Verb, given: Any) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise _unreadable(verb, "confidence", "a number from 0 to 1", given)
    return float(given)


def _placed(verb: Verb, text: str) -> Any:
    """A text is the one thing a verb gives out, where it gives out one text."""
    properties = (verb.definition.output_schema or {}).get("properties", {})
    texts = [name for name, schema in properties.items() if isinstance(schema, dict) and schema.get("type") == "string"]
    return {texts[0]: text} if len(properties) == 1 and texts else text


def _unreadable(verb: Verb, name: str, wanted: str, given: Any) -> SchemaViolationError:
    fact = f"its agent gave a '{name}' that is not {wanted}"
    violation = {"path": f"$.{name}", "reason": f"expected {wanted}, found {type(given).__name__}"}
    return SchemaViolationError("read the answer for", "verb", verb.name, fact, violations=[violation])
