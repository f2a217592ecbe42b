"""Python out: a workflow as a program of nodes and edges."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from perdure.workflows.code import code_name
from perdure.workflows.graph import END
from perdure.workflows.losses import UNNAMED, Losses
from perdure.workflows.nodes import (
    DEFAULT_LABELS,
    CallActivity,
    CatchEvent,
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
from perdure.workflows.workflow import Workflow


class _Code(str):
    """A text that is Python already."""


def write_python(workflow: Workflow) -> tuple[str, list[str]]:
    """The text, and what of the workflow it cannot say."""
    writer = _Writer(workflow)
    return writer.text(), writer.losses.found


class _Writer:
    def __init__(self, workflow: Workflow) -> None:
        self._workflow, self.losses = workflow, Losses("Python")
        self._imports: dict[str, set[str]] = {"perdure.orchestration": {"Workflow"}}

    def text(self) -> str:
        graph, name = self._workflow.graph, "workflow"
        given = {"description": self._workflow.description, "variables": self._variables()}
        made = self._made("Workflow", self._workflow.id, self._workflow.version, self._workflow.name, **_given(given))
        lines = [f"{name} = {made}"]
        for node in graph.nodes.values():
            if node.id != END or not isinstance(node, EndEvent):
                lines.append(f"{name}.{self._added(node)}")
        for edge in graph.edges:
            route = f", route={edge.route!r}" if edge.route else ""
            lines.append(f"{name}.add_edge({edge.source!r}, {edge.target!r}{route})")
        for each in graph.boundaries:
            interrupts = "" if each.interrupts else ", interrupt=False"
            event = self._node(each.event)
            lines.append(f"{name}.add_boundary_event({each.host!r}, {event}{interrupts}, then={each.target!r})")
        return "\n".join([*self._imported(), "", *lines]) + "\n"

    def _added(self, node: Node) -> str:
        if isinstance(node, StartEvent):
            return f"start_on({self._node(node.event)})" if node.event is not None else f"add_start_event({node.id!r})"
        return f"add_node({self._node(node)})"

    def _variables(self) -> dict[str, Any]:
        return {
            each.name: _given({"type": each.type, "required": each.required, "default": each.default})
            for each in self._workflow.variables.values()
        }

    def _node(self, node: Node) -> str:
        own = node.id.replace("_", " ").capitalize()
        name = {} if node.name == own else {"name": node.name}
        kind = type(node).__name__ if not isinstance(node, TimerEvent) else "TimerEvent"
        return self._made(kind, node.id, **_given(self._fields(node)), **({} if isinstance(node, UserTask) else name))

    def _fields(self, node: Node) -> dict[str, Any]:
        match node:
            case ServiceTask():
                return {
                    "agent": self._code(node, "its agent", node.agent),
                    "method": node.method if node.method != "execute" else "",
                    "input_variables": list(node.input_variables), "output_variables": list(node.output_variables),
                    "timeout": node.timeout, "retry_policy": node.retry_policy, "compensation": self._undo(node),
                    "errors": list(node.errors),
                }  # fmt: skip
            case CallActivity():
                return {"workflow": node.workflow, "output_variables": list(node.output_variables)}
            case ScriptTask():
                return {"script": self._code(node, "its script", node.script), "output_variable": node.output_variable}
            case UserTask():
                return self._user(node)
            case ExclusiveGateway():
                conditions = {
                    route: each if isinstance(each, str) else self._code(node, f"the condition '{route}'", each)
                    for route, each in node.conditions.items()
                }
                mode = "join" if isinstance(node, InclusiveGateway) and node.mode == "join" else ""
                return {"conditions": conditions, "default_path": node.default_path, "mode": mode}
            case ParallelGateway():
                return {"mode": "join" if node.mode == "join" else ""}
            case EventBasedGateway():
                return {"events": {route: _Code(self._node(event)) for route, event in node.events.items()}}
            case EndEvent():
                return {"terminate": node.terminate}
            case CatchEvent():
                return self._event(node)
            case _:
                self.losses.add(node.id, f"a {type(node).__name__}")
                return {}

    def _user(self, node: UserTask) -> dict[str, Any]:
        if isinstance(node.on_timeout, Node):
            self.losses.add(node.id, "a task as on_timeout", "Attach a timer to it.")
        late = node.on_timeout if not isinstance(node.on_timeout, Node) else None
        own = node.decision_variable != f"{node.id}_decision"
        return {
            "title": node.name, "body_template": node.body_template, "assignee": node.assignee,
            "groups": list(node.groups), "labels": list(node.labels) if node.labels != DEFAULT_LABELS else None,
            "sla_hours": node.sla.total_seconds() / 3600,
            "on_timeout": self._code(node, "its on_timeout", late) if late is not None else None,
            "decision_variable": node.decision_variable if own else "", "form": node.form,
            "four_eyes": node.four_eyes,
            "escalate_to": node.escalate_to if node.escalate_to != "managers" else None,
        }  # fmt: skip

    def _event(self, event: CatchEvent) -> dict[str, Any]:
        match event:
            case TimerEvent():
                return {"timer_type": event.timer_type, "timer_value": event.text}
            case MessageEvent():
                return {
                    "message": event.message, "correlation": event.correlation,
                    "output_variables": list(event.output_variables),
                }  # fmt: skip
            case SignalEvent():
                return {"signal": event.signal}
            case ErrorEvent():
                return {"error": event.error}
            case _:
                self.losses.add(event.id, f"a {type(event).__name__}")
                return {}

    def _undo(self, node: ServiceTask) -> Any:
        if node.compensation is None:
            return None
        code = self._code(node, "its compensation", node.compensation)
        if not node.order:
            return code
        return _Code(self._made("CompensationHandler", node.id, code, order=node.order))

    def _code(self, node: Node, what: str, code: Any) -> _Code:
        """The name of code, with the import that brings it."""
        name = code_name(code)
        if not name:
            return _Code(self.losses.name(node, what, code))
        module, _, wanted = name.rpartition(":")
        if module:
            self._imports.setdefault(module, set()).add(wanted.partition(".")[0])
        return _Code(wanted)

    def _made(self, kind: str, *given: Any, **fields: Any) -> str:
        self._imports["perdure.orchestration"].add(kind)
        texts = [self._value(each) for each in given] + [f"{key}={self._value(each)}" for key, each in fields.items()]
        line = f"{kind}({', '.join(texts)})"
        return line if len(line) <= 100 else f"{kind}(\n    " + ",\n    ".join(texts) + ",\n)"

    def _value(self, value: Any) -> str:
        if isinstance(value, _Code):
            return str(value)
        if isinstance(value, timedelta):
            self._imports.setdefault("datetime", set()).add("timedelta")
            return f"timedelta(seconds={value.total_seconds():g})"
        if isinstance(value, RetryPolicy):
            return self._made(
                "RetryPolicy", max_attempts=value.max_attempts, backoff=value.backoff, base_delay=value.base_delay,
                max_delay=value.max_delay, jitter=value.jitter,
            )  # fmt: skip
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self._value(each)}" for key, each in value.items()) + "}"
        return f"{value!r}"

    def _imported(self) -> list[str]:
        found = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._imports.items())]
        is_open = bool(self.losses.found)
        return found + ([f"\n{UNNAMED} = None  # what has no name: write it"] if is_open else [])


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, False)}
