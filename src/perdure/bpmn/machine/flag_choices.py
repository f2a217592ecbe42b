"""Flag choices: the user tasks and call activities that a token may avoid, or that change hands, by a flag's value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import Condition, flags_of
from perdure.bpmn.machine.execution_plan import Plan, Spot
from perdure.bpmn.machine.reachability import asking, is_inevitable, is_user_task, onward
from perdure.bpmn.machine.state import Flags
from perdure.bpmn.machine.token_game_state import TokenGame

BREAKS_OFF = m.TerminateTrigger | m.ErrorTrigger | m.CancelTrigger


def avoided_tasks(game: TokenGame, flags: Flags) -> list[str]:
    """User tasks and call activities that flags set by hand may lead past, give to others, or answer anew.

    | a flag is read by | left behind |
    |---|---|
    | a way out of an element, or an event on it | tasks that some way from there avoids |
    | repetition of an activity, the start of an event subprocess | tasks in it, in the scope around it |
    | the people that a task is for | that task |
    | nothing, and was written by the answer to a task | that task |
    """
    names = {name for name, value in flags.items() if game.state.flags.get(name) != value}
    if not names:
        return []
    plan, places = game.plan, _places(game)
    found: dict[str, None] = {}
    for element in sorted(places):
        spot = plan.spots[element]
        if _chooses(plan, spot, names):
            found.update(dict.fromkeys(_avoidable(plan, element, places)))
        if _repeats(spot.node, names):
            found.update(dict.fromkeys(asking(plan, element)))
        if is_user_task(spot) and _addresses(spot.node, names):
            found[element] = None
    for area in {plan.spots[each].area for each in places}:
        if any(_reads(plan, start, names) for _, start in plan.areas[area].subs):
            found.update(dict.fromkeys(task for each in sorted(places) for task in asking(plan, each)))
    found.update(dict.fromkeys(element for name in names if (element := _answered(game, name))))
    return list(found)


def _places(game: TokenGame) -> set[str]:
    """Elements where tokens stand or may still come, those inside subprocesses included."""
    plan = game.plan
    waiting = [node.element for node in game.state.nodes.values() if node.element in plan.spots]
    found: set[str] = set()
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(onward(plan, current))
            waiting.extend(node.id for node in (plan.areas[current].nodes if current in plan.areas else ()))
    return found


def _avoidable(plan: Plan, element: str, places: set[str]) -> Iterator[str]:
    ahead = [element, *onward(plan, element)]
    for each in ahead:
        for task in asking(plan, each):
            if task == element or not is_inevitable(plan, element, task):
                yield task
    if any(_breaks_off(plan.spots[each].node) for each in ahead):
        yield from (task for each in sorted(places) for task in asking(plan, each))


def _breaks_off(node: m.Node) -> bool:
    """Whether an end takes other tokens with it."""
    return (
        isinstance(node, m.Event) and node.position == "end" and any(isinstance(t, BREAKS_OFF) for t in node.triggers)
    )


def _chooses(plan: Plan, spot: Spot, names: set[str]) -> bool:
    """Whether flags decide which way a token leaves an element."""
    if any(_has(flow.condition, names) for flow in spot.out):
        return True
    if isinstance(spot.node, m.Gateway) and _has(getattr(spot.node, "activation", None), names):
        return True
    arms = [plan.spots[flow.target].node for flow in spot.out] if _is_race(spot.node) else []
    return any(_reads(plan, event, names) for event in (*spot.boundaries, *arms))


def _is_race(node: m.Node) -> bool:
    return isinstance(node, m.Gateway) and node.kind == "event"


def _reads(plan: Plan, node: m.Node, names: set[str]) -> bool:
    """Whether flags decide when an event happens."""
    for trigger in node.triggers if isinstance(node, m.Event) else ():
        match trigger:
            case m.ConditionalTrigger():
                is_read = _has(trigger.condition, names)
            case m.TimerTrigger():
                is_read = _is_flag(trigger.value, names)
            case m.MessageTrigger():
                message = plan.messages.get(trigger.message)
                is_read = message is not None and _is_flag(message.correlation, names)
            case _:
                is_read = False
        if is_read:
            return True
    return False


def _repeats(node: m.Node, names: set[str]) -> bool:
    """Whether flags decide how often an activity runs."""
    if isinstance(node, m.SubProcess) and _has(getattr(node, "completion", None), names):
        return True
    repeat = getattr(node, "repeat", None)
    if isinstance(repeat, m.StandardLoop):
        return _has(repeat.condition, names)
    if isinstance(repeat, m.MultiInstance):
        return _is_flag(repeat.cardinality, names) or _has(repeat.completion, names)
    return False


def _addresses(node: m.Node, names: set[str]) -> bool:
    """Whether flags decide whom a user task is for."""
    assert isinstance(node, m.Task)
    return any(_is_flag(each, names) for each in (node.assignee, node.groups, node.users))


def _answered(game: TokenGame, name: str) -> str:
    """The user task whose answer wrote a flag; empty where something else did."""
    element = game.state.written[name][2] if name in game.state.written else ""
    spot = game.spots.get(element)
    return element if spot is not None and is_user_task(spot) else ""


def _has(condition: Condition | None, names: Iterable[str]) -> bool:
    return condition is not None and not flags_of(condition).isdisjoint(names)


def _is_flag(value: m.Value | None, names: set[str]) -> bool:
    return value is not None and value.kind == "flag" and value.text in names
