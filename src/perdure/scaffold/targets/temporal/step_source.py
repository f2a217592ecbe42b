"""The methods of steps: one activity, wait, answer or timer each, with what goes in and what comes back."""

from __future__ import annotations

from perdure.bpmn.contract import Assignment, Contract, Gate, Wait, Work
from perdure.bpmn.model import Event, Gateway, Node, SubProcess, nodes
from perdure.scaffold.data_shapes import Shapes, answer_of, request_of, result_of
from perdure.scaffold.flow_graph import refused, timer_of
from perdure.scaffold.program import Choice, Program, statements
from perdure.scaffold.python_source import WIDTH, call, in_docstring, indented, quoted
from perdure.scaffold.targets.temporal.expressions import STATE, Data, span, template
from perdure.scaffold.targets.temporal.names import Names


class Steps:
    """Writes the body of each node's method; the caller adds what runs beside it."""

    def __init__(self, contract: Contract, shapes: Shapes, names: Names) -> None:
        self._contract = contract
        self._shapes = shapes
        self._data = Data(shapes)
        self._names = names
        self._nodes = {node.id: node for node in nodes(contract.process.body)}

    def docstring(self, node: Node) -> str:
        said = in_docstring(node.name or node.id, 40)
        return f'"""{said}: {in_docstring(self._binding(node))}."""'

    def body(self, node: Node) -> list[str]:
        if (work := self._contract.work.get(node.id)) is not None:
            return self._work(node.id, work)
        if (wait := self._contract.waits.get(node.id)) is not None:
            return self._wait(wait)
        if (gate := self._contract.gates.get(node.id)) is not None:
            return self._gate(gate)
        timer = timer_of(node)
        if isinstance(node, Event) and timer is not None:
            return [f"await asyncio.sleep({span(node, timer)}.total_seconds())"]
        raise refused(node.id, "nothing says what it does")

    def race(self, gateway: Gateway, program: Program) -> list[str]:
        """The body of the method that waits for the first of several events and says which it was."""
        choice = next(
            each
            for body in program.scopes()
            for each in statements(body)
            if isinstance(each, Choice) and each.kind == "race" and each.node == gateway.id
        )
        waits = [self._contract.waits[arm.event] for arm in choice.arms if arm.event in self._contract.waits]
        timers = [arm.event for arm in choice.arms if arm.event not in self._contract.waits]
        if len(timers) > 1:
            raise refused(gateway.id, "two timers race behind it", "Keep the shorter one.")
        names = {wait.node.id: self._names.methods[wait.node.id] for wait in waits}
        lines = [line for wait in waits for line in self._open(names[wait.node.id], wait)]
        lines += self._awaited([names[wait.node.id] for wait in waits], timers)
        lines.append(f"self.inbox.close({', '.join(names.values())})")
        for wait in waits:
            taken = [f"message = {names[wait.node.id]}.take()", *self._outputs("message.payload", wait.mapping.outputs)]
            ending = [] if wait is waits[-1] and not timers else [f"if {names[wait.node.id]}.arrived:"]
            got = [*(taken if wait.mapping.outputs else [f"{names[wait.node.id]}.take()"]),
                   f"return {quoted(wait.node.id)}"]  # fmt: skip
            lines += [*ending, *(indented(got) if ending else got)]
        return [*lines, *(f"return {quoted(each)}" for each in timers)]

    def _awaited(self, names: list[str], timers: list[str]) -> list[str]:
        arrived = f"lambda: {' or '.join(f'{name}.arrived' for name in names)}"
        if not timers:
            return call("await workflow.wait_condition", [arrived], at=2)
        event = self._nodes[timers[0]]
        timer = timer_of(event)
        assert isinstance(event, Event) and timer is not None
        limit = span(event, timer)
        if not names:
            return [f"await asyncio.sleep({limit}.total_seconds())"]
        waiting = call("await workflow.wait_condition", [arrived, f"timeout={limit}"], at=3)
        return ["with suppress(TimeoutError):", *indented(waiting)]

    def _binding(self, node: Node) -> str:
        if (work := self._contract.work.get(node.id)) is not None:
            return f"activity {work.definition.type}, policy {work.definition.policy}"
        if (wait := self._contract.waits.get(node.id)) is not None:
            return f"waits for the message {wait.name}"
        if (gate := self._contract.gates.get(node.id)) is not None:
            return f"answered by the Update {gate.update}"
        if isinstance(node, SubProcess):
            return "embedded subprocess"
        return "waits for the first of several events" if isinstance(node, Gateway) else "timer"

    def _work(self, id: str, work: Work) -> list[str]:
        type = work.definition.type
        request, result = request_of(type), result_of(type)
        lines = [f"step_instance = self.steps.enter({quoted(id)})"]
        lines.append(f"request = {request}()")
        for each in work.mapping.inputs:
            value = self._data.read(STATE, "State", each.source.inner)
            lines += _fitted(self._data.write("request", request, each.target.inner, value))
        lines += self._step(id, work)
        has_result = bool(self._fields(result))
        arguments = [
            quoted(type),
            "args=[request, step]",
            *([f"result_type={result}"] if has_result else []),
            f"**policies.{self._names.policies[work.definition.policy]}",
        ]
        head = f"result: {result} = await" if work.mapping.outputs else "await"
        lines += _exploded(f"{head} workflow.execute_activity", arguments)
        for each in work.mapping.outputs:
            value = self._data.read("result", result, each.source.inner)
            lines += _fitted(self._data.write(STATE, "State", each.target.inner, value))
        return lines

    def _step(self, id: str, work: Work) -> list[str]:
        key = template(work.definition.idempotency_key, self._data, id)
        arguments = [f"step_id={quoted(id)}", "step_instance_id=step_instance", f"idempotency_key={key}"]
        headers = work.headers.as_dict()
        if headers:
            said = [f"{quoted(name)}: {quoted(headers[name])}" for name in headers]
            arguments.append("\n".join(call("headers=", said, at=3, brackets="{}")))
        return call("step = Step", arguments, at=2)

    def _fields(self, record: str) -> bool:
        found = self._shapes.record(record)
        return found is not None and bool(found.fields)

    def _open(self, name: str, wait: Wait) -> list[str]:
        key = template(wait.subscription.correlation_key, self._data, wait.node.id)
        return call(f"{name} = self.inbox.open", [quoted(wait.name), key], at=2)

    def _wait(self, wait: Wait) -> list[str]:
        key = template(wait.subscription.correlation_key, self._data, wait.node.id)
        head = "message = " if wait.mapping.outputs else ""
        lines = call(f"{head}await self.inbox.receive", [quoted(wait.name), key], at=2)
        return [*lines, *self._outputs("message.payload", wait.mapping.outputs)]

    def _outputs(self, payload: str, outputs: tuple[Assignment, ...]) -> list[str]:
        lines: list[str] = []
        for each in outputs:
            value = f"look({', '.join([payload, *map(quoted, each.source.inner)])})"
            lines += _fitted(self._data.write(STATE, "State", each.target.inner, value))
        return lines

    def _gate(self, gate: Gate) -> list[str]:
        name, answer = self._names.methods[gate.node.id], answer_of(gate.update)
        lines = [f"answer = await self.gate_{name}.answered()"]
        for each in gate.mapping.outputs:
            value = self._data.read("answer", answer, each.source.inner)
            lines += _fitted(self._data.write(STATE, "State", each.target.inner, value))
        return lines


def _fitted(assignment: str) -> list[str]:
    """An assignment; a long one breaks in its call."""
    left, right = assignment.split(" = ", 1)
    if len(assignment) <= WIDTH - 8 or not right.endswith(")"):
        return [assignment]
    head, inside = right[:-1].split("(", 1)
    return call(f"{left} = {head}", _arguments(inside), at=2)


def _arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def _exploded(head: str, arguments: list[str]) -> list[str]:
    return [f"{head}(", *(f"    {each}," for each in arguments), ")"]
