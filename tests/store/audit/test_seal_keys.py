"""Seal keys: one that is lost stops sealing, a new one is journalled and signed, and seals that are gone are missed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from perdure.app.audit.store_audit import noted_seal, public_keys_of, rotate_key, seal_store, verify_store
from perdure.app.compliance_export import check_document, export_document
from perdure.errors import RejectedError
from perdure.sources import parse_id
from perdure.store.audit import document_of, verify_export
from perdure.store.seal_key_file import SealKeyFile
from perdure.store.sealer import Sealer
from perdure.store.signing_keys import PublicKeys, load_key, load_public_keys
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw
from tests.runbooks.sample_verbs import Handlers, catalogue


class Sealed:
    """A sandbox whose store is sealed with a key file."""

    def __init__(self, sandbox: Sandbox, url: str, file: Path) -> None:
        self.sandbox, self.url, self.file = sandbox, url, file
        self.called = ""

    async def work(self) -> None:
        self.called = (await self.sandbox.call("kyc.score", {"entity": "a"})).id

    async def seal(self) -> int:
        return await seal_store(self.sandbox, self.url, self.file)

    async def rotate(self, reason: str = "yearly") -> bool:
        return (await rotate_key(self.sandbox, self.url, self.file, reason)).is_signed

    def keys(self) -> PublicKeys:
        return public_keys_of(self.url, self.file)

    async def codes(self, keys: PublicKeys | None = None, *, is_noted: bool = False) -> list[str]:
        anchor = await noted_seal(self.sandbox, self.url, self.file) if is_noted else None
        chosen = self.keys() if keys is None else keys
        report = await verify_store(self.sandbox, chosen, require_sealed=True, anchor=anchor, is_dry=True)
        return [finding.code for finding in report.findings]


@asynccontextmanager
async def sealed(url: str, folder: Path) -> AsyncIterator[Sealed]:
    async with Sandbox.open(url, definitions=catalogue(), handlers=Handlers().bound()) as sandbox:
        found = Sealed(sandbox, url, folder / "seal.key")
        await found.work()
        assert await found.seal() == 1
        assert await found.codes(is_noted=True) == []
        yield found


@pytest.mark.req("P7")
async def test_a_store_that_had_seals_and_has_none_is_a_finding(store_url: str, tmp_path: Path) -> None:
    async with sealed(store_url, tmp_path) as found:
        with Raw(store_url) as raw:
            raw("DELETE FROM seal")
        report = await verify_store(found.sandbox, found.keys(), is_dry=True)
        assert [finding.code for finding in report.findings] == ["AUD064"]


@pytest.mark.req("P7")
async def test_seals_cut_off_at_the_end_are_missed_by_the_note_beside_the_key(store_url: str, tmp_path: Path) -> None:
    async with sealed(store_url, tmp_path) as found:
        await found.work()
        assert await found.seal() == 1
        with Raw(store_url) as raw:
            raw("DELETE FROM seal WHERE number = 2")
        assert "AUD063" in await found.codes(is_noted=True)
        with pytest.raises(RejectedError, match="seal 2, noted in"):
            await found.seal()


@pytest.mark.req("P7")
async def test_a_store_that_is_not_sealed_yet_is_warned_of(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=Handlers().bound()) as sandbox:
        await sandbox.call("kyc.score", {"entity": "a"})
        report = await verify_store(sandbox, {}, is_dry=True)
        assert report.findings == []
        assert any("Nothing is sealed yet" in warning for warning in report.warnings)


class Twice:
    """A clock by which a loop goes round twice."""

    def __init__(self) -> None:
        self._rounds = 0

    def now(self) -> int:
        return 1_000_000

    async def sleep(self, duration: int) -> None:
        self._rounds += 1
        if self._rounds == 2:
            raise asyncio.CancelledError


@pytest.mark.req("P7")
async def test_a_lost_key_is_not_replaced_in_silence(
    store_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with sealed(store_url, tmp_path) as found:
        found.file.unlink()
        await found.work()
        with pytest.raises(RejectedError, match=r"its key file .* is gone"):
            await found.seal()
        assert not found.file.exists()
        sealer = Sealer(found.sandbox.runtime.store, SealKeyFile(found.file), Twice())  # type: ignore[arg-type]
        with caplog.at_level(logging.ERROR, "perdure"), pytest.raises(asyncio.CancelledError):
            await sealer.run()
        (told,) = caplog.records  # said once, however often it is tried
        assert "rotate-key" in told.getMessage()


@pytest.mark.req("P7")
async def test_a_key_that_was_exchanged_does_not_seal(store_url: str, tmp_path: Path) -> None:
    async with sealed(store_url, tmp_path) as found:
        found.file.unlink()
        SealKeyFile(tmp_path / "other.key").ready("", store_url)
        (tmp_path / "other.key").rename(found.file)
        await found.work()
        with pytest.raises(RejectedError, match="holds key"):
            await found.seal()


@pytest.mark.req("P7")
async def test_a_new_key_is_journalled_and_signed_by_the_old_one(store_url: str, tmp_path: Path) -> None:
    async with sealed(store_url, tmp_path) as found:
        before = load_public_keys([tmp_path / "seal.key.pub"])
        assert await found.rotate()
        after = load_public_keys([tmp_path / "seal.key.pub"])
        assert after == load_key(found.file).public_keys != before
        await found.work()
        assert await found.seal() == 1
        assert await found.codes() == []
        # Who trusts either of them trusts both, and who trusts another trusts neither.
        assert await found.codes(before) == await found.codes(after) == []
        stranger = SealKeyFile(tmp_path / "other.key").ready("", store_url).public_keys
        assert (await found.codes(stranger)).count("AUD054") == 2


@pytest.mark.req("P7")
async def test_a_new_key_after_a_lost_one_is_not_trusted_by_who_knows_the_old_one(
    store_url: str, tmp_path: Path
) -> None:
    async with sealed(store_url, tmp_path) as found:
        before = load_public_keys([tmp_path / "seal.key.pub"])
        found.file.unlink()
        assert not await found.rotate("the disk was lost")
        await found.work()
        assert await found.seal() == 1
        assert await found.codes() == []
        assert (await found.codes(before)).count("AUD054") == 1
        report = await verify_store(found.sandbox, found.keys(), is_dry=True)
        assert any("without its signature: the disk was lost" in warning for warning in report.warnings)


@pytest.mark.req("P7")
async def test_a_rotation_that_was_interrupted_is_finished_by_the_next_seal(store_url: str, tmp_path: Path) -> None:
    async with sealed(store_url, tmp_path) as found:
        old = found.file.read_bytes()
        await found.rotate()
        found.file.rename(tmp_path / "seal.key.next")
        found.file.write_bytes(old)
        found.file.chmod(0o600)
        await found.work()
        assert await found.seal() == 1
        assert await found.codes() == []
        assert load_public_keys([tmp_path / "seal.key.pub"]) == load_key(found.file).public_keys


@pytest.mark.req("P7")
async def test_the_keys_of_all_seals_travel_with_an_export(store_url: str, tmp_path: Path) -> None:
    async with sealed(store_url, tmp_path) as found:
        first, before = found.called, load_public_keys([tmp_path / "seal.key.pub"])
        await found.rotate()
        await found.work()
        await found.seal()
        after = load_key(found.file).public_keys
        runtime = found.sandbox.runtime
        for id in (first, found.called):
            document = await document_of(runtime.store, runtime.machines, parse_id(id), {})
            whole = await export_document(found.sandbox, id, {})
            for keys in (None, before, after):
                assert verify_export(document, keys, require_sealed=True) == []
                assert check_document(whole, keys, require_sealed=True).findings == []
