"""Event triggers: an event that a subscription waited for occurs."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import Condition, holds
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import make_job
from perdure.bpmn.machine.expression_values import next_due
from perdure.bpmn.machine.scopes import begin_sub, interrupt_scope
from perdure.bpmn.machine.sequence_flows import complete, leave
from perdure.bpmn.machine.state import Node, Watch
from perdure.bpmn.machine.token_game_state import TokenGame


def occur(game: TokenGame, number: int, message_id: str = "", message: bytes = b"") -> None:
    """The token, or another one, goes on by the event. `message` is what arrived, for an intake verb to look at."""
    watch = game.state.watches[number]
    node = game.state.nodes[watch.node]
    spot = game.spots[watch.event]
    event = spot.node if isinstance(spot.node, m.Event) else None
    if event is not None and event.is_parallel and len(event.triggers) > 1:
        message = message or _kept(game, watch)
        if not _all_met(game, watch, message):
            return
    intake = spot.intake if message else ""
    if event is None or event.position == "catch":
        _occur_here(game, watch, node, message_id, intake, message)
    elif event.position == "boundary":
        _occur_at_boundary(game, watch, node, event, message_id)
        _renew(game, watch, event)
        _go_on(game, event.id, node.parent, intake, message)
    else:
        _note(game, watch, message_id, stays=not event.is_interrupting)
        if event.is_interrupting:
            interrupt_scope(game, node.number)
        _renew(game, watch, event)
        _go_on(game, event.id, node.number, intake, message)


def _kept(game: TokenGame, watch: Watch) -> bytes:
    """What an earlier trigger of the same event brought."""
    return next((each.message for each in _same(game, watch) if each.message), b"")


def _same(game: TokenGame, watch: Watch) -> list[Watch]:
    """What the event of a watch waits for, as long as it does."""
    return [each for each in game.state.watches.values() if (each.node, each.event) == (watch.node, watch.event)]


def _all_met(game: TokenGame, watch: Watch, message: bytes) -> bool:
    """Of an event that needs all its triggers: whether this was the last."""
    game.emit(e.WatchMet(watch.number, True, message))
    same = _same(game, watch)
    if not all(each.is_met for each in same):
        return False
    for each in same:
        if each.kind != "condition":  # listens anew, should the event be one that stays
            game.emit(e.WatchMet(each.number, False))
    return True


def _note(game: TokenGame, watch: Watch, message_id: str, *, stays: bool) -> None:
    """A watch that is not interrupting goes on listening; a timer only when it has a cycle with times left."""
    due, left = 0, 0
    if stays and watch.kind == "timer":
        stays = bool(watch.cycle) and watch.left != 0
        if stays:
            due = next_due(watch.cycle, watch.due, watch.left, game.now, game.cron)
            left = watch.left if watch.left < 0 else watch.left - 1
            stays = due > 0
    game.emit(e.Occurred(watch.number, game.now, message_id, due, left, stays))


def _renew(game: TokenGame, watch: Watch, event: m.Event) -> None:
    """An event that needs all its triggers, and stays, needs all of them again; a timer that is spent comes no more."""
    if not event.is_parallel or event.is_interrupting:
        return
    for each in _same(game, watch):
        if each.kind == "timer" and each.number != watch.number:
            _note(game, each, "", stays=True)
    left = _same(game, watch)
    if sum(isinstance(each, m.TimerTrigger) for each in event.triggers) > sum(each.kind == "timer" for each in left):
        for each in left:
            game.emit(e.Disarmed(each.number))


def _occur_here(game: TokenGame, watch: Watch, node: Node, message_id: str, intake: str, message: bytes) -> None:
    """The event the token itself stands before: a catch event, a receive task, or an arm of a race."""
    _note(game, watch, message_id, stays=False)
    if node.kind == "gate":
        game.emit(e.Left(node.number, "completed"))
        _go_on(game, watch.event, node.parent, intake, message)
    elif intake:
        for each in list(game.state.watches.values()):
            if (each.node, each.event) == (node.number, watch.event):
                game.emit(e.Disarmed(each.number))  # what else the event waited for is not needed any more
        make_job(game, node.number, intake, "intake", message)
    else:
        complete(game, node.number)


def _occur_at_boundary(game: TokenGame, watch: Watch, node: Node, event: m.Event, message_id: str) -> None:
    _note(game, watch, message_id, stays=not event.is_interrupting)
    if event.is_interrupting:
        game.remove(node.number, "interrupted")


def _go_on(game: TokenGame, event: str, scope: int, intake: str, message: bytes) -> None:
    """After the event: at once, or when its intake has looked at what arrived."""
    if intake:
        number = game.enter(event, scope, "job")
        make_job(game, number, intake, "intake", message)
    else:
        pass_event(game, event, scope)


def pass_event(game: TokenGame, event: str, scope: int, *, is_told: bool = False) -> None:
    """The event is behind the token now; `is_told` when the journal says already that it was reached."""
    spot = game.spots[event]
    if isinstance(spot.node, m.Event) and spot.node.position == "start" and spot.area != game.plan.process:
        begin_sub(game, scope, spot.area, event, is_told=is_told)
    else:
        if not is_told:
            game.emit(e.Passed(event, scope))
        leave(game, event, scope)


def conditions(game: TokenGame) -> bool:
    """Whether a condition that is watched has become true; if so, its event occurs."""
    if not game.is_flagged:
        return False
    for watch in list(game.state.watches.values()):
        if watch.kind != "condition":
            continue
        is_true = holds(_condition(game, watch), game.state.flags)
        if is_true != watch.is_met:
            game.emit(e.WatchMet(watch.number, is_true))
            if is_true:
                occur(game, watch.number)
                return True
    game.is_flagged = False
    return False


def _condition(game: TokenGame, watch: Watch) -> Condition:
    """What the watch stands for: of several conditions of one event, watches are in their order."""
    event = game.spots[watch.event].node
    assert isinstance(event, m.Event)
    found = [each.condition for each in event.triggers if isinstance(each, m.ConditionalTrigger)]
    if len(found) == 1:
        return found[0]
    place = sum(each.kind == "condition" and each.number < watch.number for each in _same(game, watch))
    return found[min(place, len(found) - 1)]
