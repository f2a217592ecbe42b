"""Duties for documents: their timers, the erasure of their data, and the collection of blobs nobody refers to."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from perdure.access.principal_names import PLATFORM
from perdure.app.documents.case_evidence import is_evidence
from perdure.app.documents.submissions import SubmissionChecks
from perdure.app.documents.views import CollectedView
from perdure.blobs.content_allowance import ContentAllowance
from perdure.blobs.partial_uploads import PartialUploads
from perdure.documents.machine import commands as c
from perdure.documents.machine.decisions import HELD_TIME
from perdure.documents.machine.document_machine import RETENTION, DocumentMachine
from perdure.documents.machine.document_state import Document
from perdure.durations import BusinessDays
from perdure.errors import Rejection
from perdure.journal import Origin, TimerRow
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.sources import Id, Micros, id_text
from perdure.work.ports import JobFound, TimerFound

if TYPE_CHECKING:
    from perdure.app.documents.checks import VersionChecks
    from perdure.app.runtime import Runtime

KIND = DocumentMachine.kind
MOST_HOLDERS = 100
"""How many documents with the same content are looked at for a scan that holds it back."""
GRACE: Micros = 2 * HELD_TIME
"""The age below which a blob is never collected: its commit may be under way, and comes within half of it."""


class DocumentDuties:
    """What documents need of a worker; implements `Duties` for them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.submissions = SubmissionChecks(runtime.blobs, self._day_after, self._held_back)
        self.uploads = PartialUploads(runtime.blobs)
        self.allowance = ContentAllowance(runtime.sources)
        self.checks: VersionChecks | None = None

    async def _held_back(self, tenant: str, hash: bytes) -> str:
        """Why content that another document holds is kept from everybody; empty when it is not."""
        for id in await self._runtime.store.documents.with_blob(tenant, hash, MOST_HOLDERS):
            state: Document = (await self._runtime.kernel.read(id, Origin(tenant, ""))).state
            for version in state.versions:
                if version.blob is not None and version.blob.hash == hash and not version.is_readable:
                    return "its content was refused by a scan" if version.scan == "refused" else "a scan is not done"
        return ""

    def _day_after(self, asked: BusinessDays, begin: date) -> date:
        return self._runtime.router.calendars.day(asked, begin)

    async def fire(self, timer: TimerFound) -> None:
        """A validity ended, or the time that data is kept."""
        if timer.kind == RETENTION and await self._is_needed_still(timer):
            kept = Prepared(c.KeepLonger(timer.due), due=timer.due)
            await self._runtime.kernel.ask(KIND, timer.aggregate, Origin(timer.tenant, PLATFORM), kept)
            return
        if timer.kind == RETENTION:
            await self._erase(timer.aggregate, timer.tenant, PLATFORM, "retention", TimerRow(0, RETENTION, timer.due))
            return
        command = c.FireTimer(timer.step, timer.kind, timer.due)
        origin = Origin(timer.tenant, PLATFORM)
        await self._runtime.kernel.ask(KIND, timer.aggregate, origin, Prepared(command, due=timer.due))

    async def _is_needed_still(self, timer: TimerFound) -> bool:
        origin = Origin(timer.tenant, PLATFORM)
        state: Document = (await self._runtime.kernel.read(timer.aggregate, origin)).state
        return await is_evidence(self._runtime, origin, state.subject, state.type)

    async def lease(self, job: JobFound) -> bool:
        return False

    async def miss(self, id: Id, step: int, tenant: str) -> bool:
        return False

    async def heal(self, id: Id, step: int, tenant: str) -> bool:
        return False

    async def erase(self, id: Id, tenant: str, principal: str, reason: str) -> str:
        return await self._erase(id, tenant, principal, reason, None)

    async def _erase(self, id: Id, tenant: str, principal: str, reason: str, timer: TimerRow | None) -> str:
        """Erase the data; of a timer only while the state still asks for it."""
        origin, hashes = Origin(tenant, principal), list[bytes]()
        machine = self._runtime.machines[KIND]

        def prepare(current: Aggregate) -> Prepared | Rejection:
            rows = machine.rows(current.id, current.state)
            if timer is not None and timer not in rows.timers:
                fact = "its data is kept for longer"
                return Rejection("wrong_state", "erase", "document", id_text(current.id), fact)
            hashes[:] = [each.hash for each in rows.blobs]
            return Prepared(
                c.EraseDocument(reason), Attachments(erases=True), due=timer.due if timer is not None else 0
            )

        answer = (await self._runtime.kernel.ask(KIND, id, origin, prepare)).answer
        await self._runtime.store.erase_around(tenant, id, is_recent=principal != PLATFORM)
        for hash in hashes:
            await self._remove(self._runtime.blobs.folder(tenant), hash)
        return answer

    async def collect(self, tenant: str | None = None, *, dry: bool = False) -> CollectedView:
        """Count or remove blobs that no document refers to, of one tenant or of all, and uploads that never ended."""
        before, count, size = self._runtime.sources.now() - GRACE, 0, 0
        folder = self._runtime.blobs.folder(tenant) if tenant is not None else None
        async for blob in self._runtime.blobs.listed():
            if folder not in (None, blob.folder) or blob.stored_at >= before:
                continue
            if await self._is_needed(blob.folder, blob.hash):
                continue
            if dry or await self._runtime.blobs.remove(blob.folder, blob.hash, before):
                count, size = count + 1, size + blob.size
        if not dry:
            await self._runtime.blobs.tidy(before)
            await self.uploads.tidy(self._runtime.sources.now())
        return CollectedView(count, size, not dry)

    async def _remove(self, folder: str, hash: bytes) -> None:
        if not await self._is_needed(folder, hash):
            await self._runtime.blobs.remove(folder, hash, self._runtime.sources.now() - GRACE)

    async def _is_needed(self, folder: str, hash: bytes) -> bool:
        tenants = await self._runtime.store.documents.tenants_of_blob(hash)
        return any(self._runtime.blobs.folder(tenant) == folder for tenant in tenants)
