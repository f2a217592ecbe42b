"""Fields of an answer that is data: inputs made of a flat schema, and what was typed read back by it."""

from __future__ import annotations

from html import escape
from typing import Any
from urllib.parse import parse_qsl

MOST_FIELDS = 200
_INPUTS = {"integer": "number", "number": "number"}
_FORMATS = {"date": "date", "email": "email", "date-time": "datetime-local"}


def fields_html(schema: dict[str, Any]) -> str:
    """An input with its label for each property."""
    required = set(schema.get("required", ()))
    return "".join(_field(name, each, name in required) for name, each in _properties(schema).items())


def read_answers(schema: dict[str, Any], body: bytes) -> dict[str, Any]:
    """The values of a form; what was left empty is left out, what is no number stays text for the schema to refuse."""
    given = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    found: dict[str, Any] = {}
    for name, each in _properties(schema).items():
        text = given.get(name, "").strip()
        if each.get("type") == "boolean":
            found[name] = text == "on"
        elif text:
            found[name] = _value(each.get("type"), text)
    return found


def _properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found = schema.get("properties", {})
    return {name: each for name, each in found.items() if isinstance(each, dict)}


def _value(kind: Any, text: str) -> Any:
    try:
        return int(text) if kind == "integer" else float(text) if kind == "number" else text
    except ValueError:
        return text


def _field(name: str, schema: dict[str, Any], is_required: bool) -> str:
    label = escape(str(schema.get("title") or name.replace("_", " ").replace("-", " ").capitalize()))
    id, needed = f"field-{escape(name)}", " required" if is_required else ""
    named = f'id="{id}" name="{escape(name)}"'
    if schema.get("enum"):
        options = "".join(f"<option>{escape(str(each))}</option>" for each in schema["enum"])
        control = f'<select {named}{needed}><option value=""></option>{options}</select>'
    elif schema.get("type") == "boolean":
        control = f'<input type="checkbox" {named}>'
    else:
        kind = _INPUTS.get(str(schema.get("type")), _FORMATS.get(str(schema.get("format")), "text"))
        step = ' step="any"' if schema.get("type") == "number" else ""
        control = f'<input type="{kind}" {named}{step}{needed} autocomplete="off">'
    told = f'<p class="soft">{escape(str(schema["description"]))}</p>' if schema.get("description") else ""
    return f'<div class="field"><label for="{id}">{label}</label>{told}{control}</div>'
