"""Variables of a workflow and global ones: records of the tenant, versioned, changed by calling a verb."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.app.workflows.instance_history import TYPES
from perdure.app.workflows.views import VariableView
from perdure.errors import BusinessError
from perdure.verbs import Call, Catalogue, EntityDefinition, HandlerRegistry
from perdure.verbs.definition import VerbDefinition
from perdure.verbs.loader import load_text
from perdure.workflows.context import GLOBAL, SHARED

SET, GET, HISTORY = "workflow.set-variable", "workflow.get-variable", "workflow.variable-history"
PLACE = "<workflows>"
DEFINITION = """
entities:
  workflow-variable:
    description: A variable of a workflow, or a global one
    fields:
      owner: {type: string, required: true}
      name: {type: string, required: true}
      type: {type: string, required: true}
      value: {type: json}
    key: [owner, name]
verbs:
  - name: workflow.set-variable
    description: Set a variable of a workflow, or a global one
    sentences: {step: ["Set the variable {name} of {owner}"]}
    args:
      - {name: name, type: string, required: true}
      - {name: value, type: json, required: true}
      - {name: owner, type: string, default: global}
      - {name: type, type: string, valid_values: [string, integer, number, boolean, object, list]}
      - {name: version, type: integer, minimum: 0}
    execution: {kind: sync, effects: store}
  - name: workflow.get-variable
    description: Read a variable of a workflow, or a global one
    consequence: benign
    args:
      - {name: name, type: string, required: true}
      - {name: owner, type: string, default: global}
    execution:
      {kind: sync, handler: "crud::execute", params: {entity: workflow-variable, operation: read}}
  - name: workflow.variable-history
    description: Read every version of a variable of a workflow, or of a global one
    consequence: benign
    args:
      - {name: name, type: string, required: true}
      - {name: owner, type: string, default: global}
    execution:
      {kind: sync, handler: "crud::execute", params: {entity: workflow-variable, operation: history}}
"""


def shared_catalogue() -> Catalogue:
    """The verbs and the entity that come with workflows."""
    return load_text(DEFINITION, PLACE)


def added(catalogue: Catalogue) -> tuple[list[VerbDefinition], Mapping[str, EntityDefinition]]:
    """What is added to a catalogue; a verb of the project stays as it is."""
    own = shared_catalogue()
    verbs = [each.definition for each in own.every_version() if catalogue.find(each.name) is None]
    return verbs, {**own.entities, **catalogue.entities}


def bind(catalogue: Catalogue, registry: HandlerRegistry) -> None:
    """Our handler for our verb; one of the project has its own."""
    setter = catalogue.find(SET)
    if setter is not None and setter.definition.file == PLACE:
        registry.bind(SET, set_variable)


async def set_variable(call: Call) -> dict[str, Any]:
    """The next version; with a `version`, only when that is what there is (0: when there is none)."""
    owner, name, value, expected = (call.args.get(each) for each in ("owner", "name", "value", "version"))
    key = {"owner": owner, "name": name}
    kind = call.args.get("type") or TYPES.get(type(value), "any")
    found = await _found(call, key)
    version = found["version"] if found is not None else 0
    if expected is not None and expected != version:
        raise BusinessError("conflict", f"'{name}' of {owner} is at version {version}, not {expected}. Read it again.")
    if found is not None and found["type"] != kind and "type" not in call.args:
        told = f"'{name}' of {owner} is of type {found['type']}, and {kind} was given. Name the type to change it."
        raise BusinessError("invalid", told)
    fields = {"type": kind, "value": value}
    if found is None:
        made = await call.entities.create(SHARED, {**key, **fields})
    else:
        made = await call.entities.update(SHARED, key, fields, version)
    return {"owner": owner, "name": name, "type": kind, "value": value, "version": made["version"]}


async def _found(call: Call, key: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = await call.entities.read(SHARED, key)
    except BusinessError as error:
        if error.code == "not_found":
            return None
        raise
    return found


def views_of(history: Mapping[str, Any]) -> list[VariableView]:
    """Every version as other variables are told."""
    versions = [each for each in history["versions"] if each["record"] is not None]
    if not versions:
        return []
    first = versions[0]
    return [
        VariableView(
            each["record"]["name"], each["record"].get("value"), each["record"]["type"], each["version"], first["at"],
            first["principal"], each["at"], each["principal"], _scope(each["record"]["owner"]), each["record"]["owner"],
        )
        for each in versions
    ]  # fmt: skip


def _scope(owner: str) -> str:
    return "global" if owner == GLOBAL else "workflow"
