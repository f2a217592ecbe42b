"""External triggers: messages and signals, timers, answers to tasks, ends of called processes."""

from __future__ import annotations

from perdure import human_tasks
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.activities import make_job, offer_again
from perdure.bpmn.machine.compensation import failed_undo
from perdure.bpmn.machine.error_propagation import throw
from perdure.bpmn.machine.event_triggers import occur
from perdure.bpmn.machine.flag_writes import settled
from perdure.bpmn.machine.human_tasks import (
    LADDER,
    answer_jointly,
    climb,
    find_task,
    note_override,
    seen_in,
    task_key,
)
from perdure.bpmn.machine.scopes import end
from perdure.bpmn.machine.sequence_flows import complete
from perdure.bpmn.machine.state import ENDED, Flags, Node
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection
from perdure.verb_contract import nature_of

CALL_FAILED = "call.failed"


def correlate(game: TokenGame, command: c.Correlate) -> str | Rejection:
    watch = game.state.watches.get(command.watch)
    if watch is None or watch.has_come:
        what = f"watch {command.watch}"
        game.emit(e.MessageIgnored(game.now, what, command.message_id, "the wait has ended"))
        return "ignored"
    if game.state.status == "suspended":
        return _suspended("correlate a message with")
    fault = _bring(game, command.head, command.flags, command.writer, watch.event, watch.name)
    if fault is not None:
        return fault
    occur(game, command.watch, command.message_id, command.message)
    return "correlated"


def _bring(
    game: TokenGame, head: bytes, flags: Flags, writer: str, element: str, by: str
) -> Rejection | None:  # fmt: skip
    """Merge what arrived; flags only from their declared writers."""
    values, fault = settled(game, flags, writer, element)
    if fault:
        return Rejection("invalid", "apply what arrived at", "element", element, fault)
    if head:
        game.emit(e.HeadChanged(head, by))
    game.write(values, writer, element)
    return None


def _suspended(do: str) -> Rejection:
    return Rejection("wrong_state", do, "instance", "?", "it is suspended", "Resume it first.")


def fire(game: TokenGame, command: c.FireTimer) -> str:
    """A timer; one that was disarmed, moved or has fired is over."""
    if game.state.status == "suspended" or game.state.status in ENDED:
        return "gone"
    if command.kind == "watch":
        watch = game.state.watches.get(command.number)
        if watch is None or watch.has_come or watch.due != command.due:
            return "gone"
        occur(game, watch.number)
        return "fired"
    if command.kind == LADDER:
        return climb(game, command)
    node = game.state.nodes.get(command.number)
    if node is None or node.job is None or node.job.status != "pending" or node.job.retry_at != command.due:
        return "gone"
    offer_again(game, node.number)
    return "fired"


def complete_task(game: TokenGame, command: c.CompleteTask) -> str | Rejection:
    found = find_task(game, command.node, "complete")
    if isinstance(found, Rejection):
        return found
    node, by = found[0], command.who.name
    answered = human_tasks.answer(found[1], command.who, game.now, task_key(node.number))
    if isinstance(answered, Rejection):
        return answered
    seen, key = seen_in(game.state, node.number, command.documents), task_key(node.number)
    if (stale := human_tasks.outdated(command.seen, seen, human_tasks.OF_TASK, "complete", "task", key)) is not None:
        return stale
    if told := answer_jointly(game, node, command, seen):
        return told
    if node.job is not None and node.job.is_asking:
        return _answer_agent(game, node, command)
    fault = _bring(game, command.head, command.flags, command.writer, node.element, by)
    if fault is not None:
        return fault
    note_override(game, node.number, command.who, "complete")
    game.emit(e.TaskCompleted(node.number, game.now, by, command.seen, found[1].due_at))
    intake = game.spot(node.element).intake
    if intake and command.message:
        make_job(game, node.number, intake, "intake", command.message, by)
    else:
        complete(game, node.number)
    return "completed"


def _answer_agent(game: TokenGame, node: Node, command: c.CompleteTask) -> str | Rejection:
    """The agent of a job goes on with what a person answered to it."""
    assert node.job is not None
    if node.job.questions > 1 and not command.seen:
        return human_tasks.unseen_question(task_key(node.number))
    if command.flags:
        fact = "an agent goes on with the answer, and only it sets flags"
        return Rejection("invalid", "complete", "task", task_key(node.number), fact, "Leave the flags out.")
    note_override(game, node.number, command.who, "complete")
    due_at = node.task.due_at if node.task is not None else 0
    game.emit(e.TaskCompleted(node.number, game.now, command.who.name, command.seen, due_at))
    game.emit(e.JobAnswered(node.number, game.now, command.who.name, command.message))
    offer_again(game, node.number)
    return "completed"


def note_on_task(game: TokenGame, command: c.NoteOnTask) -> str | Rejection:
    node = game.state.nodes.get(command.node)
    if node is None or node.kind != "task" or node.task is None:
        return Rejection("wrong_state", "note on", "task", str(command.node), "it is not open (any more)")
    game.emit(e.HeadChanged(command.head, command.by))
    return "noted"


def escalate(game: TokenGame, command: c.Escalate) -> str:
    node = game.state.nodes.get(command.node)
    if node is None or node.kind != "call":
        return "gone"
    throw(game, "escalation", command.code, node.number, node.element)
    return "escalated"


def end_call(game: TokenGame, command: c.EndCall) -> str | Rejection:
    node = game.state.nodes.get(command.node)
    if node is None or node.kind != "call":
        game.emit(e.MessageIgnored(game.now, f"node {command.node}", "", "the call has ended"))
        return "ignored"
    if command.status in ("completed", "terminated"):
        if command.head:
            game.emit(e.HeadChanged(command.head, node.element))
        game.write(command.flags, "", node.element)
        complete(game, node.number)
        return "completed"
    failure = command.failure
    if failure is None:
        game.incident(node.number, CALL_FAILED, f"The called process did not complete. It was {command.status}.")
    elif not throw(game, "error", failure.code, node.number, node.element) and not failed_undo(game, node.number):
        if game.is_called and nature_of(failure.kind) == "business":
            end(game, "failed", failure)
        else:
            game.incident(node.number, CALL_FAILED, f"The called process did not complete. {failure.message}")
    return "failed"
