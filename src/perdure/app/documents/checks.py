"""Checks of versions by verbs: a scan before anybody may read, then the extraction of fields.

| what happens | what becomes of it |
|---|---|
| a version arrives whose type has `scan` or `extraction` | a notice in its commit; a call under an id made from it |
| the scan answers `{clean: true}` | the version may be read, and its extraction begins |
| the scan answers anything else, or fails | nobody may read the version |
| the extraction answers `{fields, confidence}` | the fields are kept; below the type's confidence a person is asked |
| the extraction fails, or its fields do not fit | the version says so; people read it themselves |
| the person answers `{fields}` | those fields are kept, with confidence 1 |
| a crash anywhere | the notice is still there, and the call is the same one |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.access.principal_names import PLATFORM
from perdure.app.documents.verbs import CHECK_FIELDS
from perdure.documents.machine import commands as c
from perdure.documents.machine.document_machine import ARRIVED, DocumentMachine
from perdure.documents.machine.document_state import Document
from perdure.documents.machine.text_words import text_words
from perdure.errors import RejectedError, SchemaViolationError
from perdure.identifiers import derive_id
from perdure.journal import Origin
from perdure.journal.notice_routes import StepRoute, read_route
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments, Unit
from perdure.payload import cargo_of, digest, parse
from perdure.sources import Id, id_text, parse_id
from perdure.verbs.document_types import DocumentType

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

KIND = DocumentMachine.kind
PARENT = "document"
"""How the parent of a call that checks a version begins."""
SCAN, EXTRACTION, PERSON = "scan", "extraction", "person"


class VersionChecks:
    """Begins the calls that check versions, and records what they came to."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        runtime.upkeep.receive((ARRIVED,), self.arrived)
        runtime.upkeep.adopt(PARENT, self.ended)

    async def arrived(self, tenant: str, message_id: str, kind: str, id: Id) -> bool:
        """A version arrived, or its scan is done: begin the next check."""
        message = await self._runtime.store.message(tenant, message_id)
        route = read_route(kind, message_id, message.body if message is not None else None)
        assert isinstance(route, StepRoute)
        state: Document = (await self._runtime.kernel.read(id, Origin(tenant, PLATFORM))).state
        type, version = self._runtime.catalogue.documents.get(state.type), state.versions[route.step - 1]
        if state.erased_at or type is None:
            await self._settle(tenant, message_id)
        elif version.scan == "waiting":
            await self._begin(tenant, message_id, id, state, route.step, SCAN, type.scan)
        elif version.extraction == "waiting" and version.is_readable and type.extraction is not None:
            await self._begin(tenant, message_id, id, state, route.step, EXTRACTION, type.extraction.verb)
        else:
            await self._settle(tenant, message_id)
        return True

    async def _begin(
        self, tenant: str, message_id: str, id: Id, state: Document, number: int, which: str, verb: str, **more: Any
    ) -> None:
        """Begin a call, once: its id is made from the notice."""
        conductor, letters = self._runtime.conductor, id_text(id)
        found = self._runtime.catalogue.get(verb)
        blob = state.versions[number - 1].blob
        offered = {
            "document_id": letters, "version": number, "document_type": state.type, "subject": state.subject,
            "reference": f"version://{tenant}/{letters}/{number}",
            "media_type": blob.media_type if blob is not None else "application/json", **more,
        }  # fmt: skip
        args = {name: offered[name] for name in found.input.properties if name in offered}
        call = derive_id(state.versions[number - 1].received_at, digest(f"{message_id}\0{tenant}".encode()))
        parent, settles = f"{PARENT}:{letters}/{number}/{which}", (tenant, message_id) if which != PERSON else None
        cargo = conductor.router.incoming(found, args)
        await conductor.begin(found, cargo, Origin(tenant, PLATFORM), call, parent=parent, settles=settles, waits=False)
        if settles is not None:
            await self._settle(tenant, message_id)

    async def ended(self, tenant: str, message_id: str, child: Aggregate) -> bool:
        """A call that checked a version ended: record what it came to."""
        letters, number, which = child.state.parent.partition(":")[2].split("/")
        id, step = parse_id(letters), child.state.steps[0]
        result: Any = None
        if child.state.status == "completed" and step.result is not None:
            data = await self._runtime.store.payload(child.id, step.result)
            result = parse(data) if data else None
        code = step.error.code if step.error is not None else "cancelled"
        if which == SCAN:
            is_clean = isinstance(result, dict) and result.get("clean") is True
            told = "" if is_clean else str(result.get("code", "refused")) if isinstance(result, dict) else code
            await self._record(tenant, message_id, id, c.RecordScan(int(number), is_clean, told[:80]))
        else:
            tasks = [token.task for token in step.tokens if token.task is not None]
            by = tasks[-1].answered_by if which == PERSON and tasks else ""
            await self._extracted(tenant, message_id, id, int(number), which, result, code, by)
        return True

    async def _extracted(
        self, tenant: str, message_id: str, id: Id, number: int, which: str, result: Any, code: str, by: str
    ) -> None:
        state: Document = (await self._runtime.kernel.read(id, Origin(tenant, PLATFORM))).state
        type = self._runtime.catalogue.documents.get(state.type)
        try:
            fields, confidence = self._fields(type, result, which)
        except (SchemaViolationError, TypeError, ValueError, KeyError):
            await self._record(tenant, message_id, id, c.FailExtraction(number, code if result is None else "contract"))
            return
        assert type is not None and type.extraction is not None
        is_settled = which == PERSON or confidence >= type.extraction.confidence
        if not is_settled:
            more = {"fields": fields.value, "confidence": confidence}
            await self._begin(tenant, f"{message_id}/person", id, state, number, PERSON, CHECK_FIELDS, **more)
        version = state.versions[number - 1]
        bodies = await self._bodies(id, [version.details, version.data])
        words = text_words(state.type, state.subject, [*bodies, fields.data])
        brought = Attachments(payloads=[(fields.hash, fields.data)], texts=[(number, words)])
        command = c.RecordExtraction(number, fields.hash, confidence, is_settled, by)
        await self._record(tenant, message_id, id, command, brought)

    def _fields(self, type: DocumentType | None, result: Any, which: str) -> tuple[Any, float]:
        """The fields that a verb or a person gave, held to the type, and how sure it is."""
        schema = self._runtime.document_duties.submissions.schema(type, "extracted") if type is not None else None
        if schema is None or not isinstance(result, dict):
            raise TypeError
        confidence = 1.0 if which == PERSON else float(result.get("confidence", 1.0))
        if not 0.0 <= confidence <= 1.0:
            raise ValueError
        return cargo_of(schema.check(result["fields"])), confidence

    async def _bodies(self, id: Id, hashes: list[bytes | None]) -> list[bytes]:
        found = [await self._runtime.store.payload(id, hash) for hash in hashes if hash is not None]
        return [each for each in found if each is not None]

    async def _record(
        self, tenant: str, message_id: str, id: Id, command: Any, brought: Attachments | None = None
    ) -> None:
        """Record an outcome and settle its notice in one commit; where nothing is left to record, settle alone."""
        brought = brought or Attachments()
        brought.settles = (tenant, message_id)
        try:
            await self._runtime.kernel.ask(KIND, id, Origin(tenant, PLATFORM), Prepared(command, brought))
        except RejectedError:
            await self._settle(tenant, message_id)

    async def _settle(self, tenant: str, message_id: str) -> None:
        unit = Unit(tenant, None, attachments=[Attachments(settles=(tenant, message_id))])
        await self._runtime.store.commit(unit)
