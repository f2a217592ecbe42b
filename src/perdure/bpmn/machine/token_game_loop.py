"""The loop of the token game: tokens move until each waits for a trigger from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.bpmn import model as m
from perdure.bpmn.machine import activities, compensation, event_nodes, event_triggers, gateways, loops, scopes
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.ad_hoc_subprocesses import is_over
from perdure.bpmn.machine.token_game_state import TokenGame

MAX_MOVES = 50_000
"""How many moves one command may cause before a person must look: a cycle without a wait would never end."""
ENDLESS = "moves.endless"


def arrive(game: TokenGame, element: str, scope: int, flow: str) -> None:
    """A token arrives at an element; in a scope that is gone or over it is gone as well."""
    around = game.state.nodes.get(scope)
    if around is None:
        return
    if is_over(around):
        game.touch(scope)
        return
    node = game.spots[element].node
    ARRIVALS[type(node)](game, node, scope, flow)


ARRIVALS: dict[type, Callable[[TokenGame, Any, int, str], None]] = {
    m.Gateway: gateways.arrive,
    m.Event: event_nodes.arrive,
    m.Task: activities.arrive,
    m.SubProcess: activities.arrive,
    m.CallActivity: activities.arrive,
}
MOVES: dict[str, Callable[..., None]] = {
    "arrive": arrive,
    "begin": activities.begin,
    "iterated": loops.iterated,
}


def run(game: TokenGame, worker: int) -> None:
    """Move until nothing moves by itself; then lease what became ready to the worker, if one is named."""
    while game.state.ended_at == 0:
        if game.moves:
            _move(game, game.moves.popleft())
        elif not ((game.plan.ripens and gateways.ripe(game)) or event_triggers.conditions(game) or _close_one(game)):
            break
    if worker and game.state.status in ("active", "compensating"):
        _lease(game, worker)


def _move(game: TokenGame, move: tuple[Any, ...]) -> None:
    game.moved += 1
    if game.moved <= (game.plan.most_moves or MAX_MOVES):
        MOVES[move[0]](game, *move[1:])
    else:
        _break_off(game, *move)


def _break_off(game: TokenGame, move: str, *about: Any) -> None:
    """Too many moves: a token waits for a person where it is, iterations on what repeats. Nothing of them is lost."""
    text = (
        f"After {game.plan.most_moves or MAX_MOVES:,} moves tokens still did not come to rest: what repeats here never "
        "waits. Retry to go on, with a flag that ends it where there is one."
    )
    number = about[0] if move == "iterated" else about[1]
    around = game.state.nodes.get(number)
    if around is None or is_over(around):
        return
    if move == "iterated":
        loops.count_only(game, number)
    if around.kind not in ("many", "loop"):
        game.stuck(about[0], number, ENDLESS, text, about[2])
    elif around.incident is None:
        game.incident(number, ENDLESS, text)


def _close_one(game: TokenGame) -> bool:
    """Whether a container that was touched is empty; if so, what comes after it happens."""
    while game.touched:
        number = next(reversed(game.touched))
        del game.touched[number]
        node = game.state.nodes.get(number)
        if node is None or node.incident is not None or not game.is_empty(number):
            continue
        if node.kind == "undo":
            compensation.proceed(game, number)
            return True
        if node.kind == "scope":
            scopes.close(game, number)
            return True
    return False


def _lease(game: TokenGame, worker: int) -> None:
    for number in game.ready:
        node = game.state.nodes.get(number)
        if node is not None and node.job is not None and node.job.status == "ready" and node.incident is None:
            start_job(game, number, worker)


def start_job(game: TokenGame, number: int, worker: int, interruptions: int = 0) -> None:
    """The intent, with what summed flags were, the payload that comes in and the definition it runs under."""
    job = game.state.nodes[number].job
    assert job is not None
    summed = {name: game.state.flags.get(name, 0) for name in game.plan.summed}
    attempt = job.attempt if interruptions else job.attempt + 1
    head, definition = job.base or game.state.head, game.plan.definition_hash(job.type)
    game.emit(e.JobStarted(number, attempt, game.now, worker, interruptions, summed, head, definition))
