"""Sequence flows: a token leaves a node, and the end of an activity reaches the scope around it."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import flags_of, holds
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.ad_hoc_subprocesses import goes_on, is_ad_hoc
from perdure.bpmn.machine.state import Done, Node
from perdure.bpmn.machine.token_game_state import TokenGame

NO_WAY_OUT = "gateway.no_way_out"


def leave(game: TokenGame, element: str, scope: int) -> None:
    """A token leaves an activity or event: by every flow without a condition and every one whose condition holds."""
    spot = game.spots[element]
    if not spot.out:
        game.touch(scope)
        return
    if spot.is_plain:
        send(game, spot.out, scope)
        return
    default = spot.default
    taken = [flow for flow in spot.out if flow.id != default and _is_open(game, flow)]
    if default and not any(flow.condition is not None for flow in taken):
        taken.extend(flow for flow in spot.out if flow.id == default)
    if not taken:
        no_way_out(game, element, scope)
        return
    send(game, taken, scope)


def _is_open(game: TokenGame, flow: m.Flow) -> bool:
    return flow.condition is None or holds(flow.condition, game.state.flags)


def send(game: TokenGame, flows: list[m.Flow] | tuple[m.Flow, ...], scope: int) -> None:
    for flow in flows:
        game.go(flow.target, scope, flow.id)


def no_way_out(game: TokenGame, element: str, scope: int) -> None:
    read = sorted({name for flow in game.spot(element).out if flow.condition for name in flags_of(flow.condition)})
    values = ", ".join(f"{name} is {game.state.flags.get(name)!r}" for name in read)
    game.stuck(
        element, scope, NO_WAY_OUT,
        f"No flow out of '{element}' is open ({values or 'no condition holds'}) and there is no default. "
        "Set the flag by hand and retry, or give the gateway a default flow.",
    )  # fmt: skip


def complete(game: TokenGame, number: int) -> None:
    """An activity has done its work: the token goes on, or what is around it counts and decides."""
    node = game.state.nodes[number]
    parent = game.state.nodes[node.parent]
    remember(game, node)
    if parent.kind in ("many", "loop") and parent.element == node.element:
        game.emit(e.Left(number, "completed"))
        game.later("iterated", parent.number)
    else:
        go_beyond(game, node)


def go_beyond(game: TokenGame, node: Node) -> None:
    """A token is done where it stands: it goes on, unless it completed an activity after which nothing begins."""
    game.emit(e.Left(node.number, "completed"))
    spot, parent = game.spots[node.element], game.state.nodes[node.parent]
    is_counted = isinstance(spot.node, m.Activity) and not spot.is_event_subprocess
    if not is_ad_hoc(parent) or not is_counted or goes_on(game, parent.number):
        follow(game, node.element, node.parent)


def follow(game: TokenGame, element: str, container: int) -> None:
    """What comes after an element that ended inside a container."""
    spot = game.spots[element]
    if spot.is_event_subprocess or (not spot.out and game.state.nodes[container].kind == "undo"):
        game.touch(container)
    else:
        leave(game, element, container)


def remember(game: TokenGame, node: Node) -> None:
    """What can be undone later is noted in the scope, in the order of completion.

    Iterations of a transaction are one whole until it is left: they are noted around them so long.
    """
    if node.kind in ("many", "loop") or not (game.plan.remembers or node.done):
        return
    done = _done(game, node, game.spots[node.element].handler)
    scope = node.parent if node.iteration and is_transaction(game, node) else game.scope_of(node.number)
    if done is not None and scope and not _is_undoing(game, node):
        game.emit(e.Completed(scope, done))


def is_transaction(game: TokenGame, node: Node) -> bool:
    spot = game.spots.get(node.element)
    return spot is not None and isinstance(spot.node, m.SubProcess) and spot.node.kind == "transaction"


def _is_undoing(game: TokenGame, node: Node) -> bool:
    """What runs as part of compensation is not itself undone."""
    nodes = game.state.nodes
    current = node.parent
    while current:
        if nodes[current].kind == "undo":
            return True
        if nodes[current].kind == "scope":
            return False
        current = nodes[current].parent
    return False


def _done(game: TokenGame, node: Node, handler: str) -> Done | None:
    spot = game.spot(node.element)
    if handler:
        return Done(node.element, handler, node.done, "", node.iteration)
    if isinstance(spot.node, m.SubProcess):
        can_undo = node.done or game.plan.areas[node.element].undo
        return Done(node.element, "", node.done, "", node.iteration) if can_undo else None
    if isinstance(spot.node, m.Task) and spot.node.type in game.plan.deployed.compensation:
        return Done(node.element, "", (), game.plan.deployed.compensation[spot.node.type], node.iteration)
    return None
