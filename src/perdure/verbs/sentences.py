"""A call in a person's words: the verb's templates filled with its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from perdure.verbs.definition import VerbDefinition
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.text_templates import placeholders, substitute

SentenceKind = Literal["step", "summary"]
MISSING = "…"
MAX_SHOWN = 200


def render(definition: VerbDefinition, args: Mapping[str, Any], kind: SentenceKind = "step") -> str:
    """The sentence of that kind, else of the other kind, else the description, else the name."""
    own, other = definition.sentences.step, definition.sentences.summary
    if kind == "summary":
        own, other = other, own
    template = _best(own, args) or _best(other, args)
    if template is None:
        return definition.description or _spoken(definition.name)
    return substitute(template, lambda name: _shown(definition, args, argument_name(name)))


def clarify(definition: VerbDefinition, argument: str) -> str:
    """The question to ask for an argument."""
    name = argument_name(argument)
    asked = definition.sentences.clarify.get(name)
    if asked is not None:
        return asked
    described = _property(definition, name).get("description")
    label = _spoken(name)
    return f"What is the {label}? ({described})" if isinstance(described, str) else f"What is the {label}?"


def _best(templates: Sequence[str], args: Mapping[str, Any]) -> str | None:
    """The template that leaves the fewest gaps and, among those, says the most; the first when equal."""
    if not templates:
        return None

    def rank(template: str) -> tuple[int, int]:
        names = {argument_name(name) for name in placeholders(template)}
        filled = sum(1 for name in names if args.get(name) is not None)
        return filled - len(names), filled

    return max(templates, key=rank)


def _shown(definition: VerbDefinition, args: Mapping[str, Any], name: str) -> str:
    schema = _property(definition, name)
    value = args.get(name, schema.get("default"))
    return _value(value, is_label="enum" in schema)


def _value(value: Any, is_label: bool = False) -> str:
    match value:
        case None:
            return MISSING
        case bool():
            return "yes" if value else "no"
        case str():
            return _shortened(_spoken(value) if is_label else value)
        case list() | tuple():
            return _shortened(_listed([_value(item, is_label) for item in value[:50]]))
        case dict():
            return _shortened(_listed([f"{key} {_value(item)}" for key, item in list(value.items())[:50]]))
        case _:
            return _shortened(str(value))


def _listed(words: Sequence[str]) -> str:
    if len(words) < 3:
        return " and ".join(words) or "nothing"
    return f"{', '.join(words[:-1])}, and {words[-1]}"


def _property(definition: VerbDefinition, name: str) -> dict[str, Any]:
    found = definition.input_schema.get("properties", {}).get(name, {})
    return found if isinstance(found, dict) else {}


def _spoken(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
