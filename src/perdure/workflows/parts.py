"""Parts: what a workflow compiles to while it is compiled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from perdure.bpmn.model import Activity, Association, Error, Event, Flow, Gateway, Message, Node, Place, Signal
from perdure.verb_contract import FlagContract, RetryPolicy
from perdure.verbs.definition import Effects, Execution, Sentences, VerbContract, VerbDefinition
from perdure.workflows.code import code_name, short_name, source_hash
from perdure.workflows.handlers import TASK_FAILED, Whose
from perdure.workflows.nodes import Node as Written
from perdure.workflows.nodes import ServiceTask
from perdure.workflows.variables import Mirror
from perdure.workflows.versions import parse_version

if TYPE_CHECKING:
    from perdure.workflows.workflow import Workflow

Kind = Literal["service_task", "script_task", "user_task", "gateway", "timeout", "compensation", "message", "returned"]
PREFIX = "workflow:"
"""Of the properties that keep what a model itself does not say."""


class Parts:
    """Filled part by part; the order of nodes and flows is that in which they were written."""

    def __init__(self, workflow: Workflow, mirrors: tuple[Mirror, ...]) -> None:
        self.workflow, self.graph, self.mirrors = workflow, workflow.graph, mirrors
        self.nodes: dict[str, Node] = {}
        self.places: dict[str, Place] = {workflow.id: Place(workflow.place.line, 1)}
        self.flows: list[Flow] = []
        self.associations: list[Association] = []
        self.messages: dict[str, Message] = {}
        self.signals: dict[str, Signal] = {}
        self.errors: dict[str, Error] = {}
        self.verbs: dict[str, VerbDefinition] = {}
        self.handlers: dict[str, Any] = {}
        self.compensation: dict[str, str] = {}
        self.entries: dict[str, str] = {}
        """Where a way into a node begins, when that is another element."""
        self.exits: dict[str, str] = {}
        """Where a way out of a node begins, when that is another element."""
        self.flags: dict[str, FlagContract] = {each.flag: self._contract(each) for each in mirrors}
        tasks = self.graph.of_type(ServiceTask)
        self.undoes = any(task.compensation is not None for task in tasks)
        self.whose = Whose(workflow.id, workflow.version, mirrors, self.undoes)

    def put(self, node: Node, written: Written) -> None:
        """An element of the model, which stands where a node of the workflow was written."""
        self.nodes[node.id] = node
        self.places[node.id] = Place(written.place.line, written.place.column)

    def merge(self) -> None:
        """Where several ways lead to a task or a wait, let them meet at a gateway."""
        for node in list(self.nodes.values()):
            incoming = [flow for flow in self.flows if flow.target == node.id]
            if len(incoming) < 2 or not (
                isinstance(node, Activity) or (isinstance(node, Event) and node.position == "catch")
            ):
                continue
            id = f"{node.id}_merge"
            self.nodes[id], self.places[id] = (
                Gateway(id=id, kind="exclusive", properties=properties(of=node.id)),
                self.places[node.id],
            )
            self.flows = [replace(flow, target=id) if flow in incoming else flow for flow in self.flows]
            self.flow(id, node.id)

    def flow(self, source: str, target: str, **more: Any) -> None:
        """A sequence flow between two elements, with an id of its own."""
        id = more.pop("id", "") or f"{source}__{target}"
        taken = {each.id for each in self.flows}
        number = 2
        while id in taken or id in self.nodes:
            id, number = f"{id.rstrip('0123456789')}{number}", number + 1
        self.flows.append(Flow(id=id, source=source, target=target, **more))
        self.places[id] = self.places.get(source, self.places[self.workflow.id])

    def verb_name(self, part: str) -> str:
        return f"{self.workflow.id}.{part.lower()}"

    def add_verb(
        self, written: Written, part: str, kind: Kind, handler: Any, *, code: Any = None, description: str = "",
        inputs: dict[str, Any] | None = None, required: tuple[str, ...] = (), outputs: tuple[str, ...] = (),
        flags: tuple[str, ...] = (), errors: tuple[str, ...] = (), effects: Effects = "external",
        retry: RetryPolicy | None = None,
    ) -> str:  # fmt: skip
        """Declare a sync verb of the workflow with its handler; its name."""
        name = self.verb_name(part)
        schema: dict[str, Any] = {"type": "object", "additionalProperties": kind != "user_task"}
        if inputs is not None:
            schema |= {"properties": inputs, "required": list(required)}
        text = description or written.name
        written_flags = tuple(dict.fromkeys((*flags, *self._mirrored(outputs))))
        self.verbs[name] = VerbDefinition(
            name, parse_version(self.workflow.version).number, domain=self.workflow.id, description=text,
            sentences=Sentences(step=(text,)), input_schema=schema,
            output_schema={"type": "object", "properties": {each: {} for each in outputs}},
            execution=Execution(
                effects=effects, retry=retry or RetryPolicy(), states_retry=retry is not None,
            ),
            contract=VerbContract(written_flags, errors),
            file=written.place.file, line=written.place.line,
            metadata={
                "workflow": self.workflow.id, "task": written.id, "kind": kind,
                **({"actor": short_name(code), "source": source_hash(code)} if code is not None else {}),
            },
        )  # fmt: skip
        self.handlers[name] = handler
        return name

    def task_errors(self, task: ServiceTask) -> tuple[str, ...]:
        return (*task.errors, *((TASK_FAILED,) if self.undoes else ()))

    def declared(self) -> dict[str, str]:
        """The variables as a property of the process."""
        about = {
            each.name: {
                "type": each.type, **({"required": True} if each.required else {}),
                **({"default": each.default} if each.default is not None else {}),
            }
            for each in self.workflow.variables.values()
        }  # fmt: skip
        return {f"{PREFIX}variables": json.dumps(about, ensure_ascii=False)} if about else {}

    def _mirrored(self, outputs: tuple[str, ...]) -> list[str]:
        return [each.flag for each in self.mirrors if each.path[0] in outputs]

    def _contract(self, mirror: Mirror) -> FlagContract:
        variable = self.workflow.variables.get(mirror.path[0])
        default = variable.default if variable is not None else None
        is_written = any(mirror.path[0] in _outputs(node) for node in self.graph.nodes.values())
        is_given = len(mirror.path) == 1 and (variable is not None or not is_written)
        return mirror.contract(default, is_given)


def properties(**given: Any) -> dict[str, str]:
    """Properties of a node: lists joined by commas, code by its name, empty ones left out."""
    texts = {name: _text(value) for name, value in given.items() if value not in (None, "", (), [], {})}
    return {f"{PREFIX}{name}": text for name, text in texts.items() if text}


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else code_name(value) or short_name(value)


def _outputs(node: Written) -> tuple[str, ...]:
    found = [*getattr(node, "output_variables", ())]
    found += [name for name in (getattr(node, "output_variable", ""), getattr(node, "decision_variable", "")) if name]
    return tuple(found)
