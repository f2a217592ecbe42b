"""Event subscriptions: a node subscribes to messages, signals and timers with key and time frozen."""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.expression_values import moment_of, text_of
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_state import TokenGame

WATCHED = (m.MessageTrigger, m.TimerTrigger, m.SignalTrigger, m.ConditionalTrigger)
INVALID = "watch.invalid"
WHOLE = ("cancel", "end")
"""How compensation goes on that undoes a transaction or an instance as a whole."""


def arm_boundaries(game: TokenGame, number: int, element: str) -> None:
    for event in game.spots[element].boundaries:
        arm(game, number, event)


def arm_subs(game: TokenGame, number: int, area: str) -> None:
    """Event subprocesses of a scope listen from its beginning."""
    for _, start in game.plan.areas[area].subs:
        arm(game, number, start)


def arm(game: TokenGame, number: int, event: m.Event) -> None:
    for trigger in event.triggers:
        if isinstance(trigger, WATCHED):
            _arm(game, number, event.id, trigger)


def arm_message(game: TokenGame, number: int, event: str, message: str) -> None:
    _arm(game, number, event, m.MessageTrigger(message))


def _arm(game: TokenGame, number: int, event: str, trigger: m.Trigger) -> None:
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
        case (
            m.ErrorTrigger() | m.EscalationTrigger() | m.CompensationTrigger() | m.LinkTrigger()
            | m.TerminateTrigger() | m.CancelTrigger()
        ):  # fmt: skip
            pass  # these come to whoever stands in their way, without a wait
        case _:
            assert_never(trigger)


def _key(game: TokenGame, id: str) -> tuple[str, str]:
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


def rearm(game: TokenGame, number: int, but: Collection[str] = ()) -> None:
    """Arm what a node listens for and is not armed: after an incident, or under another definition.

    `but` are events that had their time: what has happened once does not wait to happen again. What is being undone as
    a whole hears nothing.
    """
    if any(child.undo is not None and child.undo.then in WHOLE for child in game.children(number)):
        return
    armed = {watch.event for watch in game.state.watches.values() if watch.node == number}
    spot = game.plan.spots.get(game.state.nodes[number].element)
    for event in listens(game.plan, game.state.nodes[number]):
        if event in armed or event in but:
            continue
        node = game.spots[event].node
        if isinstance(node, m.Event):
            arm(game, number, node)
        elif spot is not None and isinstance(node, m.Task):
            arm_message(game, number, event, node.message)


def listens(plan: Plan, node: Node) -> list[str]:
    """The events (and receive tasks) that a token on a node waits for under a plan."""
    spot = plan.spots.get(node.element)
    # Those of an activity that repeats are armed around all its iterations, not on each.
    found = [event.id for event in spot.boundaries] if spot is not None and not node.iteration else []
    if node.kind == "scope" and not node.is_interrupted:
        found.extend(start.id for _, start in plan.areas[node.element].subs)
    if spot is None:
        return found
    if node.kind == "gate":
        found.extend(flow.target for flow in spot.out if _is_awaited(plan.spots[flow.target].node))
    elif node.kind == "wait" and _is_event(spot.node):
        found.append(spot.id)
    return found


def _is_event(node: m.Node) -> bool:
    return isinstance(node, m.Event) or (isinstance(node, m.Task) and node.kind == "receive")


def _is_awaited(node: m.Node) -> bool:
    return node.position == "catch" if isinstance(node, m.Event) else isinstance(node, m.Task)
