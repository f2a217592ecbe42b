"""Joins in a modification: a token put before a join counts for one of its flows."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from perdure.bpmn import model as m
from perdure.bpmn.machine.apply import inside
from perdure.bpmn.machine.execution_plan import Spot
from perdure.bpmn.machine.gateways import joins
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_state import TokenGame

Flows = dict[str, Iterator[str]]


def flows_for(game: TokenGame, starts: dict[str, int], counts: dict[str, int], cancels: Collection[int]) -> Flows | str:
    """Per element where tokens start, with its scope and their number: the flows they count for; or why it is no use.

    Only joins ask for a flow.
    """
    gone = {each for number in cancels for each in (number, *inside(game.state, number))}
    stay = [node for node in game.state.nodes.values() if node.number not in gone]
    found: Flows = {}
    for element, scope in starts.items():
        spot, flows = game.spot(element), list[str]()
        if joins(spot) and spot.into:
            here = [node for node in stay if node.parent == scope]
            beside = {other for other, where in starts.items() if where == scope and other != element}
            chosen = _chosen(game, spot, scope, counts[element], here, beside)
            if isinstance(chosen, str):
                return chosen
            flows = chosen
        found[element] = iter(flows)
    return found


def _chosen(game: TokenGame, spot: Spot, scope: int, count: int, here: list[Node], beside: set[str]) -> list[str] | str:
    """The flows that have no token, those first on which none can come any more."""
    full = {node.flow for node in here if node.element == spot.id and node.kind == "join"}
    swallowed = {flow.id for flow in spot.into if f"{spot.id} {flow.id}" in game.state.nodes[scope].opened}
    free = [flow.id for flow in spot.into if flow.id not in full | swallowed]
    if count > len(free):
        return f"every flow into '{spot.id}' that it waits for has a token, and another one would be of no use"
    tokens = {node.element for node in here if node.element != spot.id} | beside
    before = game.plan.upstream(spot.id)
    free.sort(key=lambda flow: bool(tokens & before[flow]))
    missing = [flow for flow in free[count:] if not tokens & before[flow]]
    if missing and _needs_all(spot.node):
        return (
            f"'{spot.id}' would wait for ever: no token can come on {', '.join(missing)} any more. "
            f"Start '{spot.id}' once for each of its flows, or what comes after it"
        )
    return free[:count]


def _needs_all(node: m.Node) -> bool:
    return isinstance(node, m.Gateway) and (
        node.kind == "parallel" or (node.kind == "complex" and node.activation is None)
    )
