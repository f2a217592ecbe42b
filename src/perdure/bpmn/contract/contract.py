"""The contract of a process: what each of its nodes is bound to, found by the id of the node.

| a consumer wants | it takes |
|---|---|
| the order of things | `contract.process.body`: nodes and flows of the process model, subprocesses inside |
| how the process is identified | `contract.workflow` |
| what a service task, send task or message throw event does | `contract.work[node.id]` |
| what a receive task or message catch event waits for | `contract.waits[node.id]` |
| what a user task asks | `contract.gates[node.id]` |
| which way an exclusive gateway takes | `contract.conditions[flow.id]` in the order of the flows, else its default |
| timers | literals of the process model: `TimerTrigger` of catch and boundary events |

A user task and a wait have a result as work has: `result.decision` and `result.reason` of a user task, `result.<field>`
of the payload of a message. A user task without outputs writes both below its own id: `state.<id>.decision` and
`state.<id>.reason`, with `_` for what no identifier may hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from perdure.bpmn.conditions.tree import Condition
from perdure.bpmn.contract import elements
from perdure.bpmn.contract.conditions import condition_paths, state_condition
from perdure.bpmn.contract.elements import (
    Assignment,
    ContractElement,
    IoMapping,
    Subscription,
    TaskDefinition,
    TaskHeaders,
    WorkflowDefinition,
)
from perdure.bpmn.contract.paths import parse_path
from perdure.bpmn.model import (
    Event,
    Extension,
    Message,
    MessageTrigger,
    Model,
    Node,
    Place,
    Process,
    Task,
    nodes,
    scopes,
)
from perdure.errors import RejectedError, Rejection

_READERS: dict[str, Callable[[Extension, Place], ContractElement]] = {
    elements.TASK: elements.task_definition,
    elements.HEADERS: elements.task_headers,
    elements.MAPPING: elements.io_mapping,
    elements.SUBSCRIPTION: elements.subscription,
    elements.UPDATE: elements.update_definition,
}
_NO_MAPPING = IoMapping()
_NO_HEADERS = TaskHeaders()
_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]")


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Automated work: a service task, a send task or a message throw event."""

    node: Task | Event
    definition: TaskDefinition
    headers: TaskHeaders = _NO_HEADERS
    mapping: IoMapping = _NO_MAPPING


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """An explicit wait. `name` is what the envelope calls the message; outputs take from its payload."""

    node: Task | Event
    message: Message
    name: str
    subscription: Subscription
    mapping: IoMapping = _NO_MAPPING


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """A user task. `update` is the name of the Update that answers it; `mapping` has outputs always."""

    node: Task
    update: str
    is_default_name: bool = False
    mapping: IoMapping = _NO_MAPPING
    is_default_mapping: bool = False


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the contract profile; see the module for how to walk it."""

    process: Process
    workflow: WorkflowDefinition
    work: dict[str, Work] = {}
    waits: dict[str, Wait] = {}
    gates: dict[str, Gate] = {}
    conditions: dict[str, Condition] = {}
    """By id of the flow; `flag` of each comparison is a path: `state.order.outcome`."""

    def policies(self) -> tuple[str, ...]:
        """The policies that work refers to, by name."""
        return tuple(sorted({each.definition.policy for each in self.work.values()}))

    def mappings(self) -> Iterator[tuple[str, Assignment]]:
        """Every assignment with the id of its node, in the order of the file."""
        for node in nodes(self.process.body):
            bound = self.work.get(node.id) or self.waits.get(node.id) or self.gates.get(node.id)
            yield from ((node.id, each) for each in bound.mapping.assignments) if bound is not None else ()

    def state_paths(self) -> tuple[str, ...]:
        """Every path below `state` that something reads or writes, each once, in alphabetical order."""
        found = {path.text for path in self.workflow.workflow_id.paths}
        for each in self.work.values():
            found.update(path.text for path in each.definition.idempotency_key.paths)
        for wait in self.waits.values():
            found.update(path.text for path in wait.subscription.correlation_key.paths)
        for condition in self.conditions.values():
            found.update(condition_paths(condition))
        for _, each_mapping in self.mappings():
            found.update(path.text for path in (each_mapping.source, each_mapping.target) if path.root == "state")
        return tuple(sorted(found))


def read_contract(model: Model, process: str = "") -> Contract:
    """The contract of the process named, or of the only executable one.

    Reading is lenient: lint the model first (`lint(model, profile="contract")`), it tells what is missing or wrong.
    """
    return read_bindings(_chosen(model, process), model.definitions.messages, model.extension_places)


def read_bindings(
    chosen: Process, messages: Iterable[Message], places: Mapping[str, tuple[Place, ...]] | None = None
) -> Contract:
    """The contract of a process with the messages it refers to."""
    reader = _Reader(places or {}, messages)
    body = list(nodes(chosen.body))
    workflow = next((each for each in chosen.extensions if each.name == elements.WORKFLOW), None)
    place = reader.place(chosen.id, elements.WORKFLOW)
    return Contract(
        process=chosen,
        workflow=elements.workflow_definition(workflow or Extension(elements.WORKFLOW), chosen.id, place),
        work={node.id: work for node in body if (work := reader.work(node)) is not None},
        waits={node.id: wait for node in body if (wait := reader.wait(node)) is not None},
        gates={node.id: reader.gate(node) for node in body if isinstance(node, Task) and node.kind == "user"},
        conditions={
            flow.id: state_condition(flow.condition)
            for scope in scopes(chosen.body)
            for flow in scope.flows
            if flow.condition is not None
        },
    )


def is_contract(process: Process) -> bool:
    """Whether a process is of the contract profile: it says how its workflow is identified."""
    return any(each.name == elements.WORKFLOW for each in process.extensions)


def is_work(node: Node) -> bool:
    """Whether a node is automated work: it needs a `taskDefinition`."""
    if isinstance(node, Task):
        return node.kind in ("service", "send")
    return isinstance(node, Event) and node.position == "throw" and _awaited(node) is not None


def is_wait(node: Node) -> bool:
    """Whether a node is an explicit wait: its message needs a `subscription`."""
    if isinstance(node, Task):
        return node.kind == "receive"
    return isinstance(node, Event) and node.position == "catch" and _awaited(node) is not None


def message_of(node: Node) -> str:
    """The id of the message a node refers to; empty when it has none."""
    return node.message if isinstance(node, Task) else (_awaited(node) or "")


def _awaited(node: Node) -> str | None:
    triggers = node.triggers if isinstance(node, Event) else ()
    return next((each.message for each in triggers if isinstance(each, MessageTrigger)), None)


def _chosen(model: Model, process: str) -> Process:
    executable = model.definitions.executable()
    found = [each for each in executable if not process or each.id == process]
    if len(found) == 1:
        return found[0]
    names = ", ".join(each.id for each in executable) or "none"
    fact = f"the file has no executable process '{process}'" if process else "the file does not have exactly one"
    raise RejectedError(
        Rejection("invalid", "read", "contract", process or model.file, fact, f"Executable processes: {names}.")
    )


class _Reader:
    def __init__(self, places: Mapping[str, tuple[Place, ...]], messages: Iterable[Message]) -> None:
        self._places = places
        self._messages = {each.id: each for each in messages}

    def place(self, element: str, name: str) -> Place:
        return next(iter(self._places.get(f"{element}/{name}", ())), elements.NOWHERE)

    def work(self, node: Node) -> Work | None:
        if not isinstance(node, Task | Event) or not is_work(node):
            return None
        found = self._of(node.id, node.extensions)
        definition = found.get(elements.TASK) or elements.task_definition(Extension(elements.TASK))
        headers, mapping = found.get(elements.HEADERS, _NO_HEADERS), found.get(elements.MAPPING, _NO_MAPPING)
        assert isinstance(definition, TaskDefinition)
        assert isinstance(headers, TaskHeaders)
        assert isinstance(mapping, IoMapping)
        return Work(node=node, definition=definition, headers=headers, mapping=mapping)

    def wait(self, node: Node) -> Wait | None:
        if not isinstance(node, Task | Event) or not is_wait(node):
            return None
        message = self._messages.get(message_of(node), Message(id=message_of(node)))
        found = self._of(message.id, message.extensions).get(elements.SUBSCRIPTION)
        mapping = self._of(node.id, node.extensions).get(elements.MAPPING, _NO_MAPPING)
        subscription = found or elements.subscription(Extension(elements.SUBSCRIPTION))
        assert isinstance(subscription, Subscription)
        assert isinstance(mapping, IoMapping)
        name = message.name or message.id
        return Wait(node=node, message=message, name=name, subscription=subscription, mapping=mapping)

    def gate(self, node: Task) -> Gate:
        found = self._of(node.id, node.extensions)
        update = found.get(elements.UPDATE)
        name = update.name if isinstance(update, elements.UpdateDefinition) else ""
        mapping = found.get(elements.MAPPING, _NO_MAPPING)
        assert isinstance(mapping, IoMapping)
        is_default = not mapping.outputs
        if is_default:
            mapping = msgspec.structs.replace(mapping, assignments=(*mapping.assignments, *_answered(node.id)))
        return Gate(
            node=node, update=name or default_update(node.id), is_default_name=not name, mapping=mapping,
            is_default_mapping=is_default,
        )  # fmt: skip

    def _of(self, element: str, extensions: tuple[Extension, ...]) -> dict[str, ContractElement]:
        """The first of each kind: that there is another is what lint tells."""
        found: dict[str, ContractElement] = {}
        for each in extensions:
            read = _READERS.get(each.name)
            if read is not None and each.name not in found:
                found[each.name] = read(each, self.place(element, each.name))
        return found


def default_update(user_task: str) -> str:
    """The name of the Update of a user task that names none."""
    return f"Update_{user_task}"


def _answered(user_task: str) -> tuple[Assignment, ...]:
    own = _NOT_IDENTIFIER.sub("_", user_task)
    own = own if not own[:1].isdigit() else f"_{own}"
    return tuple(
        Assignment(direction="output", source=parse_path(f"result.{field}"), target=parse_path(f"state.{own}.{field}"))
        for field in ("decision", "reason")
    )
