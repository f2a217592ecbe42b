"""BPMN in: a model that a workflow was compiled to, read back; what is no part of a workflow is named."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from perdure.bpmn.model import CallActivity as Called
from perdure.bpmn.model import (
    ErrorTrigger,
    Event,
    Gateway,
    MessageTrigger,
    Model,
    Process,
    SignalTrigger,
    Task,
    TerminateTrigger,
    TimerTrigger,
)
from perdure.bpmn.model import Node as Element
from perdure.durations import parse_duration
from perdure.errors import DefinitionError, Problem
from perdure.workflows.graph import Graph
from perdure.workflows.names import Resolve, kept
from perdure.workflows.nodes import (
    CallActivity,
    CatchEvent,
    CompensationHandler,
    EndEvent,
    ErrorEvent,
    EventBasedGateway,
    ExclusiveGateway,
    InclusiveGateway,
    MessageEvent,
    Node,
    ParallelGateway,
    RetryPolicy,
    ScriptTask,
    ServiceTask,
    SignalEvent,
    StartEvent,
    TimerEvent,
    UserTask,
)
from perdure.workflows.places import Place
from perdure.workflows.variables import Variable
from perdure.workflows.workflow import Workflow

OF = "workflow:of"
CONDITION = "workflow:condition:"


def workflow_of(model: Model, resolve: Resolve = kept) -> Workflow:
    """The workflow of a model with one process; DefinitionError names what no workflow can say."""
    processes = model.definitions.executable()
    if len(processes) != 1:
        reason = f"the file has {len(processes)} executable processes"
        raise DefinitionError([Problem("workflow.bpmn", model.file, 1, 1, "", reason, "Convert one at a time.")])
    return _Reader(model, processes[0], resolve).read()


class _Reader:
    def __init__(self, model: Model, process: Process, resolve: Resolve) -> None:
        self._model, self._process, self._resolve = model, process, resolve
        self._elements: dict[str, Element] = {node.id: node for node in process.body.nodes}
        self._problems: list[Problem] = []

    def read(self) -> Workflow:
        process = self._process
        workflow = Workflow(process.id, process.version_tag or "1.0", process.name, process.documentation)
        workflow.place = self.place(process.id)
        declared = json.loads(process.properties.get("workflow:variables", "{}"))
        workflow.variables = {
            name: Variable(name, about.get("type", "any"), about.get("required", False), about.get("default"))
            for name, about in declared.items()
        }
        self.nodes(workflow.graph)
        self.edges(workflow.graph)
        if self._problems:
            raise DefinitionError(self._problems)
        return workflow

    def place(self, id: str) -> Place:
        found = self._model.places.get(id)
        return Place(self._model.file, found.line, found.column) if found is not None else Place(self._model.file, 1)

    def refuse(self, element: Element, fact: str, hint: str = "") -> None:
        place = self.place(element.id)
        self._problems.append(Problem("workflow.bpmn", *place, element.id, fact, hint))

    # --- nodes ---------------------------------------------------------------------------------------------------

    def nodes(self, graph: Graph) -> None:
        raced = {
            flow.target
            for flow in self._process.body.flows
            if isinstance(gateway := self._elements.get(flow.source), Gateway) and gateway.kind == "event"
        }
        for element in self._process.body.nodes:
            is_boundary = isinstance(element, Event) and element.position == "boundary"
            if OF in element.properties or element.id in raced or is_boundary:
                continue
            made = self.node(element)
            if made is not None:
                made.place = self.place(element.id)
                graph.nodes[made.id] = made

    def node(self, element: Element) -> Node | None:
        match element:
            case Task(kind="service") if "workflow:agent" in element.properties:
                return self.service(element)
            case Task(kind="service") if "workflow:script" in element.properties:
                output = element.properties.get("workflow:outputs", "")
                script = self._resolve(element.properties["workflow:script"])
                return ScriptTask(element.id, script, output or None, element.name)
            case Task(kind="user"):
                return self.user(element)
            case Called():
                outputs = _listed(element.properties.get("workflow:outputs", ""))
                return CallActivity(element.id, element.process, outputs, element.name)
            case Gateway():
                return self.gateway(element)
            case Event():
                return self.event(element)
            case _:
                self.refuse(element, "no workflow has such an element", "Keep this process in BPMN.")
                return None

    def service(self, task: Task) -> Node:
        own = {name.removeprefix("workflow:"): text for name, text in task.properties.items()}
        undo = self._resolve(own["compensation"]) if "compensation" in own else None
        order = int(own.get("order", "0"))
        return ServiceTask(
            task.id, self._resolve(own["agent"]), own.get("method", "execute"), _listed(own.get("inputs", "")),
            _listed(own.get("outputs", "")), _time(own["timeout"]) if "timeout" in own else None,
            _retry(own["retry"]) if "retry" in own else None,
            CompensationHandler(task.id, undo, order) if undo is not None and order else undo,
            name=task.name, errors=_listed(own.get("errors", "")),
        )  # fmt: skip

    def user(self, task: Task) -> Node | None:
        own = task.properties
        if "workflow:decision" not in own:
            self.refuse(task, "its answer is taken by a verb of its own", "Keep this process in BPMN.")
            return None
        late = own.get("workflow:on_timeout", "")
        form = own.get("workflow:form", "")
        escalation = own.get("perdure:escalate", "").partition(" ")[2]
        return UserTask(
            task.id, task.name, own.get("perdure:body", ""), task.assignee.text if task.assignee else None,
            _listed(own.get("perdure:labels", "")), _time(task.due.text).total_seconds() / 3600 if task.due else 24,
            self._resolve(late) if late else None, own["workflow:decision"],
            groups=_listed(task.groups.text) if task.groups else (), form=json.loads(form) if form else None,
            four_eyes=own.get("perdure:fourEyes") == "true", escalate_to=escalation or ("managers" if late else ""),
        )  # fmt: skip

    def gateway(self, gateway: Gateway) -> Node | None:
        incoming = [flow for flow in self._process.body.flows if flow.target == gateway.id]
        outgoing = [flow for flow in self._process.body.flows if flow.source == gateway.id]
        is_join = len(incoming) > 1 and len(outgoing) == 1
        default = next((flow.name for flow in outgoing if flow.id == gateway.default), None)
        match gateway.kind:
            case "parallel":
                return ParallelGateway(gateway.id, "join" if is_join else "fork", gateway.name)
            case "exclusive":
                conditions = self.conditions(gateway)
                meant = gateway.properties.get("workflow:default") if default in conditions else default
                return ExclusiveGateway(gateway.id, conditions, meant, gateway.name)
            case "inclusive":
                mode: Any = "join" if is_join and not default else "fork"
                return InclusiveGateway(gateway.id, self.conditions(gateway), default, mode, gateway.name)
            case "event":
                events = {flow.name: self.caught(self._elements[flow.target]) for flow in outgoing}
                known = {route: event for route, event in events.items() if event is not None}
                return EventBasedGateway(gateway.id, known, gateway.name)
            case _:
                self.refuse(gateway, f"no workflow has a gateway of kind {gateway.kind}", "Keep this process in BPMN.")
                return None

    def conditions(self, gateway: Gateway) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, text in gateway.properties.items():
            if name.startswith(CONDITION):
                route = name.removeprefix(CONDITION)
                found[route] = self._resolve(text.removeprefix("code:")) if text.startswith("code:") else text
        return found

    def event(self, event: Event) -> Node | None:
        if event.position == "end":
            return EndEvent(event.id, event.name, any(isinstance(each, TerminateTrigger) for each in event.triggers))
        if event.position == "start":
            if not event.triggers:
                return StartEvent(event.id, None, event.name)
            found = self.caught(event)
            return StartEvent(event.id, found, event.name) if found is not None else None
        return self.caught(event)

    def caught(self, element: Element) -> CatchEvent | None:
        trigger = element.triggers[0] if isinstance(element, Event) and len(element.triggers) == 1 else None
        own, outputs = element.properties, _listed(element.properties.get("workflow:outputs", ""))
        match trigger:
            case TimerTrigger(kind, value):
                return TimerEvent(element.id, kind, value.text, element.name)
            case MessageTrigger(message):
                name = next(each.name for each in self._model.definitions.messages if each.id == message)
                return MessageEvent(element.id, name, own.get("workflow:correlation", ""), outputs, element.name)
            case SignalTrigger(signal):
                name = next(each.name for each in self._model.definitions.signals if each.id == signal)
                return SignalEvent(element.id, name, element.name)
            case ErrorTrigger(error):
                code = next((each.code for each in self._model.definitions.errors if each.id == error), "")
                return ErrorEvent(element.id, code, element.name)
            case _:
                self.refuse(element, "no workflow has such an event", "Keep this process in BPMN.")
                return None

    # --- edges ---------------------------------------------------------------------------------------------------

    def edges(self, graph: Graph) -> None:
        for flow in self._process.body.flows:
            source, target = self._elements[flow.source], self.meant(flow.target)
            answered = isinstance(source, Gateway) and isinstance(self._host(source), Task)
            if OF in source.properties:
                host = source.properties[OF]
                is_after = (answered and self._is_user(host)) or isinstance(self._elements.get(host), Called)
                if is_after and target != host:
                    graph.connect(host, target, self.place(flow.id))
                continue
            if isinstance(source, Event) and source.position == "boundary":
                self.boundary(graph, source, target)
            elif isinstance(source, Event) and (race := self._race_of(source.id)):
                graph.connect(race[0], target, self.place(flow.id), race[1])
            elif not (isinstance(source, Gateway) and source.kind == "event") and target != source.id:
                is_routed = isinstance(graph.nodes.get(source.id), ExclusiveGateway)
                graph.connect(source.id, target, self.place(flow.id), flow.name if is_routed else "")

    def boundary(self, graph: Graph, source: Event, target: str) -> None:
        from perdure.workflows.graph import Boundary  # noqa: PLC0415

        event = self.caught(source)
        if event is not None:
            event.place = self.place(source.id)
            graph.boundaries.append(
                Boundary(source.attached_to, event, source.is_interrupting, target, self.place(source.id))
            )  # fmt: skip

    def meant(self, id: str) -> str:
        """The node of the workflow that an element belongs to."""
        return self._elements[id].properties.get(OF, id)

    def _host(self, element: Element) -> Element | None:
        return self._elements.get(element.properties.get(OF, ""))

    def _is_user(self, id: str) -> bool:
        host = self._elements.get(id)
        return isinstance(host, Task) and host.kind == "user"

    def _race_of(self, event: str) -> tuple[str, str] | None:
        for flow in self._process.body.flows:
            source = self._elements[flow.source]
            if flow.target == event and isinstance(source, Gateway) and source.kind == "event":
                return source.id, flow.name
        return None


def _listed(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _time(text: str) -> timedelta:
    return timedelta(seconds=parse_duration(text))


def _retry(text: str) -> RetryPolicy:
    attempts, backoff, base, most, jitter = text.split()
    kind: Any = backoff
    return RetryPolicy(int(attempts), kind, _time(base), _time(most), float(jitter))
