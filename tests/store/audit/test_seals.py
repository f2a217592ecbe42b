"""Seals form one signed chain over everything the journal gained."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import RejectedError
from perdure.store.audit import verify
from perdure.store.seal_keys import change_of, record_of
from perdure.store.sealer import Sealer
from perdure.store.seals.merkle import Step, proof, root, root_of_proof
from perdure.store.seals.seal import heads_of, pack, unpack
from perdure.store.signing_keys import load_key, load_or_create_key, load_public_keys
from tests.store.audit.mixed_store import MACHINES, fill, open_world


@pytest.mark.req("P7")
async def test_nothing_new_is_not_sealed(store_url: str) -> None:
    async with open_world(store_url) as world:
        assert await world.sealer.seal_all() == 1  # the lease of who opened the store
        await world.start("one", None)
        assert await world.sealer.seal_all() == 1
        assert await world.sealer.seal_all() == 0


@pytest.mark.req("P7")
async def test_two_sealers_at_once_write_one_chain(store_url: str) -> None:
    async with open_world(store_url) as world, open_world(store_url, world.key) as other:
        for round in range(5):
            await world.start(f"call {round}", None)
            written = await asyncio.gather(*[each.sealer.seal_all() for each in (world, other, world, other)])
            assert sum(written) == 1
        report = await world.verify(require_sealed=True)
        assert (report.findings, report.seals) == ([], 5)


@pytest.mark.req("P7")
async def test_more_records_than_one_seal_takes_get_several(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perdure.store.sealer.RECORDS_AT_ONCE", 4)
    async with open_world(store_url) as world:
        await fill(world)
        written = await world.sealer.seal_all()
        report = await world.verify(require_sealed=True)
        assert (report.findings, report.seals) == ([], written)
        assert written == -(-report.records // 4)


@pytest.mark.req("P7")
async def test_what_is_written_while_it_seals_waits_for_the_next_time(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that never pauses does not make a seal, and a commit, of every few records."""
    async with open_world(store_url) as world:
        write, rounds = world.store.driver.write_all, iter(range(10))

        async def busy(statements: Any) -> Any:
            if (round := next(rounds, None)) is not None:
                await world.start(f"meanwhile {round}", None)
            return await write(statements)

        monkeypatch.setattr(world.store.driver, "write_all", busy)
        await world.start("first", None)
        assert [await world.sealer.seal_all() for _ in range(3)] == [1, 1, 1]
        monkeypatch.undo()
        assert await world.sealer.seal_all() == 1
        assert (await world.verify(require_sealed=True)).findings == []


@pytest.mark.req("P7")
async def test_a_worker_goes_on_sealing_until_it_is_stopped(store_url: str) -> None:
    async with open_world(store_url) as world:
        rounds: list[int] = []

        class Counting:
            def now(self) -> int:
                return 1_000_000

            async def sleep(self, duration: int) -> None:
                rounds.append(duration)
                if len(rounds) == 3:
                    raise asyncio.CancelledError
                await world.start(f"call {len(rounds)}", None)

        sealer = Sealer(world.store, world.key, Counting(), every_seconds=7)  # type: ignore[arg-type]
        with pytest.raises(asyncio.CancelledError):
            await sealer.run()
        assert rounds == [7_000_000] * 3
        assert (await world.verify(require_sealed=True)).seals == 3


@pytest.mark.req("P7")
async def test_seals_of_an_older_key_verify_with_both_keys_and_not_with_the_old_one_alone(store_url: str) -> None:
    async with open_world(store_url) as world, open_world(store_url) as after:
        await world.start("one", None)
        await world.seal()
        await world.start("two", None)
        with pytest.raises(RejectedError, match="its seals were made with key"):
            await after.seal()
        change = change_of(after.key, world.sources.now(), 1, "the old one was lost", world.key.public)
        await world.store.driver.write("add_row_record", **record_of(change))
        await after.seal()
        assert "AUD054" in [finding.code for finding in (await world.verify()).findings]
        both = {**world.key.public_keys, **after.key.public_keys}
        assert (await verify(world.store, MACHINES, both)).is_clean


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=40), st.data())
def test_every_leaf_has_a_proof_and_no_other_leaf_fits_it(leaves: list[bytes], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(leaves) - 1))
    path = proof(leaves, place)
    assert root_of_proof(leaves[place], path) == root(leaves)
    assert root_of_proof(leaves[place] + b"x", path) != root(leaves)
    assert root_of_proof(leaves[place], [*path, Step(False, b"x" * 32)]) != root(leaves)


def test_the_root_is_that_of_the_published_example() -> None:
    leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    expected = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    assert root([bytes.fromhex(leaf) for leaf in leaves]).hex() == expected


def test_a_list_of_leaves_out_of_order_is_no_list() -> None:
    row = (b"b" * 16 + b"\0\0\0\1") + (b"a" * 16 + b"\0\0\0\1")
    assert unpack(row) is None
    assert unpack(row[20:]) == [(b"a" * 16, 1)]
    assert unpack(b"") is None
    assert [leaf.sequence for leaf in heads_of([(1, b"a", 1, b""), (2, b"a", 2, b"")])] == [2]


def test_what_a_seal_keeps_and_is_made_of_are_the_heads_an_audit_finds() -> None:
    rows = [(place, bytes([place % 7]) * 16, place, hashlib.sha256(bytes([place])).digest()) for place in range(1, 20)]
    for records in ([], rows[:1], rows, rows[::-1]):
        leaves, data = pack(records)
        heads = heads_of(records)
        assert unpack(leaves) == ([(head.aggregate, head.sequence) for head in heads] or None)
        assert data == [head.data() for head in heads]
        assert root(data) == root([head.data() for head in heads])


class TestKeys:
    """The key file is made once, for its owner alone."""

    def test_a_key_is_made_once_and_its_public_half_lies_beside_it(self, tmp_path: Path) -> None:
        path = tmp_path / "seal.key"
        key = load_or_create_key(path)
        assert path.stat().st_mode & 0o777 == 0o600
        assert load_or_create_key(path).public == key.public
        assert load_public_keys([tmp_path]) == {key.key_id: key.public}
        assert sorted(file.name for file in tmp_path.iterdir()) == ["seal.key", "seal.key.pub"]

    def test_a_key_that_others_may_read_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "seal.key"
        load_or_create_key(path)
        path.chmod(0o640)
        with pytest.raises(RejectedError, match="others may read it"):
            load_key(path)

    @pytest.mark.parametrize("content", [b"", b"nonsense", b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"])
    def test_a_file_that_is_no_key_is_refused_and_left_alone(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "seal.key"
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(RejectedError, match="PEM"):
            load_or_create_key(path)
        assert path.read_bytes() == content

    def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RejectedError, match="it cannot be written"):
            load_or_create_key(tmp_path / "gone" / "seal.key")

    def test_a_missing_public_key_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RejectedError, match=r"gone\.pub"):
            load_public_keys([tmp_path / "gone.pub"])
