"""Errors and escalations: they go up from where they were thrown until an event catches them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.scopes import begin_sub, interrupt_scope
from perdure.bpmn.machine.sequence_flows import leave
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_state import TokenGame

Kind = Literal["error", "escalation"]


def throw(game: TokenGame, kind: Kind, code: str, origin: int, element: str) -> bool:
    """Whether an event caught it. `origin` is the node it was thrown on, or the scope it was thrown in.

    An error does not leave what undoes something: that has failed then, and the rest is still undone. An event
    subprocess does not hear what it throws itself.
    """
    inner: Node | None = None
    for node in _upwards(game, origin):
        if node.kind == "undo" and kind == "error":
            break
        if not _undoes_all(inner) and _catch(game, kind, code, element, node, inner):
            return True
        inner = node
    game.emit(e.ErrorThrown(kind, code, element))
    if kind == "escalation" and game.is_called:
        game.emit(e.Thrown(game.state.next, "escalation", code, "", element))
    return False


def is_caught(game: TokenGame, code: str, origin: int) -> bool:
    """Whether an event would catch an error, without anything happening."""
    inner: Node | None = None
    for node in _upwards(game, origin):
        if node.kind == "undo":
            return False
        if not _undoes_all(inner):
            is_open = node.kind == "scope" and not node.is_interrupted
            if is_open and _ordered_subs(game, "error", code, node, inner.element if inner is not None else ""):
                return True
            if _ordered_boundaries(game, "error", code, node):
                return True
        inner = node
    return False


def _undoes_all(node: Node | None) -> bool:
    """Whether what is around this node is being undone as a whole: it hears nothing until that is done."""
    return node is not None and node.undo is not None and node.undo.then in ("cancel", "end")


def _catch(game: TokenGame, kind: Kind, code: str, element: str, node: Node, inner: Node | None) -> bool:
    """Whether an event on a node, or in it where it is a scope, catches what came up from the inner one."""
    if node.kind == "scope" and not node.is_interrupted:
        for sub, start in _ordered_subs(game, kind, code, node, inner.element if inner is not None else ""):
            game.emit(e.ErrorThrown(kind, code, element, start.id))
            if start.is_interrupting or kind == "error":
                interrupt_scope(game, node.number)
            begin_sub(game, node.number, sub.id, start.id)
            return True
    for event in _ordered_boundaries(game, kind, code, node):
        game.emit(e.ErrorThrown(kind, code, element, event.id))
        if event.is_interrupting or kind == "error":
            game.remove(node.number, "interrupted")
        game.emit(e.Passed(event.id, node.parent))
        leave(game, event.id, node.parent)
        return True
    return False


def _upwards(game: TokenGame, origin: int) -> Iterator[Node]:
    current = origin
    while current:
        node = game.state.nodes[current]
        yield node
        current = node.parent


def _is_iteration(game: TokenGame, node: Node) -> bool:
    parent = game.state.nodes.get(node.parent)
    return parent is not None and parent.kind in ("many", "loop") and parent.element == node.element


def _ordered_boundaries(game: TokenGame, kind: Kind, code: str, node: Node) -> list[m.Event]:
    """Events that catch the code, those that name it before those that catch everything."""
    spot = game.plan.spots.get(node.element)
    if spot is None or _is_iteration(game, node):
        return []
    ranked = [(rank, event) for event in spot.boundaries if (rank := _rank(game, kind, code, event))]
    return [event for _, event in sorted(ranked, key=lambda pair: -pair[0])]


def _ordered_subs(game: TokenGame, kind: Kind, code: str, scope: Node, but: str) -> list[tuple[m.SubProcess, m.Event]]:
    """Event subprocesses that catch the code, in the same order, without the one it came out of."""
    subs = [each for each in game.plan.areas[scope.element].subs if each[0].id != but]
    ranked = [(rank, sub, start) for sub, start in subs if (rank := _rank(game, kind, code, start))]
    return [(sub, start) for _, sub, start in sorted(ranked, key=lambda each: -each[0])]


def _rank(game: TokenGame, kind: Kind, code: str, event: m.Event) -> int:
    """2 when the event names the code, 1 when it catches everything, 0 when it does not catch it."""
    best = 0
    for trigger in event.triggers:
        if kind == "error" and isinstance(trigger, m.ErrorTrigger):
            best = max(best, _match(game.plan.errors.get(trigger.error), code))
        elif kind == "escalation" and isinstance(trigger, m.EscalationTrigger):
            best = max(best, _match(game.plan.escalations.get(trigger.escalation), code))
    return best


def _match(named: m.Error | m.Escalation | None, code: str) -> int:
    if named is None or named.code in ("", "*"):
        return 1
    return 2 if named.code == code else 0
