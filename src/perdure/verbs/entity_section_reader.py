"""The reader of `entities:`, the kinds of records that CRUD verbs work on."""

from __future__ import annotations

from perdure.verbs.definition import EntityDefinition, EntityField, FieldType
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.yaml_nodes import Node, Report

FIELD_TYPES: tuple[FieldType, ...] = (
    "string",
    "integer",
    "decimal",
    "boolean",
    "date",
    "timestamp",
    "uuid",
    "json",
    "enum",
)
RESERVED_FIELDS = frozenset({"version", "deleted"})
"""What a record says of itself beside its fields."""


def read_entities(node: Node, file: str, report: Report) -> list[EntityDefinition]:
    if not isinstance(node.value, dict):
        place = (file, node.line, node.column)
        report.add(place, "entity.wrong_type", node.path, f"expected a mapping of entities, found {node.kind()}")
        return []
    return [_read_entity(name, child, file, report) for name, child in node.value.items()]


def _read_entity(name: str, node: Node, file: str, report: Report) -> EntityDefinition:
    fields = Fields(node, "entity", file, report)
    found = {
        argument_name(key): _read_field(argument_name(key), child, fields)
        for key, child in fields.mapping("fields").items()
    }
    if not found:
        fields.missing("fields")
    for taken in RESERVED_FIELDS & found.keys():
        reason = f"every record has its own '{taken}', so no field can have that name"
        fields.wrong(fields.get("fields"), "reserved", reason, f"Name it e.g. {argument_name(name)}_{taken}.")
    key = tuple(argument_name(part) for part in fields.texts("key")) or (("id",) if "id" in found else ())
    if found and not key:
        fields.wrong(None, "key", f"the entity '{name}' has no key", "Add e.g. key: [case_id].")
    for part in key:
        if part not in found:
            fields.wrong(fields.get("key"), "key", f"the key field '{part}' is not a field", did_you_mean(part, found))
    return EntityDefinition(name, found, key, fields.text("description"), file, node.line)


def _read_field(name: str, node: Node, entity: Fields) -> EntityField:
    # `status: string` is short for `status: {type: string}`.
    whole = node.with_children({"type": node}) if isinstance(node.value, str) else node
    fields = Fields(whole, "entity_field", entity.file, entity.report)
    if isinstance(whole.value, dict) and "type" not in fields:
        fields.missing("type")
    type_ = fields.word("type", FIELD_TYPES, "string")
    values = fields.texts("values") or fields.texts("valid_values")
    if type_ == "enum" and not values:
        fields.wrong(None, "values", f"the enum field '{name}' lists no values", "Add values: [open, closed].")
    return EntityField(name, type_, fields.boolean("required"), values)
