"""Migration: tokens go on under another definition, with their timers and correlation kept."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import rebind
from perdure.bpmn.machine.ad_hoc_subprocesses import is_ad_hoc, is_over
from perdure.bpmn.machine.completed_activities import listed
from perdure.bpmn.machine.event_subscriptions import listens, rearm
from perdure.bpmn.machine.execution_plan import Plan, Spot
from perdure.bpmn.machine.gateways import joins, meet
from perdure.bpmn.machine.state import ROOT, Flags, Instance, Watch
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection


def migrate(game: TokenGame, command: c.Migrate, target: Plan, version: int) -> str | Rejection:
    names = _names(game.state, target, command.mapping)
    problems = [*_problems(game, target, names, command.mapping), *_flag_problems(game.state, target, command.flags)]
    if problems:
        return Rejection(
            "invalid", "migrate", "instance", "?", "; ".join(problems[:20]),
            "Map active elements to ones of their kind."
        )  # fmt: skip
    known = {node.number: {*listens(game.plan, node)} for node in game.state.nodes.values()}
    for watch in list(game.state.watches.values()):
        if not _keeps(game, target, watch, names):
            game.emit(e.Disarmed(watch.number))
            known[watch.node].discard(watch.event)
    flags = _flags(game.state, target, command.flags)
    game.emit(
        e.InstanceMigrated(game.now, target.hash, target.process, version, names, flags, command.reason, True)
    )  # fmt: skip
    game.follow(target)
    _reroute(game, names)
    _recount(game)
    for number in list(game.state.nodes):
        if game.state.nodes[number].incident is None:
            rearm(game, number, {names.get(event, event) for event in known[number]})
    for node in list(game.state.nodes.values()):
        if node.job is not None and node.job.status != "leased":  # one under way ends as what it began as
            rebind(game, node.number)
    meet(game)
    game.is_flagged = True
    return "migrated"


def _names(state: Instance, target: Plan, mapping: dict[str, str]) -> dict[str, str]:
    """The whole mapping of what the instance stands on, listens to or may undo."""
    used = {node.element: None for node in state.nodes.values() if node.number != ROOT}
    used.update({watch.event: None for watch in state.watches.values()})
    for node in state.nodes.values():
        for done in listed(node.done, most=1):
            used[done.element] = None
            used[done.handler] = None
    named = {element: mapping.get(element, element) for element in used if element}
    return {**mapping, **named}


def _problems(game: TokenGame, target: Plan, names: dict[str, str], mapping: dict[str, str]) -> list[str]:
    there = {*target.spots, *(flow.id for spot in target.spots.values() for flow in spot.into)}
    found = [f"'{new}' is not an element of the new version" for new in mapping.values() if new not in there]
    found += [f"'{old}' is being undone" for old in _undone(game.state) if names.get(old, old) != old]
    for node in game.state.nodes.values():
        if node.number == ROOT or node.element == game.plan.process:
            continue
        new = names[node.element]
        if new not in target.spots:
            found.append(f"'{node.element}' has a token and is not mapped")
            continue
        before, after = game.spot(node.element), target.spots[new]
        if kind_of(before.node) != kind_of(after.node):
            found.append(f"'{node.element}' is a {kind_of(before.node)} and '{new}' is a {kind_of(after.node)}")
        if node.job is not None and not target.type_of(new, node.job):
            what = "intake" if node.job.purpose == "intake" else "verb"
            found.append(f"'{node.element}' has a job of '{node.job.type}' and '{new}' names no {what}")
        area = names.get(before.area, before.area) if before.area != game.plan.process else target.process
        if after.area != area:
            found.append(f"'{new}' stands in '{after.area}' and not in '{area}'")
    return [*found, *dict.fromkeys((*_flow_problems(game, target, names), *_order_problems(game, target, names)))]


def _flow_problems(game: TokenGame, target: Plan, names: dict[str, str]) -> Iterator[str]:
    """A join knows by their flows which tokens have come, and which it still waits for or swallows."""
    for scope, join, flow, is_awaited in dict.fromkeys(_came(game)):
        spot = target.spots.get(names.get(join, join))
        if spot is None or not spot.into:
            continue
        new, into = names.get(flow, flow), [each.id for each in spot.into]
        may = into if is_awaited else _free(game, target, names, scope, spot, flow)
        has = f"the join '{join}' has a token of the flow '{flow}'"
        if new not in into:
            yield f"{has}, which does not lead there in the new version: {_advice(may)}"
        elif new not in may and new != flow:
            yield f"{has}, and another one came, or can still come, on '{new}': {_advice(may)}"


def _came(game: TokenGame) -> Iterator[tuple[int, str, str, bool]]:
    """Scope, join and flow of each token that has come, or is awaited to be swallowed."""
    for node in game.state.nodes.values():
        spot = game.plan.spots.get(node.element)
        if node.kind in ("join", "stuck") and node.flow and spot is not None and joins(spot):
            yield node.parent, node.element, node.flow, False
        for each in node.opened:
            join, _, flow = each.partition(" ")
            yield node.number, join, flow, True


def _free(game: TokenGame, target: Plan, names: dict[str, str], scope: int, spot: Spot, flow: str) -> list[str]:
    """The flows into a join of the new version on which no token but those of a flow of the old one has come or can."""
    beside = [node for node in game.state.nodes.values() if node.parent == scope]
    there = [node for node in beside if names.get(node.element, node.element) == spot.id]
    full = {names.get(node.flow, node.flow) for node in there if node.flow != flow}
    tokens = {names.get(node.element, node.element) for node in beside} - {spot.id}
    before = target.upstream(spot.id)
    return [each.id for each in spot.into if each.id not in full and not tokens & before[each.id]]


def _advice(flows: list[str]) -> str:
    away = "take that token away first with modify"
    if flows:
        return f"map it to one of {', '.join(flows)}, or {away}"
    return f"{away}: on every flow that leads there another one came or can still come"


def _order_problems(game: TokenGame, target: Plan, names: dict[str, str]) -> Iterator[str]:
    """A sequential ad-hoc subprocess knows by the order of its activities which have begun."""
    for node in game.state.nodes.values():
        new = names.get(node.element, node.element)
        if node.many is None or not is_ad_hoc(node) or is_over(node) or new not in target.areas:
            continue
        before, after = game.plan.areas[node.element].starts, target.areas[new].starts
        begun = [names.get(each, each) for each in before[: node.many.started]]
        if _is_sequential(target, new) and begun != [*after[: len(begun)]]:
            yield (
                f"the activities of '{node.element}' that have begun ({', '.join(begun)}) are not the first of "
                f"'{new}': leave them in that order and put others behind them"
            )
        elif not _is_sequential(target, new) and len(begun) < len(before):
            yield f"'{node.element}' is sequential and '{new}' is not: what has not begun would never begin"


def _is_sequential(plan: Plan, element: str) -> bool:
    node = plan.spots[element].node
    return isinstance(node, m.SubProcess) and node.ordering == "sequential"


def _recount(game: TokenGame) -> None:
    """What a sequential ad-hoc subprocess has yet to begin is what the new version has."""
    for node in list(game.state.nodes.values()):
        if node.many is None or not is_ad_hoc(node) or is_over(node) or not _is_sequential(game.plan, node.element):
            continue
        total = len(game.plan.areas[node.element].starts)
        if total != node.many.total:
            game.emit(e.Iterated(node.number, total, node.many.started, node.many.ended))


def _reroute(game: TokenGame, names: dict[str, str]) -> None:
    """What is known of flows goes by their new names; a gateway that is gone swallows nothing more."""
    for node in list(game.state.nodes.values()):
        if (flow := names.get(node.flow, node.flow)) != node.flow:
            game.emit(e.Rerouted(node.number, flow))
        pairs = [each.partition(" ") for each in node.opened]
        renamed = [(names.get(join, join), names.get(flow, flow)) for join, _, flow in pairs]
        opened = tuple(f"{join} {flow}" for join, flow in renamed if join in game.spots)
        if opened != node.opened:
            game.emit(e.GatewayOpened(node.number, opened))


def _undone(state: Instance) -> list[str]:
    """What compensation that is under way will still go to by its old name."""
    queues = (node.undo.queue for node in state.nodes.values() if node.undo is not None)
    waiting = [each for queue in queues for each in listed(queue, most=1)]
    return sorted({name for each in waiting for name in (each.element, each.handler) if name})


def kind_of(node: m.Node) -> str:
    """What a token may stand on in its place: an element of the same kind."""
    match node:
        case m.Task():
            return f"{node.kind} task {_repeats(node)}".strip()
        case m.SubProcess():
            return f"{node.kind} subprocess {_repeats(node)}".strip()
        case m.CallActivity():
            return f"call activity {_repeats(node)}".strip()
        case m.Gateway():
            return f"{node.kind} gateway"
        case m.Event():
            return f"{node.position} event"


def _repeats(node: m.Task | m.SubProcess | m.CallActivity) -> str:
    return "" if node.repeat is None else f"({type(node.repeat).__name__})"


def _keeps(game: TokenGame, target: Plan, watch: Watch, names: dict[str, str]) -> bool:
    """Whether a wait goes on: its token listens for it in the new version too, and for the same kind of thing."""
    node = game.state.nodes[watch.node]
    element = names.get(node.element, node.element) if node.number != ROOT else target.process
    event = names.get(watch.event, watch.event)
    if event not in listens(target, replace(node, element=element)):
        return False
    old, new = game.spot(watch.event).node, target.spots[event]
    if isinstance(old, m.Event) and isinstance(new.node, m.Event):
        kinds = [type(trigger) for trigger in old.triggers]
        return kinds == [type(trigger) for trigger in new.node.triggers] and old.position == new.node.position
    return type(old) is type(new.node)


def _flag_problems(state: Instance, target: Plan, renames: dict[str, str]) -> list[str]:
    found = []
    for name, value in state.flags.items():
        contract = target.contracts.get(renames.get(name, name))
        if contract is not None and (fault := contract.fault(value)):
            found.append(f"flag '{name}': {fault}")
    return found


def _flags(state: Instance, target: Plan, renames: dict[str, str]) -> Flags:
    flags = target.initial_flags()
    for name, value in state.flags.items():
        new = renames.get(name, name)
        if new in flags or target.deployed.is_loose:
            flags[new] = value
    return flags
