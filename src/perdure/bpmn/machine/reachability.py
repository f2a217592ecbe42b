"""Reachability: where a token may come from an element of a plan, and what it cannot avoid."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn import model as m
from perdure.bpmn.machine.execution_plan import Plan, Spot


def is_user_task(spot: Spot) -> bool:
    return isinstance(spot.node, m.Task) and spot.node.kind == "user"


def user_tasks(plan: Plan) -> list[str]:
    """Every user task of a process."""
    return [each for each, spot in plan.spots.items() if is_user_task(spot)]


def left_behind(plan: Plan, start: str, left: set[str]) -> Iterator[str]:
    """User tasks and call activities that lead to an element and that a token put there may never come to.

    Those are left out that a token comes from past: one that is taken away in the same move, behind the task, and that
    no way leads there again.
    """
    area = plan.spots[start].area
    for outer, tasks in askers(plan, area):
        if outer == start or start not in onward(plan, outer) or not may_end(plan, start, outer):
            continue
        beside = [each for each in left if each in plan.spots and plan.spots[each].area == area]
        if any(each in onward(plan, outer) and outer not in onward(plan, each) and each != outer for each in beside):
            continue
        yield from tasks


def askers(plan: Plan, area: str) -> Iterator[tuple[str, list[str]]]:
    """The elements of an area that may ask people, each with the user tasks and call activities it is or holds."""
    for node in plan.areas[area].nodes:
        if is_user_task(plan.spots[node.id]) or isinstance(node, m.CallActivity):
            yield node.id, [node.id]
        elif node.id in plan.areas and not plan.spots[node.id].is_event_subprocess:
            inner = [task for _, tasks in askers(plan, node.id) for task in tasks]
            if inner:
                yield node.id, inner


def asking(plan: Plan, element: str) -> list[str]:
    """The user tasks and call activities that an element is or holds."""
    if element in plan.areas:
        return [task for _, tasks in askers(plan, element) for task in tasks]
    spot = plan.spots[element]
    return [element] if is_user_task(spot) or isinstance(spot.node, m.CallActivity) else []


def is_inevitable(plan: Plan, start: str, element: str) -> bool:
    """Whether a token put before an element comes to another whatever way it goes."""
    inner: list[str] = []
    current = element
    while current in plan.spots and plan.spots[current].area != plan.spots[start].area:
        inner.append(current)
        current = plan.spots[current].area
    if current not in plan.spots:
        return False
    is_met = start == current or (current in onward(plan, start) and not may_end(plan, start, current))
    return is_met and all(_is_met_inside(plan, each) for each in inner)


def _is_met_inside(plan: Plan, element: str) -> bool:
    """Whether one of the tokens that begin the area of an element comes to it whatever way it goes."""
    starts = plan.areas[plan.spots[element].area].starts
    return any(each == element or is_inevitable(plan, each, element) for each in starts)


def may_end(plan: Plan, start: str, without: str) -> bool:
    """Whether every token that one put before an element becomes may end without passing another element."""
    found = [start, *onward(plan, start, without)]
    ends: set[str] = set()
    count = -1
    while len(ends) != count:
        count = len(ends)
        ends.update(each for each in found if each not in ends and _may_leave(plan, each, ends))
    return start in ends


def _may_leave(plan: Plan, element: str, ends: set[str]) -> bool:
    """Whether an element is an end, or one of the ways out of it leads to ends only."""
    ways = _ways(plan, element)
    return not ways or any(all(target in ends for target in way) for way in ways)


def _ways(plan: Plan, element: str) -> list[tuple[str, ...]]:
    """The ways out of an element, each with all the elements that tokens come to by it at once."""
    spot = plan.spots[element]
    node = spot.node
    if isinstance(node, m.Gateway) and node.kind == "parallel":
        together = spot.out
    elif isinstance(node, m.Gateway):
        together = ()
    else:
        together = tuple(flow for flow in spot.out if flow.condition is None and flow.id != spot.default)
    ways: list[tuple[str, ...]] = [tuple(flow.target for flow in together)] if together else []
    ways.extend((flow.target,) for flow in spot.out if not together)
    ways.extend((event.id,) for event in spot.boundaries if event.is_interrupting)
    ways.extend((target,) for target in _linked(plan, spot))
    return ways


def onward(plan: Plan, element: str, without: str = "") -> dict[str, None]:
    """The elements that a token may come to from another, never passing `without`."""
    found: dict[str, None] = {}
    waiting = _next(plan, element)
    while waiting:
        current = waiting.pop()
        if current == without or current in found:
            continue
        found[current] = None
        waiting.extend(_next(plan, current))
    return found


def _next(plan: Plan, element: str) -> list[str]:
    spot = plan.spots[element]
    return [*(flow.target for flow in spot.out), *(event.id for event in spot.boundaries), *_linked(plan, spot)]


def _linked(plan: Plan, spot: Spot) -> list[str]:
    node = spot.node
    if not isinstance(node, m.Event) or node.position != "throw":
        return []
    names = [(spot.area, trigger.name) for trigger in node.triggers if isinstance(trigger, m.LinkTrigger)]
    return [plan.links[name] for name in names if name in plan.links]
