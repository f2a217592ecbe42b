"""Somebody who knows how hashes are computed forges entities, messages and keys: the journal knows better."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from perdure.journal.row_digests import row_record
from perdure.kernel.ports import APPLIED, PENDING, InboxRow
from perdure.sources import Id
from perdure.store.checksums import message_sums
from tests.conformance.stores import Raw
from tests.security.evidence_store import TENANT, Evidence, evidence

pytestmark = pytest.mark.both_stores

FORGED = b'{"name":"Eve"}'
HASH = sha256(FORGED).digest()
RECORD = (TENANT, "customer", "8")


async def places(found: Evidence) -> set[str]:
    return {finding.place for finding in (await found.verify()).findings}


@pytest.mark.req("P7")
async def test_a_forged_record_is_found_though_its_hashes_fit(store_url: str) -> None:
    async with evidence(store_url) as found:
        with Raw(store_url) as raw:
            for table in ("entity", "entity_history"):
                changed = raw(
                    f"UPDATE {table} SET data = ?, hash = ? WHERE tenant = ? AND entity = ? AND key = ? "
                    "AND version = 2 RETURNING 1", FORGED, HASH, *RECORD,
                )  # fmt: skip
                assert changed
        assert "entity_history" in await places(found)


@pytest.mark.req("P7")
@pytest.mark.parametrize(("column", "value"), [("principal", "ada"), ("at", 1), ("aggregate", None)])
async def test_another_author_time_or_call_of_a_version_is_found(store_url: str, column: str, value: Any) -> None:
    async with evidence(store_url) as found:
        value = found.world.calls["parked"] if value is None else value
        with Raw(store_url) as raw:
            assert raw(
                f"UPDATE entity_history SET {column} = ? WHERE tenant = ? AND entity = ? AND key = ? AND version = 2 "
                "RETURNING 1", value, *RECORD,
            )  # fmt: skip
        assert "entity_history" in await places(found)


@pytest.mark.req("P7")
async def test_a_record_removed_with_its_whole_history_is_missed(store_url: str) -> None:
    async with evidence(store_url) as found:
        with Raw(store_url) as raw:
            for table in ("entity", "entity_history"):
                assert raw(f"DELETE FROM {table} WHERE tenant = ? AND entity = ? AND key = ? RETURNING 1", *RECORD)
        assert await places(found) == {"entity_history"}


@pytest.mark.req("P7")
async def test_a_version_taken_back_with_the_record_is_missed(store_url: str) -> None:
    async with evidence(store_url) as found:
        with Raw(store_url) as raw:
            ((data, hash),) = raw("SELECT data, hash FROM entity_history WHERE key = '8' AND version = 1")
            raw("DELETE FROM entity_history WHERE key = '8' AND version = 2")
            raw("UPDATE entity SET version = 1, data = ?, hash = ? WHERE key = '8'", data, hash)
        assert await places(found) == {"entity_history"}


@pytest.mark.req("P7")
async def test_an_invented_record_is_found_though_it_names_a_call(store_url: str) -> None:
    async with evidence(store_url) as found:
        invent(store_url, found.world.calls["completed"])
        assert await places(found) == {"entity_history"}


def invent(url: str, call: Id) -> None:
    with Raw(url) as raw:
        raw("INSERT INTO entity VALUES (?, 'customer', 'x', 1, 0, ?, ?)", TENANT, FORGED, HASH)
        raw(
            "INSERT INTO entity_history VALUES (?, 'customer', 'x', 1, 0, ?, ?, ?, 5, 'ada')", TENANT, FORGED, HASH,
            call,
        )  # fmt: skip


@pytest.mark.req("P7")
async def test_an_invented_message_is_found_though_its_checksum_fits(store_url: str) -> None:
    async with evidence(store_url) as found:
        call = found.world.calls["completed"]
        for name, aggregate, told_by in (("one", None, b""), ("two", call, call), ("three", call, b"")):
            row = InboxRow(TENANT, name, "completion", "k", 5, APPLIED, "applied", aggregate, None)
            with Raw(store_url) as raw:
                raw(
                    "INSERT INTO inbox (tenant, message_id, kind, key, received_at, status, answer, aggregate, body, "
                    f"name, expires_at, checksum, told_by, told) VALUES ({', '.join('?' * 14)})",
                    *row, message_sums(row), told_by, 1 if told_by else 0,
                )  # fmt: skip
        report = await found.verify()
        assert {finding.sentence.split("'")[1] for finding in report.findings} == {"one", "two", "three"}


@pytest.mark.req("P7")
async def test_a_message_that_counts_again_or_never_is_found_though_its_checksum_fits(store_url: str) -> None:
    async with evidence(store_url) as found:
        row = InboxRow(TENANT, "kept", "message", "k", 5, PENDING, "", None, b"kept", "m", 2**50)
        with Raw(store_url) as raw:
            ((sums,),) = raw("SELECT checksum FROM inbox WHERE message_id = 'dead one'")
            raw(
                "UPDATE inbox SET status = 1, answer = 'applied', body = NULL, checksum = ? "
                "WHERE message_id = 'dead one'", bytes(sums)[16:],
            )  # fmt: skip
            raw(
                "UPDATE inbox SET status = 0, answer = '', body = ?, received_at = 5, expires_at = ?, checksum = ? "
                "WHERE message_id = 'kept'", b"kept", row.expires_at, message_sums(row),
            )  # fmt: skip
        sentences = " ".join(finding.sentence for finding in (await found.verify()).findings)
        assert "'dead one'" in sentences and "'kept'" in sentences


@pytest.mark.req("P7")
async def test_a_key_that_leads_to_another_call_is_found(store_url: str) -> None:
    async with evidence(store_url) as found:
        call = found.world.calls["completed"]
        with Raw(store_url) as raw:
            assert raw("UPDATE idempotency SET aggregate = ? WHERE key = 'keyed one' RETURNING 1", call)
            raw("INSERT INTO idempotency VALUES (?, 'invented', ?, ?)", TENANT, call, HASH)
        report = await found.verify()
        assert {finding.sentence.split("'")[1] for finding in report.findings} == {"keyed one", "invented"}


@pytest.mark.req("P7")
async def test_a_mark_that_anchors_began_today_excuses_nothing(store_url: str) -> None:
    async with evidence(store_url) as found:
        invent(store_url, found.world.calls["completed"])
        id, body, hash = row_record("store", ("anchored",), b"", 0)
        with Raw(store_url) as raw:
            raw("INSERT INTO journal (aggregate, sequence, body, hash) VALUES (?, 1, ?, ?)", id, body, hash)
        assert {"entity_history", "journal"} <= await places(found)
