"""A store that is whole passes its audit; whatever was changed behind its back is found and named."""

from __future__ import annotations

import asyncio
import re

import pytest

from perdure.errors import StoreUnavailableError
from perdure.kernel.ports import Attachments
from perdure.runbooks.machine import commands as c
from perdure.store.audit import CODES, verify
from tests.house.tree import ROOT
from tests.store.audit.mixed_store import World, fill, open_world


@pytest.mark.req("P7")
async def test_a_store_with_calls_in_every_state_passes_its_audit(store_url: str) -> None:
    async with open_world(store_url) as world:
        await fill(world)
        await world.seal()
        report = await world.verify(require_sealed=True)
        assert report.findings == []
        assert report.aggregates == len(world.calls)
        assert report.unsealed == 0
        assert report.seals == 1
        assert await world.store.quarantined() == []


@pytest.mark.req("P7")
async def test_an_audit_beside_running_work_finds_nothing_wrong(store_url: str) -> None:
    async with open_world(store_url) as world:
        await fill(world)
        is_done = asyncio.Event()
        work = [asyncio.ensure_future(keep_changing(world, number, is_done)) for number in range(3)]
        for _ in range(4):
            await world.seal()
            report = await world.verify()
            assert report.findings == []
            await asyncio.sleep(0)
        is_done.set()
        assert min(await asyncio.gather(*work)) > 0
        await world.seal()
        assert (await world.verify(require_sealed=True)).findings == []


async def keep_changing(world: World, number: int, is_done: asyncio.Event) -> int:
    rounds = 0
    while not is_done.is_set() and rounds < 40:
        id = await world.start(f"busy {number}", c.Park("bench.wait", timeout_seconds=60.0))
        await world.ask(id, c.PostProgress(1, "on the way"))
        await world.complete(id, f"busy {number}")
        rounds += 1
    return rounds


@pytest.mark.req("P7")
async def test_an_erased_call_keeps_its_history_and_passes_its_audit(store_url: str) -> None:
    async with open_world(store_url) as world:
        id = await world.start("gone", c.Done(b""))
        await world.seal()
        await world.ask(id, c.Erase("asked by the person"), Attachments(erases=True))
        await world.seal()
        report = await world.verify(require_sealed=True)
        assert (report.findings, report.payloads, report.records) == ([], 0, 2)


@pytest.mark.req("P7")
async def test_data_that_survives_its_erasure_is_found(store_url: str) -> None:
    async with open_world(store_url) as world:
        id = await world.start("kept", c.Done(b""))
        await world.ask(id, c.Erase("asked by the person"))
        findings = (await world.verify()).findings
        assert [finding.code for finding in findings] == ["AUD013", "AUD013", "AUD013"]


@pytest.mark.req("P7")
async def test_an_unsealed_tail_is_counted_and_is_a_fault_only_when_seals_are_required(store_url: str) -> None:
    async with open_world(store_url) as world:
        await world.start("young", None)
        report = await world.verify()
        assert (report.findings, report.unsealed) == ([], 2)  # the lease of who opened the store, and the call
        assert [finding.code for finding in (await world.verify(require_sealed=True)).findings] == ["AUD062"]


@pytest.mark.req("P7")
async def test_a_kind_no_machine_knows_is_named(store_url: str) -> None:
    async with open_world(store_url) as world:
        id = await world.start("strange", None)
        report = await verify(world.store, {}, world.key.public_keys, dry=True)
        assert [(finding.code, finding.id) for finding in report.findings] == [("AUD009", id)]


@pytest.mark.req("P7")
async def test_a_store_that_goes_away_is_an_error_and_no_finding(store_url: str) -> None:
    async with open_world(store_url) as world:
        await world.start("one", None)
    with pytest.raises(StoreUnavailableError):
        await world.verify()


@pytest.mark.req("P7")
def test_every_audit_code_is_documented_in_its_own_words_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "audit-codes.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(AUD\d+)` \| ([^|]+) \|", page, re.MULTILINE)) == CODES


@pytest.mark.req("P7")
async def test_a_call_that_changes_while_it_is_looked_at_is_looked_at_again(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_world(store_url) as world:
        id = await world.start("moving", c.Park("bench.wait", timeout_seconds=60.0))
        fetch, looks = world.store.driver.fetch, 0

        async def fetch_while_it_moves(name: str, /, **parameters: object) -> object:
            nonlocal looks
            if name in ("records_between", "read_records"):
                looks += 1
                if looks <= 2:
                    await world.ask(id, c.PostProgress(1, f"look {looks}"))
            return await fetch(name, **parameters)

        monkeypatch.setattr(world.store.driver, "fetch", fetch_while_it_moves)
        assert (await world.verify()).findings == []
        assert looks == 3
