"""Arming: what may happen to a node from now on, with key and time frozen."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.machine import entries as e
from perdure.bpmn.machine.game import Game
from perdure.bpmn.machine.values import moment_of, text_of

WATCHED = (m.MessageTrigger, m.TimerTrigger, m.SignalTrigger, m.ConditionalTrigger)
INVALID = "watch.invalid"


def arm_boundaries(game: Game, number: int, element: str) -> None:
    for event in game.spot(element).boundaries:
        arm(game, number, event)


def arm_subs(game: Game, number: int, area: str) -> None:
    """Event subprocesses of a scope listen from its beginning."""
    for _, start in game.plan.areas[area].subs:
        arm(game, number, start)


def arm(game: Game, number: int, event: m.Event) -> None:
    for trigger in event.triggers:
        if isinstance(trigger, WATCHED):
            _arm(game, number, event.id, trigger)


def arm_message(game: Game, number: int, event: str, message: str) -> None:
    _arm(game, number, event, m.MessageTrigger(message))


def _arm(game: Game, number: int, event: str, trigger: m.Trigger) -> None:
    watch = game.state.next
    match trigger:
        case m.MessageTrigger(message):
            key, fault = _key(game, message)
            if fault:
                game.incident(number, INVALID, fault)
                return
            game.emit(e.Armed(watch, number, event, "message", game.plan.message_name(message), key))
        case m.SignalTrigger(signal):
            game.emit(e.Armed(watch, number, event, "signal", game.plan.signal_name(signal)))
        case m.TimerTrigger():
            moment = moment_of(game, trigger)
            if moment.fault:
                game.incident(number, INVALID, f"The timer of '{event}' cannot be set: {moment.fault}.")
                return
            game.emit(e.Armed(watch, number, event, "timer", "", "", moment.due, moment.cycle, moment.left))
        case m.ConditionalTrigger():
            game.emit(e.Armed(watch, number, event, "condition"))
            game.is_flagged = True
        case _:
            pass


def _key(game: Game, id: str) -> tuple[str, str]:
    message = game.plan.messages.get(id)
    if message is None or message.correlation is None:
        return "", ""
    key = text_of(game, message.correlation)
    if key:
        return key, ""
    return "", (
        f"The wait for message '{message.name}' has no key: '{message.correlation.text}' is empty. "
        "A verb before the wait must set it; set the flag by hand and retry."
    )


def rearm(game: Game, number: int) -> None:
    """After an incident: arm what could not be armed before."""
    node = game.state.nodes[number]
    armed = {watch.event for watch in game.state.watches.values() if watch.node == number}
    spot = game.plan.spots.get(node.element)
    events = list(spot.boundaries) if spot is not None else []
    if spot is not None and isinstance(spot.node, m.Event):
        events.append(spot.node)
    if node.kind == "scope" and not node.is_interrupted:
        events.extend(start for _, start in game.plan.areas[node.element].subs)
    if node.kind == "gate" and spot is not None:
        events.extend(each for flow in spot.out if isinstance(each := game.spot(flow.target).node, m.Event))
    for event in events:
        if event.id not in armed:
            arm(game, number, event)
    if spot is not None and isinstance(spot.node, m.Task) and spot.node.kind == "receive" and spot.id not in armed:
        arm_message(game, number, spot.id, spot.node.message)
