"""Random sound processes: block-structured, so that every one of them can end from every state it can reach."""

from __future__ import annotations

import random
from collections.abc import Callable

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import Compare

FLAGS = ("orch_a", "orch_b", "orch_c")
ERRORS = ("REFUSED", "MISSING")
Block = tuple[str, str]
"""The first and the last node of a fragment."""


class Maker:
    """Makes one process; every choice comes from the seed."""

    def __init__(self, seed: int, size: int = 12) -> None:
        self._chance = random.Random(seed)
        self._size = size
        self._names = 0
        self.messages: dict[str, m.Message] = {}
        self.signals: dict[str, m.Signal] = {}
        self.errors = {code: m.Error(id=f"e_{code}", code=code) for code in ERRORS}

    def process(self) -> m.Process:
        nodes, flows = self._scope(self._size, depth=0, is_root=True)
        return m.Process(id="random", body=m.Scope(nodes=tuple(nodes), flows=tuple(flows)))

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def _scope(self, size: int, depth: int, *, is_root: bool = False) -> tuple[list[m.Node], list[m.Flow]]:
        drawing = Drawing(self._name)
        start = drawing.add(m.Event(id=self._name("start"), position="start"))
        block = self._block(drawing, size, depth)
        end = drawing.add(m.Event(id=self._name("end"), position="end", triggers=self._ending(is_root)))
        drawing.link(start, block[0])
        drawing.link(block[1], end)
        if self._chance.random() < 0.25 and depth < 2:
            self._event_subprocess(drawing, depth)
        return drawing.nodes, drawing.flows

    def _ending(self, is_root: bool) -> tuple[m.Trigger, ...]:
        return (m.TerminateTrigger(),) if is_root and self._chance.random() < 0.1 else ()

    def _block(self, drawing: Drawing, size: int, depth: int) -> Block:
        if size <= 1 or depth > 4:
            return self._leaf(drawing, depth)
        choices: list[Callable[[Drawing, int, int], Block]] = [
            self._sequence, self._sequence, self._sequence, self._choice, self._together, self._some, self._loop,
            self._subprocess, self._race,
        ]  # fmt: skip
        return self._chance.choice(choices)(drawing, size, depth)

    def _leaf(self, drawing: Drawing, depth: int) -> Block:
        kind = self._chance.choice(
            ("service", "service", "service", "user", "none", "message", "timer", "many", "signal")
        )
        match kind:
            case "message" | "timer" | "signal":
                node: m.Node = m.Event(id=self._name(kind), position="catch", triggers=(self._trigger(kind),))
            case "many":
                id = self._name("many")
                repeat = m.MultiInstance(
                    cardinality=m.Value(str(self._chance.randint(0, 3))), is_sequential=self._chance.random() < 0.5
                )
                node = m.Task(id=id, kind="service", type=id, repeat=repeat)
            case _:
                id = self._name(kind)
                node = m.Task(id=id, kind=kind, type=id if kind == "service" else "", retries=2)  # type: ignore[arg-type]
        drawing.add(node)
        if kind in ("service", "user", "many"):
            return node.id, self._boundaries(drawing, node.id, depth)
        return node.id, node.id

    def _trigger(self, kind: str) -> m.Trigger:
        match kind:
            case "message":
                id = self._name("m")
                self.messages[id] = m.Message(id=id, name=id)
                return m.MessageTrigger(id)
            case "signal":
                id = self._name("s")
                self.signals[id] = m.Signal(id=id, name=id)
                return m.SignalTrigger(id)
            case "cycle":
                return m.TimerTrigger("cycle", m.Value("R2/PT5S"))
            case "condition":
                return m.ConditionalTrigger(Compare(self._chance.choice(FLAGS), "=", True))
            case _:
                return m.TimerTrigger("duration", m.Value(f"PT{self._chance.randint(1, 50)}S"))

    def _boundaries(self, drawing: Drawing, host: str, depth: int) -> str:
        """The last node: the host, or where the way of an interrupting event meets the host's own."""
        last = host
        if self._chance.random() < 0.35 and depth < 4:
            kind = self._chance.choice(("timer", "message", "error", "cycle", "condition", "signal"))
            is_interrupting = kind == "error" or (kind != "cycle" and self._chance.random() < 0.5)
            trigger = m.ErrorTrigger(self.errors["REFUSED"].id) if kind == "error" else self._trigger(kind)
            event = m.Event(
                id=self._name("boundary"), position="boundary", attached_to=host, is_interrupting=is_interrupting,
                triggers=(trigger,),
            )  # fmt: skip
            drawing.add(event)
            block = self._block(drawing, 1, depth + 1)
            drawing.link(event.id, block[0])
            if is_interrupting:
                last = drawing.add(m.Gateway(id=self._name("merge"), kind="exclusive"))
                drawing.link(host, last)
                drawing.link(block[1], last)
            else:
                drawing.link(block[1], drawing.add(m.Event(id=self._name("end"), position="end")))
        return last

    def _event_subprocess(self, drawing: Drawing, depth: int) -> None:
        inner = Drawing(self._name)
        kind = self._chance.choice(("message", "timer", "error", "signal"))
        is_interrupting = kind == "error" or self._chance.random() < 0.5
        trigger = m.ErrorTrigger(self.errors["MISSING"].id) if kind == "error" else self._trigger(kind)
        start = inner.add(
            m.Event(id=self._name("sub_start"), position="start", triggers=(trigger,), is_interrupting=is_interrupting)
        )
        block = self._block(inner, 1, depth + 1)
        end = inner.add(m.Event(id=self._name("end"), position="end"))
        inner.link(start, block[0])
        inner.link(block[1], end)
        body = m.Scope(nodes=tuple(inner.nodes), flows=tuple(inner.flows))
        drawing.add(m.SubProcess(id=self._name("event_sub"), kind="event", body=body))

    def _sequence(self, drawing: Drawing, size: int, depth: int) -> Block:
        half = self._chance.randint(1, size - 1)
        first = self._block(drawing, half, depth)
        second = self._block(drawing, size - half, depth)
        drawing.link(first[1], second[0])
        return first[0], second[1]

    def _gateways(self, drawing: Drawing, kind: m.GatewayKind, size: int, depth: int) -> tuple[str, str, list[str]]:
        split, join = self._name("split"), self._name("join")
        ways = self._chance.randint(2, 3)
        flows: list[str] = []
        drawing.add(m.Gateway(id=split, kind=kind))
        drawing.add(m.Gateway(id=join, kind=kind))
        for way in range(ways):
            block = self._block(drawing, max(1, size // ways), depth + 1)
            condition = Compare(FLAGS[way % len(FLAGS)], "=", True) if kind != "parallel" and way else None
            flows.append(drawing.link(split, block[0], condition))
            drawing.link(block[1], join)
        return split, join, flows

    def _choice(self, drawing: Drawing, size: int, depth: int) -> Block:
        split, join, flows = self._gateways(drawing, "exclusive", size, depth)
        drawing.default(split, flows[0])
        return split, join

    def _some(self, drawing: Drawing, size: int, depth: int) -> Block:
        split, join, flows = self._gateways(drawing, "inclusive", size, depth)
        drawing.default(split, flows[0])
        return split, join

    def _together(self, drawing: Drawing, size: int, depth: int) -> Block:
        split, join, _ = self._gateways(drawing, "parallel", size, depth)
        return split, join

    def _loop(self, drawing: Drawing, size: int, depth: int) -> Block:
        enter, leave = self._name("enter"), self._name("leave")
        drawing.add(m.Gateway(id=enter, kind="exclusive"))
        block = self._block(drawing, size - 1, depth + 1)
        work = self._leaf_task(drawing)
        drawing.add(m.Gateway(id=leave, kind="exclusive"))
        drawing.link(enter, block[0])
        drawing.link(block[1], work)
        drawing.link(work, leave)
        drawing.link(leave, enter, Compare("orch_a", "=", True))
        after = self._name("after")
        drawing.add(m.Task(id=after))
        drawing.default(leave, drawing.link(leave, after))
        return enter, after

    def _leaf_task(self, drawing: Drawing) -> str:
        id = self._name("service")
        return drawing.add(m.Task(id=id, kind="service", type=id))

    def _subprocess(self, drawing: Drawing, size: int, depth: int) -> Block:
        nodes, flows = self._scope(size - 1, depth + 1)
        id = self._name("sub")
        repeat: m.StandardLoop | m.MultiInstance | None = None
        if self._chance.random() < 0.2:
            repeat = m.MultiInstance(
                cardinality=m.Value(str(self._chance.randint(0, 2))), is_sequential=self._chance.random() < 0.5
            )
        drawing.add(m.SubProcess(id=id, body=m.Scope(nodes=tuple(nodes), flows=tuple(flows)), repeat=repeat))
        return id, self._boundaries(drawing, id, depth)

    def _race(self, drawing: Drawing, size: int, depth: int) -> Block:
        gate, join = self._name("race"), self._name("join")
        drawing.add(m.Gateway(id=gate, kind="event"))
        drawing.add(m.Gateway(id=join, kind="exclusive"))
        for kind in self._chance.sample(("message", "timer", "signal"), 2):
            event = drawing.add(m.Event(id=self._name(kind), position="catch", triggers=(self._trigger(kind),)))
            drawing.link(gate, event)
            drawing.link(event, join)
        return gate, join


class Drawing:
    """Nodes and flows of one scope while they are being made."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self.nodes: list[m.Node] = []
        self.flows: list[m.Flow] = []
        self._name = name

    def add(self, node: m.Node) -> str:
        self.nodes.append(node)
        return node.id

    def link(self, source: str, target: str, condition: Compare | None = None) -> str:
        id = self._name("flow")
        self.flows.append(m.Flow(id=id, source=source, target=target, condition=condition))
        return id

    def default(self, gateway: str, flow: str) -> None:
        for index, node in enumerate(self.nodes):
            if node.id == gateway and isinstance(node, m.Gateway):
                self.nodes[index] = m.Gateway(id=node.id, kind=node.kind, default=flow)
