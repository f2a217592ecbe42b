"""The workflow as one class: the process is its `run`, in the order of the model; every step is a method."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from perdure.bpmn.contract import Contract
from perdure.bpmn.model import ErrorTrigger, Event, Model, Node, nodes
from perdure.scaffold.data_shapes import Shapes
from perdure.scaffold.flow_graph import refused, timer_of
from perdure.scaffold.program import (
    Again,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Fail,
    Fork,
    Leave,
    Loop,
    Patched,
    Program,
    Side,
    Statement,
    never_goes_on,
    statements,
)
from perdure.scaffold.python_source import WIDTH, call, in_docstring, indented, quoted
from perdure.scaffold.targets.temporal.expressions import Data, condition, negated, span
from perdure.scaffold.targets.temporal.names import Names


class Flow:
    """Writes the flow of one scope; branches that are more than a step become methods of their own."""

    def __init__(self, model: Model, contract: Contract, shapes: Shapes, names: Names) -> None:
        self._contract = contract
        self._names = names
        self._data = Data(shapes)
        self._nodes = {node.id: node for node in nodes(contract.process.body)}
        self._codes = {error.id: error.code for error in model.definitions.errors}
        self._methods: list[str] = []
        self._taken: set[str] = {
            names.methods[id] for id, node in self._nodes.items() if id in names.methods and not _is_boundary(node)
        }
        self._result = ""
        self.sides: dict[str, tuple[Side, ...]] = {}
        """Boundary timers that do not interrupt, by the node they stand on."""

    def scope(self, body: Body, result: str) -> list[str]:
        """The lines of a body; `result` is what its end returns."""
        self._result = result
        lines = self._lines(body, 0)
        ending = f"return {result}".strip()
        if lines and lines[-1] == "return" and not result:
            lines.pop()
        if not never_goes_on(body) and result:
            lines.append(ending)
        return lines or ["pass"]

    def methods(self) -> list[str]:
        """The branches written so far, as methods."""
        found, self._methods = self._methods, []
        return found

    def _lines(self, body: Body, depth: int) -> list[str]:
        return [line for each in body for line in self._statement(each, depth)]

    def _statement(self, statement: Statement, depth: int) -> list[str]:
        match statement:
            case Do():
                return [f"await {self._done(statement)}"]
            case Choice():
                return self._choice(statement, depth)
            case Loop(body=body):
                return ["while True:", *indented(self._lines(body, depth + 1) or ["pass"])]
            case Leave():
                return ["break"]
            case Again():
                return ["continue"]
            case Fork():
                return self._fork(statement, depth)
            case End():
                return [f"return {self._result}".strip()]
            case Fail(event=event, error=error):
                return [f"raise failed({quoted(self._code(error))}, {quoted(self._named(event))})"]
            case Patched(marker=marker, body=body):
                return [f"if workflow.patched({quoted(marker)}):", *indented(self._lines(body, depth + 1))]
            case _:
                assert_never(statement)

    def _done(self, do: Do) -> str:
        if do.sides:
            self.sides[do.node] = do.sides
        return f"self._{self._names.methods[do.node]}()"

    def _fork(self, fork: Fork, depth: int) -> list[str]:
        return call("await together", [self._branch(each) for each in fork.branches], at=depth + 2)

    def _branch(self, body: Body) -> str:
        if len(body) == 1 and isinstance(body[0], Do):
            return self._done(body[0])
        first = next((each.node for each in statements(body) if isinstance(each, Do)), "nothing")
        return f"self._{self.method(f'branch_{self._names.methods.get(first, first)}', 'One branch.', body)}()"

    def method(self, wanted: str, says: str, body: Body) -> str:
        """The name of a new method that does these statements."""
        name = self.free_name(wanted)
        before, self._result = self._result, ""
        lines = self._lines(body, 0)
        if lines and lines[-1] == "return":
            lines.pop()
        self._result = before
        self._methods += ["", f"async def _{name}(self) -> None:", f'    """{says}"""', *indented(lines)]
        return name

    def free_name(self, wanted: str) -> str:
        """A name that no method has yet."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _choice(self, choice: Choice, depth: int) -> list[str]:
        match choice.kind:
            case "gateway":
                return self._gateway(choice, depth)
            case "boundary":
                return self._boundary(choice, depth)
            case "race":
                return self._race(choice, depth)

    def _gateway(self, choice: Choice, depth: int) -> list[str]:
        arms = [(arm.condition, arm.body) for arm in choice.arms]
        if arms[-1][0] is not None:
            arms.append((None, ()))
            missing = [f"raise no_way({quoted(choice.node)})"]
        else:
            missing = []
        tests = [None if each is None else condition(each, self._data) for each, _ in arms]
        bodies = [self._lines(body, depth + 1) for _, body in arms]
        if missing:
            bodies[-1] = missing
        if len(arms) == 2 and arms[0][0] is not None and self._reads_better_turned(arms[0][1], arms[1][1], missing):
            tests, bodies = [negated(arms[0][0], self._data), None], bodies[::-1]
            arms = [arms[1], arms[0]]
        ends = [never_goes_on(body) for _, body in arms]
        return _if_chain(tests, bodies, ends, depth)

    def _reads_better_turned(self, first: Body, other: Body, missing: list[str]) -> bool:
        """A short way out goes first; what goes on is not nested."""
        if missing or not first:
            return bool(missing) or not first
        return never_goes_on(other) and (len(other) == 1 < len(first) or not never_goes_on(first))

    def _boundary(self, choice: Choice, depth: int) -> list[str]:
        assert choice.activity is not None
        work = self._done(choice.activity)
        ending = [arm for arm in choice.arms if arm.event]
        timers = [arm for arm in ending if timer_of(self._nodes[arm.event]) is not None]
        if len(ending) == 1 and timers:
            head = call("if not await in_time", [work, self._span(ending[0].event)], ":", at=depth + 2)
            return self._split(head, ending[0], choice.arms[-1], depth)
        arguments = [work]
        if timers:
            arguments.append(f"timers={{{', '.join(f'{quoted(a.event)}: {self._span(a.event)}' for a in timers)}}}")
        errors = [arm for arm in ending if arm not in timers]
        if errors:
            arguments.append(f"errors={{{', '.join(f'{quoted(a.event)}: {quoted(self._caught(a))}' for a in errors)}}}")
        return [*call("ended_by = await outcome", arguments, at=depth + 2), *self._by_event("ended_by", choice, depth)]

    def _split(self, head: list[str], late: Arm, normal: Arm, depth: int) -> list[str]:
        """`if not await in_time(…)`: what is late first, then what is normal."""
        then = self._lines(late.body, depth + 1) or ["pass"]
        other = self._lines(normal.body, depth + 1)
        if not other or never_goes_on(late.body):
            return [*head, *indented(then), *self._lines(normal.body, depth)]
        return [*head, *indented(then), "else:", *indented(other)]

    def _race(self, choice: Choice, depth: int) -> list[str]:
        wait = f"await self._{self._names.methods.get(choice.node, choice.node)}()"
        if not any(arm.body for arm in choice.arms):
            return [wait]
        return [f"first = {wait}", *self._by_event("first", choice, depth)]

    def _by_event(self, name: str, choice: Choice, depth: int) -> list[str]:
        arms = [arm for arm in choice.arms if arm.event]
        normal = [arm for arm in choice.arms if not arm.event]
        tests: list[str | None] = [f"{name} == {quoted(arm.event)}" for arm in arms]
        if normal:
            arms, tests = arms + normal, [*tests, None]
        else:
            tests[-1] = None
        bodies = [self._lines(arm.body, depth + 1) for arm in arms]
        return _if_chain(tests, bodies, [never_goes_on(arm.body) for arm in arms], depth)

    def _span(self, event_id: str) -> str:
        event = self._nodes[event_id]
        timer = timer_of(event)
        assert isinstance(event, Event) and timer is not None
        return span(event, timer)

    def _caught(self, arm: Arm) -> str:
        event = self._nodes[arm.event]
        trigger = event.triggers[0] if isinstance(event, Event) else None
        if not isinstance(trigger, ErrorTrigger):
            raise refused(arm.event, "it is neither a timer nor an error")
        return self._code(trigger.error) if trigger.error else ""

    def _code(self, error: str) -> str:
        return self._codes.get(error) or error

    def _named(self, event: str) -> str:
        return self._nodes[event].name or event


def _is_boundary(node: Node) -> bool:
    return isinstance(node, Event) and node.position == "boundary"


def _if_chain(tests: list[str | None], bodies: list[list[str]], ends: Iterable[bool], depth: int) -> list[str]:
    """`if … elif … else`; the last one is not nested where every other ends."""
    lines: list[str] = []
    word = "if"
    flat = all(list(ends)[:-1])
    for number, (test, body) in enumerate(zip(tests, bodies, strict=True)):
        if test is None:
            if flat:
                return [*lines, *body]
            if body:
                lines += ["else:", *indented(body)]
            continue
        chosen = word if not (flat and number) else "if"
        lines += [*_head(chosen, test, depth), *indented(body or ["pass"])]
        word = "elif"
    return lines


def _head(word: str, test: str, depth: int) -> list[str]:
    line = f"{word} {test}:"
    if len(line) + 4 * (depth + 2) <= WIDTH or (" and " not in test and " or " not in test):
        return [line]
    for joint in (" or ", " and "):
        parts = _top_level(test, joint)
        if len(parts) > 1:
            rest = [f"    {joint.strip()} {part}" for part in parts[1:]]
            return [f"{word} (", f"    {parts[0]}", *rest, "):"]
    return [line]


def _top_level(test: str, joint: str) -> list[str]:
    parts, depth, start, quote = [], 0, 0, ""
    for place, sign in enumerate(test):
        if quote:
            quote = "" if sign == quote and test[place - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0 and test.startswith(joint, place):
            parts.append(test[start:place])
            start = place + len(joint)
    return [*parts, test[start:]]


def docstring(text: str) -> str:
    return f'"""{in_docstring(text, 84)}"""'


def scopes_of(program: Program) -> list[tuple[str, Body]]:
    return [("", program.body), *program.subprocesses.items()]
