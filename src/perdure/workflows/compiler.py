"""The compiler: a workflow becomes a process model, the verbs it names, and their handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.bpmn.layout import lay_out
from perdure.bpmn.model import CallActivity, Definitions, Model, Process, Scope
from perdure.errors import DefinitionError
from perdure.verbs.definition import Execution, Sentences, VerbDefinition
from perdure.workflows.checks import problems_of
from perdure.workflows.element_parts import add_events, add_gateways, add_tasks
from perdure.workflows.flow_parts import add_boundaries, add_flows
from perdure.workflows.mirrors import mirrors_of
from perdure.workflows.parts import Parts
from perdure.workflows.variables import Mirror
from perdure.workflows.versions import parse_version

if TYPE_CHECKING:
    from perdure.workflows.workflow import Workflow


class CompiledWorkflow(NamedTuple):
    """What a workflow is to everything below: nothing else of it runs."""

    id: str
    version: str
    model: Model
    verbs: tuple[VerbDefinition, ...]
    """Of this version of the workflow; the first is the one that the process carries."""
    handlers: dict[str, Any]
    """By the name of the verb, in the version of the workflow."""
    mirrors: tuple[Mirror, ...]

    @property
    def calls(self) -> tuple[str, ...]:
        """The workflows that it calls; one that calls any is no hollow process."""
        body = self.model.definitions.processes[0].body
        return tuple(dict.fromkeys(node.process for node in body.nodes if isinstance(node, CallActivity)))

    @property
    def number(self) -> int:
        """The version of its verbs."""
        return self.verbs[0].version

    @property
    def carrier(self) -> VerbDefinition:
        return self.verbs[0]


def compile_workflow(workflow: Workflow) -> CompiledWorkflow:
    """Everything at once, or DefinitionError with every problem."""
    problems = list(problems_of(workflow))
    if problems:
        raise DefinitionError(problems)
    parts = Parts(workflow, mirrors_of(workflow))
    add_tasks(parts)
    add_gateways(parts)
    add_events(parts)
    add_boundaries(parts)
    add_flows(parts)
    parts.merge()
    return CompiledWorkflow(
        workflow.id, workflow.version, _model(workflow, parts), (_carrier(workflow, parts), *parts.verbs.values()),
        parts.handlers, parts.mirrors,
    )  # fmt: skip


def _model(workflow: Workflow, parts: Parts) -> Model:
    scope = Scope(
        nodes=tuple(parts.nodes.values()), flows=tuple(parts.flows), associations=tuple(parts.associations)
    )  # fmt: skip
    process = Process(
        id=workflow.id, name=workflow.name, documentation=workflow.description, version_tag=workflow.version,
        properties=parts.declared(), body=scope,
    )  # fmt: skip
    definitions = Definitions(
        id=f"{workflow.id}_definitions", processes=(process,), messages=tuple(parts.messages.values()),
        signals=tuple(parts.signals.values()), errors=tuple(parts.errors.values()),
    )  # fmt: skip
    return Model(definitions=definitions, diagram=lay_out(definitions), file=workflow.place.file, places=parts.places)


def _carrier(workflow: Workflow, parts: Parts) -> VerbDefinition:
    """The durable verb that the process carries: its arguments are the variables at the start."""
    declared = workflow.variables.values()
    schema = {
        "type": "object",
        "properties": {each.name: each.schema for each in declared},
        "required": [each.name for each in declared if each.required],
        "additionalProperties": True,
    }
    execution = Execution(
        kind="durable", process=workflow.id, sub_verbs=tuple(parts.verbs), flags=tuple(parts.flags.values()),
        compensation=parts.compensation,
    )  # fmt: skip
    return VerbDefinition(
        workflow.id, parse_version(workflow.version).number, domain=workflow.id,
        description=workflow.description or workflow.name, sentences=Sentences(step=(workflow.name,)),
        input_schema=schema, execution=execution, file=workflow.place.file, line=workflow.place.line,
        metadata={"workflow": workflow.id, "workflow_version": workflow.version},
    )  # fmt: skip
