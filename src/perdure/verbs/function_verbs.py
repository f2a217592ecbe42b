"""Functions as verbs: `@durable` and `@sync` declare a verb by the function that is its handler, without a file.

| the function has | the verb has |
|---|---|
| its name, or the one given: `ask_passport` is `ask-passport` | its name |
| the first paragraph of its docstring | its description |
| parameters with types and defaults | its input schema; arguments come converted to those types |
| a type that it returns | its output schema; of a durable verb, what completes it |
| a parameter `call` | nothing: it is given the attempt, as any handler is |

A declaration is read as the same text in YAML would be: the same rules, the same problems, the same content hash.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, overload

import msgspec

from perdure.errors import ContractError, DefinitionError, Problem
from perdure.typed_reading import convert
from perdure.verb_contract import ConsequenceTier
from perdure.verbs.definition import VerbDefinition
from perdure.verbs.handlers import Call, Decide, Result
from perdure.verbs.loader import load_text

MARK = "__perdure_declaration__"
CALL = "call"
PLAIN = (None, type(None), Any, dict, Mapping, Result, Decide)
"""Types of results that say nothing of what is in them."""
REFERENCE = "#/definitions/{name}"
F = TypeVar("F", bound=Callable[..., Any])


class Declaration(msgspec.Struct, frozen=True):
    """What a decorator says of the verb of its function."""

    name: str
    version: int
    consequence: str
    execution: Mapping[str, Any]


class FunctionVerb(msgspec.Struct, frozen=True):
    """The verb that a function declares, and the handler made of it."""

    definition: VerbDefinition
    handler: Callable[[Call], Any]


@overload
def durable(name: F) -> F: ...
@overload
def durable(
    name: str = "", *, version: int = 1, key: str = "", timeout: str = "", escalation: str = "",
    consequence: ConsequenceTier = "reviewable", execution: Mapping[str, Any] | None = None,
) -> Callable[[F], F]: ...  # fmt: skip
def durable(
    name: Any = "", *, version: int = 1, key: str = "", timeout: str = "", escalation: str = "",
    consequence: ConsequenceTier = "reviewable", execution: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Declares a durable verb: the function runs, then the call waits until somebody completes it.

    `key` is what completes it, with arguments in braces, as `"{case}/passport"`; without one, the call's id does.
    After `timeout`, as `P14D`, the call fails, or the verb `escalation` is called. `execution` is whatever else stands
    under that word in YAML.
    """
    policy = {word: said for word, said in (("timeout", timeout), ("escalation", escalation)) if said}
    more: dict[str, Any] = {"kind": "durable"}
    more |= {"correlation": {"key": key}} if key else {}
    more |= {"policy": policy} if policy else {}
    return _declared(name, version, consequence, {**more, **(execution or {})})


@overload
def sync(name: F) -> F: ...
@overload
def sync(
    name: str = "", *, version: int = 1, effects: Literal["none", "store", "external"] = "external",
    consequence: ConsequenceTier = "reviewable", execution: Mapping[str, Any] | None = None,
) -> Callable[[F], F]: ...  # fmt: skip
def sync(
    name: Any = "", *, version: int = 1, effects: Literal["none", "store", "external"] = "external",
    consequence: ConsequenceTier = "reviewable", execution: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Declares a sync verb: what the function returns is the result of the call.

    `effects` says whether a cut-off attempt may simply run again. `execution` is whatever else stands under that word
    in YAML, as `{"retry": {"max_attempts": 3}}`.
    """
    return _declared(name, version, consequence, {"kind": "sync", "effects": effects, **(execution or {})})


def _declared(name: Any, version: int, consequence: str, execution: Mapping[str, Any]) -> Any:
    def mark(function: F) -> F:
        own = name if isinstance(name, str) and name else function.__name__.replace("_", "-")
        setattr(function, MARK, Declaration(own, version, consequence, execution))
        return function

    return mark(name) if callable(name) else mark


def is_declared(value: Any) -> bool:
    """Whether something is a function that declares a verb."""
    return isinstance(getattr(value, MARK, None), Declaration)


def function_verb(function: Callable[..., Any]) -> FunctionVerb:
    """The verb of a function; raises DefinitionError, with the function's line, for what it cannot be."""
    said: Declaration = getattr(function, MARK)
    file, line = _place(function)
    try:
        hints = typing.get_type_hints(function)
        inputs = {each.name: each for each in inspect.signature(function).parameters.values() if each.name != CALL}
        text, definitions = _text(function, said, hints, inputs)
    except (TypeError, NameError, ValueError) as error:
        reason = f"no schema can be made of its types: {error}"[:300]
        hint = "Give each parameter a type of JSON, a dataclass, or a class of msgspec."
        raise DefinitionError([Problem("function.types", file, line, 1, said.name, reason, hint)]) from error
    document = json.dumps({"definitions": definitions, "verbs": [text]}, default=str)
    loaded = load_text("\n" * (line - 1) + document, file)
    (definition,) = (each.definition for each in loaded.every_version())
    return FunctionVerb(definition, _handler(function, hints, inputs))


def _place(function: Callable[..., Any]) -> tuple[str, int]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("<python>", 1)


def _text(
    function: Callable[..., Any], said: Declaration, hints: Mapping[str, Any], inputs: Mapping[str, inspect.Parameter]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The declaration as it would stand in a file, and the schemas that it shares."""
    for each in inputs.values():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise TypeError(f"'{each}' stands for no argument by its name")
    types = [hints.get(name, Any) for name in inputs]
    returned = hints.get("return")
    has_result = (typing.get_origin(returned) or returned) not in PLAIN
    schemas, shared = msgspec.json.schema_components(
        [*types, *([returned] if has_result else [])], ref_template=REFERENCE
    )
    properties = {name: _written(schema) for name, schema in zip(inputs, schemas, strict=False)}
    for name, each in inputs.items():
        if each.default is not each.empty:
            properties[name] = {**properties[name], "default": msgspec.to_builtins(each.default)}
    required = [name for name, each in inputs.items() if each.default is each.empty]
    text: dict[str, Any] = {
        "name": said.name, "version": said.version, "consequence": said.consequence, "execution": dict(said.execution),
        "description": " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()),
        "input_schema": {"type": "object", "required": required, "properties": properties},
    }  # fmt: skip
    if has_result:
        text["output_schema"] = _written(schemas[-1])
    return text, {name: _written(schema) for name, schema in shared.items()}


def _written(schema: Any) -> Any:
    """A schema of msgspec as a verb has it: a decimal is its digits, and nothing has a title."""
    if isinstance(schema, list):
        return [_written(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "decimal":
        return {"type": "decimal"}
    return {
        name: {key: _written(each) for key, each in value.items()} if name == "properties" else _written(value)
        for name, value in schema.items()
        if name != "title"
    }  # fmt: skip


def _handler(
    function: Callable[..., Any], hints: Mapping[str, Any], inputs: Mapping[str, inspect.Parameter]
) -> Callable[[Call], Any]:
    has_call = CALL in inspect.signature(function).parameters

    def given(call: Call) -> dict[str, Any]:
        found = {
            name: convert(call.args[name], hints.get(name, Any), strict=False) for name in inputs if name in call.args
        }
        return {CALL: call, **found} if has_call else found

    if asyncio.iscoroutinefunction(function):

        async def run(call: Call) -> Any:
            return _result(function, await function(**given(call)))

        return run

    def run_plain(call: Call) -> Any:
        return _result(function, function(**given(call)))

    return run_plain


def _result(function: Callable[..., Any], value: Any) -> Any:
    """What a handler gives back for what a function returned."""
    if value is None:
        return {}
    if isinstance(value, dict | Result | Decide):
        return value
    if dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    fact = f"The function '{function.__name__}' returned {type(value).__name__}."
    raise ContractError(f"{fact} Return a mapping, a dataclass or a class of msgspec.")
