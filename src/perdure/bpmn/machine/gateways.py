"""Gateways: where tokens part and meet.

| kind | a token arrives | it goes on |
|---|---|---|
| exclusive | passes at once | by the first flow whose condition holds, else the default |
| parallel | waits until there is one from every incoming flow | by every flow |
| inclusive | waits until no other token can still arrive | by every flow whose condition holds, else the default |
| complex | waits until its activation condition holds; later ones are swallowed | as inclusive |
| event | waits for the first of the events behind it | by that event |
"""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import flags_of, holds
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.event_subscriptions import arm, arm_message
from perdure.bpmn.machine.execution_plan import Spot
from perdure.bpmn.machine.sequence_flows import no_way_out, send
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_state import TokenGame


def arrive(game: TokenGame, gateway: m.Gateway, scope: int, flow: str) -> None:
    spot = game.spots[gateway.id]
    if gateway.kind == "event":
        _race(game, spot, scope, flow)
    elif not joins(spot):
        _pass(game, spot, scope, flow)
    elif gateway.kind == "complex":
        _complex(game, gateway, spot, scope, flow)
    else:
        game.enter(gateway.id, scope, "join", flow)
        if gateway.kind == "parallel":
            _synchronise(game, spot, scope)


def joins(spot: Spot) -> bool:
    """Whether tokens wait for each other there."""
    node = spot.node
    return isinstance(node, m.Gateway) and (
        node.kind == "complex" or (node.kind in ("parallel", "inclusive") and len(spot.into) > 1)
    )


def _pass(game: TokenGame, spot: Spot, scope: int, flow: str = "") -> None:
    game.emit(e.Passed(spot.id, scope, flow))
    depart(game, spot, scope)


def depart(game: TokenGame, spot: Spot, scope: int) -> None:
    """By which flows a token leaves a gateway."""
    gateway = spot.node
    assert isinstance(gateway, m.Gateway)
    if not spot.out:
        game.touch(scope)
    elif gateway.kind == "parallel":
        send(game, spot.out, scope)
    elif gateway.kind == "exclusive":
        _choose(game, spot, gateway.default, scope, most=1)
    else:
        _choose(game, spot, gateway.default, scope, most=len(spot.out))


def _choose(game: TokenGame, spot: Spot, default: str, scope: int, most: int) -> None:
    flags = game.state.flags
    taken: list[m.Flow] = []
    for flow in spot.out:
        if flow.id != default and (flow.condition is None or holds(flow.condition, flags)):
            taken.append(flow)
            if len(taken) == most:
                break
    if not taken:
        taken = [flow for flow in spot.out if flow.id == default]
    if taken:
        send(game, taken, scope)
    else:
        no_way_out(game, spot.id, scope)


def _arrived(game: TokenGame, gateway: str, scope: int) -> dict[str, list[Node]]:
    """Tokens that wait at a join, by the flow they came on, first come first."""
    found: dict[str, list[Node]] = {}
    for node in game.state.nodes.values():
        if node.element == gateway and node.parent == scope and node.kind == "join":
            found.setdefault(node.flow, []).append(node)
    return found


def _synchronise(game: TokenGame, spot: Spot, scope: int) -> None:
    arrived = _arrived(game, spot.id, scope)
    if all(flow.id in arrived for flow in spot.into):
        _consume(game, spot, scope, [arrived[flow.id][0] for flow in spot.into])


def meet(game: TokenGame) -> None:
    """Joins look again whether all they wait for has come: under another definition that may be less."""
    for node in list(game.state.nodes.values()):
        if node.kind == "join" and node.number in game.state.nodes:
            spot = game.spots[node.element]
            assert isinstance(spot.node, m.Gateway)
            if spot.node.kind == "parallel" and spot.into:
                _synchronise(game, spot, node.parent)
            elif spot.node.kind == "complex":
                _activate(game, spot.node, spot, node.parent)


def _consume(game: TokenGame, spot: Spot, scope: int, tokens: list[Node]) -> None:
    for token in tokens:
        game.emit(e.Left(token.number, "consumed"))
    _pass(game, spot, scope)


def ripe(game: TokenGame) -> bool:
    """Whether a join that waits for what may still come need not wait any more; if so, it fires."""
    for node in list(game.state.nodes.values()):
        if node.kind == "join":
            spot = game.spots[node.element]
            kind = spot.node.kind if isinstance(spot.node, m.Gateway) else ""
            if kind == "inclusive" and _none_can_come(game, spot, node.parent):
                arrived = _arrived(game, spot.id, node.parent)
                _consume(game, spot, node.parent, [tokens[0] for tokens in arrived.values()])
                return True
            if kind == "complex" and _has_become_active(game, spot, node.parent):
                return True
        elif node.opened and _reset(game, node):
            return True
    return False


def _has_become_active(game: TokenGame, spot: Spot, scope: int) -> bool:
    """Whether flags let a complex gateway fire that did not when the last token came; if so, it has."""
    gateway = spot.node
    if not isinstance(gateway, m.Gateway) or gateway.activation is None:
        return False
    reads_flags = any(name != m.ACTIVATION_COUNT for name in flags_of(gateway.activation))
    return reads_flags and _activate(game, gateway, spot, scope)


def _none_can_come(game: TokenGame, spot: Spot, scope: int) -> bool:
    arrived = _arrived(game, spot.id, scope)
    upstream = game.plan.upstream(spot.id)
    empty = [upstream[flow.id] for flow in spot.into if flow.id not in arrived]
    own = game.plan.surely_upstream(spot.id)
    full = [own[flow.id] for flow in spot.into if flow.id in arrived]
    for node in game.state.nodes.values():
        if node.parent != scope or node.element == spot.id:
            continue
        if any(node.element in each for each in empty) and not any(node.element in each for each in full):
            return False
    return True


def _complex(game: TokenGame, gateway: m.Gateway, spot: Spot, scope: int, flow: str) -> None:
    opened = game.state.nodes[scope].opened
    name = f"{gateway.id} {flow}"
    if name in opened:
        game.emit(e.GatewayOpened(scope, tuple(each for each in opened if each != name)))
        game.touch(scope)
    else:
        game.enter(gateway.id, scope, "join", flow)
    _activate(game, gateway, spot, scope)


def _activate(game: TokenGame, gateway: m.Gateway, spot: Spot, scope: int) -> bool:
    """It fires if it may; while it swallows what is left of a round, the tokens of the next one wait."""
    arrived = _arrived(game, gateway.id, scope)
    tokens = [token for each in arrived.values() for token in each]
    if not tokens or any(name.startswith(f"{gateway.id} ") for name in game.state.nodes[scope].opened):
        return False
    if gateway.activation is None:
        is_active = all(each.id in arrived for each in spot.into)
    else:
        is_active = holds(gateway.activation, {**game.state.flags, m.ACTIVATION_COUNT: len(tokens)})
    if is_active:
        swallows = tuple(f"{gateway.id} {each.id}" for each in spot.into if each.id not in arrived)
        if swallows:
            game.emit(e.GatewayOpened(scope, (*game.state.nodes[scope].opened, *swallows)))
        _consume(game, spot, scope, tokens)
    return is_active


def _reset(game: TokenGame, scope: Node) -> bool:
    """A complex gateway that fired swallows what still comes, until nothing can come; whether it fires again then."""
    kept = []
    for name in scope.opened:
        gateway, _, flow = name.partition(" ")
        before = game.plan.upstream(gateway).get(flow, frozenset())
        if any(node.parent == scope.number and node.element in before for node in game.state.nodes.values()):
            kept.append(name)
    if len(kept) == len(scope.opened):
        return False
    game.emit(e.GatewayOpened(scope.number, tuple(kept)))
    for gateway in dict.fromkeys(name.partition(" ")[0] for name in scope.opened):
        spot = game.spots[gateway]
        if isinstance(spot.node, m.Gateway) and spot.node.kind == "complex":
            _activate(game, spot.node, spot, scope.number)
    return bool(game.moves)


def _race(game: TokenGame, spot: Spot, scope: int, flow: str) -> None:
    """Every event behind the gateway is awaited; the first one that occurs wins."""
    number = game.enter(spot.id, scope, "gate", flow)
    for each in spot.out:
        target = game.spots[each.target].node
        if isinstance(target, m.Event) and target.position == "catch":
            arm(game, number, target)
        elif isinstance(target, m.Task):
            arm_message(game, number, target.id, target.message)
