"""Payloads that are stored as changes are read whole; one that cannot be is named, and nothing else stops."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import QuarantinedError
from perdure.payload import MAX_DELTAS, delta_of, encode_delta, settled
from perdure.sources import id_text
from perdure.store.ports import Driver
from perdure.store.store import Store
from tests.conformance.stores import Raw, hash_of, id_of, opened, store_over, tombstone, unit_of
from tests.payload.test_incremental_codec import WHO, begun

A = id_of("a")
Made = list[tuple[bytes, bytes]]


def payloads(count: int) -> tuple[Made, list[bytes]]:
    """A payload and so many changes: hash and stored bytes of each, and the bytes it stands for."""
    (hash, whole), held = begun({"n": 0})
    stored, wholes = [(hash, whole)], [whole]
    for n in range(1, count + 1):
        sealed, changed = encode_delta(hash, held, settled({"n": n}), **WHO)
        stored.append(sealed)
        wholes.append(changed.frame % (changed.created, b'{"n":%d}' % n, b'"kyc.check"', changed.schema_hash.encode(),
                                       b",".join(changed.trail)))  # fmt: skip
        hash, held = sealed[0], changed
    return stored, wholes


async def kept(driver: Driver, made: Made) -> Store:
    """They are written a commit each, and read by a store that remembers none of them."""
    for number, payload in enumerate(made):
        assert await driver.commit(unit_of("a", number, payloads=[payload])) is None
    return store_over(driver)


async def test_every_change_is_read_whole(store_url: str) -> None:
    made, wholes = payloads(2 * MAX_DELTAS)
    assert sum(delta_of(stored) is not None for _, stored in made) == 2 * MAX_DELTAS - 1
    async with opened(store_url) as (driver,):
        store = await kept(driver, made)
        for (hash, _), whole in zip(made, wholes, strict=True):
            assert hash_of(whole) == hash
            assert await store.payload(A, hash) == whole


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_changed_byte_is_found_in_everything_that_is_made_of_it(store_url: str, place: int) -> None:
    made, wholes = payloads(3)
    async with opened(store_url) as (driver,):
        store = await kept(driver, made)
        with Raw(store_url) as raw:
            data = bytearray(made[place][1])
            data[-5] ^= 1
            raw("UPDATE payload SET stored = ? WHERE hash = ?", bytes(data), made[place][0])
        for number, (hash, _) in enumerate(made):
            if number < place:
                assert await store.payload(A, hash) == wholes[number]
            else:
                with pytest.raises(QuarantinedError, match=id_text(A)):
                    await store.payload(A, hash)
        assert [(row[0], row[1]) for row in await store.quarantined()] == [(A, "payload")]


async def test_a_change_whose_base_is_gone_is_named(store_url: str) -> None:
    made, _ = payloads(2)
    async with opened(store_url) as (driver,):
        store = await kept(driver, made)
        with Raw(store_url) as raw:
            raw("DELETE FROM payload WHERE hash = ?", made[0][0])
        with pytest.raises(QuarantinedError, match=f"expected sha256:{made[0][0].hex()}, actual no row"):
            await store.payload(A, made[2][0])


async def test_what_is_erased_while_it_is_read_is_not_damaged(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = payloads(2)
    async with opened(store_url) as (driver,):
        store, fetch = await kept(driver, made), driver.fetch

        async def fetch_and_erase(name: str, /, **parameters: Any) -> Any:
            found = await fetch(name, **parameters)
            monkeypatch.setattr(driver, "fetch", fetch)
            assert await driver.commit(tombstone("a", 3)) is None
            return found

        monkeypatch.setattr(driver, "fetch", fetch_and_erase)
        assert await store.payload(A, made[2][0]) is None
        assert await store.quarantined() == []


@pytest.mark.parametrize("data", [b"\0\1", b"\0\1\xff", b"\0\1\x96\xc4\x20"])
async def test_what_is_marked_as_a_change_and_is_none_is_named(store_url: str, data: bytes) -> None:
    made, _ = payloads(1)
    async with opened(store_url) as (driver,):
        store = await kept(driver, made)
        with Raw(store_url) as raw:
            raw("UPDATE payload SET stored = ? WHERE hash = ?", data, made[1][0])
        with pytest.raises(QuarantinedError, match=made[1][0].hex()):
            await store.payload(A, made[1][0])


async def test_changes_that_go_in_a_circle_end(store_url: str) -> None:
    """Nobody stores such; a file that was tampered with must not keep a process busy for ever."""
    made, _ = payloads(2)
    async with opened(store_url) as (driver,):
        store = await kept(driver, made)
        with Raw(store_url) as raw:
            raw("UPDATE payload SET stored = ? WHERE hash = ?", made[2][1].replace(made[1][0], made[2][0]), made[2][0])
        with pytest.raises(QuarantinedError, match="actual more than 15 changes, one made of the other"):
            await store.payload(A, made[2][0])


async def test_a_change_of_what_is_no_payload_is_named(store_url: str) -> None:
    other = b'{"no":"envelope"}'
    made, _ = payloads(1)
    async with opened(store_url) as (driver,):
        changed = (made[1][0], made[1][1].replace(made[0][0], hash_of(other)))
        store = await kept(driver, [(hash_of(other), other), changed])
        with pytest.raises(QuarantinedError, match=hash_of(other).hex()):
            await store.payload(A, made[1][0])
        assert await store.payload(A, hash_of(other)) == other
