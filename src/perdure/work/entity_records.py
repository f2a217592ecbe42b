"""Records of declared entities: read checked, written together with the result of the call that changes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import msgspec

from perdure.errors import BusinessError, PayloadTooLargeError, RecordMisuseError, sentence
from perdure.kernel.ports import EntityWrite
from perdure.payload import BUDGET_BYTES, parse
from perdure.sources import id_text, iso
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import CRUD
from perdure.verbs.near_names import did_you_mean
from perdure.work.crud import execute
from perdure.work.entity_schema import Data, EntitySchema, Key
from perdure.work.ports import EntityFound, Records

MAX_LISTED = 1000
MAX_SCANNED = 10_000
MAX_WRITES = 1000
SCAN_PAGE = 500

P = ParamSpec("P")
T = TypeVar("T")
Versions = list[Data]
Rows = list[EntityFound]


class Page(msgspec.Struct, frozen=True):
    """Records in the order of their keys. More may follow behind `after`; None says that nothing does."""

    records: list[Data]
    after: str | None = None

    def __iter__(self) -> Iterator[Data]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


class RecordDesk:
    """Opens the records of one tenant for one call."""

    def __init__(self, store: Records, catalogue: Catalogue) -> None:
        self._store = store
        self._shapes = {name: EntitySchema(each) for name, each in catalogue.entities.items()}

    def open(self, tenant: str, principal: str, verb: Verb | None = None, idempotency_key: str = "") -> StagedRecords:
        """Without a verb nothing can be written: there would be no result to commit it with."""
        return StagedRecords(self._store, self._shapes, tenant, principal, verb=verb, idempotency_key=idempotency_key)


class _Staged(NamedTuple):
    base: int
    is_deleted: bool
    data: bytes


def _awaited(
    operation: Callable[Concatenate[StagedRecords, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[StagedRecords, P], Awaitable[T]]:
    """One operation of a call at a time; one that is begun and never awaited is noticed when the call ends."""

    async def finish(records: StagedRecords, *args: P.args, **options: P.kwargs) -> T:
        try:
            async with records._turn:
                return await operation(records, *args, **options)
        finally:
            records._begun -= 1

    def begin(records: StagedRecords, /, *args: P.args, **options: P.kwargs) -> Awaitable[T]:
        records._begun += 1
        return finish(records, *args, **options)

    begin.__doc__ = operation.__doc__
    return begin


class StagedRecords:
    """What a handler has as `call.entities`.

    Reads see the call's own writes, and a record read once stays as it was read. Writes are staged
    with the version they are based on and committed with the call's result, or not at all; when
    someone else changed a record first, the handler runs again and reads what is there then.
    """

    def __init__(
        self,
        store: Records,
        shapes: Mapping[str, EntitySchema],
        tenant: str,
        principal: str,
        *,
        verb: Verb | None = None,
        idempotency_key: str = "",
    ) -> None:
        self._store = store
        self._shapes = shapes
        self._tenant = tenant
        self._principal = principal
        self._verb = verb
        self._idempotency_key = idempotency_key
        self._seen: dict[tuple[str, str], EntityFound | None] = {}
        self._staged: dict[tuple[str, str], _Staged] = {}
        self._made = 0
        self._turn = asyncio.Lock()
        self._begun = 0
        self._is_closed = False

    # --- what handlers do ----------------------------------------------------------------------------------------

    @_awaited
    async def create(self, entity: str, fields: Mapping[str, Any], *, seed: str = "") -> Data:
        """A new record; a missing single uuid key is made up, the same one when the call runs again.

        Under the key of a deleted record it takes up that record's history with the next version.
        """
        shape = self.shape(entity)
        data = self._with_key(shape, shape.values(fields), seed)
        key = shape.key_text(data)
        found = await self._look(shape, key)
        if found is not None and not found.is_deleted:
            raise _refused("already_exists", "create", shape, key, "there is one already")
        return self._stage(shape, key, found, data)

    @_awaited
    async def read(self, entity: str, key: Key, version: int | None = None, *, deleted: bool = False) -> Data:
        """The record as it is, or as it was in a version; with `deleted`, also one that was deleted."""
        shape = self.shape(entity)
        text = shape.key_text(shape.key_values(key))
        found = await (self._look(shape, text) if version is None else self._look_back(shape, text, version))
        if found is None:
            fact = "there is none" if version is None else f"it has no version {version}"
            raise _refused("not_found", "read", shape, text, fact)
        if found.is_deleted and not deleted:
            raise _refused("not_found", "read", shape, text, "it was deleted", hint="Ask for deleted ones to see it.")
        if not found.data:
            raise _refused("not_found", "read", shape, text, "its data was erased")
        return _shown(shape, found, deleted)

    @_awaited
    async def update(self, entity: str, key: Key, fields: Mapping[str, Any], version: int | None = None) -> Data:
        """Change the given fields and keep the others; None takes a value away."""
        shape = self.shape(entity)
        text, found = await self._existing("update", shape, key, version)
        before = _data(found)
        changes = shape.values(fields)
        moved = [name for name in shape.key if name in changes and changes[name] != before.get(name)]
        if moved:
            raise _refused("invalid", "update", shape, text, f"its key field '{moved[0]}' cannot change")
        return self._stage(shape, text, found, {**before, **changes})

    @_awaited
    async def delete(self, entity: str, key: Key, version: int | None = None) -> Data:
        """Mark as deleted; its history stays."""
        shape = self.shape(entity)
        text, found = await self._existing("delete", shape, key, version)
        return self._write(shape, text, found, found.data, is_deleted=True)

    @_awaited
    async def list(
        self, entity: str, where: Mapping[str, Any] | None = None, after: str | None = None, limit: int = 100
    ) -> Page:
        """Records whose fields have the given values, by the text of their keys; `after` is the last page's.

        A page may hold fewer than `limit`, even none, while more follow: at most 10,000 are looked at for one.
        """
        shape = self.shape(entity)
        wanted = shape.values(where or {})
        most = max(1, min(limit, MAX_LISTED))
        position, scanned = after or "", 0
        records: list[Data] = []
        while scanned < MAX_SCANNED:
            rows, is_last = await self._rows(shape, position)
            for row in rows:
                if not row.is_deleted and _has(row, wanted):
                    self._seen.setdefault((shape.name, row.key), row)
                    records.append(_shown(shape, row))
                position = row.key
                if len(records) == most:
                    return Page(records, None if is_last and row is rows[-1] else position)
            if is_last:
                return Page(records)
            scanned += len(rows)
        return Page(records, position)

    @_awaited
    async def history(self, entity: str, key: Key, after: int = 0, limit: int = 100) -> Versions:
        """What was committed, oldest first: each version with who made it, when, and in which call."""
        shape = self.shape(entity)
        text = shape.key_text(shape.key_values(key))
        most = max(1, min(limit, MAX_LISTED))
        found = await self._store.entity_history(self._tenant, shape.name, text, after, most)
        if not found and not after:
            raise _refused("not_found", "read the history of", shape, text, "there is none")
        return [
            {
                "version": each.version, "deleted": each.is_deleted,
                "record": shape.shown(parse(each.data)) if each.data else None,
                "principal": each.principal, "at": iso(each.at), "call": id_text(each.aggregate),
            }
            for each in found
        ]  # fmt: skip

    # --- what the router does ------------------------------------------------------------------------------------

    def writes(self) -> tuple[EntityWrite, ...]:
        """One write per record, in the order of their keys; nothing can be staged afterwards."""
        self._is_closed = True
        if self._begun:
            raise self._misuse(
                f"{self._begun} of its operations on records were begun and never awaited",
                "Make the handler `async def` and write `await` before each.",
            )
        if not self._staged:
            return ()
        return tuple(
            EntityWrite(entity, key, each.base, each.data, each.is_deleted, self._principal)
            for (entity, key), each in sorted(self._staged.items())
        )

    async def execute(self, verb: Verb, args: dict[str, Any]) -> Any:
        """What `crud::execute` does for a verb."""
        return await execute(self, verb, args)

    def shape(self, entity: str) -> EntitySchema:
        shape = self._shapes.get(entity)
        if shape is None:
            hint = did_you_mean(entity, self._shapes) or "Declare it in a file with a top-level 'entities:'."
            raise self._misuse(f"the entity '{entity}' is not declared", hint)
        return shape

    # --- inside --------------------------------------------------------------------------------------------------

    async def _look(self, shape: EntitySchema, key: str) -> EntityFound | None:
        place = (shape.name, key)
        staged = self._staged.get(place)
        if staged is not None:
            return EntityFound(key, staged.base + 1, staged.is_deleted, staged.data)
        if place not in self._seen:
            self._seen[place] = await self._store.read_entity(self._tenant, shape.name, key)
        return self._seen[place]

    async def _look_back(self, shape: EntitySchema, key: str, version: int) -> EntityFound | None:
        if version < 1:
            return None
        rows = await self._store.entity_history(self._tenant, shape.name, key, version - 1, 1)
        if not rows or rows[0].version != version:
            return None
        return EntityFound(key, version, rows[0].is_deleted, rows[0].data)

    async def _existing(self, do: str, shape: EntitySchema, key: Key, version: int | None) -> tuple[str, EntityFound]:
        text = shape.key_text(shape.key_values(key))
        found = await self._look(shape, text)
        if found is None:
            raise _refused("not_found", do, shape, text, "there is none")
        if version is not None and version != found.version:
            fact = f"it is at version {found.version}, not {version}"
            raise _refused("conflict", do, shape, text, fact, hint="Read it again and decide again.")
        if found.is_deleted:
            raise _refused("deleted", do, shape, text, "it was deleted", hint="Creating it again brings it back.")
        return text, found

    async def _rows(self, shape: EntitySchema, after: str) -> tuple[Rows, bool]:
        """The next records as this call sees them, and whether they are the last."""
        stored = await self._store.list_entities(self._tenant, shape.name, after, SCAN_PAGE)
        is_last = len(stored) < SCAN_PAGE
        until = None if is_last else stored[-1].key
        rows: dict[str, EntityFound | None] = {row.key: self._seen.get((shape.name, row.key), row) for row in stored}
        for entity, key in self._staged:
            if entity == shape.name and _is_between(key, after, until):
                rows[key] = await self._look(shape, key)
        return [row for key in sorted(rows, key=_order) if (row := rows[key]) is not None], is_last

    def _with_key(self, shape: EntitySchema, data: Data, seed: str) -> Data:
        seed = seed or (f"{self._idempotency_key}\0{self._made}" if self._idempotency_key else "")
        if not shape.makes_keys or data.get(shape.key[0]) is not None or not seed:
            return {**data, **shape.key_values(data)}
        self._made += 1
        return {**data, shape.key[0]: shape.made_key(seed)}

    def _stage(self, shape: EntitySchema, key: str, found: EntityFound | None, data: Data) -> Data:
        stored = shape.whole(data)
        if len(stored) > BUDGET_BYTES:
            fact = f"it would be {len(stored)} bytes of at most {BUDGET_BYTES}"
            hint = "Keep large things elsewhere and store a reference."
            raise PayloadTooLargeError("write", "record", f"{shape.name}/{key}"[:200], fact, hint, size=len(stored))
        return self._write(shape, key, found, stored, is_deleted=False)

    def _write(
        self, shape: EntitySchema, key: str, found: EntityFound | None, data: bytes, *, is_deleted: bool
    ) -> Data:
        self._require_writing()
        place = (shape.name, key)
        before = self._staged.get(place)
        base = before.base if before is not None else found.version if found is not None else 0
        self._staged[place] = _Staged(base, is_deleted, data)
        if len(self._staged) > MAX_WRITES:
            raise self._misuse(f"it writes more than {MAX_WRITES} records", "Split it over several calls.")
        return _shown(shape, EntityFound(key, base + 1, is_deleted, data), is_deleted)

    def _require_writing(self) -> None:
        if self._verb is None:
            raise self._misuse("these records were opened for reading only", "Write them in the handler of a verb.")
        if self._is_closed:
            raise self._misuse("its handler has ended", "Await every operation inside the handler.")
        execution = self._verb.execution
        if execution.effects != "store" and execution.handler != CRUD:
            fact = f"it is declared `effects: {execution.effects}`, so writes would not be committed with its result"
            raise self._misuse(fact, "Declare `effects: store` under its `execution`.")

    def _misuse(self, fact: str, hint: str) -> RecordMisuseError:
        name = self._verb.name if self._verb is not None else ""
        return RecordMisuseError("use records in", "verb", name, fact, hint)


def _data(found: EntityFound) -> Data:
    data: Data = parse(found.data)
    return data


def _shown(shape: EntitySchema, found: EntityFound, with_deleted: bool = False) -> Data:
    record = {**shape.shown(_data(found)), "version": found.version}
    return {**record, "deleted": found.is_deleted} if with_deleted else record


def _has(found: EntityFound, wanted: Data) -> bool:
    if not wanted:
        return True
    data = _data(found)
    return all(data.get(name) == value for name, value in wanted.items())


def _order(key: str) -> bytes:
    """How both stores order keys: by their bytes."""
    return key.encode()


def _is_between(key: str, after: str, until: str | None) -> bool:
    return _order(after) < _order(key) and (until is None or _order(key) <= _order(until))


def _refused(code: str, do: str, shape: EntitySchema, key: str, fact: str, *, hint: str = "") -> BusinessError:
    return BusinessError(code, sentence(do, "record", f"{shape.name}/{key}"[:200], fact, hint))
