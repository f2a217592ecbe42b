"""Ad-hoc subprocesses: activities in no order, until all have ended or the completion condition holds.

Their scope counts: where tokens may begin, how many have begun, how many activities have completed. Once the condition
held the first is 0: what runs may finish, and nothing begins any more.
"""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import holds
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_state import TokenGame

IDLE = frozenset({"join", "gate", "stuck"})


def open_ad_hoc(game: TokenGame, number: int, node: m.SubProcess) -> None:
    starts = game.plan.areas[node.id].starts
    first = starts[:1] if node.ordering == "sequential" else starts
    game.emit(e.Iterated(number, len(starts), len(first), 0))
    for start in first:
        game.go(start, number)


def is_ad_hoc(node: Node) -> bool:
    return node.many is not None and node.kind == "scope"


def is_over(scope: Node) -> bool:
    """Whether nothing begins any more in what may be an ad-hoc subprocess."""
    return scope.many is not None and scope.many.total == 0 and scope.kind == "scope"


def goes_on(game: TokenGame, number: int) -> bool:
    """An activity inside has completed: whether its token may go on from there."""
    scope = game.state.nodes[number]
    node, many = game.spots[scope.element].node, scope.many
    assert isinstance(node, m.SubProcess) and many is not None
    ended = many.ended + 1
    given = {**game.state.flags, m.COMPLETED_COUNT: ended}
    is_met = many.total > 0 and node.completion is not None and holds(node.completion, given)
    total = 0 if is_met else many.total
    game.emit(e.Iterated(number, total, many.started, ended))
    if is_met:
        _clear(game, number, node.cancels_remaining)
    if not total:
        game.touch(number)
    return total > 0


def _clear(game: TokenGame, number: int, is_all: bool) -> None:
    """What stands inside is gone, all of it or only what does no work: nothing could follow it."""
    for child in game.children(number):
        waits = child.kind == "wait" and isinstance(game.spots[child.element].node, m.Event)
        if is_all or waits or child.kind in IDLE:
            game.remove(child.number, "interrupted")


def begin_next(game: TokenGame, number: int) -> bool:
    """Nothing stands inside any more: whether another activity has its turn; if so, it begins."""
    scope = game.state.nodes[number]
    node, many = game.spots[scope.element].node, scope.many
    if many is None or scope.is_interrupted or not isinstance(node, m.SubProcess) or node.ordering != "sequential":
        return False
    starts = game.plan.areas[scope.element].starts[: many.total]
    if many.started >= len(starts):
        return False
    game.emit(e.Iterated(number, many.total, many.started + 1, many.ended))
    game.go(starts[many.started], number)
    return True
