"""The schema of an entity: fields checked, values normalised, keys as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

from perdure.errors import SchemaViolationError
from perdure.payload import canonical
from perdure.verbs.compiled_schema import CompiledSchema
from perdure.verbs.definition import EntityDefinition, EntityField
from perdure.verbs.schema_shorthand import SHORTHAND_TYPES, argument_name

MAX_KEY_BYTES = 1000

Data = dict[str, Any]
Key = Any
"""A value for a single key field; a list in the declared order, or a mapping, for any key."""


class EntitySchema:
    """One entity, compiled once."""

    def __init__(self, definition: EntityDefinition) -> None:
        self.name = definition.name
        self.key = definition.key
        self.fields = definition.fields
        properties = {name: _schema(field) for name, field in definition.fields.items()}
        required = [name for name, field in definition.fields.items() if field.required or name in definition.key]
        loose: Data = {"type": "object", "properties": properties, "additionalProperties": False}
        self._loose = CompiledSchema(loose, "accept the fields of", "record", self.name)
        self._whole = CompiledSchema({**loose, "required": required}, "write", "record", self.name)

    @property
    def makes_keys(self) -> bool:
        """Whether a missing key can be made up: only a single uuid can."""
        return len(self.key) == 1 and self.fields[self.key[0]].type == "uuid"

    def values(self, given: Mapping[str, Any]) -> Data:
        """Some fields checked and in their one form; None stands for no value."""
        named = {argument_name(str(name)): _plain(value) for name, value in given.items()}
        absent = {name for name, value in named.items() if value is None and name in self.fields}
        self._loose.check({name: value for name, value in named.items() if name not in absent})
        return {name: None if name in absent else _settled(self.fields[name], named[name]) for name in named}

    def whole(self, data: Data) -> bytes:
        """A whole record in its stored form; what was stored under fields since undeclared is kept."""
        present = {name: value for name, value in data.items() if value is not None}
        self._whole.check({name: value for name, value in present.items() if name in self.fields})
        return canonical(present)

    def key_values(self, key: Key) -> Data:
        """The key fields of a key, however it was given."""
        if isinstance(key, Mapping):
            return self._key_values({argument_name(str(name)): value for name, value in key.items()})
        parts = list(key) if isinstance(key, list | tuple) else [key]
        if len(parts) != len(self.key):
            raise self._bad_key(f"its key is ({', '.join(self.key)}) and {len(parts)} values were given")
        return self._key_values(dict(zip(self.key, parts, strict=True)))

    def _key_values(self, given: Data) -> Data:
        missing = [name for name in self.key if given.get(name) is None]
        if missing:
            raise self._bad_key(f"its key field '{missing[0]}' is not given")
        return self.values({name: given[name] for name in self.key})

    def key_text(self, data: Data) -> str:
        """The text a record is stored under: the value itself, or a JSON list of several."""
        values = [data[name] for name in self.key]
        single = len(values) == 1
        text = (
            values[0] if single and isinstance(values[0], str) else canonical(values[0] if single else values).decode()
        )
        if not text or "\0" in text or len(text.encode()) > MAX_KEY_BYTES:
            raise self._bad_key(
                f"a key is 1 to {MAX_KEY_BYTES} bytes of text without NUL, and this is not: {text[:60]!r}"
            )
        return text

    def made_key(self, seed: str) -> str:
        """A uuid that the same seed always gives."""
        raw = bytearray(sha256(f"{self.name}\0{seed}".encode()).digest()[:16])
        raw[6], raw[8] = 0x80 | (raw[6] & 0x0F), 0x80 | (raw[8] & 0x3F)
        return str(UUID(bytes=bytes(raw)))

    def shown(self, data: Mapping[str, Any]) -> Data:
        """Every declared field, None where there is no value."""
        return {name: data.get(name) for name in self.fields}

    def _bad_key(self, fact: str) -> SchemaViolationError:
        violation = {"path": f"$.{self.key[0]}", "reason": fact, "hint": ""}
        return SchemaViolationError("find", "record of", self.name, fact, violations=[violation])


def _schema(field: EntityField) -> Data:
    if field.type == "enum":
        return {"enum": list(field.values)}
    return dict(SHORTHAND_TYPES.get(field.type, {"type": field.type}))


def _plain(value: Any) -> Any:
    """Python's own dates, decimals and uuids as the text JSON has for them."""
    match value:
        case Decimal():
            return f"{value:f}"
        case date():
            return value.isoformat()
        case UUID():
            return str(value)
        case _:
            return value


def _settled(field: EntityField, value: Any) -> Any:
    """One form for values that JSON can write in several: exact decimals are text, uuids lower case."""
    match field.type:
        case "decimal":
            return value if isinstance(value, str) else f"{Decimal(repr(value)):f}"
        case "uuid":
            return value.lower()
        case "integer":
            return int(value)
        case _:
            return value
