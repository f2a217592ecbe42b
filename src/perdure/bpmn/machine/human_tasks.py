"""Human tasks of processes: opened with everything frozen, taken, handed on and answered, and their ladders climbed."""

from __future__ import annotations

from perdure import human_tasks
from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.expression_values import text_of
from perdure.bpmn.machine.state import Instance, Node
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection
from perdure.human_tasks import HumanTask, Person

LADDER = "ladder"
"""The kind of the timer of a task's next rung."""


def open_task(game: TokenGame, number: int, task: m.Task) -> None:
    rules = game.spot(task.id).rules
    assignee, groups, users, due = (text_of(game, each) for each in (task.assignee, task.groups, task.users, task.due))
    requester, behind = (game.state.principal, game.state.behind) if rules.four_eyes else ("", ())
    agents = human_tasks.admits_agents(rules.agents, assignee, human_tasks.names_of(users))
    due_at = human_tasks.moment(due, game.now) if due else 0
    ladder = human_tasks.ladder_from(rules.ladder, game.now)
    game.emit(e.TaskOpened(number, assignee, groups, users, due, due_at, requester, ladder, behind, agents))


def seen_in(state: Instance, number: int, documents: bytes = b"") -> str:
    """What somebody sees who is asked by an instance: its payload with the documents it refers to, and the process.

    Of a job whose agent asks, it is the question instead of the payload.
    """
    node = state.nodes.get(number)
    is_asking = node is not None and node.job is not None and node.job.is_asking
    shown = node.job.question if is_asking and node is not None and node.job is not None else state.head
    return human_tasks.seen_of(shown, state.definition, documents=documents)


def find_task(game: TokenGame, number: int, do: str) -> tuple[Node, HumanTask] | Rejection:
    """The token and its task, when people may act on it now."""
    node = game.state.nodes.get(number)
    if node is None or node.task is None or node.kind != "task":
        return human_tasks.over(do, task_key(number))
    if game.state.status == "suspended":
        return Rejection("wrong_state", do, "instance", "?", "it is suspended", "Resume it first.")
    return node, node.task


def task_key(number: int) -> str:
    """The key of a task; the machine knows the instance's letters that go where the question mark is."""
    return f"?:{number}"


def claim(game: TokenGame, command: c.ClaimTask) -> str | Rejection:
    found = find_task(game, command.node, "claim")
    if isinstance(found, Rejection):
        return found
    made = human_tasks.claim(found[1], command.who, task_key(command.node))
    if isinstance(made, Rejection):
        return made
    if made is found[1]:
        return "replayed"
    note_override(game, command.node, command.who, "claim")
    game.emit(e.TaskClaimed(command.node, game.now, command.who.name))
    return "claimed"


def unclaim(game: TokenGame, command: c.UnclaimTask) -> str | Rejection:
    found = find_task(game, command.node, "give back")
    if isinstance(found, Rejection):
        return found
    made = human_tasks.unclaim(found[1], command.who, task_key(command.node))
    if isinstance(made, Rejection):
        return made
    if made is found[1]:
        return "replayed"
    note_override(game, command.node, command.who, "give back")
    if taken := human_tasks.withdrawn(found[1], command.who):
        game.emit(e.TaskReopened(command.node, game.now, taken))
    else:
        game.emit(e.TaskClaimed(command.node, game.now, ""))
    return "unclaimed"


def delegate(game: TokenGame, command: c.DelegateTask) -> str | Rejection:
    found = find_task(game, command.node, "delegate")
    if isinstance(found, Rejection):
        return found
    made = human_tasks.delegate(found[1], command.who, command.to, task_key(command.node))
    if isinstance(made, Rejection):
        return made
    note_override(game, command.node, command.who, "delegate")
    game.emit(e.TaskDelegated(command.node, game.now, command.to, command.who.name))
    return "delegated"


def reassign(game: TokenGame, command: c.ReassignTask) -> str | Rejection:
    found = find_task(game, command.node, "reassign")
    if isinstance(found, Rejection):
        return found
    groups = human_tasks.names_of(command.groups)
    made = human_tasks.reassign(found[1], command.who, command.to, groups, task_key(command.node))
    if isinstance(made, Rejection):
        return made
    note_override(game, command.node, command.who, "reassign")
    game.emit(e.TaskReassigned(command.node, game.now, command.to, command.who.name, ", ".join(groups)))
    return "reassigned"


def answer_jointly(game: TokenGame, node: Node, command: c.CompleteTask, seen: str) -> str | Rejection:
    """Note the answer of one of several people; empty when nobody else is awaited."""
    task, key = _task_of(game, node.number), task_key(node.number)
    if not human_tasks.joint_groups(task.groups):
        return ""
    if changed := human_tasks.outlived(task, seen, human_tasks.OF_TASK):
        game.emit(e.TaskReopened(node.number, game.now, tuple(each.by for each in task.given), changed))
        task = _task_of(game, node.number)
    made = human_tasks.give(task, command.who, command.answer, seen, game.now, key)
    if isinstance(made, Rejection):
        return made
    note_override(game, node.number, command.who, "answer")
    given = made.given[-1]
    told = (given.by, given.group, given.answer, given.seen, given.behind)
    game.emit(e.TaskAnswered(node.number, game.now, *told))
    return "answered" if human_tasks.awaited_groups(made) else ""


def _task_of(game: TokenGame, number: int) -> HumanTask:
    task = game.state.nodes[number].task
    assert task is not None
    return task


def note_override(game: TokenGame, number: int, who: Person, act: str) -> None:
    """An administrator who acts for others is on record with the reason."""
    if who.override:
        game.emit(e.TaskOverridden(number, game.now, who.name, act, who.override))


def climb(game: TokenGame, command: c.FireTimer) -> str:
    """The next rung of a task's ladder; one that was climbed, or whose task has ended, is over."""
    node = game.state.nodes.get(command.number)
    if node is None or node.kind != "task" or node.task is None:
        return "gone"
    found = human_tasks.next_rung(node.task)
    if found is None or found[0] != command.due:
        return "gone"
    rung = found[1]
    game.emit(e.TaskChased(node.number, game.now, rung.act, rung.group, rung.user))
    return "fired"
