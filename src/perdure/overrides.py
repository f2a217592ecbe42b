"""Overrides: an act that goes around a human task needs a reason and somebody who could have answered the task."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from perdure.errors import Rejection
from perdure.human_tasks import (
    ADMINISTRATORS,
    HumanTask,
    Person,
    TaskContract,
    joint_groups,
    open_task,
    other_groups,
    unanswerable,
    whom,
)
from perdure.journal import Origin

MAX_OPEN = 50
"""How many overrides of one aggregate may wait for somebody else."""
MAX_USED = 50
"""How many used ones a state remembers, the latest of them; the journal keeps all."""
AGREE = "Somebody it is for, who did not ask for it, repeats it with a reason."


class Guard(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A task that an act goes around. Of those `together` one person answers for one only, as for groups of a gate."""

    name: str
    task: HumanTask
    together: str = ""


class Override(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An act around tasks: who proposed it and why, who agreed, and which of the tasks they could have answered."""

    number: int
    at: int
    act: bytes
    """The hash of what is to be done: another act, or other data, is another override."""
    what: str
    tasks: tuple[str, ...]
    needs: str
    by: str
    reason: str
    behind: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    agreed: tuple[tuple[str, str], ...] = ()
    """Who agreed, each with the reason."""
    voices: tuple[str, ...] = ()
    """Everybody who agreed, and who stands behind them."""

    @property
    def is_used(self) -> bool:
        return set(self.tasks) <= set(self.covered)


class Act(NamedTuple):
    """An act in words and by its hash."""

    do: str
    thing: str
    hash: bytes


class Voice(NamedTuple):
    """What somebody's asking makes of an override: a proposal, or an agreement to it. `refusal` while others miss."""

    override: Override
    is_new: bool
    refusal: Rejection | None
    more: int = 0
    """How many tasks whoever agrees covers that nobody covered before."""


def is_guarded(task: HumanTask) -> bool:
    """Whether not everybody may answer: it is for groups, or needs four eyes."""
    return bool(task.groups or task.requester or task.behind)


def guards_of_task(name: str, task: HumanTask) -> tuple[Guard, ...]:
    """The guards of a task: none where anybody could answer it, one for each of several groups that are asked."""
    if not is_guarded(task):
        return ()
    joint = joint_groups(task.groups)
    if not joint:
        return (Guard(name, task),)
    alone = replace(task, given=(), claimed_by="", state="open")
    others = other_groups(task)
    return tuple(Guard(f"{name} ({group})", replace(alone, groups=(group, *others)), name) for group in joint)


def contract_guards(name: str, contract: TaskContract, askers: tuple[str, ...], now: int) -> tuple[Guard, ...]:
    """The guards of a task that has not opened."""
    return guards_of_task(name, open_task(contract, now, askers[0], behind=askers[1:]))


def voice(
    guards: tuple[Guard, ...], known: tuple[Override, ...], act: Act, origin: Origin, reason: str, now: int
) -> Voice | Rejection:
    """The override that somebody's asking leads to; with a refusal as long as somebody else has to agree."""
    names = tuple(guard.name for guard in guards)
    if not reason.strip():
        fact = f"it goes around {', '.join(names)} and no reason was given"
        return Rejection("invalid", act.do, act.thing, "?", fact, "Say why.")
    before = next((each for each in known if (each.act, each.tasks) == (act.hash, names) and not each.is_used), None)
    if before is None and sum(not each.is_used for each in known) >= MAX_OPEN:
        return Rejection("blocked", act.do, act.thing, "?", f"{MAX_OPEN} overrides wait for somebody already")
    if before is not None and not {before.by, *before.behind, *before.voices}.isdisjoint(origin.names):
        return _waiting(before, act)
    covered = _covered(guards, origin, reason, before.covered if before is not None else ())
    if before is None:
        number = known[-1].number + 1 if known else 1
        needs = ", ".join(dict.fromkeys(whom(guard.task) for guard in guards))
        made = Override(number, now, act.hash, act.do, names, needs, origin.principal, reason, origin.behind, covered)
        return Voice(made, True, None if made.is_used else _waiting(made, act))
    if not covered:
        fact = f"it goes around {', '.join(names)}, for {before.needs}, and '{origin.principal}' could not answer that"
        return Rejection("forbidden", act.do, act.thing, "?", fact, AGREE)
    after = agreed_by(before, origin.principal, origin.behind, reason, covered)
    return Voice(after, False, None if after.is_used else _waiting(after, act), len(covered))


def agreed_by(override: Override, by: str, behind: tuple[str, ...], reason: str, covered: tuple[str, ...]) -> Override:
    """The same with one more who agrees."""
    return replace(
        override,
        covered=(*override.covered, *covered),
        agreed=(*override.agreed, (by, reason)),
        voices=(*override.voices, by, *behind),
    )


def remembered(known: tuple[Override, ...], override: Override) -> tuple[Override, ...]:
    """Those a state keeps, with one that is new or has changed."""
    others = [each for each in known if each.number != override.number]
    ordered = sorted((*others, override), key=lambda each: each.number)
    used = [each.number for each in ordered if each.is_used]
    gone = set(used[:-MAX_USED])
    return tuple(each for each in ordered if each.number not in gone)


def agreed(
    known: tuple[Override, ...], number: int, by: str, behind: tuple[str, ...], reason: str, covered: tuple[str, ...]
) -> tuple[Override, ...]:
    """Those a state keeps after somebody agreed to one of them."""
    override = next(each for each in known if each.number == number)
    return remembered(known, agreed_by(override, by, behind, reason, covered))


def could_answer(task: HumanTask, origin: Origin, reason: str) -> bool:
    """Whether somebody could have answered a task, whoever has claimed or ended it since."""
    override = reason if ADMINISTRATORS in origin.groups else ""
    who = Person(origin.principal, origin.groups, override, origin.behind)
    return unanswerable(replace(task, state="open", claimed_by=""), who, "?") is None


def _covered(guards: tuple[Guard, ...], origin: Origin, reason: str, before: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    places: set[str] = set()
    for guard in guards:
        if guard.name in before or guard.together in places or not could_answer(guard.task, origin, reason):
            continue
        found.append(guard.name)
        places.update({guard.together} - {""})
    return tuple(found)


def _waiting(override: Override, act: Act) -> Rejection:
    fact = f"it goes around {', '.join(override.tasks)}, for {override.needs}; it waits as override {override.number}"
    return Rejection("blocked", act.do, act.thing, "?", fact, AGREE)


def hash_of(*parts: Any) -> bytes:
    """The hash of what an act does."""
    return sha256(msgspec.msgpack.encode(parts, order="sorted")).digest()
