"""Overrides of instances: an act that leaves a guarded task behind without its answer needs who could give it.

| act | leaves behind |
|---|---|
| modify | tasks of tokens that are taken away, tasks that new tokens do not come to |
| data of modify | every task of the process: an answer holds for the data it was given on, before or later |
| resolve | tasks that the token stands for, holds or called |
| cancel of an instance that carries a step, which goes on without it | tasks that wait or may still come |
| migrate | tasks ahead that the other version may avoid, or gives to others |
| flags of modify, retry and resolve | tasks that the flags lead past, give to others or answer anew |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.flag_choices import avoided_tasks
from perdure.bpmn.machine.guarded_tasks import (
    guards_ahead,
    guards_of,
    guards_of_end,
    guards_of_move,
    lost_tasks,
    named_once,
)
from perdure.bpmn.machine.reachability import user_tasks
from perdure.bpmn.machine.token_game_state import TokenGame
from perdure.errors import Rejection
from perdure.journal import Origin
from perdure.overrides import Act, Guard, hash_of, voice

CARRIES_A_STEP = "step:"
"""How the parent of an instance begins that carries a step of a runbook."""


class Proposed(Rejection, frozen=True):
    """An act was noted and waits for somebody else; this is what the asker is told."""


def around(before: TokenGame, after: TokenGame, command: Any) -> tuple[Act, tuple[Guard, ...]]:
    """An act in words, and the tasks that it leaves behind without their answer.

    `after` is the game in which the act was tried. Tasks that only others know of come with the command.
    """
    act, own = _ACTS[type(command)](before, after, command)
    flags = guards_of(before, avoided_tasks(before, getattr(command, "flags", {}))) if _sets_flags(command) else ()
    return act, named_once((*command.unseen, *own, *flags))


def passage(
    game: TokenGame, guards: tuple[Guard, ...], act: Act, origin: Origin, reason: str
) -> Proposed | Rejection | None:
    """Why an act cannot go around tasks now; None, with the override on record, when it can."""
    found = voice(guards, game.state.overrides, act, origin, reason, game.now)
    if isinstance(found, Rejection):
        return found
    made = found.override
    if found.is_new:
        told = (made.number, game.now, made.act, made.what, made.tasks, made.needs, made.by, made.reason)
        game.emit(e.OverrideProposed(*told, made.behind, made.covered))
    else:
        covered = made.covered[-found.more :] if found.more else ()
        game.emit(e.OverrideAgreed(made.number, game.now, origin.principal, reason, origin.behind, covered))
    if found.refusal is None:
        return None
    refusal = found.refusal
    return Proposed(refusal.code, refusal.do, refusal.thing, refusal.id, refusal.fact, refusal.hint)


def _modify(before: TokenGame, after: TokenGame, command: c.Modify) -> tuple[Act, tuple[Guard, ...]]:
    changed = (command.change,) if command.head else ()
    done = hash_of("modify", command.cancels, command.starts, command.flags, *changed)
    answered = guards_of(before, user_tasks(before.plan)) if command.head else ()
    return Act("modify", "instance", done), (*guards_of_move(before, command), *answered)


def _resolve(before: TokenGame, after: TokenGame, command: c.ResolveIncident) -> tuple[Act, tuple[Guard, ...]]:
    done = hash_of("resolve", command.node, command.data, command.flags, command.error)
    act = Act("resolve the incident of", "instance", done)
    return act, guards_of_end(before, before.state.nodes[command.node])


def _retry(before: TokenGame, after: TokenGame, command: c.RetryIncident) -> tuple[Act, tuple[Guard, ...]]:
    return Act("retry the incident of", "instance", hash_of("retry", command.node, command.flags)), ()


def _migrate(before: TokenGame, after: TokenGame, command: c.Migrate) -> tuple[Act, tuple[Guard, ...]]:
    done = hash_of("migrate", command.definition, command.mapping, command.flags)
    return Act("migrate", "instance", done), guards_of(before, lost_tasks(before, after, command.mapping))


def _cancel(before: TokenGame, after: TokenGame, command: c.Cancel) -> tuple[Act, tuple[Guard, ...]]:
    """Whoever calls an instance meets an incident; only a step of a runbook may go on by itself."""
    act = Act("cancel", "instance", hash_of("cancel", command.compensates))
    is_left = before.state.parent.startswith(CARRIES_A_STEP) and not command.follows
    return act, guards_ahead(before) if is_left else ()


def _sets_flags(command: Any) -> bool:
    return type(command) is not c.Migrate and bool(getattr(command, "flags", None))


_ACTS: dict[type, Callable[[TokenGame, TokenGame, Any], tuple[Act, tuple[Guard, ...]]]] = {
    c.Modify: _modify,
    c.ResolveIncident: _resolve,
    c.RetryIncident: _retry,
    c.Migrate: _migrate,
    c.Cancel: _cancel,
}
ACTS = frozenset(_ACTS)
"""The commands by which somebody moves an instance otherwise than by its model."""
