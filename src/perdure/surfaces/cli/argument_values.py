"""Words of a command line as data: JSON options, `name=value` pairs and S-expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perdure.surfaces.cli.error_output import usage

if TYPE_CHECKING:
    from perdure.verbs import Catalogue, Verb

MAX_JSON_BYTES = 64 * 1024 * 1024
"""Only a bound on memory: how much a payload may weigh is the verb's to say."""


def json_option(name: str, text: str) -> Any:
    """The value of an option that takes JSON."""
    from perdure.errors import SchemaViolationError
    from perdure.payload import parse

    try:
        return parse(text.encode("utf-8", "surrogatepass"), max_bytes=MAX_JSON_BYTES)
    except SchemaViolationError as error:
        quoted = "Text needs quotes of its own, as in '\"done\"'; an object is '{\"a\": 1}'."
        raise usage("read", "option", name, f"its value is not JSON ({error.fact})", quoted) from None


def pairs(words: Sequence[str], verb: Verb | None = None) -> dict[str, Any]:
    """`name=value` words; values are JSON, or text where they are not or the verb wants text."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise usage("read", "argument", word, "it is not of the form name=value", "Write for example country=DK.")
        found[name] = value if verb is None or _wants_text(verb, name) else _value(value)
    return found


def _wants_text(verb: Verb, name: str) -> bool:
    schema = verb.input.properties.get(name) or verb.input.properties.get(name.replace("-", "_")) or {}
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind == "string" or (isinstance(kind, list) and "string" in kind)


def _value(text: str) -> Any:
    from perdure.errors import PerdureError
    from perdure.payload import parse

    try:
        return parse(text.encode("utf-8", "surrogatepass"), max_bytes=MAX_JSON_BYTES)
    except PerdureError:
        return text


def expression(text: str, catalogue: Catalogue) -> tuple[str, dict[str, Any]]:
    """The verb and the arguments of one S-expression, checked against the verbs."""
    from perdure.errors import DefinitionError
    from perdure.verbs.sexpr.json_arguments import arguments
    from perdure.verbs.sexpr.program_check import check
    from perdure.verbs.sexpr.reader import read

    try:
        program = read(text)
        problems = check(program, lambda name: _shape(catalogue, name), catalogue.names())
        if problems:
            raise DefinitionError(problems)
        if len(program.statements) == 1:
            call = program.statements[0]
            return _full_name(call.verb, catalogue), arguments(call)
    except DefinitionError as error:
        error.data["text"] = text
        raise
    raise usage(
        "call", "expression", text[:80], f"it holds {len(program.statements)} calls", "Give one call at a time."
    )


def _full_name(name: str, catalogue: Catalogue) -> str:
    """A bare name stands for the one verb so called; the check has seen that there is one."""
    if catalogue.find(name) is not None:
        return name
    return next((each for each in catalogue.names() if each.rpartition(".")[2] == name), name)


def _shape(catalogue: Catalogue, name: str) -> Any:
    from perdure.verbs.sexpr.program_check import ArgumentShape, VerbShape

    verb = catalogue.find(name)
    if verb is None:
        return None
    required = verb.input.schema.get("required", ())
    return VerbShape(
        verb.name,
        {
            each: ArgumentShape(each in required, tuple(_allowed(schema)))
            for each, schema in verb.input.properties.items()
        },
    )


def _allowed(schema: Any) -> Sequence[Any]:
    allowed = schema.get("enum", ()) if isinstance(schema, dict) else ()
    return [each for each in allowed if each is None or isinstance(each, str | int | float | bool)]


def json_object(name: str, text: str | None) -> dict[str, Any] | None:
    """The object an option holds; None when it was not given."""
    value = json_option(name, text) if text is not None else None
    if value is not None and not isinstance(value, dict):
        raise usage("read", "option", name, "its value is not an object", 'Write for example \'{"name": "Ana"}\'.')
    return value


def duration(name: str, text: str | None) -> float | None:
    """Seconds of an option that takes an ISO 8601 duration."""
    from perdure.durations import DurationError, parse_duration

    try:
        return None if text is None else parse_duration(text)
    except DurationError as error:
        raise usage("read", "option", name, f"'{text}' is not a duration: {error.fact}", error.hint) from None


def text_pairs(name: str, words: Sequence[str] | None) -> dict[str, str]:
    """`old=new` words of an option."""
    found: dict[str, str] = {}
    for word in words or ():
        left, equals, right = word.partition("=")
        if not equals or not left or not right:
            raise usage("read", "option", name, f"'{word}' is not of the form OLD=NEW", "Write for example a=b.")
        found[left] = right
    return found


def variables_of(name: str, words: Sequence[str] | None) -> dict[str, Any]:
    """`name=value` words of an option; values are JSON, or text where they are not."""
    found: dict[str, Any] = {}
    for word in words or ():
        left, equals, right = word.partition("=")
        if not equals or not left:
            raise usage("read", "option", name, f"'{word}' is not of the form NAME=VALUE", "Write for example lei=529.")
        found[left.removeprefix("$")] = _value(right)
    return found


def flag_values(words: Sequence[str]) -> dict[str, str | bool | int]:
    """`orch_x=value` words: true, false, a whole number, or text."""
    found: dict[str, str | bool | int] = {}
    for name, text in text_pairs("--flag", list(words)).items():
        value = _value(text)
        found[name] = value if isinstance(value, str | bool | int) else text
    return found
