"""Checks between the definitions of one load: names that exist, kinds that fit, nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perdure.verb_contract import FlagContract, FlagMerge
from perdure.verbs.canonical_layout_reader import Draft
from perdure.verbs.definition import CRUD, EntityDefinition, VerbDefinition, same_verb_name
from perdure.verbs.entity_section_reader import RESERVED_FIELDS
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.task_section_reader import texts_of
from perdure.verbs.text_templates import correlation_names, placeholders
from perdure.verbs.yaml_nodes import Node

_SCALARS = frozenset({"string", "integer", "number", "boolean"})
MERGED_TYPES: Mapping[FlagMerge, tuple[str, ...]] = {
    "any": ("boolean",), "all": ("boolean",), "sum": ("integer", "number"), "max": ("integer", "number"),
}  # fmt: skip
CORRELATION_BUILT_INS = frozenset({"step_id", "call_id"})


def check_all(drafts: Sequence[Draft], entities: Mapping[str, EntityDefinition]) -> None:
    """Reports every broken promise of every verb."""
    by_name = {same_verb_name(draft.definition.name): draft.definition for draft in drafts}
    _check_duplicates(drafts)
    for draft in drafts:
        check = _VerbCheck(draft, by_name, entities)
        check.composition()
        check.names()
        check.crud()


def _check_duplicates(drafts: Iterable[Draft]) -> None:
    seen: dict[tuple[str, int], VerbDefinition] = {}
    for draft in drafts:
        definition = draft.definition
        first = seen.setdefault((same_verb_name(definition.name), definition.version), definition)
        if first is not definition:
            reason = f"the verb '{definition.name}' version {definition.version} was already declared"
            hint = f"The other is in {first.file} on line {first.line}; raise the version or remove one."
            draft.fields.wrong(draft.fields.get("name"), "duplicate", reason, hint)


class _VerbCheck:
    def __init__(
        self, draft: Draft, by_name: Mapping[str, VerbDefinition], entities: Mapping[str, EntityDefinition]
    ) -> None:
        self._fields = draft.fields
        self._definition = draft.definition
        self._execution = draft.definition.execution
        self._by_name = by_name
        self._entities = entities
        self._inputs: dict[str, Any] = draft.definition.input_schema.get("properties", {})
        self._outputs: dict[str, Any] = (draft.definition.output_schema or {}).get("properties", {})

    def composition(self) -> None:
        execution = self._execution
        listed = {same_verb_name(name) for name in execution.sub_verbs}
        for name in execution.sub_verbs:
            self._is_sync("sub_verbs", name, "a durable verb is made of sync verbs only")
        for name, undo in execution.compensation.items():
            if same_verb_name(name) not in listed:
                hint = did_you_mean(name, execution.sub_verbs)
                self._wrong("compensation", f"'{name}' is compensated but is not one of the sub_verbs", hint)
            self._is_sync("compensation", undo, "compensation is done by sync verbs")
        if execution.compensate is not None:
            self._is_sync("compensate", execution.compensate, "compensation is done by sync verbs")
        for name in execution.alternatives:
            self._exists("alternatives", name)
            if same_verb_name(name) == same_verb_name(self._definition.name):
                self._wrong("alternatives", "a verb is no alternative to itself", "Its policy says how often to retry.")
        for flag in execution.flags:
            for writer in flag.writers:
                self._exists("flags", writer)
            if flag.argument:
                self._begins_with_argument(flag)

    def _begins_with_argument(self, flag: FlagContract) -> None:
        name = flag.argument
        if name in CORRELATION_BUILT_INS and name not in self._inputs:
            if flag.type != "string":
                hint = "Declare type: string, once: true."
                self._wrong("flags", f"the flag '{flag.name}' is {flag.type} and cannot hold the {name}", hint)
            return
        self._is_argument("flags", name, f"the flag '{flag.name}' begins with")
        schema = self._inputs.get(name)
        if not isinstance(schema, dict):
            return
        if name not in self._definition.input_schema.get("required", ()) and "default" not in schema:
            hint = "Make it required, or give it a default."
            self._wrong("flags", f"the flag '{flag.name}' begins with '{name}', which may be absent", hint)
        if not _holds_argument(flag, schema):
            hint = "The argument has the type of the flag; every value of its enum is one of the flag's values."
            self._wrong("flags", f"the flag '{flag.name}' is {flag.type} and cannot hold every '{name}'", hint)

    def names(self) -> None:
        sentences = self._definition.sentences
        for template in sentences.step + sentences.summary:
            for name in placeholders(template):
                self._is_argument("sentences", name, f"the sentence '{template[:80]}' names")
        for name in sentences.clarify:
            self._is_argument("sentences", name, "a clarifying question is asked for")
        self._task()
        self._correlation()
        self._payload()
        self._merge()
        self._index()

    def crud(self) -> None:
        if self._execution.handler != CRUD:
            return
        entity = self._execution.params.get("entity")
        if not isinstance(entity, str) or entity not in self._entities:
            hint = did_you_mean(str(entity), self._entities) or "Declare it in a file with a top-level 'entities:'."
            self._wrong("params", f"the entity '{entity}' is not declared", hint)
            return
        fields = self._entities[entity].fields
        for param, written in self._field_names():
            known = {*fields, *RESERVED_FIELDS} if param == "returning" else set(fields)
            if argument_name(written) not in known:
                reason = f"'{param}' names '{written[:60]}', which is not a field of '{entity}'"
                self._wrong("params", reason, did_you_mean(written, known))

    def _field_names(self) -> Iterable[tuple[str, str]]:
        """The names of fields that the params of a CRUD verb hold."""
        params = self._execution.params
        for param in ("set_values", "columns"):
            held = params.get(param) or {}
            if not isinstance(held, dict):
                self._wrong("params", f"'{param}' is not a mapping of fields")
                continue
            yield from ((param, str(name)) for name in (held.values() if param == "columns" else held))
        for param in ("key", "conflict_keys", "returning"):
            held = params.get(param) or []
            if not isinstance(held, str | list):
                self._wrong("params", f"'{param}' is neither a field nor a list of fields")
                continue
            yield from ((param, str(name)) for name in ([held] if isinstance(held, str) else held))

    def _task(self) -> None:
        task = self._execution.task
        if task is None:
            return
        if self._execution.process is not None:
            hint = "Write the assignment on the user task of the model."
            self._wrong(
                "task", f"its wait is the process '{self._execution.process}', which has tasks of its own", hint
            )
        for template in texts_of(task):
            for name in placeholders(template):
                self._is_argument("task", name, f"'{template[:80]}' names")

    def _correlation(self) -> None:
        allowed = set(self._inputs) | CORRELATION_BUILT_INS
        if self._execution.process is not None:
            # A process opens its waits later, when its own results are known.
            allowed |= set(self._execution.payload_out)
        for name in correlation_names(self._execution.correlation_key):
            if argument_name(name) not in allowed:
                reason = (
                    f"the correlation key '{self._execution.correlation_key}' names '{name}', which is not known then"
                )
                self._wrong("correlation", reason, did_you_mean(name, allowed))

    def _payload(self) -> None:
        for target, source in self._execution.payload_in.items():
            if source.startswith("$") and argument_name(source[1:]) not in self._inputs:
                hint = did_you_mean(source[1:], self._inputs)
                self._wrong("payload", f"'{target}' is taken from '{source}', which is not an argument", hint)
        for name in self._execution.payload_out:
            if self._outputs and name not in self._outputs:
                hint = did_you_mean(name, self._outputs)
                self._wrong("payload", f"'{name}' is given out but is not in the output schema", hint)

    def _merge(self) -> None:
        rules = self._execution.payload_merge
        if rules and self._execution.process is None:
            hint = "Name the process that carries it, or remove the key."
            self._wrong("payload", "'merge' is for branches of a process, and no process carries the verb", hint)
        known = self._carried()
        for path, rule in rules.items():
            if (unknown := _unknown_at(known, path)) is not None:
                name, names = unknown
                hint = did_you_mean(name, names) or f"There are: {', '.join(sorted(names)) or 'none'}."
                self._wrong("payload", f"'{path}' merges '{name}', which no schema of the verb declares", hint)
                continue
            type = _type_at({**self._inputs, **self._outputs}, path)
            if type is not None and type not in MERGED_TYPES[rule]:
                hint = "any and all take true or false, sum and max take numbers."
                self._wrong("payload", f"'{path}' is {type}, which cannot merge by '{rule}'", hint)

    def _carried(self) -> dict[str, Any]:
        """The declared fields of the data that a process carries: arguments, results, and what sub-verbs write."""
        found: dict[str, Any] = {name: {} for name in self._execution.payload_in}
        for name in self._execution.sub_verbs:
            verb = self._by_name.get(same_verb_name(name))
            found |= (verb.output_schema or {}).get("properties", {}) if verb is not None else {}
        return {**found, **self._inputs, **self._outputs}

    def _index(self) -> None:
        known = {**self._outputs, **self._inputs}
        for name in self._definition.index:
            if name not in known:
                self._wrong("index", f"'{name}' is neither an argument nor an output", did_you_mean(name, known))
            elif not _is_scalar(known[name]):
                self._wrong(
                    "index", f"'{name}' is not a single value", "Only text, numbers and true/false are indexed."
                )

    def _is_argument(self, field: str, written: str, lead: str) -> None:
        if argument_name(written) not in self._inputs:
            hint = did_you_mean(written, self._inputs)
            self._wrong(field, f"{lead} '{written}', which is not an argument", hint)

    def _is_sync(self, field: str, name: str, rule: str) -> None:
        found = self._exists(field, name)
        if found is not None and found.execution.kind == "durable":
            hint = "Hand over to another long process by a message instead."
            self._wrong(field, f"'{name}' is durable, and {rule}", hint, name)

    def _exists(self, field: str, name: str) -> VerbDefinition | None:
        found = self._by_name.get(same_verb_name(name))
        if found is None:
            # Comparing with every verb takes a while: enough for the problems that someone will read.
            names = [] if self._fields.report.is_crowded else [each.name for each in self._by_name.values()]
            self._wrong(field, f"the verb '{name}' does not exist", did_you_mean(name, names), name)
        return found

    def _wrong(self, field: str, reason: str, hint: str = "", item: str | None = None) -> None:
        place = self._place(field)
        if item is not None and place is not None and isinstance(place.value, list):
            place = next((node for node in place.value if node.value == item), place)
        self._fields.wrong(place, field, reason, hint)

    def _place(self, field: str) -> Node | None:
        execution = self._fields.get("execution")
        inside = execution.value.get(field) if execution is not None and isinstance(execution.value, dict) else None
        return inside or self._fields.get(field) or execution


def _is_scalar(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds:
        return all(kind in _SCALARS or kind == "null" for kind in kinds)
    values = schema.get("enum")
    return isinstance(values, list) and not any(isinstance(value, list | dict) for value in values)


def _holds_argument(flag: FlagContract, schema: Mapping[str, Any]) -> bool:
    """Whether a flag may hold whatever an argument may be."""
    if flag.type == "enum":
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        return values is not None and set(map(str, values)) <= set(flag.values)
    if "type" in schema:
        return bool(schema["type"] == flag.type)
    return "enum" in schema and all(flag.fault(value) is None for value in schema["enum"])


def _unknown_at(properties: Mapping[str, Any], path: str) -> tuple[str, list[str]] | None:
    """The first field of a path that is not declared, with those that are; an object without fields may hold any."""
    fields: Any = properties
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if name not in fields:
            return name, list(fields)
        found = fields[name]
        fields = found.get("properties") if isinstance(found, dict) else None
        if not fields:
            return None
    return None


def _type_at(properties: Mapping[str, Any], path: str) -> str | None:
    """The declared type of a path of the data, where the schemas of the verb say one."""
    found: Any = {"properties": properties}
    for name in path.split("/")[1:]:
        found = found.get("properties", {}).get(name.replace("~1", "/").replace("~0", "~"))
        if not isinstance(found, dict):
            return None
    type = found.get("type")
    return type if isinstance(type, str) else None
