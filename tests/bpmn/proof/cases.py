"""Per code a wrong process and the same one put right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.proof import Verdict, prove
from perdure.verb_contract import FlagContract
from tests.bpmn.proof.models import boundary, definitions, node, scope, timer


class Case(NamedTuple):
    """A process that is refuted with a code at an element, and what its verbs may do."""

    code: str
    element: str
    wrong: m.Definitions
    right: m.Definitions
    may_raise: Mapping[str, tuple[str, ...]] = {}
    writes: Mapping[str, tuple[str, ...]] = {}
    flags: tuple[FlagContract, ...] | None = None
    is_warning: bool = False
    """Of a code that is an error elsewhere."""

    def prove(self, model: m.Definitions) -> Verdict:
        return prove(model, flags=self.flags, may_raise=self.may_raise, writes=self.writes)


BOOLEAN = (FlagContract("orch_x", "boolean", initial=False),)
REFUSED = {"verb.a": ("REFUSED",)}
REFUSED_ERROR = m.ErrorTrigger("REFUSED")
ERROR_END = m.Event(id="end2", position="end", triggers=(REFUSED_ERROR,))
CHOICE_INSIDE = ("start2 -> b -> xor1", "xor1 -> end2 [orch_x = true]", "xor1 -> c [default]", "c -> end3")
CHOICE = ("start -> a -> xor1", "xor1 -> b [orch_x = true]", "xor1 -> c [default]")


AGAIN = m.StandardLoop(condition=parse_condition("orch_x = true"))


def _inner(*lines: str, nodes: tuple[m.Node, ...] = (), repeat: m.StandardLoop | None = None) -> m.SubProcess:
    return m.SubProcess(id="sub", body=scope(*lines, nodes=nodes), repeat=repeat)


def _conditional(id: str) -> m.Event:
    condition = parse_condition("orch_x = true")
    return m.Event(id=id, position="catch", triggers=(m.ConditionalTrigger(condition),))


def _event_subprocess(trigger: m.Trigger) -> m.SubProcess:
    start = m.Event(id="sub_start", position="start", triggers=(trigger,))
    return m.SubProcess(
        id="handler", kind="event", body=scope("sub_start -> h -> sub_end", nodes=(start, node("sub_end", "end")))
    )


def _undone(handler: m.Node) -> m.Definitions:
    """A process that undoes what it did before it ends."""
    nodes = (
        node("a"),
        boundary("undo", "a", m.CompensationTrigger()),
        m.Event(id="end", position="end", triggers=(m.CompensationTrigger(),)),
        handler,
    )
    made = definitions("start -> a -> end", nodes=nodes)
    body = replace(made.processes[0].body, associations=(m.Association(id="by", source="undo", target=handler.id),))
    return replace(made, processes=(replace(made.processes[0], body=body),))


CASES = {
    "a parallel join after a choice": Case(
        "SND001", "and1",
        definitions(*CHOICE, "b -> and1", "c -> and1 -> end"),
        definitions(*CHOICE, "b -> xor2", "c -> xor2 -> end"),
    ),
    "a parallel join after an inclusive choice": Case(
        "SND001", "and1",
        definitions("start -> a -> or1", "or1 -> b [orch_x = true]", "or1 -> c [orch_y = true]", "or1 -> d [default]",
                    "b -> and1", "c -> and1", "d -> and1 -> end"),
        definitions("start -> a -> or1", "or1 -> b [orch_x = true]", "or1 -> c [orch_y = true]", "or1 -> d [default]",
                    "b -> or2", "c -> or2", "d -> or2 -> end"),
    ),
    "a condition nobody can make true any more": Case(
        "SND001", "cond",
        definitions("start -> a -> cond -> end", nodes=(_conditional("cond"),)),
        definitions("start -> a -> race1 -> cond -> end", "race1 -> timer1 -> end", nodes=(_conditional("cond"),)),
        writes={"verb.a": ("orch_x",)}, flags=BOOLEAN,
    ),
    "a join inside a subprocess": Case(
        "SND001", "and1",
        definitions("start -> sub -> end", nodes=(_inner("start2 -> xor1", "xor1 -> b [orch_x = true]",
                    "xor1 -> c [default]", "b -> and1", "c -> and1 -> end2"),)),
        definitions("start -> sub -> end", nodes=(_inner("start2 -> xor1", "xor1 -> b [orch_x = true]",
                    "xor1 -> c [default]", "b -> xor2", "c -> xor2 -> end2"),)),
    ),
    "branches that meet in a choice": Case(
        "SND002", "c",
        definitions("start -> and1", "and1 -> a -> xor1", "and1 -> b -> xor1 -> c -> end"),
        definitions("start -> and1", "and1 -> a -> and2", "and1 -> b -> and2 -> c -> end"),
    ),
    "a reminder that goes on as the main way": Case(
        "SND002", "c",
        definitions("start -> user1 -> c -> end", "late -> b -> c",
                    nodes=(node("start"), node("user1"), boundary("late", "user1", timer(), False))),
        definitions("start -> user1 -> c -> end", "late -> b -> end2",
                    nodes=(node("start"), node("user1"), boundary("late", "user1", timer(), False))),
    ),
    "a condition that never holds": Case(
        "SND003", "b",
        definitions("start -> a -> xor1", 'xor1 -> b [orch_x = "yes" and orch_x = "no"]', "xor1 -> c [default]",
                    "b -> end", "c -> end"),
        definitions("start -> a -> xor1", 'xor1 -> b [orch_x = "yes"]', "xor1 -> c [default]", "b -> end", "c -> end"),
    ),
    "a flag nobody writes": Case(
        "SND003", "b",
        definitions(*CHOICE, "b -> end", "c -> end"),
        definitions("start -> z -> a -> xor1", "xor1 -> b [orch_x = true]", "xor1 -> c [default]", "b -> end",
                    "c -> end"),
        writes={"verb.a": (), "verb.z": ("orch_x",)}, flags=BOOLEAN,
    ),
    "conditions that leave a gap": Case(
        "SND004", "xor1",
        definitions("start -> a -> xor1", "xor1 -> b [orch_n < 3]", "xor1 -> c [orch_n > 3]", "b -> end", "c -> end"),
        definitions(
            "start -> a -> xor1", "xor1 -> b [orch_n < 3]", "xor1 -> c [not(orch_n < 3)]", "b -> end", "c -> end"
        ),
    ),
    "a loop of gateways alone": Case(
        "SND005", "xor1",
        definitions("start -> a -> xor1 -> xor2", "xor2 -> xor1 [orch_x = true]", "xor2 -> end [default]"),
        definitions("start -> a -> xor1 -> b -> xor2", "xor2 -> xor1 [orch_x = true]", "xor2 -> end [default]"),
    ),
    "a task without work that repeats": Case(
        "SND005", "none1",
        definitions("start -> a -> none1 -> end", nodes=(node("none1", repeat=AGAIN),)),
        definitions("start -> a -> b -> end", nodes=(node("b", repeat=AGAIN),)),
    ),
    "a subprocess without a wait that repeats": Case(
        "SND005", "sub",
        definitions("start -> a -> sub -> end", nodes=(_inner("none1 -> none2", repeat=AGAIN),)),
        definitions("start -> a -> sub -> end", nodes=(_inner("none1 -> b", repeat=AGAIN),)),
    ),
    "a loop without a way out": Case(
        "SND006", "a",
        definitions("start -> xor1 -> a -> b -> xor1"),
        definitions("start -> xor1 -> a -> b -> xor2", "xor2 -> xor1 [orch_x = true]", "xor2 -> end [default]"),
    ),
    "a split inside a loop": Case(
        "SND006", "b",
        definitions("start -> xor1 -> a -> and1 -> xor1", "and1 -> b -> end"),
        definitions("start -> xor1 -> a -> and1 -> b -> and2", "and1 -> c -> and2 -> xor2",
                    "xor2 -> xor1 [orch_x = true]", "xor2 -> end [default]"),
    ),
    "an error nobody catches": Case(
        "SND007", "a",
        definitions("start -> a -> end"),
        definitions("start -> a -> end", "refused -> b -> end2",
                    nodes=(node("start"), node("a"), boundary("refused", "a", m.ErrorTrigger("REFUSED")))),
        may_raise=REFUSED,
    ),
    "an error only another one is caught of": Case(
        "SND007", "a",
        definitions("start -> sub -> end", "missing -> b -> end2",
                    nodes=(_inner("start2 -> a -> end3"), boundary("missing", "sub", m.ErrorTrigger("MISSING")))),
        definitions("start -> sub -> end", "refused -> b -> end2",
                    nodes=(_inner("start2 -> a -> end3"), boundary("refused", "sub", m.ErrorTrigger("REFUSED")))),
        may_raise=REFUSED,
    ),
    "an error of what undoes": Case(
        "SND007", "u",
        _undone(node("u", is_for_compensation=True)),
        _undone(m.SubProcess(id="u", is_for_compensation=True, body=scope(
            "start2 -> v -> end2", "refused -> w -> end3",
            nodes=(m.Task(id="v", kind="service", type="verb.u"),
                   boundary("refused", "v", m.ErrorTrigger("REFUSED")))))),
        may_raise={"verb.u": ("REFUSED",)}, is_warning=True,
    ),
    "an error end event of a subprocess that nothing catches": Case(
        "SND007", "end2",
        definitions("start -> sub -> end", nodes=(_inner(*CHOICE_INSIDE, nodes=(ERROR_END,)),)),
        definitions("start -> sub -> end", "refused -> d -> end4",
                    nodes=(_inner(*CHOICE_INSIDE, nodes=(ERROR_END,)), boundary("refused", "sub", REFUSED_ERROR))),
        is_warning=True,
    ),
    "an error end event of what undoes": Case(
        "SND007", "end2",
        _undone(m.SubProcess(id="u", is_for_compensation=True, body=scope(*CHOICE_INSIDE, nodes=(ERROR_END,)))),
        _undone(m.SubProcess(id="u", is_for_compensation=True, body=scope(
            "start4 -> sub -> end4", "refused -> w -> end5",
            nodes=(_inner(*CHOICE_INSIDE, nodes=(ERROR_END,)), boundary("refused", "sub", REFUSED_ERROR))))),
        is_warning=True,
    ),
    "an error event nothing raises": Case(
        "SND008", "missing",
        definitions("start -> a -> end", "missing -> b -> end2", "any -> c -> end2",
                    nodes=(node("a"), boundary("missing", "a", m.ErrorTrigger("MISSING")),
                           boundary("any", "a", m.ErrorTrigger()))),
        definitions("start -> a -> end", "any -> c -> end2", nodes=(node("a"), boundary("any", "a", m.ErrorTrigger()))),
        may_raise=REFUSED,
    ),
    "an event subprocess for an error nothing raises": Case(
        "SND008", "handler",
        definitions("start -> a -> end", nodes=(_event_subprocess(m.ErrorTrigger("MISSING")),)),
        definitions("start -> a -> end", nodes=(_event_subprocess(timer()),)),
        may_raise={"verb.a": ()},
    ),
    "a number of iterations that is none": Case(
        "SND009", "a",
        definitions("start -> a -> end", nodes=(node("a", repeat=m.MultiInstance(cardinality=m.Value("many"))),)),
        definitions("start -> a -> end", nodes=(node("a", repeat=m.MultiInstance(cardinality=m.Value("700"))),)),
    ),
    "a choice by a flag that nothing declares": Case(
        "SND011", "xor1",
        definitions("start -> a -> xor1", "xor1 -> b [orch_x = true]", "xor1 -> c [orch_x = false]", "b -> end",
                    "c -> end2"),
        definitions("start -> a -> xor1", "xor1 -> b [orch_x = true]", "xor1 -> c [orch_x != true]", "b -> end",
                    "c -> end2"),
    ),
}  # fmt: skip
