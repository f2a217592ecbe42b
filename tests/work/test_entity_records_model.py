"""Random sequences of operations on records do what a plain dictionary does."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure import BusinessError, Call, Perdure
from tests.work.crud.entities import opened

KEYS = st.sampled_from(["a", "b", "é", "a b", '"', "😀"])
VALUES = st.integers(-3, 3)
VERSIONS = st.one_of(st.none(), st.integers(0, 4))
OPERATIONS = st.one_of(
    st.tuples(st.just("create"), KEYS, VALUES),
    st.tuples(st.just("update"), KEYS, VALUES, VERSIONS),
    st.tuples(st.just("delete"), KEYS, VERSIONS),
    st.tuples(st.just("read"), KEYS),
    st.tuples(st.just("list"), st.one_of(st.none(), VALUES), st.integers(1, 4)),
)
CALLS = st.lists(st.lists(OPERATIONS, max_size=6), max_size=6)
TENANTS = count()

Row = tuple[int, bool, int]
"""Version, whether it is deleted, value."""


class Model:
    """What the store should hold, and what a call in progress should see."""

    def __init__(self) -> None:
        self.committed: dict[str, Row] = {}
        self.history: dict[str, list[Row]] = {}
        self.seen: dict[str, Row] = {}

    def begin(self) -> None:
        self.seen = dict(self.committed)

    def commit(self) -> None:
        for key, row in self.seen.items():
            if self.committed.get(key) != row:
                self.history.setdefault(key, []).append(row)
        self.committed = self.seen

    def _write(self, key: str, is_deleted: bool, value: int) -> Any:
        version = self.committed.get(key, (0, False, 0))[0] + 1
        self.seen[key] = (version, is_deleted, value)
        return {"name": key, "value": value, "version": version} | ({"deleted": True} if is_deleted else {})

    def _existing(self, key: str, version: int | None) -> Row | str:
        row = self.seen.get(key)
        if row is None:
            return "not_found"
        if version is not None and version != row[0]:
            return "conflict"
        return "deleted" if row[1] else row

    def create(self, key: str, value: int) -> Any:
        row = self.seen.get(key)
        return "already_exists" if row is not None and not row[1] else self._write(key, False, value)

    def update(self, key: str, value: int, version: int | None) -> Any:
        row = self._existing(key, version)
        return row if isinstance(row, str) else self._write(key, False, value)

    def delete(self, key: str, version: int | None) -> Any:
        row = self._existing(key, version)
        return row if isinstance(row, str) else self._write(key, True, row[2])

    def read(self, key: str) -> Any:
        row = self.seen.get(key)
        if row is None or row[1]:
            return "not_found"
        return {"name": key, "value": row[2], "version": row[0]}

    def list(self, value: int | None, _: int) -> Any:
        keys = sorted((key for key in self.seen if not self.seen[key][1]), key=str.encode)
        return [self.read(key) for key in keys if value is None or self.seen[key][2] == value]


async def perform(records: Any, operation: tuple[Any, ...]) -> Any:
    name, *rest = operation
    try:
        match name:
            case "create":
                return await records.create("counter", {"name": rest[0], "value": rest[1]})
            case "update":
                return await records.update("counter", rest[0], {"value": rest[1]}, rest[2])
            case "delete":
                return await records.delete("counter", rest[0], rest[1])
            case "read":
                return await records.read("counter", rest[0])
            case _:
                return await everything(records, None if rest[0] is None else {"value": rest[0]}, rest[1])
    except BusinessError as error:
        return error.code


async def everything(records: Any, where: dict[str, Any] | None, limit: int) -> list[Any]:
    found: list[Any] = []
    page = await records.list("counter", where, limit=limit)
    found.extend(page)
    while page.after is not None:
        page = await records.list("counter", where, page.after, limit)
        found.extend(page)
    return found


async def check(perdure: Perdure, calls: list[list[tuple[Any, ...]]], script: list[Any]) -> None:
    tenant = f"tenant {next(TENANTS)}"
    model = Model()
    for operations in calls:
        model.begin()
        expected = [getattr(model, name)(*rest) for name, *rest in operations]
        script[:] = operations
        view = await perdure.acting(tenant=tenant).call("work.store")
        assert view.state == "completed" and view.result["answers"] == expected
        model.commit()
    records = perdure.runtime.desk.open(tenant, "reader")
    for key, rows in model.history.items():
        found = await records.history("counter", key)
        assert [(each["version"], each["deleted"], each["record"]["value"]) for each in found] == rows
        assert [each["version"] for each in found] == list(range(1, len(rows) + 1))


@pytest.mark.req("X3")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS)
async def test_records_behave_as_a_dictionary_with_versions_would(
    store_url: str, calls: list[list[tuple[Any, ...]]]
) -> None:
    script: list[tuple[Any, ...]] = []

    async def handler(call: Call) -> dict[str, Any]:
        return {"answers": [await perform(call.entities, operation) for operation in script]}

    # Every example has a tenant of its own, so that they share a store and nothing else.
    async with opened(store_url, {"work.store": handler}) as perdure:
        await check(perdure, calls, script)
