"""Movable state: where Camunda begins for an instance that waits here, and what cannot be taken along.

Camunda begins a process instance at elements that are named. It begins none inside iterations, none with a timer that
runs already, none with a join half full or with something done that may have to be undone: each is refused by name.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.state import ROOT, Instance, Node, Watch
from perdure.moments import iso


def start_elements(state: Instance) -> tuple[str, ...]:
    """The elements at which tokens stand: Camunda makes the scopes around them itself."""
    return tuple(node.element for node in state.nodes.values() if node.kind in ("job", "task", "wait", "gate"))


def obstacles(state: Instance, deployed: Deployed) -> Iterator[str]:
    """What keeps an instance from going on in Camunda, each by its element."""
    if state.status != "active":
        yield f"it is {state.status}"
    model = {node.id: node for node in m.nodes(deployed.process.body)}
    for node in sorted(state.nodes.values(), key=lambda each: each.number):
        yield from _of_node(node, model)
    for element, count in Counter(start_elements(state)).items():
        if count > 1:
            yield f"{count} tokens stand at '{element}'"
    for watch in sorted(state.watches.values(), key=lambda each: each.number):
        yield from _of_watch(watch, model)


def _of_node(node: Node, model: Mapping[str, m.Node]) -> Iterator[str]:
    if node.incident is not None:
        yield f"'{node.element}' has an open incident"
    yield from _of_kind(node)
    if node.done:
        what = f"in '{node.element}' " if node.number != ROOT else ""
        yield f"something was done {what}that may have to be undone: {', '.join(each.element for each in node.done)}"
    if node.is_interrupted or node.opened:
        yield f"'{node.element}' has begun what Camunda cannot be told of"
    inside = model.get(node.element)
    if isinstance(inside, m.SubProcess) and inside.kind == "event":
        yield f"a token is in the event subprocess '{node.element}'"
    if node.job is not None and node.job.status == "pending":
        yield f"the job of '{node.element}' waits for its next attempt until {iso(node.job.retry_at)}"
    elif node.job is not None and node.job.purpose != "work":
        yield f"what arrived at '{node.element}' is being taken in"
    if node.task is not None and node.task.claimed_by:
        yield f"'{node.task.claimed_by}' has claimed the task '{node.element}'"


def _of_kind(node: Node) -> Iterator[str]:
    match node.kind:
        case "many" | "loop":
            yield f"iterations of '{node.element}' are under way"
        case "join":
            yield f"a token waits at the join '{node.element}' for others"
        case "undo":
            yield f"'{node.element}' is being undone"
        case "call":
            yield f"'{node.element}' has called another process"
        case "stuck":
            yield f"'{node.element}' has found no way out"
        case _:
            return


def _of_watch(watch: Watch, model: Mapping[str, m.Node]) -> Iterator[str]:
    if watch.is_met:
        yield f"'{watch.event}' has happened, and waits for others"
    elif watch.kind == "timer" and not _is_date(model.get(watch.event)):
        yield f"the timer '{watch.event}' runs until {iso(watch.due)}, and Camunda would begin it anew"


def _is_date(node: m.Node | None) -> bool:
    """Whether an event fires at a moment that is the same whenever it is armed."""
    triggers = node.triggers if isinstance(node, m.Event) else ()
    return bool(triggers) and all(isinstance(each, m.TimerTrigger) and each.kind == "date" for each in triggers)
