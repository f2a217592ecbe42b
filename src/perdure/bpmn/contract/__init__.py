"""The contract profile: a model as a contract between those who draw a process and those who program its steps.

    from perdure.bpmn.contract import read_contract
    from perdure.bpmn.lint.lint import has_errors, lint
    from perdure.bpmn.xml import read_model_file

    model = read_model_file(path)
    findings = lint(model, profile="contract")      # AME…: refuse when has_errors(findings)
    contract = read_contract(model)                 # after that every value in it is right

    for node in contract.process.body.nodes:        # a SubProcess holds a body of its own
        if work := contract.work.get(node.id):      # service task, send task, message throw event
            work.definition.type, work.definition.policy, work.definition.idempotency_key.parts
            work.headers.as_dict(), work.mapping.inputs, work.mapping.outputs
        elif wait := contract.waits.get(node.id):   # receive task, message catch event
            wait.name, wait.subscription.correlation_key.parts, wait.mapping.outputs
        elif gate := contract.gates.get(node.id):   # user task
            gate.update, gate.mapping.outputs
    contract.conditions[flow.id]                    # a tree of perdure.bpmn.conditions.tree over paths

`contract.contract` says which node has what; `elements` are the six elements, `templates` and `paths` the two grammars
with their meaning, `conditions` the conditions over the state, `policies` the catalogue that `policyRef` resolves in
(`perdure.processes.policy_file` reads it). Eight models with their catalogue are in `examples/contract`.

Work without inputs gets an empty request, and work without outputs leaves the state as it is: nothing is guessed.
"""

from __future__ import annotations

from importlib.resources import files

from perdure.bpmn.contract.contract import Contract, Gate, Wait, Work, default_update, read_contract
from perdure.bpmn.contract.elements import (
    Assignment,
    Header,
    IoMapping,
    Subscription,
    TaskDefinition,
    TaskHeaders,
    UpdateDefinition,
    WorkflowDefinition,
)
from perdure.bpmn.contract.paths import MISSING, Path, parse_path, read_path, write_path
from perdure.bpmn.contract.policies import (
    Policy,
    PolicyCatalogue,
    PolicyLock,
    lock_of,
)
from perdure.bpmn.contract.templates import (
    FromState,
    Given,
    RenderFailure,
    Template,
    Text,
    parse_template,
    show_template,
)

__all__ = [
    "MISSING",
    "Assignment",
    "Contract",
    "FromState",
    "Gate",
    "Given",
    "Header",
    "IoMapping",
    "Path",
    "Policy",
    "PolicyCatalogue",
    "PolicyLock",
    "RenderFailure",
    "Subscription",
    "TaskDefinition",
    "TaskHeaders",
    "Template",
    "Text",
    "UpdateDefinition",
    "Wait",
    "Work",
    "WorkflowDefinition",
    "default_update",
    "lock_of",
    "parse_path",
    "parse_template",
    "read_contract",
    "read_path",
    "schema_text",
    "show_template",
    "write_path",
]


def schema_text() -> str:
    """The XML schema of the profile's elements."""
    return files(__package__).joinpath("extensions-v1.xsd").read_text(encoding="utf-8")
