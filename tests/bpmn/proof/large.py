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


def large(join: str = "and") -> m.Definitions:
    """Five branches between a fork and a join."""
    lines = [
        "start -> first -> xzero -> second -> third -> fourth -> fork",
        "join -> last -> xlast",
        "xlast -> no [orch_f0 = true and orch_f2 = true]",
        "xlast -> yes [default]",
        "no -> end1",
        "yes -> xend -> end2",
    ]
    nodes = [node("fork", "and"), node("join", join), *(node(id, "xor") for id in ("xlast", "xzero", "xend"))]
    for at in range(BRANCHES):
        more, inner = branch(at)
        lines += more
        nodes += inner
    return definitions(*lines, nodes=nodes)


def deciding() -> m.Definitions:
    """Five branches that decide by two flags each; behind the join people are asked by all ten of them again."""
    lines = ["start -> fork", "join -> again0", "xyes -> end"]
    nodes = [node("fork", "and"), node("join", "and"), node("xyes", "xor")]
    for at in range(10):
        behind = f"again{at + 1}" if at < 9 else "xyes"
        before = f"t{at // 2}_{at % 2}"
        lines += _choice(f"again{at}", f"orch_f{at}", f"user_y{at}", f"user_n{at}", behind)
        lines += [f"{'fork' if at % 2 == 0 else f'm{at - 1}'} -> {before} -> d{at}"]
        lines += _choice(f"d{at}", f"orch_f{at}", f"y{at}", f"n{at}", f"m{at}")
        nodes += [node(f"{word}{at}", "xor") for word in ("again", "d", "m")]
        lines += [f"m{at} -> join"] if at % 2 else []
    return definitions(*lines, nodes=nodes)


def _choice(gateway: str, flag: str, yes: str, no: str, behind: str) -> list[str]:
    return [
        f"{gateway} -> {yes} [{flag} = true]", f"{gateway} -> {no} [default]", f"{yes} -> {behind}",
        f"{no} -> {behind}",
    ]  # fmt: skip


def writes(model: m.Definitions) -> dict[str, tuple[str, ...]]:
    """The first and the fifth task of each branch write its two flags, the others nothing."""
    types = [each.type for each in m.nodes(model.processes[0].body) if isinstance(each, m.Task) and each.type]
    return {type: _written(type) for type in types}


def deciding_writes(model: m.Definitions) -> dict[str, tuple[str, ...]]:
    """The task before each decision writes its flag, the others nothing."""
    types = [each.type for each in m.nodes(model.processes[0].body) if isinstance(each, m.Task) and each.type]
    before = {f"verb.t{at // 2}_{at % 2}": (FLAGS[at],) for at in range(10)}
    return {type: before.get(type, ()) for type in types}


def _written(type: str) -> tuple[str, ...]:
    if not type.startswith("verb.t") or type[-1] not in "be":
        return ()
    at = int(type[len("verb.t")])
    return (FLAGS[2 * at],) if type.endswith("b") else (FLAGS[2 * at + 1],)


def interleaved(branches: int) -> m.Definitions:
    """Branches whose gateways all read the same flag, which all of them write: their order matters."""
    lines = ["start -> fork", "join -> end"]
    nodes: list[m.Node] = [node("fork", "and"), node("join", "and")]
    for at in range(branches):
        nodes += [node(f"x{at}{number}", "xor") for number in range(2)] + [node(f"user{at}", "user")]
        lines += [
            f"fork -> a{at} -> user{at} -> x{at}0",
            f"x{at}0 -> b{at} [orch_f0 = true]",
            f"x{at}0 -> c{at} [default]",
            f"b{at} -> x{at}1",
            f"c{at} -> x{at}1 -> d{at} -> join",
        ]
    return definitions(*lines, nodes=nodes)
