"""Nobody changes a stored bit, removes a call or writes a history anew without an audit seeing it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import QuarantinedError
from perdure.journal import genesis, link
from perdure.sources import Id
from perdure.store.audit import Anchor, Report, verify
from perdure.store.checksums import checksum
from perdure.store.signing_keys import SigningKey
from tests.depth import some_cells
from tests.store.audit.bit_flips import TABLES, Cell, cells, chosen, flip
from tests.store.audit.mixed_store import MACHINES, ORIGIN, World, copy_of, fill, open_world, path_of, tamper


class Original:
    """A filled and sealed file, closed; copies of it are tampered with."""

    def __init__(self, path: Path, key: SigningKey, calls: dict[str, Id]) -> None:
        self.path, self.key, self.calls = path, key, calls
        self.copy = path.with_name("copy.db")
        self.cells = list(cells(path))

    def copied(self) -> Path:
        return path_of(copy_of(self.path, self.copy))

    async def audit(self) -> Report:
        async with open_world(f"sqlite:///{self.copy}", self.key) as world:
            return await world.verify()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return asyncio.run(_make(tmp_path_factory.mktemp("audit") / "original.db"))


async def _make(path: Path) -> Original:
    async with open_world(f"sqlite:///{path}") as world:
        await fill(world)
        await world.seal()
        await world.start("later", None)
        await world.seal()
    return Original(path, world.key, world.calls)


def names(report: Report, cell: Cell) -> bool:
    """Whether a finding names the row's aggregate, or its seal."""
    if cell.table == "seal":
        return any(finding.place.startswith("seal") for finding in report.findings)
    return any(finding.id == cell.owner for finding in report.findings)


async def check_flip(original: Original, cell: Cell, place: int) -> None:
    path = original.copied()
    if flip(path, cell, place):
        report = await original.audit()
        assert names(report, cell), (cell, place, report.findings)


@pytest.mark.req("P7")
@some_cells
@pytest.mark.parametrize("table", TABLES)
async def test_a_changed_bit_in_any_column_of_any_row_is_found_and_named(
    original: Original, table: str, every: int
) -> None:
    cells = [cell for cell in original.cells if cell.table == table]
    assert cells
    for number, cell in chosen(cells, every):
        await check_flip(original, cell, number * 7)


@pytest.mark.req("P7")
@given(data=st.data())
@settings(deadline=None, max_examples=60)
async def test_a_changed_bit_anywhere_is_found(original: Original, data: st.DataObject) -> None:
    cell = data.draw(st.sampled_from(original.cells))
    await check_flip(original, cell, data.draw(st.integers(0, 8 * 400)))


@pytest.mark.req("P7")
async def test_a_call_removed_with_all_its_rows_is_missed_by_the_seals(original: Original) -> None:
    path, id = original.copied(), original.calls["parked"]
    tamper(
        path,
        ("DELETE FROM aggregate WHERE id = ?", (id,)),
        *((f"DELETE FROM {table} WHERE aggregate = ?", (id,)) for table in ("index_entry", *TABLES[1:5])),
    )
    report = await original.audit()
    assert [(finding.code, finding.id) for finding in report.findings] == [("AUD057", id)]


@pytest.mark.req("P7")
async def test_the_newest_record_taken_away_with_its_effect_is_missed_by_the_seals(original: Original) -> None:
    path, id = original.copied(), original.calls["later"]
    tamper(path, ("DELETE FROM journal WHERE aggregate = ? AND sequence = 1", (id,)))
    codes = {finding.code for finding in (await original.audit()).findings}
    assert {"AUD058", "AUD004", "AUD005"} <= codes


@pytest.mark.req("P7")
async def test_a_chain_written_anew_with_good_hashes_is_seen_by_the_seals(original: Original) -> None:
    path, id = original.copied(), original.calls["completed"]
    await rewrite(f"sqlite:///{path}", id, original.key)
    report = await original.audit()
    assert [(finding.code, finding.place) for finding in report.findings] == [("AUD056", "seal 1")]


async def rewrite(url: str, id: Id, key: SigningKey) -> None:
    """Give the first record of a one-record call another author, and mend everything the database holds about it."""
    async with open_world(url, key) as world:
        row = (await world.store.driver.fetch("load_aggregate", id=id))[0]
        body = (await world.store.records(id))[0].body.replace(b"ada", b"eve")
        state = row[6].replace(b"ada", b"eve")
    hash = link(genesis(ORIGIN.tenant, "runbook", id), body)
    check = checksum(id, row[1], row[2], row[3], row[4], row[5], state, hash)
    tamper(
        path_of(url),
        ("UPDATE journal SET body = ?, hash = ? WHERE aggregate = ?", (body, hash, id)),
        ("UPDATE aggregate SET state = ?, head = ?, checksum = ? WHERE id = ?", (state, hash, check, id)),
    )


@pytest.mark.req("P7")
async def test_a_record_slipped_in_among_sealed_ones_is_found(original: Original) -> None:
    path, id = original.copied(), original.calls["stuck"]
    tamper(path, ("UPDATE journal SET position = 1000 WHERE aggregate = ?", (id,)))
    findings = (await original.audit()).findings
    assert [(finding.code, finding.id) for finding in findings] == [("AUD059", id)]


@pytest.mark.req("P7")
async def test_seals_cut_off_at_the_end_are_missed_when_the_last_was_noted(original: Original) -> None:
    path = original.copied()
    async with open_world(f"sqlite:///{path}", original.key) as world:
        unsealed = (await world.verify()).unsealed
        noted = Anchor(*(await world.verify()).last_seal)
        assert (await audit(world, noted)).is_clean
    tamper(path, ("DELETE FROM seal WHERE number = 2", ()))
    async with open_world(f"sqlite:///{path}", original.key) as world:
        assert (await world.verify()).unsealed > unsealed
        assert [finding.code for finding in (await audit(world, noted)).findings] == ["AUD063"]


async def audit(world: World, anchor: Anchor) -> Report:
    return await verify(world.store, MACHINES, world.key.public_keys, anchor=anchor)


@pytest.mark.req("P7")
async def test_a_seal_taken_out_of_the_middle_is_missed(original: Original) -> None:
    path = original.copied()
    tamper(path, ("DELETE FROM seal WHERE number = 1", ()))
    assert "AUD050" in {finding.code for finding in (await original.audit()).findings}


@pytest.mark.req("P7")
async def test_a_timer_nobody_set_is_found(original: Original) -> None:
    path, id = original.copied(), original.calls["completed"]
    tamper(path, ("INSERT INTO timer VALUES (?, ?, ?, ?, ?)", (5, id, 1, "retry", "default")))
    findings = (await original.audit()).findings
    assert [(finding.code, finding.id) for finding in findings] == [("AUD021", id)]


@pytest.mark.req("P7")
@pytest.mark.parametrize("change", ["data = x'00'", "hash = x'00'", "version = 2", "is_deleted = 1"])
async def test_a_changed_entity_is_found(original: Original, change: str) -> None:
    tamper(original.copied(), (f"UPDATE entity SET {change}", ()))
    assert {finding.place for finding in (await original.audit()).findings} == {"entity"}


@pytest.mark.req("P7")
async def test_what_is_damaged_is_set_aside_and_everything_else_goes_on(original: Original) -> None:
    path, damaged, whole = original.copied(), original.calls["parked"], original.calls["keyed"]
    tamper(path, ("UPDATE aggregate SET state = x'00' WHERE id = ?", (damaged,)))
    async with open_world(f"sqlite:///{path}", original.key) as world:
        report = await world.verify()
        assert {finding.id for finding in report.findings} == {damaged}
        assert {bytes(row[0]) for row in await world.store.quarantined()} == {damaged}
        with pytest.raises(QuarantinedError):
            await world.store.load(damaged)
        assert await world.store.load(whole) is not None
        await world.complete(whole, "keyed")
        await world.start("new", None)
        assert {finding.id for finding in (await world.verify()).findings} == {damaged}


@pytest.mark.req("P7")
async def test_a_dry_audit_sets_nothing_aside(original: Original) -> None:
    path = original.copied()
    tamper(path, ("UPDATE aggregate SET state = x'00'", ()))
    async with open_world(f"sqlite:///{path}", original.key) as world:
        assert (await world.verify(dry=True)).findings
        assert await world.store.quarantined() == []


@pytest.mark.req("P7")
async def test_the_quick_audit_sees_heads_that_do_not_fit(original: Original) -> None:
    path, id = original.copied(), original.calls["resumed"]
    tamper(path, ("DELETE FROM journal WHERE aggregate = ? AND sequence = 4", (id,)))
    async with open_world(f"sqlite:///{path}", original.key) as world:
        assert (await world.verify(full=False)).findings[0].id == id


@pytest.mark.req("P7")
async def test_a_call_slipped_in_below_the_last_seal_is_found(sqlite_url: str) -> None:
    async with open_world(sqlite_url) as world:
        sealed = await world.start("sealed", None)
        tamper(path_of(sqlite_url), ("UPDATE journal SET position = 5 WHERE aggregate = ?", (sealed,)))
        await world.seal()
        slipped_in = await world.start("slipped in", None)
        tamper(path_of(sqlite_url), ("UPDATE journal SET position = 3 WHERE aggregate = ?", (slipped_in,)))
        findings = (await world.verify()).findings
        assert [(finding.code, finding.id) for finding in findings] == [("AUD060", slipped_in)]
