"""Processes of the size people draw: a hundred elements, ten flags, five parallel branches."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.contracts import FlagContract
from tests.bpmn.proof.models import boundary, definitions, node, timer

BRANCHES = 5
FLAGS = tuple(f"orch_f{at}" for at in range(10))


def contracts() -> tuple[FlagContract, ...]:
    return tuple(FlagContract(name, "boolean", initial=False) for name in FLAGS)


def branch(at: int) -> tuple[list[str], list[m.Node]]:
    """Nineteen elements that decide by two flags of their own, with a loop, a timer and an error."""
    a, b, c, d, e, f, g, h = (f"t{at}_{letter}" for letter in "abcdefgh")
    first, second = f"orch_f{2 * at}", f"orch_f{2 * at + 1}"
    lines = [
        f"fork -> {a} -> x{at}1 -> {b} -> x{at}2",
        f"x{at}2 -> {c} [{first} = true]",
        f"x{at}2 -> {d} [default]",
        f"{c} -> x{at}3",
        f"{d} -> x{at}3 -> {e} -> x{at}4",
        f"x{at}4 -> x{at}1 [{second} = true]",
        f"x{at}4 -> {f} [default]",
        f"{f} -> x{at}5 -> {g} -> x{at}6 -> join",
        f"late{at} -> {h} -> x{at}5",
        f"bad{at} -> user{at} -> x{at}6",
    ]
    nodes: list[m.Node] = [node(f"x{at}{number}", "xor") for number in range(1, 7)]
    nodes += [node(f"user{at}", "user")]
    nodes += [boundary(f"late{at}", f, timer()), boundary(f"bad{at}", g, m.ErrorTrigger("REFUSED"))]
    return lines, nodes


def large(faulty: bool = False) -> m.Definitions:
    """`faulty`: the branches meet where only one of them is waited for."""
    lines = ["start -> first -> fork", "join -> last -> xlast", "xlast -> no [orch_f0 = true and orch_f2 = true]",
             "xlast -> yes [default]", "no -> end1", "yes -> end2"]  # fmt: skip
    nodes = [
        node("fork", "and"),
        node("join", "xor" if faulty else "and"),
        node("xlast", "xor"),
        node("end1"),
        node("end2"),
    ]
    for at in range(BRANCHES):
        more, inner = branch(at)
        lines += more
        nodes += inner
    return definitions(*lines, nodes=nodes)
