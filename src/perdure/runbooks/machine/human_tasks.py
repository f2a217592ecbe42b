"""Human tasks of runbooks: a wait that is for somebody, with the same rules as the tasks of processes."""

from __future__ import annotations

from msgspec.structs import replace

from perdure import human_tasks
from perdure.errors import Rejection
from perdure.human_tasks import Given, HumanTask, Rung
from perdure.journal import Decision
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.state import WAITING, Runbook, Step, Token

LADDER = "ladder"
"""The kind of the timer of a task's next rung."""
PLACE = 1000
"""Added to a token's number for the row of its task: a token waits under a key, its task is found in lists."""


def opened(step: int, token: int, park: c.Park, askers: tuple[str, ...], now: int) -> tuple[e.Entry, ...]:
    """What a wait that is for somebody begins with; `askers` asked for the work it belongs to."""
    if park.task is None:
        return ()
    task = human_tasks.open_task(park.task, now, askers[0], behind=askers[1:])
    return (e.TaskOpened(
        step, token, now, task.assignee, task.groups, task.users, task.due, task.due_at, task.requester, task.ladder,
        task.title, task.behind, task.agents,
    ),)  # fmt: skip


def waiting_task(step: Step) -> tuple[int, Token, HumanTask] | None:
    """The wait of a step that is for somebody, while it lasts."""
    for number, token in enumerate(step.tokens, 1):
        if token.task is not None and token.status == WAITING:
            return number, token, token.task
    return None


def given_at(step: Step) -> tuple[Given, ...]:
    """The answers to the wait of a step that somebody of each of several groups has to give."""
    return tuple(each for token in step.tokens if token.task is not None for each in token.task.given)


def act(state: Runbook, command: c.ActOnTask, now: int, chance: float) -> Decision | Rejection:
    """Claim, give back, delegate or reassign."""
    key, do = f"?:{command.step}", "give back" if command.act == "unclaim" else command.act
    found = waiting_task(state.steps[command.step - 1]) if 1 <= command.step <= len(state.steps) else None
    if found is None:
        return human_tasks.over(do, key)
    number, _, task = found
    made = _made(task, command, key)
    if isinstance(made, Rejection):
        return made
    if made is task:
        return Decision((), "replayed", keeps=False)
    who, groups = command.who, human_tasks.names_of(command.groups)
    if command.act == "unclaim" and (taken := human_tasks.withdrawn(task, who)):
        return Decision((e.TaskReopened(command.step, number, now, taken, reason=who.override),), command.act)
    acted = e.TaskActed(command.step, number, now, command.act, who.name, command.to, groups, who.override)
    return Decision((acted,), command.act)


def _made(task: HumanTask, command: c.ActOnTask, key: str) -> human_tasks.Answer:
    match command.act:
        case "claim":
            return human_tasks.claim(task, command.who, key)
        case "unclaim":
            return human_tasks.unclaim(task, command.who, key)
        case "delegate":
            return human_tasks.delegate(task, command.who, command.to, key)
        case "reassign":
            return human_tasks.reassign(task, command.who, command.to, human_tasks.names_of(command.groups), key)


def answered(
    step: int, token: int, found: Step, task: HumanTask, command: c.Complete, now: int
) -> tuple[e.Entry, ...] | Rejection:
    """Who ended the wait, or gave one of several answers; a rejection when it is not for them or not what they saw."""
    who, seen, key = command.who, seen_by_asked(found, command.documents), f"?:{step}"
    if refused := human_tasks.unanswerable(task, who, key):
        return refused
    if stale := human_tasks.outdated(command.seen, seen, human_tasks.OF_CALL, "complete", "task", key):
        return stale
    ended = e.TaskActed(step, token, now, "complete", who.name, reason=who.override, seen=seen)
    if not human_tasks.joint_groups(task.groups):
        return (ended,)
    before: tuple[e.Entry, ...] = ()
    if changed := human_tasks.outlived(task, seen, human_tasks.OF_CALL):
        names = tuple(each.by for each in task.given)
        before, task = (e.TaskReopened(step, token, now, names, changed),), human_tasks.without(task, names)
    made = human_tasks.give(task, who, command.answer, seen, now, key)
    if isinstance(made, Rejection):
        return made
    given = made.given[-1]
    told = (given.by, given.group, given.answer, seen, given.behind, who.override)
    half = e.TaskAnswered(step, token, now, *told)
    return (*before, half) if human_tasks.awaited_groups(made) else (*before, half, ended)


def is_half(entries: tuple[e.Entry, ...]) -> bool:
    """Whether an answer waits for those of others."""
    return isinstance(entries[-1], e.TaskAnswered)


def seen_by_asked(step: Step, documents: bytes = b"") -> str:
    """What somebody sees who is asked by a step: its arguments with their documents, and what an agent proposes."""
    return human_tasks.seen_of(step.input, step.proposal or step.question, documents=documents)


def chased(step: Step, number: int, due: int, now: int) -> tuple[e.Entry, ...]:
    """The next rung, when that is what is due; one that was climbed is over."""
    found = waiting_task(step)
    rung = human_tasks.next_rung(found[2]) if found is not None else None
    if found is None or rung is None or rung[0] != due:
        return ()
    return (e.TaskChased(number, found[0], now, rung[1].act, rung[1].group, rung[1].user),)


# --- what entries mean ------------------------------------------------------------------------------------------------


def with_task(step: Step, number: int, task: HumanTask) -> Step:
    token = replace(step.tokens[number - 1], task=task)
    return replace(step, tokens=(*step.tokens[: number - 1], token, *step.tokens[number:]))


def task_opened(entry: e.TaskOpened) -> HumanTask:
    return HumanTask(
        assignee=entry.assignee, groups=entry.groups, users=entry.users, opened_at=entry.at, due=entry.due,
        due_at=entry.due_at, requester=entry.requester, ladder=entry.ladder, title=entry.title,
        behind=entry.behind, agents=entry.agents,
    )  # fmt: skip


def task_acted(task: HumanTask, entry: e.TaskActed) -> HumanTask:
    match entry.act:
        case "claim":
            return replace(task, state="claimed", claimed_by=entry.by)
        case "unclaim":
            return replace(task, state="open", claimed_by="")
        case "delegate":
            return replace(human_tasks.handed(task, entry.to), delegated_by=(*task.delegated_by, entry.by))
        case "reassign":
            return human_tasks.handed(task, entry.to, entry.groups)
        case "complete":
            return human_tasks.ended(task, "completed", entry.at, entry.by)


def task_answered(task: HumanTask, entry: e.TaskAnswered) -> HumanTask:
    given = Given(entry.group, entry.by, entry.answer, entry.seen, entry.at, entry.behind)
    return human_tasks.with_given(task, given)


def task_reopened(task: HumanTask, entry: e.TaskReopened) -> HumanTask:
    return human_tasks.without(task, entry.of)


def task_chased(task: HumanTask, entry: e.TaskChased) -> HumanTask:
    return human_tasks.climbed(task, Rung(0, entry.act, entry.group, entry.user))
