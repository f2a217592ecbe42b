"""YAML out: a workflow in the form that people write who do not program."""

from __future__ import annotations

from typing import Any

import yaml

from perdure.workflows.graph import END, START
from perdure.workflows.losses import Losses
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
    duration_text,
)
from perdure.workflows.workflow import Workflow

Entry = dict[str, Any]


def write_yaml(workflow: Workflow) -> tuple[str, list[str]]:
    """The text, and what of the workflow it cannot say."""
    losses = Losses("YAML")
    content = {
        "id": workflow.id, "version": workflow.version, "name": workflow.name,
        **({"description": workflow.description} if workflow.description else {}),
        **({"variables": _variables(workflow)} if workflow.variables else {}),
        "tasks": _tasks(workflow, losses), "flow": _Lines(_flow(workflow)),
    }  # fmt: skip
    text: str = yaml.dump(
        {"workflow": content}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None
    )
    return text, losses.found


class _Dumper(yaml.SafeDumper):
    """Lists and mappings of single values on one line, flow lines each on its own."""


class _Lines(list[str]):
    """A list that is written one entry to a line."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Texts that another reader could take for something else are quoted."""
    style = "|" if "\n" in text else None
    plain = text.replace("_", "").replace(" ", "")
    if style is None and (not plain[:1].isalpha() or text.lower() in _WORDS):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
_Dumper.add_representer(str, _text)
_Dumper.add_representer(
    _Lines, lambda dumper, lines: dumper.represent_sequence("tag:yaml.org,2002:seq", lines, flow_style=False)
)


def _variables(workflow: Workflow) -> Entry:
    return {
        each.name: {
            "type": each.type, **({"required": True} if each.required else {}),
            **({"default": each.default} if each.default is not None else {}),
        }
        for each in workflow.variables.values()
    }  # fmt: skip


def _tasks(workflow: Workflow, losses: Losses) -> list[Entry]:
    found = [entry for node in workflow.graph.nodes.values() if (entry := _task(node, losses)) is not None]
    for each in workflow.graph.boundaries:
        event = _event(each.event, losses)
        found.append({**event, "attached_to": each.host, **({} if each.interrupts else {"interrupt": False})})
    return found


def _task(node: Node, losses: Losses) -> Entry | None:
    """A task as it is written; None for a start or an end that needs no word."""
    match node:
        case ServiceTask():
            return _service(node, losses)
        case ScriptTask():
            outputs = {"output": [node.output_variable]} if node.output_variable else {}
            return {**_head(node, "script_task"), "script": losses.name(node, "its script", node.script), **outputs}
        case UserTask():
            return _user(node, losses)
        case CallActivity():
            called = {**_head(node, "call_activity"), "workflow": node.workflow}
            return {**called, **_listed(output=node.output_variables)}
        case ExclusiveGateway():
            return _choice(node, losses)
        case ParallelGateway():
            return {**_head(node, "parallel_gateway"), **({"mode": "join"} if node.mode == "join" else {})}
        case EventBasedGateway():
            events = {route: _event(event, losses) for route, event in node.events.items()}
            return {**_head(node, "event_gateway"), "events": events}
        case StartEvent(event=None):
            return _named_end(node, START, "start_event")
        case StartEvent(event=CatchEvent() as event):
            return {**_head(node, "start_event"), "event": _event(event, losses)}
        case EndEvent():
            ends = {"terminate": True} if node.terminate else {}
            return {**_head(node, "end_event"), **ends} if ends else _named_end(node, END, "end_event")
        case CatchEvent():
            return _event(node, losses)
        case _:
            losses.add(node.id, f"a {type(node).__name__}")
            return None


def _head(node: Node, kind: str) -> Entry:
    own = node.id.replace("_", " ").capitalize()
    return {"id": node.id, "type": kind, **({"name": node.name} if node.name != own else {})}


def _named_end(node: Node, usual: str, kind: str) -> Entry | None:
    head = _head(node, kind)
    return None if node.id == usual and "name" not in head else head


def _service(task: ServiceTask, losses: Losses) -> Entry:
    entry = {**_head(task, "service_task"), "agent": losses.name(task, "its agent", task.agent)}
    if task.method != "execute":
        entry["method"] = task.method
    entry |= _listed(input=task.input_variables, output=task.output_variables, errors=task.errors)
    if task.timeout is not None:
        entry["timeout"] = duration_text(task.timeout)
    if task.retry_policy is not None:
        entry["retry"] = _retry(task.retry_policy)
    if task.compensation is not None:
        entry["compensation"] = losses.name(task, "its compensation", task.compensation)
        entry |= {"order": task.order} if task.order else {}
    return entry


def _retry(retry: RetryPolicy) -> Entry:
    return {
        "max_attempts": retry.max_attempts, "backoff": retry.backoff, "base_delay": duration_text(retry.base_delay),
        "max_delay": duration_text(retry.max_delay), "jitter": retry.jitter,
    }  # fmt: skip


def _user(task: UserTask, losses: Losses) -> Entry:
    entry: Entry = {"id": task.id, "type": "user_task", "title": task.name}
    entry |= {"body": task.body_template} if task.body_template else {}
    entry |= {"assignee": task.assignee} if task.assignee else {}
    entry |= _listed(groups=task.groups)
    entry |= {"labels": list(task.labels)} if task.labels != DEFAULT_LABELS else {}
    entry["sla"] = duration_text(task.sla)
    if isinstance(task.on_timeout, Node):
        losses.add(task.id, "a task as on_timeout", "Attach a timer to it.")
    elif task.on_timeout is not None:
        entry["on_timeout"] = losses.name(task, "its on_timeout", task.on_timeout)
    entry |= {"decision_variable": task.decision_variable} if task.decision_variable != f"{task.id}_decision" else {}
    entry |= {"form": task.form} if task.form is not None else {}
    entry |= {"four_eyes": True} if task.four_eyes else {}
    entry |= {"escalate_to": task.escalate_to} if task.escalate_to != "managers" else {}
    return entry


def _choice(gateway: ExclusiveGateway, losses: Losses) -> Entry:
    is_inclusive = isinstance(gateway, InclusiveGateway)
    entry = _head(gateway, "inclusive_gateway" if is_inclusive else "exclusive_gateway")
    conditions: Entry = {}
    for route, condition in gateway.conditions.items():
        if isinstance(condition, str):
            conditions[route] = {"expression": condition}
        else:
            conditions[route] = {"function": losses.name(gateway, f"the condition '{route}'", condition)}
    entry |= {"conditions": conditions} if conditions else {}
    entry |= {"default": gateway.default_path} if gateway.default_path else {}
    return entry | ({"mode": "join"} if isinstance(gateway, InclusiveGateway) and gateway.mode == "join" else {})


def _event(event: CatchEvent, losses: Losses) -> Entry:
    match event:
        case TimerEvent():
            return {**_head(event, "timer_event"), event.timer_type: event.text}
        case MessageEvent():
            key = {"correlation": event.correlation} if event.correlation else {}
            return {
                **_head(event, "message_event"), "message": event.message, **key,
                **_listed(output=event.output_variables),
            }  # fmt: skip
        case SignalEvent():
            return {**_head(event, "signal_event"), "signal": event.signal}
        case ErrorEvent():
            return {**_head(event, "error_event"), "error": event.error}
        case _:
            losses.add(event.id, f"a {type(event).__name__}")
            return {}


def _listed(**names: Any) -> Entry:
    return {key: list(each) for key, each in names.items() if each}


def _flow(workflow: Workflow) -> list[str]:
    graph = workflow.graph
    lines = [f"{each.source}{f'[{each.route}]' if each.route else ''} → {each.target}" for each in graph.edges]
    return lines + [f"{each.event.id} → {each.target}" for each in graph.boundaries]
