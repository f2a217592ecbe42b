"""Forms at a terminal: the fields of a JSON Schema asked one by one, each answer checked before the next question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

MAX_TRIES = 3
NUMBERS = {"integer", "number", "boolean", "array", "object", "null"}


def ask_form(
    form: Mapping[str, Any], ask: Callable[[str], str], say: Callable[[str], None]
) -> dict[str, Any]:  # fmt: skip
    """The answers. An empty line takes the default, or leaves out what is not required."""
    answers: dict[str, Any] = {}
    for name in form.get("properties", {}):
        for _ in range(MAX_TRIES):
            text = ask(question(name, form)).strip()
            if not text:
                if name not in form.get("required", ()):
                    break
                say(f"{name} is required.")
                continue
            value = value_of(text, form["properties"][name])
            if fault := fault_of(name, value, form):
                say(fault)
                continue
            answers[name] = value
            break
    return answers


def question(name: str, form: Mapping[str, Any]) -> str:
    """`Decision (yes, no)`, with the default or a mark for what may be left out."""
    part = _part(name, form)
    words = [part.get("title") or name.replace("_", " ").capitalize()]
    if options := part.get("enum"):
        words.append(f"({', '.join(map(str, options))})")
    elif part.get("description"):
        words.append(f"({part['description']})")
    if "default" in part:
        words.append(f"[{part['default']}]")
    elif name not in form.get("required", ()):
        words.append("[-]")
    return " ".join(words)


def field_line(name: str, form: Mapping[str, Any]) -> str:
    """A field of a form as it is shown: its name, type or options, and whether it is required."""
    part = _part(name, form)
    kind = part["enum"] if "enum" in part else part.get("type", "any")
    shown = kind if isinstance(kind, str) else "|".join(map(str, kind))
    return f"{name}: {shown} (required)" if name in form.get("required", ()) else f"{name}: {shown}"


def value_of(text: str, part: Any) -> Any:
    """What was typed, as JSON where the schema wants something other than text."""
    from perdure.errors import PerdureError
    from perdure.payload import parse

    kinds = part.get("type") if isinstance(part, dict) else None
    wanted = {kinds} if isinstance(kinds, str) else set(kinds or ())
    if wanted and not wanted & NUMBERS:
        return text
    if "boolean" in wanted and text.lower() in ("yes", "no"):
        return text.lower() == "yes"
    try:
        value = parse(text.encode("utf-8", "surrogatepass"))
    except PerdureError:
        return text
    is_option = isinstance(part, dict) and text in part.get("enum", ())
    return text if is_option else value


def fault_of(name: str, value: Any, form: Mapping[str, Any]) -> str:
    """What is wrong with one field alone; empty when nothing is."""
    from perdure.verbs.compiled_schema import CompiledSchema, SchemaFault

    alone = {key: part for key, part in form.items() if key in ("$defs", "type")}
    try:
        schema = CompiledSchema({**alone, "properties": {name: form["properties"][name]}})
    except SchemaFault:
        return ""
    found = schema.violations({name: value})
    return f"{name}: {found[0].reason}. {found[0].hint}".rstrip() if found else ""


def _part(name: str, form: Mapping[str, Any]) -> dict[str, Any]:
    part = form["properties"][name]
    return part if isinstance(part, dict) else {}
