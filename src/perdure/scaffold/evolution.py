"""From one model to the next: what runs already meets the same commands, or another workflow type begins.

| change | what happens |
|---|---|
| nothing that issues commands | the version stays |
| only steps were added | the version stays, each new step behind a marker `workflow.patched` |
| anything else | a new version with a type of its own; the one before is kept as it is |
| anything, with `in_place` | the version stays and follows the model: for what nothing runs of yet |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, assert_never

import msgspec

from perdure.scaffold.program import (
    Again,
    Arm,
    Body,
    Choice,
    Do,
    End,
    Fail,
    Fork,
    Leave,
    Loop,
    Patched,
    Program,
    Side,
    Statement,
    done_nodes,
)

_Change = Callable[[Do], Statement | None]
Change = Literal["first", "same", "patched", "version", "in_place"]


class Evolution(msgspec.Struct, frozen=True):
    """What becomes of the last version: the program as it is written, and the nodes behind markers."""

    change: Change
    program: Program
    patches: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def evolve(before: Program | None, patches: tuple[str, ...], now: Program, *, in_place: bool = False) -> Evolution:
    """How a program follows the one before, which has these nodes behind markers already."""
    if before is None:
        return Evolution("first", now)
    present = _nodes(now)
    kept = tuple(each for each in patches if each in present)
    marked = with_patches(now, kept)
    if marked == before:
        return Evolution("same", marked, kept)
    if in_place:
        return Evolution("in_place", now)
    added = tuple(sorted(present - _nodes(before)))
    if added and kept == patches and without(marked, frozenset(added)) == before:
        top = tuple(each for each in added if each in _outer(marked, before))
        every = tuple(sorted((*patches, *top)))
        return Evolution("patched", with_patches(now, every), every, top)
    return Evolution("version", now)


def _outer(now: Program, before: Program) -> set[str]:
    """Nodes of scopes that were there before: what is inside an added subprocess needs no marker of its own."""
    scopes = [now.body, *(body for id, body in now.subprocesses.items() if id in before.subprocesses)]
    return {id for body in scopes for id in done_nodes(body)}


def marker(node: str) -> str:
    return f"add-{node}"


def with_patches(program: Program, nodes: tuple[str, ...]) -> Program:
    """The program with these nodes behind markers, wherever they stand."""
    chosen = frozenset(nodes)
    return _mapped(program, lambda each: Patched(marker(each.node), (each,)) if each.node in chosen else each)


def without(program: Program, nodes: frozenset[str]) -> Program:
    """The program without these nodes and without subprocesses nothing enters any more."""
    left = _mapped(program, lambda each: None if each.node in nodes else each)
    inside = {id: body for id, body in left.subprocesses.items() if id not in nodes}
    return Program(left.body, inside, {id: each for id, each in left.bindings.items() if id not in nodes})


def _nodes(program: Program) -> set[str]:
    return {id for body in program.scopes() for id in done_nodes(body)}


def _mapped(program: Program, change: _Change) -> Program:
    inner = {id: _body(body, change) for id, body in program.subprocesses.items()}
    return Program(_body(program.body, change), inner, program.bindings)


def _body(body: Body, change: _Change) -> Body:
    return tuple(found for each in body if (found := _statement(each, change)) is not None)


def _statement(statement: Statement, change: _Change) -> Statement | None:
    match statement:
        case Do():
            return change(msgspec.structs.replace(statement, sides=_sides(statement, change)))
        case Choice(arms=arms, activity=activity):
            if activity is not None:
                activity = msgspec.structs.replace(activity, sides=_sides(activity, change))
            inner = tuple(Arm(_body(arm.body, change), arm.condition, arm.event) for arm in arms)
            return msgspec.structs.replace(statement, arms=inner, activity=activity)
        case Loop(body=body) | Patched(body=body):
            return msgspec.structs.replace(statement, body=_body(body, change))
        case Fork(branches=branches):
            return msgspec.structs.replace(statement, branches=tuple(_body(each, change) for each in branches))
        case Leave() | Again() | End() | Fail():
            return statement
        case _:
            assert_never(statement)


def _sides(do: Do, change: _Change) -> tuple[Side, ...]:
    return tuple(Side(side.event, _body(side.body, change)) for side in do.sides)
