"""Large states: only what changed is written, everything is checked when read, and the audit knows every part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import QuarantinedError, UnreadableFormError
from perdure.journal import NO_ROWS, Decision, JobRow, Notice, Origin, Parts, RecordCodec, Rows
from perdure.journal.state_parts import CHUNK, INLINE
from perdure.kernel.kernel import Kernel, Prepared
from perdure.kernel.ports import Told, Unit
from perdure.sources import Id
from perdure.store.audit.aggregate_audit import Look
from perdure.store.audit.audit_reader import Reader
from perdure.store.commit_callbacks import awaited
from perdure.store.driver_selection import open_driver
from perdure.store.store import Store
from perdure.testing.virtual_clock import VirtualSources
from tests.conformance.stores import Raw, id_of

ORIGIN = Origin("tenant", "client")


class Cell(msgspec.Struct, frozen=True, array_like=True):
    value: int


class Grown(msgspec.Struct, frozen=True, array_like=True, tag=1):
    by: int


class Painted(msgspec.Struct, frozen=True, array_like=True, tag=2):
    at: int
    value: int


class Board(msgspec.Struct, frozen=True):
    cells: Parts[Cell]


class BoardMachine:
    """As small as a machine with parts can be: cells that are added and painted; a painted one is a job."""

    kind: ClassVar[str] = "board"
    semantics: ClassVar[int] = 1

    def __init__(self) -> None:
        self.records: RecordCodec[Any] = RecordCodec(Grown | Painted, 1, ())

    def decide(self, id: bytes, state: Any, command: Any, origin: Origin, now: int, chance: float) -> Decision:
        return Decision((command,))

    def apply(self, state: Board | None, entry: Grown | Painted) -> Board:
        cells = state.cells if state is not None else Parts[Cell]()
        if isinstance(entry, Grown):
            return Board(cells.extend(Cell(0) for _ in range(entry.by)))
        return Board(cells.set(entry.at, Cell(entry.value)))

    def rows(self, id: bytes, state: Board) -> Rows:
        return self.rows_among(id, state, range(len(state.cells)))

    def rows_among(self, id: bytes, state: Board, parts: Sequence[int]) -> Rows:
        return Rows(jobs=tuple(JobRow(at, 0, state.cells[at].value) for at in parts if state.cells[at].value))

    def notices(self, id: bytes, state: Board, entries: tuple[Any, ...]) -> tuple[Notice, ...]:
        return ()

    def encode(self, state: Board) -> bytes:
        cells = state.cells
        if cells.is_inline:
            return msgspec.msgpack.encode(list(cells))
        return msgspec.msgpack.encode((len(cells), cells.root(self.encode_part)))

    def decode(self, data: bytes) -> Board:
        form = msgspec.msgpack.decode(data)
        if len(form) == 2 and isinstance(form[1], bytes):
            return Board(Parts.absent(*form))
        return Board(Parts.of(Cell(*cell) for cell in form))

    def parts(self, state: Board) -> Parts[Cell] | None:
        return None if state.cells.is_inline else state.cells

    def encode_part(self, part: Cell) -> bytes:
        return msgspec.msgpack.encode(part)

    def filled(self, state: Board, bodies: Sequence[bytes]) -> Board:
        return Board(state.cells.filled(bodies, lambda body: msgspec.msgpack.decode(body, type=Cell)))

    def status(self, state: Board) -> tuple[str, int]:
        return "open", 0

    def payloads(self, state: Board) -> tuple[tuple[bytes, ...], bool]:
        return (), False


class Watched:
    """A store that remembers the units it was given."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.units: list[Unit] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def commit(self, unit: Unit) -> Any:
        return awaited(self.submit, unit)

    def submit(self, unit: Unit, told: Told) -> None:
        self.units.append(unit)
        self.store.submit(unit, told)


class World(msgspec.Struct):
    store: Watched
    kernel: Kernel
    machine: BoardMachine

    async def grow(self, id: Id, by: int) -> None:
        await self.kernel.start("board", id, ORIGIN, Prepared(Grown(by)))

    async def ask(self, id: Id, command: Any) -> None:
        await self.kernel.ask("board", id, ORIGIN, Prepared(command))

    async def findings(self, id: Id) -> list[str]:
        look = Look(Reader(self.store.store.driver), {"board": self.machine}, id)
        await look.take(True)
        return [each.code for each in look.findings]


@asynccontextmanager
async def worlds(url: str, count: int = 1) -> AsyncIterator[list[World]]:
    drivers = [open_driver(url) for _ in range(count)]
    made = []
    for driver in drivers:
        await driver.open()
        machine, clock = BoardMachine(), VirtualSources()
        store = Watched(Store(driver, clock))
        made.append(World(store, Kernel(store, {"board": machine}, clock), machine))
    try:
        yield made
    finally:
        for driver in drivers:
            await driver.close()


async def test_only_the_changed_part_of_a_large_state_is_written(store_url: str) -> None:
    async with worlds(store_url) as (world,):
        id = id_of("large")
        await world.grow(id, 1000)
        await world.ask(id, Painted(417, 7))
        unit = world.store.units[-1]
        assert [number for number, _ in unit.parts] == [417]
        assert unit.after.jobs == (JobRow(417, 0, 7),)
        assert len(unit.state) < 100
        assert await world.findings(id) == []


async def test_a_large_state_is_read_back_whole(store_url: str) -> None:
    async with worlds(store_url, 2) as (one, two):
        id = id_of("read")
        await one.grow(id, 100)
        await one.ask(id, Painted(99, 3))
        state = (await two.kernel.read(id, ORIGIN)).state
        assert [cell.value for cell in state.cells] == [0] * 99 + [3]
        await two.ask(id, Painted(0, 4))
        assert [number for number, _ in two.store.units[-1].parts] == [0]
        assert [cell.value for cell in (await one.kernel.read(id, ORIGIN)).state.cells] == [4, *[0] * 98, 3]


async def test_a_state_that_outgrows_its_row_moves_all_its_parts(store_url: str) -> None:
    async with worlds(store_url, 2) as (one, two):
        id = id_of("grown")
        await one.grow(id, INLINE)
        await one.ask(id, Painted(2, 9))
        assert one.store.units[-1].parts == []
        await one.ask(id, Grown(5))
        assert len(one.store.units[-1].parts) == INLINE + 5
        await one.ask(id, Painted(2, 0))
        assert one.store.units[-1].after == NO_ROWS
        await one.ask(id, Grown(2))
        assert [number for number, _ in one.store.units[-1].parts] == [INLINE + 5, INLINE + 6]
        assert await one.findings(id) == []
        assert len((await two.kernel.read(id, ORIGIN)).state.cells) == INLINE + 7


@pytest.mark.req("P7")
@pytest.mark.parametrize("harm", ["UPDATE part SET body = {body}", "DELETE FROM part"])
async def test_a_part_that_was_touched_is_found_and_never_used(store_url: str, harm: str) -> None:
    async with worlds(store_url, 2) as (one, two):
        id = id_of("harmed")
        await one.grow(id, 40)
        with Raw(store_url) as raw:
            raw(f"{harm} WHERE number = 5".format(body="X'9105'" if store_url.startswith("sqlite") else "'\\x9105'"))
        with pytest.raises(QuarantinedError, match="parts"):
            await two.kernel.read(id, ORIGIN)
        assert "AUD014" in await one.findings(id)


async def test_parts_written_between_two_reads_are_read_again(store_url: str) -> None:
    async with worlds(store_url, 2) as (one, two):
        id = id_of("raced")
        await one.grow(id, 40)
        parts, changes = two.store.store.parts, iter([11, 12])

        async def late(which: Id) -> list[bytes]:
            if (value := next(changes, None)) is not None:
                await one.ask(id, Painted(3, value))
            return await parts(which)

        two.store.parts = late  # type: ignore[attr-defined]
        assert (await two.kernel.read(id, ORIGIN)).state.cells[3] == Cell(12)


Edits = st.lists(
    st.one_of(
        st.integers(1, 3 * CHUNK),
        st.tuples(st.integers(0, 10_000), st.integers(1, 9)),
    ),
    max_size=30,
)


@settings(deadline=None, max_examples=60)
@given(Edits)
def test_parts_are_a_list_that_never_changes(edits: list[Any]) -> None:
    machine = BoardMachine()
    parts, plain = Parts[Cell](), list[Cell]()
    for edit in edits:
        before, known = parts, list(plain)
        if isinstance(edit, int):
            parts, plain = parts.extend([Cell(0)] * edit), plain + [Cell(0)] * edit
        elif plain:
            at, value = edit[0] % len(plain), edit[1]
            parts, plain[at] = parts.set(at, Cell(value)), Cell(value)
        assert list(before) == known
        changed = parts.changed_since(before)
        assert [at for at in range(len(plain)) if at >= len(known) or plain[at] != known[at]] == [
            at for at in changed if at >= len(known) or plain[at] != known[at]
        ]
        assert parts.root(machine.encode_part) == Parts.of(plain).root(machine.encode_part)
    assert list(parts) == plain
    bodies = [machine.encode_part(cell) for cell in plain]
    absent: Parts[Cell] = Parts.absent(len(plain), parts.root(machine.encode_part))
    if plain:
        assert absent.filled(bodies, lambda body: msgspec.msgpack.decode(body, type=Cell)) == parts
        with pytest.raises(UnreadableFormError):
            absent.filled(bodies[:-1], lambda body: msgspec.msgpack.decode(body, type=Cell))


def test_the_order_and_the_number_of_parts_are_part_of_the_root() -> None:
    def root(*values: int) -> bytes:
        return Parts.of(Cell(value) for value in values).root(BoardMachine().encode_part)

    assert len({root(), root(1), root(1, 2), root(2, 1), root(1, 2, 2)}) == 5
