"""YAML in: a workflow written without programming. Strict: every mistake has its line and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from perdure.durations import DurationError, parse_duration
from perdure.errors import DefinitionError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node as Yaml
from perdure.verbs.yaml_nodes import Report
from perdure.verbs.yaml_reader import parse_text
from perdure.workflows.graph import END, START
from perdure.workflows.names import FolderNames, Resolve, UnknownName
from perdure.workflows.nodes import (
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
from perdure.workflows.places import Place
from perdure.workflows.variables import TYPES, Variable
from perdure.workflows.workflow import Workflow

WORKFLOW_KEYS = frozenset({"id", "version", "name", "description", "variables", "tasks", "flow"})
TOP_KEYS = frozenset({"workflow"})
VARIABLE_KEYS = frozenset({"type", "required", "default"})
COMMON = {"id", "type", "name", "precondition", "attached_to", "interrupt"}
RETRY_KEYS = frozenset({"max_attempts", "backoff", "base_delay", "max_delay", "jitter"})
CONDITION_KEYS = frozenset({"expression", "function"})
TASK_KEYS: dict[str, set[str]] = {
    "service_task": {
        "agent", "function", "method", "input", "output", "timeout", "retry", "compensation", "order", "errors",
    },
    "script_task": {"script", "output"},
    "user_task": {
        "title", "body", "assignee", "groups", "labels", "sla", "on_timeout", "decision_variable", "form", "four_eyes",
        "escalate_to",
    },
    "call_activity": {"workflow", "output"},
    "exclusive_gateway": {"conditions", "default"},
    "inclusive_gateway": {"conditions", "default", "mode"},
    "parallel_gateway": {"mode"},
    "event_gateway": {"events"},
    "timer_event": {"duration", "date", "cycle"},
    "message_event": {"message", "correlation", "output"},
    "signal_event": {"signal"},
    "error_event": {"error"},
    "start_event": {"event"},
    "end_event": {"terminate"},
}  # fmt: skip
_FLOW = re.compile(r"\s*([A-Za-z_]\w*)(?:\[([^\]]+)\])?\s*(?:→|->)\s*")
_TARGET = re.compile(r"([A-Za-z_]\w*)\s*")


def read_workflow_file(file: Path, folder: Path, *, is_named: bool = True) -> list[Workflow]:
    """The workflow of a file, with its code from the folder; a file that begins otherwise is none of ours."""
    text = file.read_text("utf-8")
    if not is_named and not re.search(r"^workflow:", text, re.MULTILINE):
        return []
    return [read_workflow(text, str(file), FolderNames(folder))]


def read_workflow(text: str, file: str, resolve: Resolve) -> Workflow:
    """The workflow of a text; DefinitionError with every problem."""
    report = Report()
    documents = parse_text(text, file, report)
    found = _Reader(file, report, resolve).document(documents[0]) if len(documents) == 1 else None
    if found is None and not report.problems:
        report.add(
            (file, 1, 1), "workflow.yaml", "", "it does not hold exactly one workflow", "Begin with 'workflow:'."
        )
    if report.problems:
        raise DefinitionError(list(report.problems))
    assert found is not None
    return found


T = TypeVar("T")


class _Reader:
    def __init__(self, file: str, report: Report, resolve: Resolve) -> None:
        self._file, self._report, self._resolve = file, report, resolve
        self._nodes: dict[str, Node] = {}
        self._preconditions: list[tuple[Yaml, str, str]] = []
        self._attached: list[tuple[Yaml, str, CatchEvent, bool]] = []

    def fields(self, node: Yaml, kind: str, accepted: frozenset[str]) -> Fields:
        return Fields(node, kind, self._file, self._report, accepted)

    def document(self, node: Yaml) -> Workflow | None:
        top = self.fields(node, "file", TOP_KEYS)
        inner = top.get("workflow")
        if inner is None:
            return None
        fields = self.fields(inner, "workflow", WORKFLOW_KEYS)
        workflow = self.made(inner, lambda: Workflow(
            fields.text("id", required=True), fields.text("version", "1.0"), fields.text("name"),
            fields.text("description"),
        ))  # fmt: skip
        if workflow is None:
            return None
        workflow.place = Place(self._file, inner.line, inner.column)
        workflow.variables = self.variables(fields)
        for each in fields.items("tasks"):
            task = self.task(each)
            if task is not None:
                self.add(workflow, each, task)
        self.flow(workflow, fields)
        return workflow

    def made(self, node: Yaml, make: Callable[[], T]) -> T | None:
        """What the builder makes; what it refuses is told with the place in this file."""
        try:
            return make()
        except DefinitionError as error:
            for problem in error.problems:
                place = (self._file, node.line, node.column)
                self._report.add(place, problem.code, problem.field, problem.reason, problem.hint)
        except UnknownName as error:
            self._report.add((self._file, node.line, node.column), "workflow.code", "", str(error), error.hint)
        return None

    def add(self, workflow: Workflow, node: Yaml, task: Node) -> None:
        task.place = Place(self._file, node.line, node.column)
        if isinstance(task, CatchEvent) and any(event is task for _, _, event, _ in self._attached):
            return
        self._nodes[task.id] = task
        self.made(node, lambda: workflow.add_node(task))

    # --- variables -----------------------------------------------------------------------------------------------

    def variables(self, fields: Fields) -> dict[str, Variable]:
        found: dict[str, Variable] = {}
        for name, node in fields.mapping("variables").items():
            declared = node.with_children({"type": node}) if isinstance(node.value, str) else node
            own = self.fields(declared, "variable", VARIABLE_KEYS)
            kind: Any = own.word("type", TYPES, "any")
            default = own.get("default")
            found[name] = Variable(name, kind, own.boolean("required"), default.plain() if default else None)
        return found

    # --- tasks ---------------------------------------------------------------------------------------------------

    def task(self, node: Yaml) -> Node | None:
        kinds = node.value if isinstance(node.value, dict) else {}
        kind = kinds["type"].value if "type" in kinds else "service_task"
        if kind not in TASK_KEYS:
            fields = self.fields(node, "task", frozenset(kinds))
            fields.word("type", TASK_KEYS, "service_task")
            return None
        fields = self.fields(node, "task", frozenset(COMMON | TASK_KEYS[kind]))
        id = fields.text("id", required=True)
        made: Node | None = self.made(node, lambda: getattr(self, f"_{kind}")(fields, id))
        if made is None:
            return None
        if precondition := fields.text("precondition"):
            self._preconditions.append((fields.get("precondition") or node, id, precondition))
        if host := fields.text("attached_to"):
            assert isinstance(made, CatchEvent)
            self._attached.append((node, host, made, fields.boolean("interrupt", True)))
        return made

    def code(self, fields: Fields, key: str) -> Any:
        name = fields.text(key)
        if not name:
            return None
        try:
            return self._resolve(name)
        except UnknownName as error:
            fields.wrong(fields.get(key), "code", str(error), error.hint)
            return lambda *given: None

    def time(self, fields: Fields, key: str) -> timedelta | None:
        seconds = fields.duration(key)
        return timedelta(seconds=seconds) if seconds is not None else None

    def _service_task(self, fields: Fields, id: str) -> Node:
        code = self.code(fields, "agent") or self.code(fields, "function")
        retry = fields.get("retry")
        return ServiceTask(
            id, code, fields.text("method", "execute"), fields.texts("input"), fields.texts("output"),
            self.time(fields, "timeout"), self.retry(retry) if retry is not None else None,
            self.compensation(fields, id), name=fields.text("name"), errors=fields.texts("errors"),
        )  # fmt: skip

    def compensation(self, fields: Fields, id: str) -> Any:
        from perdure.workflows.nodes import CompensationHandler  # noqa: PLC0415

        code, order = self.code(fields, "compensation"), fields.integer("order", 0, 0, 1_000_000)
        return CompensationHandler(id, code, order) if code is not None and order else code

    def retry(self, node: Yaml) -> RetryPolicy:
        own = self.fields(node, "retry", RETRY_KEYS)
        backoffs: tuple[Any, ...] = ("exponential", "linear", "fixed")
        base, most = self.time(own, "base_delay"), self.time(own, "max_delay")
        return RetryPolicy(
            own.integer("max_attempts", 3, 1, 1000), own.word("backoff", backoffs, "exponential"),
            base if base is not None else timedelta(seconds=1), most if most is not None else timedelta(minutes=1),
            own.fraction("jitter", 0.1),
        )  # fmt: skip

    def _script_task(self, fields: Fields, id: str) -> Node:
        outputs = fields.texts("output")
        return ScriptTask(id, self.code(fields, "script"), outputs[0] if outputs else None, fields.text("name"))

    def _user_task(self, fields: Fields, id: str) -> Node:
        sla = self.time(fields, "sla") or timedelta(hours=24)
        form = fields.get("form")
        return UserTask(
            id, fields.text("title", fields.text("name")), fields.text("body"), fields.text("assignee") or None,
            fields.texts("labels") if "labels" in fields else None, sla.total_seconds() / 3600,
            self.code(fields, "on_timeout"), fields.text("decision_variable") or None, groups=fields.texts("groups"),
            form=form.plain() if form is not None else None, four_eyes=fields.boolean("four_eyes"),
            escalate_to=fields.text("escalate_to", "managers"),
        )  # fmt: skip

    def _call_activity(self, fields: Fields, id: str) -> Node:
        return CallActivity(id, fields.text("workflow", required=True), fields.texts("output"), fields.text("name"))

    def conditions(self, fields: Fields) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for route, node in fields.mapping("conditions").items():
            if isinstance(node.value, str):
                found[route] = node.value
                continue
            own = self.fields(node, "condition", CONDITION_KEYS)
            found[route] = own.text("expression") or self.code(own, "function") or ""
            if not found[route]:
                own.missing("expression")
        return found

    def _exclusive_gateway(self, fields: Fields, id: str) -> Node:
        return ExclusiveGateway(id, self.conditions(fields), fields.text("default") or None, fields.text("name"))

    def _inclusive_gateway(self, fields: Fields, id: str) -> Node:
        modes: tuple[Any, ...] = ("fork", "join")
        mode = fields.word("mode", modes, "fork")
        return InclusiveGateway(id, self.conditions(fields), fields.text("default") or None, mode, fields.text("name"))

    def _parallel_gateway(self, fields: Fields, id: str) -> Node:
        modes: tuple[Any, ...] = ("fork", "join")
        return ParallelGateway(id, fields.word("mode", modes, "fork"), fields.text("name"))

    def _event_gateway(self, fields: Fields, id: str) -> Node:
        events: dict[str, Any] = {route: self.task(node) for route, node in fields.mapping("events").items()}
        return EventBasedGateway(id, {route: each for route, each in events.items() if each}, fields.text("name"))

    def _timer_event(self, fields: Fields, id: str) -> Node:
        kinds = [key for key in ("duration", "date", "cycle") if key in fields]
        if len(kinds) != 1:
            fields.wrong(
                None, "timer", "it does not have exactly one of duration, date and cycle", "Write duration: P7D."
            )
        kind: Any = kinds[0] if kinds else "duration"
        text = fields.text(kind, "P1D")
        return TimerEvent(id, kind, _as_duration(text) if kind == "duration" else text, fields.text("name"))

    def _message_event(self, fields: Fields, id: str) -> Node:
        return MessageEvent(
            id, fields.text("message"), fields.text("correlation"), fields.texts("output"), fields.text("name")
        )  # fmt: skip

    def _signal_event(self, fields: Fields, id: str) -> Node:
        return SignalEvent(id, fields.text("signal"), fields.text("name"))

    def _error_event(self, fields: Fields, id: str) -> Node:
        return ErrorEvent(id, fields.text("error"), fields.text("name"))

    def _start_event(self, fields: Fields, id: str) -> Node:
        node = fields.get("event")
        event: Any = self.task(node) if node is not None else None
        return StartEvent(id, event, fields.text("name"))

    def _end_event(self, fields: Fields, id: str) -> Node:
        return EndEvent(id, fields.text("name"), fields.boolean("terminate"))

    # --- flow ----------------------------------------------------------------------------------------------------

    def flow(self, workflow: Workflow, fields: Fields) -> None:
        """Flow lines, then what preconditions say and lines do not."""
        attached = {event.id: (host, event, interrupts) for _, host, event, interrupts in self._attached}
        for node in fields.items("flow"):
            for source, route, target in self.steps(fields, node):
                if source in attached:
                    host, event, interrupts = attached.pop(source)
                    self.known(node, fields, workflow, host)
                    self.made(node, partial(workflow.add_boundary_event, host, event, interrupts, target))
                elif self.known(node, fields, workflow, source) and self.known(node, fields, workflow, target):
                    self.edge(workflow, node, source, target, route)
        for node, id, text in self._preconditions:
            gateway, _, route = text.partition(".")
            if gateway not in self._nodes or not route:
                hint = "Write the id of a gateway, a dot, and one of its routes."
                fields.wrong(node, "precondition", f"'{text}' is no route of a gateway", hint)
            else:
                self.edge(workflow, node, gateway, id, route)

    def edge(self, workflow: Workflow, node: Yaml, source: str, target: str, route: str) -> None:
        self.made(node, lambda: workflow.add_edge(source, target, route))
        edges = workflow.graph.edges
        if edges and edges[-1][:2] == (source, target):
            edges[-1] = edges[-1]._replace(place=Place(self._file, node.line, node.column))

    def known(self, node: Yaml, fields: Fields, workflow: Workflow, id: str) -> bool:
        if id in self._nodes or id in (START, END):
            return True
        hint = f"Tasks: {', '.join(list(self._nodes)[:10])}."
        fields.wrong(node, "flow", f"there is no task '{id}'", hint)
        return False

    def steps(self, fields: Fields, node: Yaml) -> list[tuple[str, str, str]]:
        """`a → b[route] → c` as single steps."""
        text, found = node.value, []
        if not isinstance(text, str):
            fields.wrong(node, "flow", f"expected a line, found {node.kind()}", "Write 'start → first_task'.")
            return []
        rest = text
        while (match := _FLOW.match(rest)) is not None:
            following = _TARGET.match(rest, match.end())
            if following is None:
                break
            found.append((match[1], match[2] or "", following[1]))
            rest = rest[match.end() :]
        if not found or _TARGET.fullmatch(rest) is None:
            fields.wrong(node, "flow", f"'{text[:80]}' is no flow", "Write 'a → b', 'a -> b' or 'gateway[route] → c'.")
            return []
        return found


def _as_duration(text: str) -> Any:
    """A duration as the builder writes it, so that both ways give one text."""
    try:
        return timedelta(seconds=parse_duration(text))
    except DurationError:
        return text
