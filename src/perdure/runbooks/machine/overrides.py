"""Overrides of runbooks: the tasks and gates that an act on a step goes around."""

from __future__ import annotations

from perdure.errors import Rejection
from perdure.human_tasks import gate, open_task
from perdure.journal import Decision, Origin
from perdure.overrides import Act, Guard, Voice, could_answer, guards_of_task, is_guarded, voice
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.state import Runbook, Step

Passage = tuple[e.Entry, ...] | Decision | Rejection
"""The entries that let an act pass; or what the asker is told while it waits, or why it cannot be."""


def passage(
    state: Runbook, number: int, act: Act, unseen: tuple[Guard, ...], origin: Origin, reason: str, now: int
) -> Passage:
    """Whether an act may go around the tasks of a step; `unseen` are those that only others know of."""
    guards = guards_of(state, number, unseen, now)
    if not guards:
        return ()
    found = voice(guards, state.overrides, act, origin, reason, now)
    if isinstance(found, Rejection):
        return found
    entry = _entry(found, origin, reason, now)
    if found.refusal is not None:
        return Decision((entry,), "proposed", keeps=False, refusal=found.refusal)
    return (entry,)


def guards_of(state: Runbook, number: int, unseen: tuple[Guard, ...], now: int) -> tuple[Guard, ...]:
    """The tasks of a step that not everybody may answer: its gate, its wait, and those that only others know of."""
    step = state.steps[number - 1]
    tasks = [token.task for token in step.tokens if token.task is not None and is_guarded(token.task)]
    own = guards_of_task(f"task '{_name(step)}'", tasks[-1]) if tasks else ()
    return (*_gates(state, step, now), *(own or unseen))


def _gates(state: Runbook, step: Step, now: int) -> tuple[Guard, ...]:
    links = step.links
    if links is None or not links.gate or links.is_open:
        return ()
    principal, *others = state.askers
    behind = (*others, *(name for _, names in links.agreed for name in names))
    return tuple(
        Guard(f"gate '{links.name}' ({group})", open_task(gate((group,)), now, principal, behind=behind), links.name)
        for group in links.awaited
    )


def corrects_decision(state: Runbook) -> bool:
    """Whether the data of a call are what a task of a group or of four eyes is, or was, decided on."""
    return any(token.task is not None and is_guarded(token.task) for token in state.steps[0].tokens)


def may_correct(state: Runbook, origin: Origin, reason: str) -> bool:
    """Whether somebody could have answered every such task of a call."""
    tasks = [token.task for token in state.steps[0].tokens if token.task is not None and is_guarded(token.task)]
    return all(could_answer(task, origin, reason) for task in tasks)


def _name(step: Step) -> str:
    return step.links.name if step.links is not None else step.verb


def _entry(found: Voice, origin: Origin, reason: str, now: int) -> e.Entry:
    made = found.override
    if not found.is_new:
        covered = made.covered[-found.more :] if found.more else ()
        return e.OverrideAgreed(made.number, now, origin.principal, reason, origin.behind, covered)
    told = (made.number, now, made.act, made.what, made.tasks, made.needs, made.by, made.reason)
    return e.OverrideProposed(*told, made.behind, made.covered)
