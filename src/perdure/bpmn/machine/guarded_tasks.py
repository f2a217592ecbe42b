"""Guarded tasks of an instance: which of its human tasks an act on it leaves behind without their answer."""

from __future__ import annotations

from collections.abc import Iterable

from perdure import human_tasks
from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.execution_plan import Plan, Spot
from perdure.bpmn.machine.expression_values import text_of
from perdure.bpmn.machine.reachability import asking, is_inevitable, is_user_task, left_behind, onward
from perdure.bpmn.machine.state import CONTAINERS, ROOT, Node
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.human_tasks import HumanTask
from perdure.overrides import Guard, guards_of_task


def guards_of_move(game: TokenGame, command: c.Modify) -> tuple[Guard, ...]:
    """The tasks that a move takes away without asking them again, and those that its new tokens leave behind."""
    found: list[Guard] = []
    for number in command.cancels:
        for node in _nodes(game, number):
            if not any(is_inevitable(game.plan, start, node.element) for start in command.starts):
                found.extend(_guards_of(game, node))
    left = {game.state.nodes[number].element for number in command.cancels}
    for start in dict.fromkeys(command.starts):
        found.extend(guards_of(game, left_behind(game.plan, start, left)))
    return named_once(found)


def guards_of_end(game: TokenGame, node: Node) -> tuple[Guard, ...]:
    """The tasks that a token stands for, holds or still comes to inside its scope, when it is ended by hand."""
    if node.number == ROOT:
        return guards_ahead(game)
    found = [guard for each in _nodes(game, node.number) for guard in _guards_of(game, each)]
    if node.kind in CONTAINERS or node.element in game.plan.areas:
        inner = asking(game.plan, node.element) if node.kind == "stuck" else _ahead(game, _nodes(game, node.number)[1:])
        found.extend(guards_of(game, inner))
    return named_once(found)


def guards_ahead(game: TokenGame) -> tuple[Guard, ...]:
    """Every task of an instance that waits, or that one of its tokens may still come to."""
    nodes = list(game.state.nodes.values())
    found = [guard for node in nodes for guard in _guards_of(game, node)]
    found.extend(guards_of(game, sorted(_ahead(game, nodes))))
    return named_once(found)


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
        found.extend(guards_of_task(f"task '{spot.id}'", task))
    return tuple(found)


def guards_of(game: TokenGame, elements: Iterable[str]) -> tuple[Guard, ...]:
    """The guards of user tasks of the model, with what their texts come to now."""
    return named_once(guard for element in elements for guard in _static(game, element))


def lost_tasks(before: TokenGame, after: TokenGame, mapping: dict[str, str]) -> list[str]:
    """User tasks and call activities ahead of a token that a migrated instance may avoid, or that others may answer."""
    old, new = _obligations(before), _obligations(after)
    return [each for each, is_sure in old.items() if not _is_kept(before, after, new, each, is_sure, mapping)]


def _is_kept(
    before: TokenGame, after: TokenGame, new: dict[str, bool], element: str, is_sure: bool, mapping: dict[str, str]
) -> bool:
    now = mapping.get(element, element)
    if now not in new or (is_sure and not new[now]):
        return False
    one, other = before.spots[element], after.spots[now]
    if isinstance(one.node, m.CallActivity):
        return isinstance(other.node, m.CallActivity) and one.node.process == other.node.process
    if not is_user_task(other) or (other.rules.agents and not one.rules.agents):
        return False
    return human_tasks.is_as_strict(would_open(before, one), would_open(after, other))


def _obligations(game: TokenGame) -> dict[str, bool]:
    """User tasks and call activities that have not begun, each with whether some token comes to it in any case."""
    nodes = [node for node in game.state.nodes.values() if node.element in game.spots]
    begun = {node.element for node in nodes if node.kind not in ("task", "call")}
    standing = {each for each in begun if asking(game.plan, each) == [each]}
    places = dict.fromkeys(node.element for node in nodes)
    found = {
        each: any(is_inevitable(game.plan, place, each) for place in places if place != each)
        for each in sorted(_ahead(game, nodes))
    }
    return {**found, **dict.fromkeys(sorted(standing), True)}


def _ahead(game: TokenGame, nodes: Iterable[Node]) -> set[str]:
    """The user tasks and call activities that tokens may still come to."""
    reached = {node.element for node in nodes if node.element in game.spots}
    ahead = {each for element in reached for each in onward(game.plan, element)}
    return {task for each in ahead for task in asking(game.plan, each)}


def named_once(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """Guards, each name once, the first of them."""
    found: dict[str, Guard] = {}
    for guard in guards:
        found.setdefault(guard.name, guard)
    return tuple(found.values())


def _nodes(game: TokenGame, number: int) -> list[Node]:
    return [game.state.nodes[each] for each in (number, *inside(game.state, number))]


def _guards_of(game: TokenGame, node: Node) -> tuple[Guard, ...]:
    if node.task is None:
        return _static(game, node.element)
    return guards_of_task(f"task '{node.element}'", node.task)


def _static(game: TokenGame, element: str) -> tuple[Guard, ...]:
    spot = game.spots.get(element)
    if spot is None or not is_user_task(spot):
        return ()
    return guards_of_task(f"task '{element}'", would_open(game, spot))


def would_open(game: TokenGame, spot: Spot) -> HumanTask:
    """The task as it would open now."""
    node = spot.node
    assert isinstance(node, m.Task)
    requester, behind = (game.state.principal, game.state.behind) if spot.rules.four_eyes else ("", ())
    return HumanTask(
        assignee=text_of(game, node.assignee),
        groups=human_tasks.names_of(text_of(game, node.groups)),
        users=human_tasks.names_of(text_of(game, node.users)),
        requester=requester,
        behind=behind,
    )
