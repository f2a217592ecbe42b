"""The reader of domain layouts (`domain: {verb: {behavior: …}}`), rewritten into the canonical one."""

from __future__ import annotations

from perdure.verbs.definition import CRUD
from perdure.verbs.execution_section_reader import CRUD_OPERATIONS
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.yaml_keys import KEPT_AS_METADATA, SAME_IN_DOMAINS
from perdure.verbs.yaml_nodes import Node, Report

_CRUD_KEPT = ("set_values", "key", "returning", "conflict_keys")
_BEHAVIORS = ("crud", "plugin", "workflow", "durable")
_RETURNED_SCALARS = frozenset({"uuid", "string", "integer", "decimal", "boolean", "date", "timestamp"})
_OPERATION_OF_NAME = {
    **CRUD_OPERATIONS,
    "verify": "update",
    "set": "update",
    "remove": "delete",
    "find": "list",
    "search": "list",
}


class DomainReader:
    """Reads the domains of one file."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report

    def nested(self, domains: Node) -> list[Node]:
        """`domains: {kyc: {description, verbs: {…}}}`"""
        found: list[Node] = []
        for domain, node in self._children(domains):
            fields = Fields(node, "domain", self._file, self._report)
            verbs = fields.get("verbs")
            if verbs is not None:
                found.extend(self._verbs(domain, verbs))
        return found

    def flat(self, root: Node) -> list[Node]:
        """`kyc: {verb: {…}}`"""
        return [verb for domain, node in self._children(root) for verb in self._verbs(domain, node)]

    def _verbs(self, domain: str, verbs: Node) -> list[Node]:
        return [self._verb(domain, name, node) for name, node in self._children(verbs)]

    def _children(self, node: Node) -> list[tuple[str, Node]]:
        if isinstance(node.value, dict):
            return list(node.value.items())
        place = (self._file, node.line, node.column)
        self._report.add(place, "domain.wrong_type", node.path, f"expected a mapping, found {node.kind()}")
        return []

    def _verb(self, domain: str, name: str, node: Node) -> Node:
        fields = Fields(node, "domain_verb", self._file, self._report)
        children = {key: child for key in SAME_IN_DOMAINS if (child := fields.get(key)) is not None}
        children["name"] = node.beside(f"{domain}.{name}")
        children["execution"] = self._execution(domain, name, fields)
        if (contract := fields.child("contract", "domain_contract")) is not None:
            children["contract"] = _promised(contract)
        if "output_schema" not in children and (output := self._returned(fields)) is not None:
            children["output_schema"] = output
        metadata = dict(fields.mapping("metadata"))
        metadata |= {key: child for key in KEPT_AS_METADATA if (child := fields.get(key)) is not None}
        if metadata:
            children["metadata"] = node.with_children(metadata)
        return node.with_children(children)

    def _execution(self, domain: str, name: str, fields: Fields) -> Node:
        behavior = fields.word("behavior", _BEHAVIORS, "plugin")
        children = {
            key: child
            for key in ("retry", "effects", "redelivery", "compensate", "alternatives")
            if (child := fields.get(key)) is not None
        }
        if behavior == "crud":
            children |= self._crud(domain, name, fields)
        elif behavior == "plugin":
            children |= self._plugin(fields)
        else:
            children |= self._durable(fields)
        return fields.node.with_children(children)

    def _crud(self, domain: str, name: str, fields: Fields) -> dict[str, Node]:
        at = fields.node
        crud = fields.child("crud", "crud") or Fields(at.beside({}), "crud", self._file, self._report)
        first_word = name.replace("_", "-").split("-")[0]
        entity = crud.text("entity") or crud.text("table") or argument_name(domain)
        operation = crud.text("operation") or _OPERATION_OF_NAME.get(first_word, first_word)
        nodes = {"entity": at.beside(entity), "operation": at.beside(operation)}
        nodes |= {key: child for key in _CRUD_KEPT if (child := crud.get(key)) is not None}
        return {"handler": at.beside(CRUD), "params": at.with_children(nodes)}

    def _plugin(self, fields: Fields) -> dict[str, Node]:
        plugin = fields.child("plugin", "plugin")
        handler = (plugin.get("handler") if plugin else None) or fields.get("handler")
        children = {} if handler is None else {"handler": handler}
        creates_task = fields.mapping("metadata").get("creates_pending_task")
        if creates_task is not None and creates_task.value is True:
            # Such a verb sends its request outward and waits for the task to be completed.
            children["kind"] = fields.node.beside("durable")
        return children

    def _durable(self, fields: Fields) -> dict[str, Node]:
        at = fields.node
        children: dict[str, Node] = {"kind": at.beside("durable")}
        part = fields.child("workflow", "durable") or fields.child("durable", "durable")
        if part is None:
            return children
        renamed = {"process": "process_key", "flags": "orch_flags"}
        for key in ("process", "correlation", "payload", "sub_verbs", "flags", "compensation", "wait", "handler"):
            child = part.get(renamed.get(key, key)) or part.get(key)
            if child is not None:
                children[key] = child
        if "correlation" not in children and (field := part.get("correlation_field")) is not None:
            children["correlation"] = field.with_children({"field": field})
        if "sub_verbs" not in children and (bindings := part.mapping("task_bindings")):
            children["sub_verbs"] = at.beside(list(bindings.values()))
        children |= self._policy(part)
        return children

    def _policy(self, part: Fields) -> dict[str, Node]:
        policy = dict(part.mapping("policy"))
        policy |= {key: child for key in ("timeout", "escalation") if (child := part.get(key)) is not None}
        at = part.get("policy") or part.node
        return {"policy": at.with_children(policy)} if policy else {}

    def _returned(self, fields: Fields) -> Node | None:
        returns = fields.child("returns", "returns")
        if returns is None or not returns.text("name") or returns.text("type") not in _RETURNED_SCALARS:
            return None
        at = returns.node
        named = at.with_children({argument_name(returns.text("name")): at.with_children({"type": at.value["type"]})})
        return at.with_children({"properties": named})


def _promised(contract: Fields) -> Node:
    """What lint and proof use of a contract; the rest of it is a note."""
    errors = contract.get("may_raise") or contract.get("may_raise_errors")
    found = {"writes_flags": contract.get("writes_flags"), "may_raise": errors}
    return contract.node.with_children({key: child for key, child in found.items() if child is not None})
