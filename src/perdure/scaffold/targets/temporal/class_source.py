"""The module of the workflow: its class with the process, the steps, and what reaches it from outside."""

from __future__ import annotations

import re

from perdure.bpmn.contract import Contract, Gate
from perdure.bpmn.model import Event, Gateway, Model, Node, SubProcess, nodes
from perdure.scaffold.data_shapes import Shapes, answer_of
from perdure.scaffold.flow_graph import timer_of
from perdure.scaffold.program import Body, Choice, Program, Side, done_nodes, statements
from perdure.scaffold.python_source import call, imported, in_docstring, indented, quoted
from perdure.scaffold.targets.temporal.expressions import span
from perdure.scaffold.targets.temporal.names import Names
from perdure.scaffold.targets.temporal.step_source import Steps
from perdure.scaffold.targets.temporal.workflow_source import Flow

_RUNTIME = (
    "Gate", "Inbox", "SidePaths", "Step", "Steps", "failed", "filled", "in_time", "is_ordered", "look", "no_way",
    "outcome", "put", "text", "together", "until",
)  # fmt: skip


class WorkflowModule:
    """Writes `workflow_v<n>.py`."""

    def __init__(
        self, model: Model, contract: Contract, shapes: Shapes, names: Names, program: Program, version: int
    ) -> None:
        self._contract = contract
        self._shapes = shapes
        self._names = names
        self._program = program
        self._version = version
        self._nodes = {node.id: node for node in nodes(contract.process.body)}
        self._flow = Flow(model, contract, shapes, names)
        self._steps = Steps(contract, shapes, names)
        self._has_sides: dict[str, str] = {}

    def text(self, type: str) -> str:
        """The module, without its header. `type` is the name that Temporal knows the workflow by."""
        run = self._run()
        body = [*run, *self._inner_scopes(), *self._step_methods(), *self._branches()]
        class_lines = [*self._head(type), *self._init(), *body, *self._doors()]
        imports = self._imports("\n".join(class_lines))
        return "\n".join([*imports, "", "", *class_lines]) + "\n"

    def _head(self, type: str) -> list[str]:
        process = self._contract.process
        name = f"{self._names.workflow}V{self._version}" if self._version > 1 else self._names.workflow
        return [
            f"@workflow.defn(name={quoted(type)})",
            f"class {name}:",
            f'    """{in_docstring(process.name or process.id, 80)}."""',
            "",
        ]

    def _init(self) -> list[str]:
        lines = [
            "self.state = state",
            "self.instance_id = workflow.info().workflow_id",
            "self.run_id = workflow.info().run_id",
        ]
        if self._contract.work:
            lines.append("self.steps = Steps()")
        if self._contract.waits:
            lines.append("self.inbox = Inbox()")
        for gate in self._contract.gates.values():
            name = self._names.methods[gate.node.id]
            lines += call(f"self.gate_{name}: Gate[{answer_of(gate.update)}] = Gate", [quoted(gate.node.id)], at=2)
        lines += [f"self.{self._side_name(id)} = SidePaths()" for id, body in self._bodies() if _sides_in(body)]
        init = ["@workflow.init", "def __init__(self, state: State) -> None:", *indented(lines)]
        return indented(init)

    def _bodies(self) -> list[tuple[str, Body]]:
        return [("", self._program.body), *self._program.subprocesses.items()]

    def _side_name(self, scope: str) -> str:
        return f"sides_{self._names.methods[scope]}" if scope else "sides"

    def _run(self) -> list[str]:
        says = in_docstring(self._contract.process.documentation, 84)
        lines = ["", "@workflow.run", "async def run(self, state: State) -> State:"]
        lines += [f'    """{says if says.endswith(".") else says + "."}"""'] if says else []
        if not _sides_in(self._program.body):
            return indented([*lines, *indented(self._flow.scope(self._program.body, "self.state"))])
        lines += ["    async with self.sides:", "        await self._process()", "    return self.state", ""]
        lines += ["async def _process(self) -> None:", *indented(self._flow.scope(self._program.body, ""))]
        return indented(lines)

    def _inner_scopes(self) -> list[str]:
        lines: list[str] = []
        for id, body in self._program.subprocesses.items():
            name, node = self._names.methods[id], self._nodes[id]
            lines += ["", f"async def _{name}(self) -> None:", f"    {self._steps.docstring(node)}"]
            if not _sides_in(body):
                lines += indented(self._beside(id, self._flow.scope(body, "")))
                continue
            inner = self._flow.free_name(f"inside_{name}")
            inside = [f"async with self.{self._side_name(id)}:", f"    await self._{inner}()"]
            lines += indented(self._beside(id, inside))
            lines += ["", f"async def _{inner}(self) -> None:", *indented(self._flow.scope(body, ""))]
        return indented(lines)

    def _step_methods(self) -> list[str]:
        lines: list[str] = []
        for node in self._in_order():
            if isinstance(node, Gateway):
                lines += ["", f"async def _{self._names.methods[node.id]}(self) -> str:",
                          f"    {self._steps.docstring(node)}",
                          *indented(self._steps.race(node, self._program))]  # fmt: skip
            else:
                lines += ["", f"async def _{self._names.methods[node.id]}(self) -> None:",
                          f"    {self._steps.docstring(node)}",
                          *indented(self._beside(node.id, self._steps.body(node)))]  # fmt: skip
        return indented(lines)

    def _in_order(self) -> list[Node]:
        """Nodes with a method, in the order of the model; those of subprocesses are written apart."""
        done = {id for body in self._program.scopes() for id in done_nodes(body)}
        races = {
            each.node
            for body in self._program.scopes()
            for each in statements(body)
            if isinstance(each, Choice) and each.kind == "race"
        }
        return [
            node for node in self._nodes.values()
            if (node.id in done and not isinstance(node, SubProcess)) or node.id in races
        ]  # fmt: skip

    def _beside(self, id: str, body: list[str]) -> list[str]:
        """The body, with the boundary timers that do not interrupt it."""
        for side in reversed(_sides_of(self._program, id)):
            event = self._nodes[side.event]
            timer = timer_of(event)
            assert isinstance(event, Event) and timer is not None
            path = self._flow.method(
                self._names.methods[event.id], in_docstring(event.name or event.id) + ".", side.body
            )
            sides = self._side_name(self._scope_of(id))
            head = call(f"async with self.{sides}.after", [span(event, timer), f"self._{path}"], ":", at=2)
            body = [*head, *indented(body)]
        return body

    def _scope_of(self, id: str) -> str:
        return next(scope for scope, body in self._bodies() if id in done_nodes(body))

    def _branches(self) -> list[str]:
        return indented(self._flow.methods())

    def _doors(self) -> list[str]:
        """What reaches the workflow from outside: messages and answers."""
        lines: list[str] = []
        if self._contract.waits:
            lines += [
                "", '@workflow.signal(name="message")', "async def message(self, envelope: Envelope) -> None:",
                '    """A message for this instance, as the ingress delivers it."""', "    self.inbox.put(envelope)",
            ]  # fmt: skip
        for gate in self._contract.gates.values():
            lines += self._door(gate)
        lines += ["", '@workflow.query(name="state")', "def current_state(self) -> State:",
                  '    """What the process knows now."""', "    return self.state"]  # fmt: skip
        return indented(lines)

    def _door(self, gate: Gate) -> list[str]:
        name, answer = self._names.methods[gate.node.id], answer_of(gate.update)
        said = in_docstring(gate.node.name or gate.node.id)
        return [
            "", f"@workflow.update(name={quoted(gate.update)})",
            f"async def answer_{name}(self, answer: {answer}) -> None:",
            f'    """The answer to: {said}."""',
            f"    self.gate_{name}.give(answer)",
            "", f"@answer_{name}.validator",
            f"def check_{name}(self, answer: {answer}) -> None:",
            f"    self.gate_{name}.check(answer)",
            f"    gates.check_{name}(self.state, answer)",
        ]  # fmt: skip

    def _imports(self, text: str) -> list[str]:
        used = set(re.findall(r"[A-Za-z_]\w*", text))
        lines = ["from __future__ import annotations", ""]
        standard = (
            ["import asyncio"] if "asyncio" in used else [],
            ["from contextlib import suppress"] if "suppress" in used else [],
            ["from datetime import timedelta"] if "timedelta" in used else [],
        )
        found = [line for part in standard for line in part]
        lines += [*found, ""] if found else []
        lines += ["from temporalio import workflow", "", "with workflow.unsafe.imports_passed_through():"]
        package = self._names.package
        records = sorted(used & {record.name for record in self._shapes.records})
        inner: list[str] = []
        if self._contract.gates:
            inner.append(f"from {package} import gates")
        if self._contract.work:
            inner.append(f"from {package}.generated import policies")
        inner += imported(f"{package}.generated.data", records, 1)
        if self._contract.waits:
            inner.append(f"from {package}.generated.envelope import Envelope")
        runtime = [name for name in _RUNTIME if _calls(name, text)]
        inner += imported(f"{package}.generated.runtime", runtime, 1) if runtime else []
        return [*lines, *indented(inner)]


def _calls(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.\"']){name}[(\[]", text) is not None


def _sides_in(body: Body) -> bool:
    return any(_all_sides(each) for each in statements(body))


def _all_sides(statement: object) -> tuple[Side, ...]:
    if isinstance(statement, Choice):
        return statement.activity.sides if statement.activity is not None else ()
    sides = getattr(statement, "sides", ())
    return sides if isinstance(sides, tuple) else ()


def _sides_of(program: Program, id: str) -> tuple[Side, ...]:
    for body in program.scopes():
        for each in statements(body):
            if getattr(each, "node", "") == id and not isinstance(each, Choice) and _all_sides(each):
                return _all_sides(each)
            if isinstance(each, Choice) and each.activity is not None and each.activity.node == id:
                return each.activity.sides
    return ()
