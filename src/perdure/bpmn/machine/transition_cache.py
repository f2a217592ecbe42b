"""Known moves: what the token game made of an instance once, it makes of every instance that stands the same way.

A process is hollow and its flags are few, so its instances pass through few shapes: states whose opaque values (times,
hashes, names, keys) are blanks that the game carries along and never looks at. A move leads from one shape to the next;
once it is known, deciding is filling in blanks.

| a command | is remembered | its blanks |
|---|---|---|
| StartInstance | unless a call activity began it | when, who, trace, payload, business key, idempotency key, step |
| RecordJob | when the job succeeded and nothing was metered | when, who, trace, payload |
| CompleteTask | when it brings no flags and needs no intake | when, who, trace, the person's name, payload |
| any other | never: the game is played | |

That a blank is never looked at is not believed but tried whenever a move is learned: the game is played with the blanks
filled forwards, backwards, all the same, and empty, and each time it must give what filling in gives. A move that fails
(a timer is set, a name compared) is not remembered. Nothing is learned before it comes a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.opaque_command_values import READERS, STEP, Brought, Values, given
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.machine.transition_templates import (
    Blank,
    Move,
    Packed,
    Shape,
    picker,
    piece_of,
    stand,
    standing,
    template_of,
)
from perdure.errors import Rejection
from perdure.journal import Decision, Entries, Notice, Origin, RecordCodec, Rows, Written

MOST_MOVES = 5_000
"""How many moves are remembered before all are forgotten and learned anew."""
MOST_TRIED = 256
"""Of how many commands one shape remembers that they came once."""
MOST_BYTES = 4096
"""How large a state and a record may be that are remembered: large ones are many, and seldom come again."""

Filling = Literal["forwards", "backwards", "same", "empty"]
_pack = msgspec.msgpack.Encoder().encode


class Board(Protocol):
    """The machine that plays the game."""

    @property
    def records(self) -> RecordCodec[Any]: ...
    def play(
        self, id: bytes, state: Instance | None, command: Any, origin: Origin, now: int, chance: float
    ) -> Decision | Rejection: ...
    def encode(self, state: Instance) -> bytes: ...
    def decode(self, data: bytes) -> Instance: ...
    def rows(self, id: bytes, state: Instance) -> Rows: ...
    def notices(self, id: bytes, state: Instance, entries: tuple[Any, ...]) -> tuple[Notice, ...]: ...


class Played(NamedTuple):
    """What the game gave: the state after it and the record of it, as they would be stored."""

    state: bytes
    record: bytes
    decision: Decision


class TransitionCache:
    """The moves of one process. They change nothing of what is decided, only what deciding costs."""

    def __init__(self, board: Board) -> None:
        self._board = board
        # What is filled in is of the newest form: nothing of it has to be lifted.
        self._read_state = msgspec.msgpack.Decoder(Instance).decode
        self._beginnings: dict[bytes, Shape] = {}
        self._shapes: dict[tuple[bytes, tuple[int, ...], tuple[Blank, ...]], Shape] = {}
        self._count = 0

    def decide(self, state: Instance | None, command: Any, origin: Origin, now: int) -> Decision | None:
        """What a known move gives; None when the game must be played."""
        read = READERS.get(type(command))
        if read is None:
            return None
        stands = standing(state) if state is not None else self._beginning(command)
        if stands is None:
            return None
        brought = read(command, origin, now)
        if brought is None:
            return None
        shape, before = stands
        move = shape.moves.get(brought[0])
        if move is None:
            move = self._learned(shape, before, command, brought)
            if move is None:
                return None
        return self._made(move, (*before, *map(_pack, brought[1])))

    def _beginning(self, command: Any) -> tuple[Shape, Packed] | None:
        if type(command) is not c.StartInstance:
            return None
        shape = self._beginnings.get(command.definition)
        if shape is None:
            shape = self._beginnings[command.definition] = Shape(template_of(b"", ()), ())
        return shape, ()

    def _made(self, move: Move, values: Packed) -> Decision:
        shape, carry, (text, pick, _), answer, is_notable, alike, pieces = move
        record, after = text % pick(values), carry(values)
        text, pick, _ = shape.template
        written = text % pick(after)
        state = self._read_state(written)
        stand(state, shape, after)
        entries = Entries(alike, pieces, values)
        return Decision(entries, answer, True, state, Written(written, record, shape.rows, is_notable))

    # --- learning ------------------------------------------------------------------------------------------------

    def _learned(self, shape: Shape, before: Packed, command: Any, brought: Brought) -> Move | None:
        """The move, when it came before and can be remembered."""
        key = brought[0]
        is_hopeless = shape.tried.get(key)
        if is_hopeless is None:
            if len(shape.tried) >= MOST_TRIED:
                shape.tried.clear()
            shape.tried[key] = False
        if is_hopeless is not False:
            return None
        move = self._learn(shape, before, command, brought)
        if move is None:
            shape.tried[key] = True
            return None
        shape.moves[key] = move
        del shape.tried[key]
        self._count += 1
        if self._count >= MOST_MOVES:
            self._beginnings.clear()
            self._shapes.clear()
            self._count = 0
        return move

    def _learn(self, shape: Shape, before: Packed, command: Any, brought: Brought) -> Move | None:
        _, brings, more = brought
        blanks = (*shape.blanks, *more)
        values = fill(blanks, "forwards")
        played = self._play(shape, values, command)
        if played is None or len(played.state) + len(played.record) > MOST_BYTES:
            return None
        packed = tuple(map(_pack, values))
        whole = template_of(played.state, packed)
        kept = tuple(dict.fromkeys(whole.order))
        carry = picker(kept)
        after = self._shape(played, [packed[each] for each in kept], tuple(blanks[each] for each in kept))
        record = template_of(played.record, packed)
        entries = self._board.records.read(played.record).entries
        read = self._board.records.read_entry
        pieces = tuple(piece_of(each, _pack(each), packed, read) for each in entries)
        move = Move(after, carry, record, played.decision.answer, self._is_notable(played), entries, pieces)
        others = [fill(blanks, filling) for filling in FILLINGS]
        own = tuple(map(msgspec.msgpack.decode, before)) + brings
        return move if all(self._holds(shape, move, command, each) for each in (*others, own)) else None

    def _shape(self, played: Played, packed: Sequence[bytes], blanks: tuple[Blank, ...]) -> Shape:
        """The shape of a state; the same one whichever way led there."""
        template = template_of(played.state, packed)
        name = (template.text, template.order, blanks)
        shape = self._shapes.get(name)
        if shape is None:
            rows = self._board.rows(b"", played.decision.state)
            is_same = not (rows.parked or rows.timers or rows.incidents)
            shape = self._shapes[name] = Shape(template, blanks, rows if is_same else None)
        return shape

    def _play(self, shape: Shape, values: Values, command: Any) -> Played | None:
        """The game itself, with the blanks filled; None when it does not come to a plain decision."""
        count = len(shape.blanks)
        written = shape.template.filled(tuple(map(_pack, values[:count])))
        state = self._board.decode(written) if written else None
        asked, origin, now = given(command, values[count:])
        decision = self._board.play(b"", state, asked, origin, now, 0.5)
        if not isinstance(decision, Decision) or not decision.entries or not decision.keeps:
            return None
        record = self._board.records.encode(now, type(command).__name__, origin, decision.entries)
        return Played(self._board.encode(decision.state), record, decision)

    def _holds(self, shape: Shape, move: Move, command: Any, values: Values) -> bool:
        """Whether filling in gives what the game gives."""
        played = self._play(shape, values, command)
        packed = tuple(map(_pack, values))
        return (
            played is not None
            and (played.decision.answer, self._is_notable(played)) == (move.answer, move.is_notable)
            and played.record == move.record.filled(packed)
            and played.state == move.shape.template.filled(move.carry(packed))
            and self._tells(move, packed, played)
        )

    def _tells(self, move: Move, values: Packed, played: Played) -> bool:
        """Whether entries made one by one are those of the record."""
        made, read = tuple(Entries(move.alike, move.pieces, values)), self._board.records.read(played.record).entries
        return made == read and _pack(made) == _pack(read) and [*map(type, made)] == [*map(type, move.alike)]

    def _is_notable(self, played: Played) -> bool:
        decision = played.decision
        return bool(self._board.notices(b"", decision.state, tuple(decision.entries)))


FILLINGS: tuple[Filling, ...] = ("backwards", "same", "empty")


def fill(blanks: Sequence[Blank], filling: Filling) -> Values:
    """Values for blanks: told apart by their bytes, unless they are all the same."""
    return tuple(_value(blank, number, filling) for number, blank in enumerate(blanks))


def _value(blank: Blank, number: int, filling: Filling) -> Any:
    place = 0 if filling == "same" else -number if filling == "backwards" else number
    word = f"\0{filling} {place}\0"
    match blank:
        case "time":
            return 1_000_000_000_000_000 + place * 1_000_003
        case "text" if filling == "empty":
            return ""
        case "text" | "name":
            return word
        case "step":
            return STEP + word
        case "hash":
            return word.encode().ljust(32, b"\xff")


_read = msgspec.msgpack.Decoder(Instance).decode


def samples(shape: Shape) -> list[Instance]:
    """For whoever would know of all states of a shape what they see of one: not believed but tried, as moves are."""
    filled = [fill(shape.blanks, filling) for filling in ("forwards", *FILLINGS)]
    return [_read(shape.template.filled(tuple(map(_pack, values)))) for values in filled]
