"""Shapes: states and records whose opaque values are blanks, as bytes that are filled in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from perdure.bpmn.machine.state import Instance
from perdure.journal import Rows

Blank = Literal["time", "text", "name", "step", "hash"]
"""What stands in a blank: a `text` may be empty, a `name` may not, a `step` is the parent of an instance."""
Packed = tuple[bytes, ...]
"""Values as they stand in stored bytes."""
Key = tuple[Any, ...]

_STANDS = "stands"


class Template(NamedTuple):
    """Bytes with blanks, and which of the values given they take, in their order."""

    text: bytes
    pick: Callable[[Packed], Packed]
    order: tuple[int, ...]

    def filled(self, values: Packed) -> bytes:
        return self.text % self.pick(values)


class Shape:
    """States that differ in their blanks only, and the moves that are known from there.

    `rows` where they are the same for all of them. `tried` holds commands that came once, and whether they were found
    to be none that can be remembered. `notes` are what others found to be the same for all of them.
    """

    __slots__ = ("blanks", "moves", "notes", "rows", "template", "tried")

    def __init__(self, template: Template, blanks: tuple[Blank, ...], rows: Rows | None = None) -> None:
        self.template = template
        self.blanks = blanks
        self.rows = rows
        self.moves: dict[Key, Move] = {}
        self.tried: dict[Key, bool] = {}
        self.notes: dict[str, Any] = {}


class Move(NamedTuple):
    """From one shape to the next, whose blanks `carry` takes from those before and those the command brings.

    Its entries are made of `pieces`; those it was learned with are `alike`.
    """

    shape: Shape
    carry: Callable[[Packed], Packed]
    record: Template
    answer: str
    is_notable: bool
    alike: tuple[Any, ...]
    pieces: tuple[Callable[[Packed], Any], ...]


def template_of(written: bytes, values: Sequence[bytes]) -> Template:
    """Bytes in which every occurrence of a value is a blank; the values must be told apart by their bytes."""
    if not values:
        return Template(_plain(written), picker(()), ())
    parts = re.split(b"(" + b"|".join(map(re.escape, values)) + b")", written)
    numbers = {value: number for number, value in enumerate(values)}
    order = tuple(numbers[each] for each in parts[1::2])
    return Template(b"%b".join(map(_plain, parts[::2])), picker(order), order)


def _plain(text: bytes) -> bytes:
    return text.replace(b"%", b"%%")


def piece_of(
    entry: Any, written: bytes, values: Sequence[bytes], read: Callable[[bytes], Any]
) -> Callable[[Packed], Any]:
    """How an entry is made of the values in its blanks; one that has none and cannot be changed is the same for all."""
    text, pick, order = template_of(written, values)
    if not order and _is_unchanging(entry):
        return lambda _: entry
    return lambda values: read(text % pick(values))


def _is_unchanging(entry: Any) -> bool:
    """What holds nothing that can be changed has a hash."""
    try:
        hash(entry)
    except TypeError:
        return False
    return True


def picker(order: tuple[int, ...]) -> Callable[[Packed], Packed]:
    """Takes the values at these places."""
    if len(order) > 1:
        return itemgetter(*order)
    if not order:
        return lambda values: ()
    (only,) = order
    return lambda values: (values[only],)


def stand(state: Instance, shape: Shape, values: Packed) -> None:
    """Note beside a state, not in it, which shape it has: whoever changes it works on a copy without the note."""
    state.__dict__[_STANDS] = (shape, values)


def standing(state: Instance) -> tuple[Shape, Packed] | None:
    """The shape of a state and what fills its blanks, where that was noted."""
    return state.__dict__.get(_STANDS)
