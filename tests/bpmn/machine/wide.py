"""Random sound processes of every element: what `generator` makes, and all the rarer things around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import Compare
from tests.bpmn.machine.generator import Block, Drawing, Maker

INTAKE = "intake"
ESCALATION = "x_LOUD"
LEAVES = (
    "service", "service", "service", "undoable", "undoable", "user", "none", "message", "timer", "many", "signal",
    "condition", "multiple", "link", "looped", "call", "throw_signal", "throw_message", "throw_escalation", "receive",
    "throw_undo", "sender",
)  # fmt: skip


class WideMaker(Maker):
    """Makes one process with compensation, transactions, escalations, links, calls, ad-hoc scopes and the rest."""

    def __init__(self, seed: int, size: int = 14) -> None:
        super().__init__(seed, size)
        self.escalations = {ESCALATION: m.Escalation(id=ESCALATION, code="LOUD")}
        self.compensation: dict[str, str] = {}
        self._undone: list[m.Association] = []
        self._looped = 0
        self._quiet = 0
        """Above 0 nothing is thrown: what an event leads to must not make the same event occur again, for ever."""

    # --- scopes --------------------------------------------------------------------------------------------------

    def _body(self, drawing: Drawing) -> m.Scope:
        mine = {node.id for node in drawing.nodes}
        associations = tuple(each for each in self._undone if each.source in mine)
        return m.Scope(nodes=tuple(drawing.nodes), flows=tuple(drawing.flows), associations=associations)

    def process(self) -> m.Process:
        return m.Process(id="random", body=self._wide_scope(self._size, 0, is_root=True))

    def _wide_scope(
        self, size: int, depth: int, *, is_root: bool = False, is_transaction: bool = False
    ) -> m.Scope:  # fmt: skip
        drawing = Drawing(self._name)
        start = drawing.add(m.Event(id=self._name("start"), position="start"))
        block = self._block(drawing, size, depth)
        drawing.link(start, block[0])
        end = drawing.add(m.Event(id=self._name("end"), position="end", triggers=self._wide_ending(is_root)))
        last = block[1]
        if is_transaction:
            last = drawing.add(m.Gateway(id=self._name("agree"), kind="exclusive"))
            drawing.link(block[1], last)
            cancel = m.Event(id=self._name("cancel"), position="end", triggers=(m.CancelTrigger(),))
            drawing.link(last, drawing.add(cancel), Compare("orch_b", "=", True))
            drawing.default(last, drawing.link(last, end))
        else:
            drawing.link(last, end)
        if self._chance.random() < 0.3 and depth < 2:
            self._event_subprocess(drawing, depth)
        return self._body(drawing)

    def _wide_ending(self, is_root: bool) -> tuple[m.Trigger, ...]:
        luck = self._chance.random()
        if luck < 0.08:
            return (m.TerminateTrigger(),)
        if luck < 0.16:
            return (m.CompensationTrigger(),)
        if luck < 0.22:
            return (m.EscalationTrigger(ESCALATION),)
        if luck < 0.26 and not is_root:
            return (m.ErrorTrigger(self.errors["MISSING"].id),)
        return ()

    def _event_subprocess(self, drawing: Drawing, depth: int) -> None:
        inner = Drawing(self._name)
        kind = self._chance.choice(
            ("message", "timer", "error", "signal", "escalation", "condition", "cycle", "undo", "multiple")
        )
        is_interrupting = kind in ("error",) or (kind not in ("cycle", "undo") and self._chance.random() < 0.5)
        start = inner.add(
            m.Event(
                id=self._name("sub_start"), position="start", triggers=self._starting(kind),
                is_interrupting=is_interrupting, is_parallel=kind == "multiple" and self._chance.random() < 0.5,
                properties=self._intake(kind),
            )
        )  # fmt: skip
        block = self._quietly(inner, depth)
        end = inner.add(m.Event(id=self._name("end"), position="end"))
        inner.link(start, block[0])
        inner.link(block[1], end)
        drawing.add(m.SubProcess(id=self._name("event_sub"), kind="event", body=self._body(inner)))

    def _starting(self, kind: str) -> tuple[m.Trigger, ...]:
        match kind:
            case "error":
                return (m.ErrorTrigger(self.errors["MISSING"].id),)
            case "escalation":
                return (m.EscalationTrigger(ESCALATION),)
            case "undo":
                return (m.CompensationTrigger(),)
            case "multiple":
                return (self._trigger("message"), self._trigger(self._chance.choice(("timer", "signal", "message"))))
            case _:
                return (self._trigger(kind),)

    def _trigger(self, kind: str) -> m.Trigger:
        if kind == "signal" and self.signals and self._chance.random() < 0.6:
            return m.SignalTrigger(self._chance.choice(list(self.signals)))
        return super()._trigger(kind)

    def _intake(self, kind: str) -> dict[str, str]:
        return {"intake": INTAKE} if kind in ("message", "multiple", "user") and self._chance.random() < 0.4 else {}

    # --- blocks --------------------------------------------------------------------------------------------------

    def _block(self, drawing: Drawing, size: int, depth: int) -> Block:
        if size <= 1 or depth > 4:
            return self._leaf(drawing, depth)
        choices: list[Callable[[Drawing, int, int], Block]] = [
            self._sequence, self._sequence, self._sequence, self._sequence, self._choice, self._together, self._some,
            self._loop, self._subprocess, self._subprocess, self._race, self._transaction, self._complex, self._ad_hoc,
        ]  # fmt: skip
        return self._chance.choice(choices)(drawing, size, depth)

    def _subprocess(self, drawing: Drawing, size: int, depth: int) -> Block:
        id = self._name("sub")
        body = self._wide_scope(size - 1, depth + 1)
        drawing.add(m.SubProcess(id=id, body=body, repeat=self._repeat(0.25)))
        return id, self._around(drawing, id, depth)

    def _repeat(self, how_often: float) -> m.StandardLoop | m.MultiInstance | None:
        if self._chance.random() > how_often:
            return None
        if self._chance.random() < 0.5:
            completion = Compare(m.COMPLETED_COUNT, ">=", 1) if self._chance.random() < 0.3 else None
            cardinality = m.Value(str(self._chance.randint(0, 3)))
            return m.MultiInstance(cardinality, self._chance.random() < 0.5, completion)
        return m.StandardLoop(Compare("orch_a", "=", True), self._chance.random() < 0.5, self._chance.randint(1, 3))

    def _transaction(self, drawing: Drawing, size: int, depth: int) -> Block:
        id = self._name("transaction")
        body = self._wide_scope(size - 1, depth + 1, is_transaction=True)
        drawing.add(m.SubProcess(id=id, kind="transaction", body=body, repeat=self._repeat(0.15)))
        event = m.Event(
            id=self._name("boundary"), position="boundary", attached_to=id, triggers=(m.CancelTrigger(),)
        )  # fmt: skip
        drawing.add(event)
        merge = drawing.add(m.Gateway(id=self._name("merge"), kind="exclusive"))
        drawing.link(self._around(drawing, id, depth), merge)
        drawing.link(event.id, merge)
        return id, merge

    def _loop(self, drawing: Drawing, size: int, depth: int) -> Block:
        self._looped += 1
        block = super()._loop(drawing, size, depth)
        self._looped -= 1
        return block

    def _complex(self, drawing: Drawing, size: int, depth: int) -> Block:
        if self._looped:  # tokens it left behind in one round would meet those of the next
            return self._together(drawing, size, depth)
        split, join = self._name("split"), self._name("join")
        ways = self._chance.randint(2, 3)
        needed = self._chance.randint(1, ways)
        drawing.add(m.Gateway(id=split, kind="parallel"))
        drawing.add(m.Gateway(id=join, kind="complex", activation=Compare(m.ACTIVATION_COUNT, ">=", needed)))
        for _ in range(ways):
            block = self._block(drawing, max(1, size // ways), depth + 1)
            drawing.link(split, block[0])
            drawing.link(block[1], join)
        after = drawing.add(m.Task(id=self._name("after")))
        drawing.link(join, after)
        return split, after

    def _ad_hoc(self, drawing: Drawing, size: int, depth: int) -> Block:
        inner = Drawing(self._name)
        for _ in range(self._chance.randint(1, 3)):
            self._leaf(inner, depth + 1)
        completion = Compare(m.COMPLETED_COUNT, ">=", 1) if self._chance.random() < 0.5 else None
        ordering: Literal["parallel", "sequential"] = "sequential" if self._chance.random() < 0.5 else "parallel"
        id = self._name("ad_hoc")
        drawing.add(
            m.SubProcess(
                id=id, kind="ad_hoc", body=self._body(inner), ordering=ordering, completion=completion,
                cancels_remaining=self._chance.random() < 0.5,
            )
        )  # fmt: skip
        return id, self._around(drawing, id, depth)

    # --- leaves --------------------------------------------------------------------------------------------------

    def _leaf(self, drawing: Drawing, depth: int) -> Block:
        kind = self._chance.choice(LEAVES)
        if self._quiet and kind.startswith("throw_"):
            kind = "none"
        match kind:
            case "link":
                return self._link(drawing)
            case "undoable":
                return self._undoable(drawing, depth)
            case "multiple":
                return self._multiple(drawing)
            case "condition":
                event = m.Event(id=self._name(kind), position="catch", triggers=(self._trigger(kind),))
                return drawing.add(event), event.id
            case "looped" | "call" | "receive" | "user":
                node = self._activity(kind)
                return drawing.add(node), self._around(drawing, node.id, depth)
            case "throw_signal" | "throw_message" | "throw_escalation" | "throw_undo" | "sender":
                id = drawing.add(self._thrower(kind))
                return id, id
            case "message":
                id = drawing.add(
                    m.Event(
                        id=self._name(kind), position="catch", triggers=(self._trigger(kind),),
                        properties=self._intake(kind),
                    )
                )  # fmt: skip
                return id, id
            case "none":
                id = drawing.add(m.Task(id=self._name(kind)))
                return id, id
            case _:
                return super()._leaf(drawing, depth)

    def _activity(self, kind: str) -> m.Node:
        id = self._name(kind)
        match kind:
            case "looped":
                return m.Task(id=id, kind="service", type=id, repeat=self._repeat(1.0))
            case "call":
                return m.CallActivity(id=id, process="child", repeat=self._repeat(0.2))
            case "user":
                return m.Task(id=id, kind="user", properties=self._intake("user"), repeat=self._repeat(0.1))
            case _:
                trigger = self._trigger("message")
                assert isinstance(trigger, m.MessageTrigger)
                return m.Task(id=id, kind="receive", message=trigger.message, properties=self._intake("message"))

    def _thrower(self, kind: str) -> m.Event:
        id = self._name(kind)
        match kind:
            case "throw_signal":
                return m.Event(id=id, position="throw", triggers=(self._trigger("signal"),))
            case "throw_escalation":
                return m.Event(id=id, position="throw", triggers=(m.EscalationTrigger(ESCALATION),))
            case "throw_undo":
                trigger = m.CompensationTrigger(waits=self._chance.random() < 0.7)
                return m.Event(id=id, position="throw", triggers=(trigger,))
            case "sender":
                return m.Event(id=id, position="throw", triggers=(self._trigger("message"),), type=id)
            case _:
                return m.Event(id=id, position="throw", triggers=(self._trigger("message"),))

    def _link(self, drawing: Drawing) -> Block:
        name = self._name("link")
        throw = drawing.add(
            m.Event(id=self._name("link_from"), position="throw", triggers=(m.LinkTrigger(name),))
        )  # fmt: skip
        catch = drawing.add(m.Event(id=self._name("link_to"), position="catch", triggers=(m.LinkTrigger(name),)))
        return throw, catch

    def _multiple(self, drawing: Drawing) -> Block:
        kinds = self._chance.sample(("message", "timer", "signal", "message"), 2)
        event = m.Event(
            id=self._name("multiple"), position="catch", triggers=tuple(self._trigger(kind) for kind in kinds),
            is_parallel=self._chance.random() < 0.6, properties=self._intake("multiple"),
        )  # fmt: skip
        return drawing.add(event), event.id

    def _undoable(self, drawing: Drawing, depth: int) -> Block:
        """A service task with a handler drawn beside it, or one whose verb says how it is undone."""
        id = self._name("undoable")
        drawing.add(m.Task(id=id, kind="service", type=id, retries=2, repeat=self._repeat(0.15)))
        if self._chance.random() < 0.3:
            self.compensation[id] = f"undo.{id}"
            return id, self._around(drawing, id, depth)
        handler = f"undo_{id}"
        drawing.add(m.Task(id=handler, kind="service", type=handler, is_for_compensation=True))
        event = m.Event(
            id=self._name("boundary"), position="boundary", attached_to=id, triggers=(m.CompensationTrigger(),)
        )  # fmt: skip
        drawing.add(event)
        self._undone.append(m.Association(id=self._name("association"), source=event.id, target=handler))
        return id, self._around(drawing, id, depth)

    def _quietly(self, drawing: Drawing, depth: int) -> Block:
        self._quiet += 1
        block = self._block(drawing, 1, depth + 1)
        self._quiet -= 1
        return block

    def _boundaries(self, drawing: Drawing, host: str, depth: int) -> str:
        self._quiet += 1
        last = super()._boundaries(drawing, host, depth)
        self._quiet -= 1
        return last

    # --- what stands on the border -------------------------------------------------------------------------------

    def _around(self, drawing: Drawing, host: str, depth: int) -> str:
        """As the plain boundaries, and besides them an escalation or several triggers in one."""
        if self._chance.random() > 0.25 or depth > 3:
            return self._boundaries(drawing, host, depth)
        kind = self._chance.choice(("escalation", "multiple"))
        is_interrupting = self._chance.random() < 0.5
        event = m.Event(
            id=self._name("boundary"), position="boundary", attached_to=host, is_interrupting=is_interrupting,
            triggers=self._starting(kind), is_parallel=kind == "multiple" and self._chance.random() < 0.5,
            properties=self._intake(kind),
        )  # fmt: skip
        drawing.add(event)
        block = self._quietly(drawing, depth)
        drawing.link(event.id, block[0])
        if not is_interrupting:
            drawing.link(block[1], drawing.add(m.Event(id=self._name("end"), position="end")))
            return host
        last = drawing.add(m.Gateway(id=self._name("merge"), kind="exclusive"))
        drawing.link(host, last)
        drawing.link(block[1], last)
        return last
