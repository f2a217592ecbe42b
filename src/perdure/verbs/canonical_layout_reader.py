"""The reader of the canonical layout: a list of verbs, each complete in itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from perdure.verb_contract import CONSEQUENCE_TIERS
from perdure.verbs.compiled_schema import CompiledSchema, SchemaFault
from perdure.verbs.definition import CRUD, MAX_INDEX, Execution, Sentences, VerbContract, VerbDefinition
from perdure.verbs.execution_section_reader import flag_name, read_execution
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.schema_shorthand import SchemaReader, argument_name, with_definitions
from perdure.verbs.text_templates import placeholders
from perdure.verbs.yaml_nodes import Node, Report

VERB_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*(?:\.[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)*")
MAX_NAME = 128


class Draft:
    """A verb as read, with the node it came from so that later checks can say where."""

    __slots__ = ("definition", "fields")

    def __init__(self, definition: VerbDefinition, fields: Fields) -> None:
        self.definition = definition
        self.fields = fields


class VerbReader:
    """Reads the verbs of one file."""

    def __init__(self, file: str, report: Report, definitions: Mapping[str, Any]) -> None:
        self._file = file
        self._report = report
        self._definitions = definitions
        self._schemas = SchemaReader(file, report, definitions)

    def read(self, node: Node) -> Draft:
        fields = Fields(node, "verb", self._file, self._report)
        name, domain = self._name(fields)
        execution = fields.child("execution", "execution")
        definition = VerbDefinition(
            name=name,
            domain=domain,
            version=fields.integer("version", 1, 1, 1_000_000),
            description=fields.text("description"),
            sentences=self._sentences(fields),
            search_phrases=fields.texts("search_phrases") + fields.texts("invocation_phrases"),
            input_schema=self._input(fields, name),
            output_schema=self._output(fields, name),
            consequence=self._consequence(fields),
            execution=_with_columns(read_execution(execution), fields) if execution else Execution(),
            index=tuple(argument_name(word) for word in fields.texts("index")),
            metadata=fields.data("metadata"),
            writes=fields.texts("writes"),
            contract=_contract(fields),
            file=self._file,
            line=node.line,
        )
        if len(definition.index) > MAX_INDEX:
            fields.wrong(fields.get("index"), "index", f"at most {MAX_INDEX} names may be indexed")
        self._check_writes(definition, fields)
        if definition.contract is not None and definition.execution.kind == "durable":
            reason = "'contract' is what a sync verb promises to the processes it serves and this one is durable"
            hint = "A durable verb declares its flags under execution.flags."
            fields.wrong(fields.get("contract"), "wrong_kind", reason, hint)
        return Draft(definition, fields)

    @staticmethod
    def _check_writes(definition: VerbDefinition, fields: Fields) -> None:
        """Each is `entity/key` over declared arguments: who changes the same one waits for another to be done."""
        known = definition.input_schema.get("properties", {})
        for template in definition.writes:
            missing = [name for name in placeholders(template) if argument_name(name) not in known]
            if "/" not in template:
                fact, hint = f"'{template[:80]}' is not entity/key", "Write e.g. case/{case_id}."
                fields.wrong(fields.get("writes"), "writes", fact, hint)
            elif missing:
                fields.wrong(fields.get("writes"), "writes", f"'{missing[0]}' is not an argument of the verb")

    def _name(self, fields: Fields) -> tuple[str, str]:
        name, domain = fields.text("name", required=True), fields.text("domain")
        at = fields.get("name")
        if domain and "." not in name:
            name = f"{domain}.{name}"
        elif domain and not name.startswith(f"{domain}."):
            fields.wrong(at, "domain", f"the name '{name}' is not in the domain '{domain}'", "Remove one of the two.")
        if "name" in fields and (len(name) > MAX_NAME or not VERB_NAME.fullmatch(name)):
            hint = "Use lower case words joined by hyphens, with a domain before a dot: kyc.open-case."
            fields.wrong(at, "name", f"'{name[:MAX_NAME]}' is not a verb name", hint)
        return name, domain or (name.partition(".")[0] if "." in name else "")

    def _sentences(self, fields: Fields) -> Sentences:
        part = fields.child("sentences", "sentences")
        if part is None:
            return Sentences()
        clarify = {argument_name(name): text for name, text in part.text_mapping("clarify").items()}
        return Sentences(step=part.texts("step"), summary=part.texts("summary"), clarify=clarify)

    def _consequence(self, fields: Fields) -> Any:
        node = fields.get("consequence")
        if node is not None and isinstance(node.value, dict) and set(node.value) == {"baseline"}:
            fields = Fields(fields.node.with_children({"consequence": node.value["baseline"]}), "verb", *self._place)
        return fields.word("consequence", CONSEQUENCE_TIERS, "reviewable")

    @property
    def _place(self) -> tuple[str, Report]:
        return self._file, self._report

    def _input(self, fields: Fields, name: str) -> dict[str, Any]:
        node = fields.get("input_schema")
        if "args" in fields:
            if node is not None:
                fields.wrong(fields.get("args"), "clash", "'args' and 'input_schema' are both given", "Keep one.")
            node = arguments_node(fields)
        schema = self._schemas.arguments(node if node is not None else fields.node.beside({}, "input_schema"))
        return self._compiled(with_definitions(schema, self._definitions), node or fields.node, fields)

    def _output(self, fields: Fields, name: str) -> dict[str, Any] | None:
        node = fields.get("output_schema")
        if node is None:
            return None
        return self._compiled(with_definitions(self._schemas.value(node), self._definitions), node, fields)

    def _compiled(self, schema: dict[str, Any], node: Node, fields: Fields) -> dict[str, Any]:
        try:
            compiled = CompiledSchema(schema)
        except SchemaFault as fault:
            at = _locate(node, fault.path)
            fields.wrong(at, "schema", f"the schema is not valid: {fault.reason}"[:300])
            return {}
        for name, part in compiled.properties.items():
            if isinstance(part, dict) and "default" in part:
                alone = CompiledSchema({**part, "$defs": schema.get("$defs", {})})
                for violation in alone.violations(part["default"])[:1]:
                    at = _locate(node, ["properties", name, "default"])
                    fields.wrong(at, "default", f"the default of '{name}' does not fit: {violation.reason}")
        return schema


def _contract(fields: Fields) -> VerbContract | None:
    part = fields.child("contract", "contract")
    if part is None:
        return None
    flags = tuple(flag_name(each.value, each, part) for each in part.items("writes_flags") if part.is_text(each))
    return VerbContract(writes_flags=flags, may_raise=part.texts("may_raise"))


def arguments_node(fields: Fields) -> Node:
    """`args` (a list of named arguments) rewritten as a schema with properties."""
    properties: dict[str, Node] = {}
    for item in fields.items("args"):
        arg = Fields(item, "arg", fields.file, fields.report)
        name = argument_name(arg.text("name", required=True))
        if name in properties:
            fields.wrong(item, "clash", f"the argument '{name}' is given twice", "Keep one of them.")
        children = item.value if isinstance(item.value, dict) else {}
        kept = {key: child for key, child in children.items() if key not in ("name", "maps_to", "lookup")}
        properties[name] = item.with_children(kept)
    at = fields.get("args") or fields.node
    return at.with_children({"properties": at.with_children(properties)})


def _with_columns(execution: Execution, fields: Fields) -> Execution:
    """A CRUD verb knows which of its arguments go to a field of another name."""
    columns = _columns(fields) if execution.handler == CRUD else {}
    if not columns:
        return execution
    return msgspec.structs.replace(execution, params={"columns": columns, **execution.params})


def _columns(fields: Fields) -> dict[str, str]:
    columns: dict[str, str] = {}
    for item in fields.items("args"):
        children = item.value if isinstance(item.value, dict) else {}
        name, target = children.get("name"), children.get("maps_to")
        if name is None or target is None or not isinstance(target.value, str):
            continue
        if argument_name(str(name.value)) != target.value:
            columns[argument_name(str(name.value))] = target.value
    return columns


def _locate(node: Node, path: list[str | int]) -> Node:
    """The deepest node that a path inside a schema leads to."""
    for step in path:
        child = _step_into(node.value, step)
        if child is None:
            break
        node = child
    return node


def _step_into(value: Any, step: str | int) -> Node | None:
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        found: Node = value[step]
        return found
    if isinstance(value, dict):
        wanted = argument_name(str(step))
        return next((child for key, child in value.items() if argument_name(key) == wanted), None)
    return None
