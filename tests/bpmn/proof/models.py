"""Small processes written as text: one line per node, arrows between them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition

SPLITS: dict[str, m.GatewayKind] = {"xor": "exclusive", "and": "parallel", "or": "inclusive", "race": "event"}


def node(id: str, word: str = "", **more: object) -> m.Node:
    """A node by its word: `start`, `end`, `task`, `user`, `none`, `xor`, `and`, `or`, `race`, `message`, `timer`."""
    word = word or id.rstrip("0123456789_")
    match word:
        case "start" | "end":
            return m.Event(id=id, position=word, **more)  # type: ignore[arg-type]
        case "xor" | "and" | "or" | "race":
            return m.Gateway(id=id, kind=SPLITS[word], **more)  # type: ignore[arg-type]
        case "user":
            return m.Task(id=id, kind="user", **more)  # type: ignore[arg-type]
        case "none":
            return m.Task(id=id, **more)  # type: ignore[arg-type]
        case "message":
            return m.Event(id=id, position="catch", triggers=(m.MessageTrigger(f"m_{id}"),), **more)  # type: ignore[arg-type]
        case "timer":
            return m.Event(id=id, position="catch", triggers=(timer(),), **more)  # type: ignore[arg-type]
        case _:
            return m.Task(id=id, kind="service", type=f"verb.{id}", **more)  # type: ignore[arg-type]


def timer(text: str = "PT1H") -> m.TimerTrigger:
    return m.TimerTrigger("duration", m.Value(text))


def boundary(id: str, host: str, trigger: m.Trigger, is_interrupting: bool = True) -> m.Event:
    return m.Event(id=id, position="boundary", attached_to=host, triggers=(trigger,), is_interrupting=is_interrupting)


def scope(*lines: str, nodes: Sequence[m.Node] = ()) -> m.Scope:
    """Lines such as `start -> xor1 -> a -> end` and `xor1 -> b [orch_x = true]`; `[default]` marks the default flow."""
    made: dict[str, m.Node] = {each.id: each for each in nodes}
    flows: list[m.Flow] = []
    defaults: dict[str, str] = {}
    for line in lines:
        text, _, condition = line.partition("[")
        ids = [part.strip() for part in text.split("->")]
        for id in ids:
            made.setdefault(id, node(id))
        for at, (source, target) in enumerate(itertools.pairwise(ids)):
            told = condition.strip(" ]") if at == len(ids) - 2 else ""
            flow = f"f{len(flows)}_{source}_{target}"
            if told == "default":
                defaults[source] = flow
                told = ""
            tree = parse_condition(told) if told else None
            flows.append(m.Flow(id=flow, source=source, target=target, condition=tree))
    placed = [_with_default(each, defaults.get(each.id, "")) for each in made.values()]
    return m.Scope(nodes=tuple(placed), flows=tuple(flows))


def _with_default(each: m.Node, flow: str) -> m.Node:
    if not flow or not isinstance(each, m.Gateway):
        return each
    return m.Gateway(id=each.id, kind=each.kind, default=flow)


def definitions(*lines: str, nodes: Sequence[m.Node] = (), **more: object) -> m.Definitions:
    body = scope(*lines, nodes=nodes)
    process = m.Process(id="p", body=body)
    messages = {
        trigger.message: m.Message(id=trigger.message, name=trigger.message)
        for each in m.nodes(body)
        if isinstance(each, m.Event)
        for trigger in each.triggers
        if isinstance(trigger, m.MessageTrigger)
    }
    errors = tuple(m.Error(id=code, code=code) for code in ("REFUSED", "MISSING"))
    return m.Definitions(id="file", processes=(process,), messages=tuple(messages.values()), errors=errors, **more)  # type: ignore[arg-type]
