"""Scopes: how a process or subprocess begins, and what happens when nothing stands inside it any more."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.ad_hoc_subprocesses import begin_next, open_ad_hoc
from perdure.bpmn.machine.event_subscriptions import arm_subs
from perdure.bpmn.machine.sequence_flows import complete, leave
from perdure.bpmn.machine.state import ROOT, Failure, Status
from perdure.bpmn.machine.token_game_state import TokenGame


def open_scope(game: TokenGame, number: int, node: m.SubProcess) -> None:
    arm_subs(game, number, node.id)
    if node.kind == "ad_hoc":
        open_ad_hoc(game, number, node)
    else:
        begin_at(game, number, game.plan.areas[node.id].starts)
    game.touch(number)


def begin_at(game: TokenGame, scope: int, starts: tuple[str, ...]) -> None:
    for start in starts:
        node = game.spots[start].node
        if isinstance(node, m.Event) and node.position == "start":
            game.emit(e.Passed(start, scope))
            leave(game, start, scope)
        else:
            game.go(start, scope)


def close(game: TokenGame, number: int) -> None:
    """Nothing stands inside a scope any more."""
    if number == ROOT:
        end(game, "completed")
    elif not begin_next(game, number):
        complete(game, number)


def end(game: TokenGame, status: Status, failure: Failure | None = None) -> None:
    """The instance is over, and whatever it still held is gone."""
    for node in list(game.state.nodes.values()):
        if node.kind == "call":
            game.emit(e.Thrown(node.number, "cancel_call", node.element))
    game.moves.clear()
    game.touched.clear()
    game.emit(e.InstanceEnded(game.now, status, failure))


def clear(game: TokenGame, scope: int, but: int = 0) -> None:
    """Everything inside a scope is gone, all `but` one node where given; the scope itself stays."""
    for child in game.children(scope):
        if child.number in game.state.nodes and child.number != but:
            game.remove(child.number, "interrupted")
    drop_tokens(game, scope)


def drop_tokens(game: TokenGame, scope: int) -> None:
    """Tokens on their way inside a scope go no further."""
    kept = [move for move in game.moves if not _is_inside(game, move, scope)]
    game.moves.clear()
    game.moves.extend(kept)


def _is_inside(game: TokenGame, move: tuple[object, ...], scope: int) -> bool:
    where = move[2] if move[0] in ("arrive", "begin") else move[1]
    return where == scope or (isinstance(where, int) and where not in game.state.nodes)


def begin_sub(game: TokenGame, scope: int, sub: str, start: str, *, is_told: bool = False) -> None:
    """An event subprocess begins because its start event occurred."""
    number = game.enter(sub, scope, "scope")
    arm_subs(game, number, sub)
    if not is_told:
        game.emit(e.Passed(start, number))
    leave(game, start, number)
    game.touch(number)


def interrupt_scope(game: TokenGame, scope: int) -> None:
    """An interrupting event subprocess takes over: everything else in the scope is gone, and no other may begin."""
    clear(game, scope)
    area = game.plan.areas[game.state.nodes[scope].element]
    starts = {start.id for _, start in area.subs}
    for watch in list(game.state.watches.values()):
        if watch.node == scope and watch.event in starts:
            game.emit(e.Disarmed(watch.number))
    game.emit(e.Interrupted(scope))


def terminate(game: TokenGame, scope: int) -> None:
    """A terminate end event: its scope is over at once."""
    clear(game, scope)
    if scope == ROOT:
        end(game, "terminated")
    else:
        game.touch(scope)
