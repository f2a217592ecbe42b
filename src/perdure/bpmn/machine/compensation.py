"""Compensation: what was done is undone, last first, one after the other; a failure does not stop the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import make_job
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.completed_activities import backwards, chosen, first, placed
from perdure.bpmn.machine.event_subscriptions import arm_subs
from perdure.bpmn.machine.result_paths import place_of
from perdure.bpmn.machine.scopes import begin_at, clear, end
from perdure.bpmn.machine.sequence_flows import is_transaction, leave
from perdure.bpmn.machine.state import ROOT, Done, Failure, Node, Place, Undo
from perdure.bpmn.machine.token_game_state import TokenGame

FAILED = "compensation.failed"
Then = Literal["leave", "cancel", "end", "none"]


def undo(game: TokenGame, element: str, scope: int, activities: tuple[str, ...], then: Then) -> int:
    """Begin to undo what a scope has done: all of it, or what is named. Returns the node that waits for it."""
    number = game.enter(element, scope, "undo")
    queue: tuple[Done, ...] = ()
    for target in _targets(game, scope):
        done = game.state.nodes[target].done
        queue += backwards(chosen(done, activities, is_named=True) if activities else done)
        keeps = chosen(done, activities, is_named=False) if activities else ()
        game.emit(e.Undoing(number, Undo(queue, then), target, keeps))
    game.touch(number)
    return number


def _targets(game: TokenGame, scope: int) -> Iterator[int]:
    """Whose work is undone: the scope's own, and, thrown in an event subprocess, that of the scope around it."""
    nodes = game.state.nodes
    current = scope
    while (
        current != ROOT and _is_event_subprocess(game, nodes[current]) and nodes[nodes[current].parent].kind != "undo"
    ):
        if nodes[current].done:
            yield current
        current = game.scope_of(current)
    yield current


def _is_event_subprocess(game: TokenGame, node: Node) -> bool:
    spot = game.plan.spots.get(node.element)
    return spot is not None and isinstance(spot.node, m.SubProcess) and spot.node.kind == "event"


def proceed(game: TokenGame, number: int) -> None:
    """Nothing runs for this compensation now: undo the next, or go on."""
    node = game.state.nodes[number]
    assert node.undo is not None
    if not node.undo.queue:
        _over(game, node, node.undo)
        return
    done, rest = first(node.undo.queue)
    game.emit(e.Undoing(number, replace(node.undo, queue=rest, place=_place(game, done), adopted={})))
    _undo_one(game, number, done)
    game.touch(number)


def _place(game: TokenGame, done: Done) -> Place:
    """The place of what was done, from that of its compensation: the iteration it was, if it was one of many."""
    spot = game.spots.get(done.element)
    repeats = spot is not None and isinstance(getattr(spot.node, "repeat", None), m.MultiInstance)
    return (*done.place, done.element, str(done.iteration)) if repeats and done.iteration else done.place


def _undo_one(game: TokenGame, number: int, done: Done) -> None:
    if done.handler:
        game.go(done.handler, number)
    elif done.verb:
        job = game.enter(done.element, number, "job", "", done.iteration)
        make_job(game, job, done.verb, "undo")
    elif done.element in game.plan.areas and game.plan.areas[done.element].undo:
        _run_own(game, number, done)
    else:
        node = game.state.nodes[number]
        assert node.undo is not None
        inner = placed(done.inner, node.undo.place)
        game.emit(e.Undoing(number, replace(node.undo, queue=(*backwards(inner), *node.undo.queue))))


def _run_own(game: TokenGame, number: int, done: Done) -> None:
    """A subprocess that says itself how it is undone, by an event subprocess that starts on compensation."""
    sub = game.plan.areas[done.element].undo
    scope = game.enter(sub, number, "scope")
    for each in done.inner:
        game.emit(e.Completed(scope, each))
    arm_subs(game, scope, sub)
    area = game.plan.areas[sub]
    starts = tuple(node.id for node in area.nodes if isinstance(node, m.Event) and node.position == "start")
    begin_at(game, scope, starts)
    game.touch(scope)


def failed_undo(game: TokenGame, number: int) -> bool:
    """Whether a node that failed runs for a compensation: the others still run, a person is told at the end."""
    nodes = game.state.nodes
    part, element = nodes[number], nodes[number].element
    while part.parent and nodes[part.parent].kind != "undo":
        part = nodes[part.parent]
    if not part.parent:
        return False
    undoer = nodes[part.parent]
    assert undoer.undo is not None
    game.remove(part.number, "cancelled")
    game.emit(e.Undoing(undoer.number, replace(undoer.undo, failed=(*undoer.undo.failed, element))))
    game.touch(undoer.number)
    return True


def _over(game: TokenGame, node: Node, over: Undo) -> None:
    if over.then == "end":
        status = "compensation_failed" if over.failed else "compensated"
        end(game, status, game.state.failure)  # type: ignore[arg-type]
        return
    if over.failed:
        text = f"Compensation failed for {', '.join(over.failed)}. Undo it by hand, then retry to go on."
        game.incident(node.number, FAILED, text)
        return
    finish(game, node, over.then)


def finish(game: TokenGame, node: Node, then: str) -> None:
    """Everything was undone: where the token goes now."""
    if then == "cancel":
        _leave_cancelled(game, node.parent)
        return
    game.emit(e.Left(node.number, "completed"))
    if then == "leave":
        leave(game, node.element, node.parent)
    else:
        game.touch(node.parent)


def cancel_transaction(game: TokenGame, scope: int, element: str) -> None:
    """A cancel end event: what the transaction did is undone, then it is left by its cancel event.

    One that repeats is undone with all its iterations, those that have ended as well.
    """
    current = scope
    while current != ROOT and not is_transaction(game, game.state.nodes[current]):
        current = game.scope_of(current)
    _undo_all(game, element, _whole(game, current).number, "cancel")


def _whole(game: TokenGame, number: int) -> Node:
    """The node of an activity: its own, or the one around its iterations."""
    node = game.state.nodes[number]
    around = game.state.nodes.get(node.parent)
    repeats = around is not None and around.kind in ("many", "loop") and around.element == node.element
    return around if around is not None and repeats else node


def _leave_cancelled(game: TokenGame, number: int) -> None:
    if number == ROOT:
        end(game, "terminated")
        return
    host = _whole(game, number)
    events = [
        event
        for event in game.spot(host.element).boundaries
        if any(isinstance(trigger, m.CancelTrigger) for trigger in event.triggers)
    ]
    game.remove(host.number, "interrupted")
    for event in events[:1]:
        game.emit(e.Passed(event.id, host.parent))
        leave(game, event.id, host.parent)
    game.touch(host.parent)


def compensate_instance(game: TokenGame, failure: Failure | None) -> None:
    """Everything the instance has done is undone, and it ends."""
    game.emit(e.CompensationStarted(game.now, failure))
    _undo_all(game, game.plan.process, ROOT, "end")


def _undo_all(game: TokenGame, element: str, scope: int, then: Then) -> None:
    """Undo what a scope and the scopes inside have done. What is being undone already goes on, and is done once.

    Nothing that happens to the scope from now on stops the undoing.
    """
    queue = backwards(tuple(_everything(game, scope)))
    within = (game.state.nodes[each] for each in inside(game.state, scope))
    undoers = [node for node in within if node.undo is not None and not _is_undone(game, node, scope)]
    number = game.enter(element, scope, "undo")
    outside = len(place_of(game.state, game.state.nodes[number]))
    adopted: dict[int, Place] = {}
    for undoer in undoers:
        for child in game.children(undoer.number):
            adopted[child.number] = place_of(game.state, child)[outside:]
            game.emit(e.Adopted(child.number, number))
    clear(game, scope, but=number)
    for watch in [each for each in game.state.watches.values() if each.node == scope]:
        game.emit(e.Disarmed(watch.number))
    failed = tuple(what for undoer in undoers if undoer.undo is not None for what in undoer.undo.failed)
    game.emit(e.Undoing(number, Undo(queue, then, failed, (), adopted), scope))
    game.touch(number)


def _is_undone(game: TokenGame, node: Node, scope: int) -> bool:
    """Whether a compensation is part of undoing something else inside the scope, which goes on as a whole."""
    current = game.state.nodes[node.parent]
    while current.number != scope:
        if current.kind == "undo":
            return True
        current = game.state.nodes[current.parent]
    return False


def _everything(game: TokenGame, around: int, place: Place = ()) -> list[Done]:
    """What was done in a scope, or in iterations, and, after it, in what is inside and had not ended."""
    node = game.state.nodes[around]
    found = list(placed(node.done, place))
    for child in game.children(around):
        if child.undo is not None:
            found.extend(reversed(placed(child.undo.queue, place)))
        elif child.kind in ("scope", "many", "loop"):
            own = (node.element, str(child.iteration)) if node.kind == "many" else ()
            found.extend(_everything(game, child.number, (*place, *own)))
    return found
