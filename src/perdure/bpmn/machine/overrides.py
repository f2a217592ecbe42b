"""Overrides of instances: the human tasks that a move of tokens, or an end by hand, goes around."""

from __future__ import annotations

from collections.abc import Iterator

from perdure import human_tasks
from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.execution_plan import Plan, Spot
from perdure.bpmn.machine.expression_values import text_of
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection
from perdure.human_tasks import HumanTask
from perdure.journal import Origin
from perdure.overrides import Act, Guard, is_guarded, voice


class Proposed(Rejection, frozen=True):
    """An act was noted and waits for somebody else; this is what the asker is told."""


def passage(
    game: TokenGame, guards: tuple[Guard, ...], act: Act, origin: Origin, reason: str
) -> Proposed | Rejection | None:
    """Why an act cannot go around tasks now; None, with the override on record, when it can."""
    if not guards:
        return None
    found = voice(guards, game.state.overrides, act, origin, reason, game.now)
    if isinstance(found, Rejection):
        return found
    made = found.override
    if found.is_new:
        told = (made.number, game.now, made.act, made.what, made.tasks, made.needs, made.by, made.reason)
        game.emit(e.OverrideProposed(*told, made.behind, made.covered))
    else:
        covered = made.covered[-found.more :] if found.more else ()
        game.emit(e.OverrideAgreed(made.number, game.now, origin.principal, reason, origin.behind, covered))
    if found.refusal is None:
        return None
    refusal = found.refusal
    return Proposed(refusal.code, refusal.do, refusal.thing, refusal.id, refusal.fact, refusal.hint)


def guards_of_move(game: TokenGame, command: c.Modify) -> tuple[Guard, ...]:
    """The tasks that a move takes away without asking them again, and those that its new tokens leave behind."""
    found: dict[str, Guard] = {}
    for number in command.cancels:
        for node in _nodes(game, number):
            guard = _guard_of(game, node)
            if guard is not None and not any(_asks_again(game.plan, start, node.element) for start in command.starts):
                found.setdefault(guard.name, guard)
    left = {game.state.nodes[number].element for number in command.cancels}
    for start in dict.fromkeys(command.starts):
        for task in left_behind(game.plan, start, left):
            guard = _static(game, task)
            if guard is not None:
                found.setdefault(guard.name, guard)
    unseen = {guard.name: guard for guard in command.unseen}
    return tuple({**unseen, **found}.values())


def guards_ahead(game: TokenGame) -> tuple[Guard, ...]:
    """Every task of an instance that waits, or that one of its tokens may still come to."""
    found: dict[str, Guard] = {}
    for node in game.state.nodes.values():
        if (guard := _guard_of(game, node)) is not None:
            found[guard.name] = guard
    reached = {node.element for node in game.state.nodes.values() if node.element in game.spots}
    ahead = {each for element in reached for each in onward(game.plan, element)}
    areas = [each for each in ahead if each in game.plan.areas]
    ahead.update(task for area in areas for _, tasks in _askers(game.plan, area) for task in tasks)
    for element in sorted(ahead):
        if (guard := _static(game, element)) is not None:
            found.setdefault(guard.name, guard)
    return tuple(found.values())


def guards_of_process(plan: Plan, askers: tuple[str, ...]) -> tuple[Guard, ...]:
    """The tasks of a process that has not begun, as far as the model alone says for whom they are."""
    found: list[Guard] = []
    for spot in plan.spots.values():
        node = spot.node
        if not isinstance(node, m.Task) or node.kind != "user":
            continue
        text = node.groups.text if node.groups is not None and node.groups.kind == "literal" else ""
        requester, behind = (askers[0], askers[1:]) if spot.rules.four_eyes else ("", ())
        task = HumanTask(groups=human_tasks.names_of(text), requester=requester, behind=behind)
        if is_guarded(task):
            found.append(Guard(f"task '{spot.id}'", task))
    return tuple(found)


def guards_of_end(game: TokenGame, node: Node, unseen: tuple[Guard, ...]) -> tuple[Guard, ...]:
    """The tasks that a token stands for or holds, when it is ended by hand."""
    found = {guard.name: guard for guard in unseen}
    for each in _nodes(game, node.number):
        if (guard := _guard_of(game, each)) is not None:
            found.setdefault(guard.name, guard)
    return tuple(found.values())


def _nodes(game: TokenGame, number: int) -> list[Node]:
    return [game.state.nodes[each] for each in (number, *inside(game.state, number))]


def _guard_of(game: TokenGame, node: Node) -> Guard | None:
    if node.task is None:
        return _static(game, node.element)
    return Guard(f"task '{node.element}'", node.task) if is_guarded(node.task) else None


def _static(game: TokenGame, element: str) -> Guard | None:
    """The guard of a user task of the model, with what its texts come to now."""
    spot = game.spots.get(element)
    if spot is None or not _is_user_task(spot):
        return None
    task = would_open(game, spot)
    return Guard(f"task '{element}'", task) if is_guarded(task) else None


def would_open(game: TokenGame, spot: Spot) -> HumanTask:
    """The task as it would open now."""
    node = spot.node
    assert isinstance(node, m.Task)
    requester, behind = (game.state.principal, game.state.behind) if spot.rules.four_eyes else ("", ())
    users = human_tasks.names_of(text_of(game, node.users))
    return HumanTask(
        assignee=text_of(game, node.assignee),
        groups=human_tasks.names_of(text_of(game, node.groups)),
        users=users,
        requester=requester,
        behind=behind,
    )


def _is_user_task(spot: Spot) -> bool:
    return isinstance(spot.node, m.Task) and spot.node.kind == "user"


def left_behind(plan: Plan, start: str, left: set[str]) -> Iterator[str]:
    """User tasks and call activities that lead to an element and that a token put there may never come to.

    Those are left out that a token comes from past: one that is taken away in the same move, behind the task, and that
    no way leads there again.
    """
    area = plan.spots[start].area
    for outer, tasks in _askers(plan, area):
        if outer == start or start not in onward(plan, outer) or not _may_end(plan, start, outer):
            continue
        beside = [each for each in left if each in plan.spots and plan.spots[each].area == area]
        if any(each in onward(plan, outer) and outer not in onward(plan, each) and each != outer for each in beside):
            continue
        yield from tasks


def _askers(plan: Plan, area: str) -> Iterator[tuple[str, list[str]]]:
    """The elements of an area that may ask people, each with the user tasks and call activities it is or holds."""
    for node in plan.areas[area].nodes:
        if _is_user_task(plan.spots[node.id]) or isinstance(node, m.CallActivity):
            yield node.id, [node.id]
        elif node.id in plan.areas and not plan.spots[node.id].is_event_subprocess:
            inner = [task for _, tasks in _askers(plan, node.id) for task in tasks]
            if inner:
                yield node.id, inner


def _asks_again(plan: Plan, start: str, task: str) -> bool:
    """Whether a token put before an element comes to a task whatever way it goes."""
    current = task
    while current in plan.spots and plan.spots[current].area != plan.spots[start].area:
        current = plan.spots[current].area
    if current not in plan.spots:
        return False
    return start == current or (current in onward(plan, start) and not _may_end(plan, start, current))


def _may_end(plan: Plan, start: str, without: str) -> bool:
    """Whether some way from an element ends without passing another."""
    return any(not _next(plan, each) for each in (start, *onward(plan, start, without)))


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
    found = [flow.target for flow in spot.out]
    found.extend(event.id for event in spot.boundaries)
    if isinstance(spot.node, m.Event) and spot.node.position == "throw":
        for trigger in spot.node.triggers:
            if isinstance(trigger, m.LinkTrigger) and (spot.area, trigger.name) in plan.links:
                found.append(plan.links[spot.area, trigger.name])
    return found
