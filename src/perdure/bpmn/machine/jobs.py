"""Jobs: how a worker takes one, what its result or failure leads to, and what happens to late ones."""

from __future__ import annotations

from typing import assert_never

from perdure import human_tasks
from perdure.agent_usage import OVER_BUDGET, Budget, Reservation, bounds, excess, is_used_up, reservation_at
from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import offer_again, rebind
from perdure.bpmn.machine.agent_budgets import WAITS, room_for, settle
from perdure.bpmn.machine.compensation import compensate_instance, failed_undo
from perdure.bpmn.machine.error_propagation import is_caught, throw
from perdure.bpmn.machine.event_nodes import sent
from perdure.bpmn.machine.event_triggers import pass_event
from perdure.bpmn.machine.flag_writes import SUB_VERB_COUNT, settled
from perdure.bpmn.machine.scopes import end
from perdure.bpmn.machine.sequence_flows import complete
from perdure.bpmn.machine.state import Failure, Job, Node
from perdure.bpmn.machine.token_game_loop import start_job
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.verb_contract import nature_of

MAX_INTERRUPTIONS = 5
"""How often one attempt may be cut off by a dying process before a person must look."""
SECOND = 1_000_000
EXHAUSTED = "job.retries_exhausted"
CONTRACT = "job.contract"
BUG = "handler.bug"
"""The code of a failure whose message says already what to do."""
UNCAUGHT = "error.uncaught"
INTERRUPTED = "job.interrupted"


def lease(game: TokenGame, command: c.LeaseJob) -> str:
    """Hand a ready or abandoned job to a worker; the answer says what became of it."""
    node = game.state.nodes.get(command.node)
    job = node.job if node is not None else None
    if node is None or job is None or node.incident is not None or game.state.status == "suspended":
        return "gone"
    if job.status == "ready" and not command.abandoned:
        rebind(game, node.number)
        start_job(game, node.number, command.worker)
        return "leased"
    if job.status != "leased" or job.worker != command.abandoned or not command.abandoned:
        return "gone"
    if command.redelivery == "incident" or job.interruptions + 1 >= MAX_INTERRUPTIONS:
        text = (
            f"'{job.type}' was interrupted in attempt {job.attempt} and nobody knows how far it came. "
            "Find out, then retry it or resolve it by hand."
        )
        game.incident(node.number, INTERRUPTED, text)
        return "incident"
    # Another verb's attempt is a new one; the same verb's goes on.
    start_job(game, node.number, command.worker, 0 if rebind(game, node.number) else job.interruptions + 1)
    return "leased"


def record(game: TokenGame, command: c.RecordJob, chance: float) -> str:
    node = game.state.nodes.get(command.node)
    job = node.job if node is not None else None
    words = _excess(game, command)
    _tell_used(game, job, command)
    if node is None or job is None or not _is_current(job, command):
        why = "its token is gone" if node is None else "another attempt has taken its place"
        game.emit(e.JobDiscarded(command.node, command.attempt, game.now, command.job_worker, why))
        return "discarded"
    made = reservation_at(game.state.ledger, command.node)
    uses = command.used.uses if command.used is not None else ()
    looks_again = not uses or is_used_up(made, uses)
    settle(game, command.node)
    if words:
        fail(game, node, job, Failure("permanent_business", OVER_BUDGET, words), None, chance)
        return "applied"
    if isinstance(command.outcome, c.JobDone):
        flags, fault = settled(game, command.outcome.flags, job.type, node.element, job)
        if not fault:
            _done(game, node, job, command.outcome.head, flags)
            return "applied"
        failure = Failure("permanent_contract", CONTRACT, f"'{job.type}' returned what it may not: {fault}.")
        fail(game, node, job, failure, None, chance)
        return "applied"
    outcome = command.outcome
    if isinstance(outcome, c.JobAsks):
        _ask(game, node, job, outcome, chance)
        return "applied"
    if isinstance(outcome, c.JobHolds):
        if outcome.code == OVER_BUDGET and is_caught(game, outcome.code, node.number):
            fail(game, node, job, Failure("permanent_business", outcome.code, outcome.text), None, chance)
            return "applied"
        budget = (command.budget, command.wanted) if command.budget is not None and looks_again else None
        hold(game, node, job, outcome.code, outcome.text, outcome.after_seconds, budget)
        return "applied"
    fail(game, node, job, outcome.failure, outcome.after_seconds, chance, outcome.trace)
    return "applied"


def hold(game: TokenGame, node: Node, job: Job, code: str, text: str, after_seconds: float | None,
    budget: tuple[Budget, Budget] | None = None,
) -> None:  # fmt: skip
    """A job that could not be tried waits, and no attempt counts."""
    again = max(1, game.now + int(after_seconds * SECOND)) if after_seconds is not None else 0
    game.emit(e.JobHeld(node.number, job.attempt, game.now, code, text, again))
    if budget is not None and code in WAITS and isinstance(room_for(game.state, node.number, *budget), Reservation):
        offer_again(game, node.number)  # the budget was set while it was told that nothing is left


def _ask(game: TokenGame, node: Node, job: Job, asked: c.JobAsks, chance: float) -> None:
    """A job becomes a person's task until that is answered, unless the model has a way of its own."""
    if asked.unless is not None and (job.purpose != "work" or is_caught(game, asked.unless.code, node.number)):
        fail(game, node, job, asked.unless, None, chance)
        return
    requester, behind = (game.state.principal, game.state.behind) if asked.four_eyes else ("", ())
    due_at = human_tasks.moment(asked.due, game.now) if asked.due else 0
    game.emit(e.JobAsked(node.number, job.attempt, game.now, asked.by, asked.question))
    game.emit(e.TaskOpened(
        node.number, asked.assignee, asked.groups, asked.users, asked.due, due_at, requester,
        human_tasks.ladder_from(asked.ladder, game.now), behind,
        human_tasks.admits_agents(asked.agents, asked.assignee, human_tasks.names_of(asked.users)),
    ))  # fmt: skip


def _excess(game: TokenGame, command: c.RecordJob) -> str:
    """Why a result cannot count: others have spent meanwhile what this attempt would have needed."""
    if command.budget is None or command.used is None or not isinstance(command.outcome, c.JobDone):
        return ""
    return excess(bounds(game.state.ledger, command.budget), game.state.spent, command.used.uses)


def _tell_used(game: TokenGame, job: Job | None, command: c.RecordJob) -> None:
    """What the attempt used is recorded, whatever else becomes of it."""
    used = command.used
    if used is not None:
        is_cut = job is not None and _is_current(job, command) and job.interruptions > 0
        told = e.AgentUsed(command.node, command.attempt, game.now, used.agent, used.duration, used.uses, is_cut)
        game.emit(told)


def _is_current(job: Job, command: c.RecordJob) -> bool:
    return job.status == "leased" and job.attempt == command.attempt and job.worker == command.job_worker


def _done(game: TokenGame, node: Node, job: Job, head: bytes, flags: dict[str, str | bool | int]) -> None:
    game.emit(e.JobCompleted(node.number, game.now, head, job.type))
    if SUB_VERB_COUNT in game.plan.contracts:
        flags = {SUB_VERB_COUNT: int(game.state.flags.get(SUB_VERB_COUNT, 0)) + 1, **flags}
    game.write(flags, job.type, node.element)
    finish(game, node, job)


def finish(game: TokenGame, node: Node, job: Job) -> None:
    """The work of a node is done: where its token goes."""
    spot = game.spots[node.element]
    if job.purpose == "undo":
        game.emit(e.Left(node.number, "completed"))
        game.touch(node.parent)
    elif isinstance(spot.node, m.Event):
        if spot.node.position in ("throw", "end"):
            sent(game, spot.node, node.number, node.parent)
        else:
            game.emit(e.Left(node.number, "completed"))
            pass_event(game, node.element, node.parent, is_told=True)
    else:
        complete(game, node.number)


def fail(
    game: TokenGame, node: Node, job: Job, failure: Failure, after_seconds: float | None, chance: float,
    trace: bytes = b"",
) -> None:  # fmt: skip
    """A failed attempt: again by policy, to the event that catches it, or to a person."""
    policy = game.plan.policy(game.plan.type_of(node.element, job), node.element)
    counted = job.attempt - job.before
    late = ""
    if policy.allows(counted, failure.kind):
        delay = after_seconds if after_seconds is not None else policy.delay_seconds(counted, chance)
        again = max(1, game.now + int(delay * SECOND))
        late = _late(game, node, job, again)
        if not late:
            game.emit(e.JobFailed(node.number, job.attempt, game.now, failure, again, trace))
            return
    game.emit(e.JobFailed(node.number, job.attempt, game.now, failure, 0, trace))
    match nature := nature_of(failure.kind):
        case "business":
            business(game, node, failure)
        case "contract" | "temporary":
            if not failed_undo(game, node.number):
                code = CONTRACT if nature == "contract" else EXHAUSTED
                game.incident(node.number, code, _text(job, failure, code, late))
        case _:
            assert_never(nature)


def _late(game: TokenGame, node: Node, job: Job, again: int) -> str:
    """Why no attempt may begin at that time; nothing when one may. Who asks to try again gives it all the time."""
    limits = game.plan.deployed.limits.get(node.element)
    if limits is None or job.before or job.purpose != "work":
        return ""
    seconds = limits.schedule_to_close_seconds
    return f", and the next would begin after its {seconds:g} s are over" if again > due_by(node, seconds) else ""


def due_by(node: Node, seconds: float) -> int:
    """When the time of the work at a node is over."""
    return node.at + int(seconds * SECOND)


def _text(job: Job, failure: Failure, code: str, late: str) -> str:
    tries = job.attempt - job.before
    how = f"failed in {tries} attempt{'' if tries == 1 else 's'}" if code == EXHAUSTED else "broke its contract"
    how += late
    said = failure.message.rstrip(": ")
    stop = "" if said.endswith((".", "!", "?")) else "."
    advice = "Or resolve it by hand." if failure.code == BUG else "Mend the cause and retry, or resolve it by hand."
    return f"'{job.type}' {how}: {said}{stop} {advice}"


def business(game: TokenGame, node: Node, failure: Failure) -> None:
    """A business error takes its event; else all is compensated where declared; else the caller gets it, or someone."""
    if throw(game, "error", failure.code, node.number, node.element):
        return
    if failed_undo(game, node.number):
        return
    if game.plan.can_undo and game.state.status == "active":
        compensate_instance(game, failure)
        return
    if game.is_called:
        end(game, "failed", failure)
        return
    text = (
        f"The business error '{failure.code}' of '{node.element}' is caught by no event: {failure.message} "
        "Model a boundary error event, or resolve it by hand."
    )
    game.incident(node.number, UNCAUGHT, text)
