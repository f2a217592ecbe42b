"""Tasks, subprocesses and calls: what an activity does when a token arrives."""

from __future__ import annotations

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.event_subscriptions import arm_boundaries, arm_message
from perdure.bpmn.machine.expression_values import text_of
from perdure.bpmn.machine.human_tasks import open_task
from perdure.bpmn.machine.loops import repeat
from perdure.bpmn.machine.scopes import open_scope
from perdure.bpmn.machine.sequence_flows import complete
from perdure.bpmn.machine.state import NodeKind
from perdure.bpmn.machine.token_game_state import TokenGame

JOBS = frozenset({"service", "send", "script", "business_rule"})


def arrive(game: TokenGame, activity: m.Task | m.SubProcess | m.CallActivity, scope: int, flow: str) -> None:
    if activity.repeat is not None:
        repeat(game, activity.id, scope, flow, activity.repeat)
    else:
        begin(game, activity.id, scope, flow, 0)


def begin(game: TokenGame, element: str, parent: int, flow: str, iteration: int) -> None:
    """One execution of an activity; boundary events of a repeating one are armed around all its iterations."""
    if parent not in game.state.nodes:
        return
    node = game.spots[element].node
    match node:
        case m.Task():
            _task(game, node, parent, flow, iteration)
        case m.SubProcess():
            number = _enter(game, element, parent, "scope", flow, iteration)
            open_scope(game, number, node)
        case m.CallActivity():
            number = _enter(game, element, parent, "call", flow, iteration)
            game.emit(e.Thrown(number, "call", node.process, "", element))
        case _:
            pass


def _enter(game: TokenGame, element: str, parent: int, kind: NodeKind, flow: str, iteration: int) -> int:
    number = game.enter(element, parent, kind, flow, iteration)
    if not iteration:
        arm_boundaries(game, number, element)
    return number


def _task(game: TokenGame, task: m.Task, parent: int, flow: str, iteration: int) -> None:
    if task.kind == "user":
        number = _enter(game, task.id, parent, "task", flow, iteration)
        open_task(game, number, task)
    elif task.kind == "receive":
        number = _enter(game, task.id, parent, "wait", flow, iteration)
        arm_message(game, number, task.id, task.message)
    elif task.kind in JOBS and task.type:
        number = _enter(game, task.id, parent, "job", flow, iteration)
        make_job(game, number, task.type)
    else:
        number = game.enter(task.id, parent, "wait", flow, iteration)
        if task.kind == "send" and task.message:
            throw_message(game, task.message, task.id)
        complete(game, number)


def make_job(
    game: TokenGame, number: int, type: str, purpose: str = "work", message: bytes = b"", by: str = ""
) -> None:
    element = game.state.nodes[number].element
    run = game.state.runs.get(element, 0) + 1
    definition = game.plan.definition(type)
    game.emit(e.JobMade(number, type, run, purpose, message, definition, by))  # type: ignore[arg-type]
    game.ready.append(number)


def offer_again(game: TokenGame, number: int) -> None:
    """A job whose attempt is over waits for a worker again, as the plan of today has it."""
    rebind(game, number)
    _remake(game, number)


def rebind(game: TokenGame, number: int) -> bool:
    """Whether a job that nobody holds takes another verb: the one the plan has since the instance was migrated."""
    node = game.state.nodes[number]
    assert node.job is not None
    type = game.plan.type_of(node.element, node.job) or node.job.type
    definition = game.plan.definition(type)
    if type == node.job.type and definition in (0, node.job.definition):
        return False
    game.emit(e.JobRebound(number, type, definition))
    if node.job.status != "pending":
        _remake(game, number)
    return True


def _remake(game: TokenGame, number: int) -> None:
    job = game.state.nodes[number].job
    assert job is not None
    game.emit(e.JobMade(number, job.type, job.run, job.purpose, job.message, job.definition))
    game.ready.append(number)


def throw_message(game: TokenGame, message: str, element: str) -> None:
    found = game.plan.messages.get(message)
    key = text_of(game, found.correlation) if found is not None else ""
    game.emit(e.Thrown(game.state.next, "message", game.plan.message_name(message), key, element))
