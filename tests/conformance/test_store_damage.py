"""Damage is found when read, named, set aside; everything else goes on."""

from __future__ import annotations

import pytest

from perdure.errors import QuarantinedError
from perdure.sources import id_text
from tests.conformance.stores import Raw, hash_of, id_of, opened, store_over, unit_of


def flipped(raw: Raw, table: str, column: str, where: str, id: bytes) -> None:
    """Change the first byte of one stored value."""
    ((value,),) = raw(f"SELECT {column} FROM {table} WHERE {where} = ?", id)
    raw(f"UPDATE {table} SET {column} = ? WHERE {where} = ?", bytes([value[0] ^ 1]) + bytes(value[1:]), id)


@pytest.mark.req("P7")
@pytest.mark.parametrize("column", ["state", "head", "checksum"])
async def test_an_aggregate_with_one_changed_byte_is_named_and_others_still_load(store_url: str, column: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in ("a", "b"):
            await driver.commit(unit_of(label))
        with Raw(store_url) as raw:
            flipped(raw, "aggregate", column, "id", id_of("a"))
        with pytest.raises(QuarantinedError, match=id_text(id_of("a"))):
            await store.load(id_of("a"))
        assert await store.load(id_of("b")) is not None
        assert [(row[0], row[1]) for row in await store.quarantined()] == [(id_of("a"), "aggregate")]


@pytest.mark.req("P7")
@pytest.mark.parametrize("change", ["status = 'completed'", "version = 7", "tenant = 'other'", "ended_at = 1"])
async def test_an_aggregate_whose_columns_were_changed_is_named(store_url: str, change: str) -> None:
    async with opened(store_url) as (driver,):
        await driver.commit(unit_of("a"))
        with Raw(store_url) as raw:
            raw(f"UPDATE aggregate SET {change}")
        with pytest.raises(QuarantinedError, match=id_text(id_of("a"))):
            await store_over(driver).load(id_of("a"))


@pytest.mark.req("V8")
async def test_a_payload_with_one_changed_byte_is_named_and_others_still_load(store_url: str) -> None:
    async with opened(store_url) as (driver,):
        store = store_over(driver)
        for label in ("a", "b"):
            await driver.commit(unit_of(label, payloads=[(hash_of(b"data"), b"data")]))
        with Raw(store_url) as raw:
            flipped(raw, "payload", "stored", "aggregate", id_of("a"))
        with pytest.raises(QuarantinedError, match=id_text(id_of("a"))):
            await store.payload(id_of("a"), hash_of(b"data"))
        assert await store.payload(id_of("b"), hash_of(b"data")) == b"data"
        assert [(row[0], row[1]) for row in await store.quarantined()] == [(id_of("a"), "payload")]
