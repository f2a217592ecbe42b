"""Loops and multi-instance: a node around the iterations that only counts them."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import holds
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.event_subscriptions import arm_boundaries
from perdure.bpmn.machine.expression_values import count_of
from perdure.bpmn.machine.sequence_flows import complete
from perdure.bpmn.machine.state import Many
from perdure.bpmn.machine.token_game_state import TokenGame

CARDINALITY = "iterations.invalid"


def repeat(game: TokenGame, element: str, scope: int, flow: str, how: m.StandardLoop | m.MultiInstance) -> None:
    """A token arrived at an activity that repeats."""
    if isinstance(how, m.StandardLoop):
        number = game.enter(element, scope, "loop", flow)
        arm_boundaries(game, number, element)
        _count(game, number, Many(0))
        is_over = how.is_tested_before and not _goes_on(game, how, 0)
        _finish(game, number) if is_over else _begin(game, number, 1)
        return
    total = count_of(game, how.cardinality, is_sequential=how.is_sequential)
    if isinstance(total, str):
        game.stuck(element, scope, CARDINALITY, f"'{element}' cannot begin: {total}. Correct it and retry.", flow)
        return
    number = game.enter(element, scope, "many", flow)
    arm_boundaries(game, number, element)
    _count(game, number, Many(total))
    if total == 0:
        _finish(game, number)
    for index in range(1, (1 if how.is_sequential and total else total) + 1):
        _begin(game, number, index)


def _begin(game: TokenGame, number: int, index: int) -> None:
    node = game.state.nodes[number]
    many = node.many or Many(0)
    _count(game, number, Many(many.total, index, many.ended))
    game.later("begin", node.element, number, "", index)


def _count(game: TokenGame, number: int, many: Many) -> None:
    game.emit(e.Iterated(number, many.total, many.started, many.ended))


def _finish(game: TokenGame, number: int) -> None:
    for child in game.children(number):
        game.remove(child.number, "interrupted")
    complete(game, number)


def iterated(game: TokenGame, number: int) -> None:
    """One more iteration has ended."""
    node = game.state.nodes.get(number)
    if node is None or node.many is None:
        return
    many = Many(node.many.total, node.many.started, node.many.ended + 1)
    _count(game, number, many)
    _decide(game, number, many)


def count_only(game: TokenGame, number: int) -> None:
    """One more iteration has ended, and what follows has to wait."""
    many = game.state.nodes[number].many or Many(0)
    _count(game, number, Many(many.total, many.started, many.ended + 1))


def is_broken_off(game: TokenGame, number: int) -> bool:
    """Whether iterations were still to begin, or it was to be decided what follows, when there were too many moves."""
    node, standing = game.state.nodes[number], len(game.children(number))
    if node.many is None or node.kind not in ("many", "loop"):
        return False
    return not standing or node.many.started > node.many.ended + standing


def go_on(game: TokenGame, number: int) -> None:
    """Where iterations were broken off: those that were still to begin do, or it is decided what follows."""
    node = game.state.nodes[number]
    many, standing = node.many or Many(0), game.children(number)
    if any(child.kind == "undo" for child in standing):
        return
    begun = many.ended + len(standing)
    for index in range(begun + 1, many.started + 1):
        game.later("begin", node.element, number, "", index)
    if begun >= many.started:
        _decide(game, number, many)


def _decide(game: TokenGame, number: int, many: Many) -> None:
    repeats = getattr(game.spot(game.state.nodes[number].element).node, "repeat", None)
    if isinstance(repeats, m.StandardLoop):
        _begin(game, number, many.ended + 1) if _goes_on(game, repeats, many.ended) else _finish(game, number)
    elif isinstance(repeats, m.MultiInstance):
        _next(game, number, many, repeats)


def _next(game: TokenGame, number: int, many: Many, how: m.MultiInstance) -> None:
    given = {**game.state.flags, m.COMPLETED_COUNT: many.ended}
    is_over = how.completion is not None and holds(how.completion, given)
    if is_over or many.ended >= many.total:
        _finish(game, number)
    elif how.is_sequential:
        _begin(game, number, many.started + 1)


def _goes_on(game: TokenGame, loop: m.StandardLoop, ended: int) -> bool:
    if loop.maximum is not None and ended >= loop.maximum:
        return False
    if loop.condition is None:
        return loop.maximum is not None or ended == 0
    return holds(loop.condition, game.state.flags)
