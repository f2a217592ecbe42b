"""Processes of the size people draw: a hundred elements, ten flags, five parallel branches."""

from __future__ import annotations

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.verb_contract import FlagContract
from tests.bpmn.proof.models import boundary, definitions, node, scope, timer

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


def repeating() -> m.Definitions:
    """Five branches whose first task is done as often as one flag of all of them says."""
    model = large()
    process, often = model.processes[0], m.MultiInstance(m.Value("orch_n", "flag"))
    nodes = (replace(each, repeat=often) if each.id.endswith("_a") else each for each in process.body.nodes)
    body = replace(process.body, nodes=tuple(nodes))
    return replace(model, processes=(replace(process, body=body),))


def listening(branches: int) -> m.Definitions:
    """Subprocesses at once, in each of which an event begins something again and again beside the work."""
    lines = ["start -> fork", "join -> end", *(f"fork -> sub{at} -> join" for at in range(branches))]
    return definitions(*lines, nodes=[node("fork", "and"), node("join", "and"), *map(_listening, range(branches))])


def _listening(at: int) -> m.SubProcess:
    trigger = m.MessageTrigger(f"m_{at}")
    heard = m.Event(id=f"heard{at}", position="start", triggers=(trigger,), is_interrupting=False)
    beside = m.SubProcess(
        id=f"beside{at}", kind="event", body=scope(f"heard{at} -> note{at} -> end{at}_1", nodes=(heard,))
    )
    return m.SubProcess(id=f"sub{at}", body=scope(f"start{at} -> user{at} -> end{at}_2", nodes=(beside,)))


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
