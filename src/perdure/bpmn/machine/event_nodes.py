"""Event nodes that tokens reach: catch events wait, throw and end events throw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import make_job, throw_message
from perdure.bpmn.machine.compensation import cancel_transaction, failed_undo, undo
from perdure.bpmn.machine.error_propagation import throw
from perdure.bpmn.machine.event_subscriptions import WATCHED, arm
from perdure.bpmn.machine.event_triggers import occur
from perdure.bpmn.machine.scopes import end, terminate
from perdure.bpmn.machine.sequence_flows import leave
from perdure.bpmn.machine.state import Failure
from perdure.bpmn.machine.token_game_state import TokenGame


def arrive(game: TokenGame, event: m.Event, scope: int, flow: str) -> None:
    if event.position in ("throw", "end"):
        _throw(game, event, scope, flow)
    elif any(isinstance(trigger, WATCHED) for trigger in event.triggers):
        number = game.enter(event.id, scope, "wait", flow)
        arm(game, number, event)
    else:
        game.emit(e.Passed(event.id, scope, flow))
        leave(game, event.id, scope)


TAKES_AWAY = (m.CompensationTrigger, m.ErrorTrigger, m.CancelTrigger, m.TerminateTrigger)
"""What takes the token from the event it is thrown by: of several triggers these come last, in this order."""


def _throw(game: TokenGame, event: m.Event, scope: int, flow: str) -> None:
    if event.type and any(isinstance(trigger, m.MessageTrigger) for trigger in event.triggers):
        number = game.enter(event.id, scope, "job", flow)
        make_job(game, number, event.type)
        return
    if not event.triggers:
        game.emit(e.Passed(event.id, scope, flow))
        after_throw(game, event, scope)
        return
    _throw_all(game, event, game.enter(event.id, scope, "wait", flow), scope, event.triggers)


def sent(game: TokenGame, event: m.Event, number: int, scope: int) -> None:
    """A verb has sent the event's message: what else it throws is thrown now."""
    _throw_all(game, event, number, scope, [each for each in event.triggers if not isinstance(each, m.MessageTrigger)])


def _throw_all(game: TokenGame, event: m.Event, number: int, scope: int, triggers: Sequence[m.Trigger]) -> None:
    # While it throws, the token stands on the event: whoever catches may take it away.
    for trigger in sorted(triggers, key=_turn) if len(triggers) > 1 else triggers:
        if number not in game.state.nodes:
            return
        _throw_one(game, event, trigger, number, scope)
    if number in game.state.nodes:
        game.emit(e.Left(number, "completed"))
        after_throw(game, event, scope)


def _turn(trigger: m.Trigger) -> int:
    return next((place for place, kind in enumerate(TAKES_AWAY, 1) if isinstance(trigger, kind)), 0)


def after_throw(game: TokenGame, event: m.Event, scope: int) -> None:
    if event.position == "throw" and not any(isinstance(each, m.LinkTrigger) for each in event.triggers):
        leave(game, event.id, scope)
    else:
        game.touch(scope)


def _throw_one(game: TokenGame, event: m.Event, trigger: m.Trigger, number: int, scope: int) -> None:
    match trigger:
        case m.MessageTrigger(message):
            throw_message(game, message, event.id)
        case m.SignalTrigger(signal):
            _signal(game, game.plan.signal_name(signal), event.id)
        case m.EscalationTrigger(escalation):
            throw(game, "escalation", game.plan.escalation_code(escalation), number, event.id)
        case m.ErrorTrigger(error):
            _error(game, game.plan.error_code(error), number, event.id)
        case m.LinkTrigger(name):
            _link(game, name, event.id, scope)
        case m.CompensationTrigger():
            game.emit(e.Left(number, "completed"))
            _compensate(game, event, scope)
        case m.TerminateTrigger():
            terminate(game, scope)
        case m.CancelTrigger():
            cancel_transaction(game, scope, event.id)
        case m.TimerTrigger() | m.ConditionalTrigger():
            pass  # caught only
        case _:
            assert_never(trigger)


def _signal(game: TokenGame, name: str, element: str) -> None:
    """Who listens in this instance hears it at once; everyone else when it is committed."""
    game.emit(e.Thrown(game.state.next, "signal", name, "", element))
    for watch in list(game.state.watches.values()):
        if watch.kind == "signal" and watch.name == name and watch.number in game.state.watches:
            occur(game, watch.number)


def _error(game: TokenGame, code: str, number: int, element: str) -> None:
    if not throw(game, "error", code, number, element) and not failed_undo(game, number):
        text = f"The process threw the error '{code}' at '{element}' and nothing caught it."
        end(game, "failed", Failure("permanent_business", code, text))


def _link(game: TokenGame, name: str, element: str, scope: int) -> None:
    area = game.spots[element].area
    catch = game.plan.links.get((area, name))
    if catch is None:
        game.stuck(element, scope, "link.missing", f"No link event '{name}' catches what '{element}' throws.")
        return
    game.emit(e.Passed(catch, scope))
    leave(game, catch, scope)


def _compensate(game: TokenGame, event: m.Event, scope: int) -> None:
    """All that the event names is undone together; where nothing is named, everything."""
    given = [each for each in event.triggers if isinstance(each, m.CompensationTrigger)]
    named = tuple(each.activity for each in given) if all(each.activity for each in given) else ()
    if any(each.waits for each in given):
        undo(game, event.id, scope, named, "leave" if event.position == "throw" else "none")
        return
    undo(game, event.id, scope, named, "none")
    after_throw(game, event, scope)
