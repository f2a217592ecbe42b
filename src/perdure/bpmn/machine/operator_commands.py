"""Operator commands: retry, resolve, edit flags, suspend, resume, cancel, modify."""

from __future__ import annotations

from collections import Counter

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import offer_again
from perdure.bpmn.machine.ad_hoc_subprocesses import is_over
from perdure.bpmn.machine.compensation import FAILED, compensate_instance, finish
from perdure.bpmn.machine.event_subscriptions import INVALID, rearm
from perdure.bpmn.machine.flag_writes import settled
from perdure.bpmn.machine.gateways import depart
from perdure.bpmn.machine.jobs import business
from perdure.bpmn.machine.jobs import finish as finish_job
from perdure.bpmn.machine.loops import go_on, is_broken_off
from perdure.bpmn.machine.modification_joins import flows_for
from perdure.bpmn.machine.scopes import end
from perdure.bpmn.machine.sequence_flows import NO_WAY_OUT, complete, go_beyond, leave
from perdure.bpmn.machine.state import ROOT, Failure, Flags, Node
from perdure.bpmn.machine.token_game_loop import ENDLESS
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection

BY_HAND = "by hand"


def raise_incident(game: TokenGame, command: c.RaiseIncident) -> str | Rejection:
    node = game.state.nodes.get(command.node)
    if node is None or node.incident is not None:
        return "gone"
    job = node.job
    if command.attempt and (job is None or (job.attempt, job.worker) != (command.attempt, command.job_worker)):
        return "gone"
    game.incident(node.number, command.code, command.text)
    return "raised"


def _stuck(game: TokenGame, number: int, do: str) -> Node | Rejection:
    node = game.state.nodes.get(number)
    if node is None or node.incident is None:
        return Rejection("not_found", do, "incident", str(number), "there is no open incident on that token")
    return node


def _edit(game: TokenGame, flags: Flags) -> Rejection | None:
    values, fault = settled(game, flags, "", BY_HAND, by_hand=True)
    if fault:
        return Rejection("invalid", "edit", "flags", ", ".join(flags), fault)
    game.write(values, "", BY_HAND)
    return None


def retry(game: TokenGame, command: c.RetryIncident) -> str | Rejection:
    node = _stuck(game, command.node, "retry")
    if isinstance(node, Rejection):
        return node
    if refused := _edit(game, command.flags):
        return refused
    assert node.incident is not None
    code = node.incident.code
    attempts = node.job.attempt if node.job is not None else 0
    game.emit(e.IncidentResolved(node.number, game.now, "retried", command.reason, attempts))
    if node.kind == "stuck":
        _again(game, node, code)
    elif node.kind == "undo" and code == FAILED and node.undo is not None:
        finish(game, game.state.nodes[node.number], node.undo.then)
    else:
        _go_on(game, node, code)
    return "retried"


def _again(game: TokenGame, node: Node, code: str) -> None:
    """A token that found no way out looks again; one that could not begin arrives again."""
    game.emit(e.Left(node.number, "moved"))
    spot = game.spot(node.element)
    if code != NO_WAY_OUT:
        game.go(node.element, node.parent, node.flow)
    elif isinstance(spot.node, m.Gateway):
        depart(game, spot, node.parent)
    else:
        leave(game, node.element, node.parent)


def _go_on(game: TokenGame, node: Node, code: str) -> None:
    if code == INVALID:
        rearm(game, node.number)
        game.touch(node.number)
    if code == ENDLESS or is_broken_off(game, node.number):
        go_on(game, node.number)
        return
    current = game.state.nodes[node.number]
    if current.job is not None and current.incident is None:
        offer_again(game, node.number)
    elif current.kind == "call" and current.incident is None:
        game.emit(e.Left(node.number, "moved"))
        game.later("begin", node.element, node.parent, node.flow, node.iteration)


def resolve(game: TokenGame, command: c.ResolveIncident) -> str | Rejection:
    node = _stuck(game, command.node, "resolve")
    if isinstance(node, Rejection):
        return node
    if not command.error and _has_no_way(game, node):
        return Rejection(
            "wrong_state", "resolve", "incident", str(node.number),
            f"nothing says which way its token would go from '{node.element}'",
            "Retry it with flags that open a way (`perdure instances retry ID --flag NAME=VALUE`), or put the token "
            "where it belongs (`perdure instances modify ID`).",
        )  # fmt: skip
    if refused := _edit(game, command.flags):
        return refused
    how: str = "failed" if command.error else "completed"
    game.emit(e.IncidentResolved(node.number, game.now, how, command.reason))  # type: ignore[arg-type]
    if command.head:
        game.emit(e.HeadChanged(command.head, BY_HAND))
    node = game.state.nodes[node.number]
    if command.error:
        failure = Failure("permanent_business", command.error, command.reason or "resolved by hand")
        business(game, node, failure)
    elif node.kind == "undo" and node.undo is not None:
        finish(game, node, node.undo.then)
    elif node.kind == "stuck":
        go_beyond(game, node)
    elif node.job is not None:
        finish_job(game, node, node.job)
    elif node.number == ROOT:
        end(game, "completed")
    else:
        for child in game.children(node.number):
            game.remove(child.number, "cancelled")
        complete(game, node.number)
    return "resolved"


def _has_no_way(game: TokenGame, node: Node) -> bool:
    """Whether ending a token by hand would swallow it: only of an activity is it known what comes after it."""
    if node.kind != "stuck":
        return node.kind == "gate"
    assert node.incident is not None
    return node.incident.code == NO_WAY_OUT or isinstance(game.spots[node.element].node, m.Gateway | m.Event)


def suspend(game: TokenGame, command: c.Suspend) -> str | Rejection:
    if game.state.status == "suspended" and not command.for_itself:
        return "replayed"
    game.emit(e.InstanceSuspended(game.now, command.reason))
    return "suspended"


def change_carrier(game: TokenGame, command: c.ChangeCarrier) -> str | Rejection:
    leased = [node.element for node in game.state.nodes.values() if node.job is not None and node.job.worker]
    if leased:
        fact = f"a worker has the job of '{leased[0]}'"
        return Rejection("wrong_state", "move", "instance", "?", fact, "Wait until it has ended.")
    game.emit(e.CarrierChanged(game.now, command.carrier, command.run, command.certificate, command.reason))
    return "moved"


def resume(game: TokenGame, command: c.Resume) -> str | Rejection:
    if game.state.status != "suspended":
        return "replayed"
    shift = game.now - game.state.suspended_at if command.timers == "shift" else 0
    game.emit(e.InstanceResumed(game.now, shift))
    for node in game.state.nodes.values():
        if node.job is not None and node.job.status == "ready":
            game.ready.append(node.number)
    return "resumed"


def cancel(game: TokenGame, command: c.Cancel) -> str | Rejection:
    if command.compensates and "compensating" in (game.state.status, game.state.before):
        return "replayed"  # asked for before, and under way: ending it now would leave the rest undone
    game.emit(e.CancelRequested(game.now, command.reason))
    if command.compensates and game.state.status in ("active", "suspended"):
        compensate_instance(game, None)
        return "compensating"
    end(game, "cancelled")
    return "cancelled"


def modify(game: TokenGame, command: c.Modify) -> str | Rejection:
    """Take tokens away and put new ones before elements, in one commit."""
    arrivals = _arrivals(game, command)
    if isinstance(arrivals, str):
        return Rejection("invalid", "modify", "instance", "?", arrivals, "See `perdure instances show` for its tokens.")
    if refused := _edit(game, command.flags):
        return refused
    game.emit(e.InstanceModified(game.now, command.reason, command.cancels, command.starts))
    if command.head:
        game.emit(e.HeadChanged(command.head, command.by or BY_HAND))
    for number in command.cancels:
        if number in game.state.nodes:
            parent = game.state.nodes[game.state.nodes[number].parent]
            game.remove(number, "cancelled")
            game.later("iterated", parent.number) if parent.kind in ("many", "loop") else game.touch(parent.number)
    for element, scope, flow in arrivals:
        game.go(element, scope, flow)
    return "modified"


def _arrivals(game: TokenGame, command: c.Modify) -> list[tuple[str, int, str]] | str:
    """Where each new token starts, in which scope, and for which flow it counts; or why that cannot be."""
    scopes = _scopes(game, command)
    if isinstance(scopes, str):
        return scopes
    flows = flows_for(game, scopes, Counter(command.starts), command.cancels)
    if isinstance(flows, str):
        return flows
    return [(element, scopes[element], next(flows[element], "")) for element in command.starts]


def _scopes(game: TokenGame, command: c.Modify) -> dict[str, int] | str:
    """The scope of each element where a token starts; or why that cannot be."""
    for number in command.cancels:
        if number == ROOT or number not in game.state.nodes:
            return f"there is no token {number}"
    scopes: dict[str, int] = {}
    for element in command.starts:
        scope = _scope_for(game, element)
        if isinstance(scope, str):
            return scope
        if is_over(game.state.nodes[scope]):
            return f"nothing begins any more in '{game.spots[element].area}': its completion condition has held"
        if any(scope == number or _is_within(game, scope, number) for number in command.cancels):
            return f"'{element}' would start inside a token that is cancelled"
        scopes[element] = scope
    return scopes


def _is_within(game: TokenGame, number: int, outer: int) -> bool:
    current = game.state.nodes[number].parent
    while current:
        if current == outer:
            return True
        current = game.state.nodes[current].parent
    return False


def _scope_for(game: TokenGame, element: str) -> int | str:
    spot = game.plan.spots.get(element)
    if spot is None:
        return f"the process has no element '{element}'"
    if isinstance(spot.node, m.Event) and spot.node.position in ("start", "boundary"):
        return f"no token can be put before '{element}', a {spot.node.position} event"
    found = [node.number for node in game.state.nodes.values() if node.kind == "scope" and node.element == spot.area]
    if len(found) == 1:
        return found[0]
    return f"its scope '{spot.area}' is {'not active' if not found else 'active more than once'}"
