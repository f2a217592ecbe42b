"""Documents of one tenant: every change is a command to the kernel, every read of content is one too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.calls.views import EventView, event_views
from perdure.app.documents.submissions import Checked, Submission, note_cargo, note_text
from perdure.app.documents.views import (
    BlobView,
    CollectedView,
    ContentView,
    DocumentItem,
    DocumentView,
    document_view,
    item_view,
)
from perdure.app.lists.cursors import Page, cursor_of, place_of
from perdure.app.quarantine_views import QUARANTINED
from perdure.blobs.media_types import media_type_of
from perdure.documents.machine import commands as c
from perdure.documents.machine.document_machine import DocumentMachine
from perdure.documents.machine.document_state import STATUSES, Document, Version
from perdure.documents.machine.text_words import text_words
from perdure.documents.search_query import parse_search
from perdure.durations import parse_span
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Prepared
from perdure.kernel.ports import APPLIED, Attachments, InboxRow
from perdure.payload import canonical, digest_text, parse_digest
from perdure.sources import Id, id_text, parse_id
from perdure.verbs.document_types import FOREVER, LARGEST_BLOB, DocumentType, RejectionReason
from perdure.verbs.near_names import did_you_mean

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

KIND = DocumentMachine.kind
PREFIX = "document:"


class Documents:
    """The documents of one tenant, on behalf of one principal."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._kernel = runtime.kernel
        self._store = runtime.store
        self._machine = runtime.machines[KIND]

    @property
    def origin(self) -> Origin:
        """On whose behalf."""
        return self._origin

    # --- types ---------------------------------------------------------------------------------------------------

    def type(self, name: str) -> DocumentType:
        """A declared type; `-` and `_` in its name are alike, and so is its case."""
        types = self._runtime.catalogue.documents
        wanted = name.replace("_", "-").lower()
        found = types.get(name) or next(
            (each for each in types.values() if each.name.replace("_", "-") == wanted), None
        )
        if found is None:
            hint = did_you_mean(name, types) or "Declare it in a file with a top-level 'documents:'."
            fact = "no such type is declared"
            raise RejectedError(Rejection("not_found", "find", "document type", name[:80], fact, hint))
        return found

    def reason(self, code: str) -> RejectionReason:
        reasons = self._runtime.catalogue.reasons
        found = reasons.get(code.upper().replace("-", "_"))
        if found is None:
            hint = did_you_mean(code, reasons) or f"Known codes: {', '.join(sorted(reasons))}."
            fact = "no such reason is in the catalogue"
            raise RejectedError(Rejection("invalid", "reject for", "reason", code[:80], fact, hint))
        return found

    # --- handed in -----------------------------------------------------------------------------------------------

    async def store_blob(self, content: AsyncIterator[bytes], most: int = LARGEST_BLOB) -> BlobView:
        """Store content; it is durable when this returns, and collected unless a version refers to it soon."""
        stored = await self._runtime.blobs.put(self._origin.tenant, content, most)
        found = media_type_of(stored.head, stored.tail)
        return BlobView(digest_text(stored.hash), stored.size, found.media_type)

    async def create(
        self, type: str, subject: str = "", *, parent: str = "", source: str = "upload", correlation_id: str = "",
        submission: Submission | None = None, key: str = "",
    ) -> DocumentView:  # fmt: skip
        """A new document, with its first version where one is handed in. Under the same `key` it is the same one."""
        found = self.type(type)
        if subject:
            check_key("create a document about", "subject", subject)
        if parent:
            parent = id_text((await self._read(parent)).id)
        checked = await self._checked(found, submission) if submission is not None else None
        keep = None if found.retention == FOREVER else parse_span(found.retention)
        command = c.CreateDocument(
            type=found.name, subject=subject, source=source, parent=parent, correlation=correlation_id, keep=keep,
            version=checked.version if checked is not None else None,
        )  # fmt: skip
        brought = Attachments(texts=[(0, text_words(found.name, subject, ()))])
        if checked is not None:
            self._bring(brought, checked, found.name, subject, 1)
        request = _request(type, subject, parent, source, correlation_id, submission)
        if key:
            brought.idempotency = (PREFIX + key, request)
        return self._referred(await self._begin(command, brought, key, request), checked)

    def _referred(self, view: DocumentView, checked: Checked | None) -> DocumentView:
        """The content of a version counts for nobody any more, once a document refers to it."""
        if checked is not None and (blob := checked.version.blob) is not None:
            self._runtime.document_duties.allowance.referred(self._origin.tenant, blob.hash)
        return view

    async def _begin(self, command: c.CreateDocument, brought: Attachments, key: str, request: bytes) -> DocumentView:
        id = self._runtime.sources.new_id()
        answer = await self._kernel.start(KIND, id, self._origin, Prepared(command, brought))
        if answer.conflict is None:
            return self._view(answer.aggregate)
        known = await self._store.idempotent_start(self._origin.tenant, PREFIX + key)
        if known is None or known[1] != request:
            fact, hint = "another document was created under it", "Use another key."
            raise RejectedError(Rejection("already_exists", "create a document under", "key", key[:80], fact, hint))
        return self._view(await self._read(id_text(known[0])))

    async def receive(self, id: str, submission: Submission, *, key: str = "") -> DocumentView:
        """Add a version. Under the same `key` it is added once."""
        aggregate = await self._read(id)
        state: Document = aggregate.state
        found = self.type(state.type)
        checked = await self._checked(found, submission)

        def prepare(current: Aggregate) -> Prepared:
            brought = Attachments()
            self._bring(brought, checked, state.type, state.subject, len(current.state.versions) + 1)
            if key:
                brought.inbox = self._message(key, aggregate.id, "received")
            return Prepared(c.ReceiveVersion(checked.version), brought)

        return self._referred(await self._ask(aggregate.id, prepare), checked)

    # --- decided on ----------------------------------------------------------------------------------------------

    async def verify(self, id: str, version: int, note: str = "", *, is_verb: bool = False) -> DocumentView:
        """Take a version as evidence. Whoever handed it in cannot where its type asks for four eyes."""
        aggregate = await self._read(id)
        rule, text = self._rule(aggregate.state, "verify", is_verb), note_cargo(note)
        command = c.VerifyVersion(number=version, rule=rule, note=text.hash if text is not None else None)
        return await self._ask(aggregate.id, Prepared(command, _brought(text)))

    async def reject(
        self, id: str, version: int, reason: str, note: str = "", *, is_verb: bool = False
    ) -> DocumentView:
        """Refuse a version, or take a verification back, for a coded reason."""
        aggregate, code = await self._read(id), self.reason(reason).code
        rule, text = self._rule(aggregate.state, "reject", is_verb), note_cargo(note)
        command = c.RejectVersion(
            number=version, reason=code, rule=rule, note=text.hash if text is not None else None
        )  # fmt: skip
        return await self._ask(aggregate.id, Prepared(command, _brought(text)))

    async def supersede(self, id: str, by: str, note: str = "", *, is_verb: bool = False) -> DocumentView:
        """Let another document of the same subject and type take the place of this one."""
        aggregate, other = await self._read(id), await self._read(by)
        ours, theirs = aggregate.state, other.state
        if (ours.subject, ours.type) != (theirs.subject, theirs.type):
            fact = f"document '{id_text(other.id)}' is about another subject or of another type"
            raise RejectedError(Rejection("invalid", "supersede", "document", id, fact))
        rule, text = self._rule(ours, "supersede", is_verb), note_cargo(note)
        command = c.SupersedeDocument(
            document=id_text(other.id), rule=rule, note=text.hash if text is not None else None
        )  # fmt: skip
        return await self._ask(aggregate.id, Prepared(command, _brought(text)))

    async def hand_in(
        self, type: DocumentType, subject: str, checked: Checked, before: Aggregate | None
    ) -> DocumentView:
        """Add a checked version to a document that was rejected or is empty; else begin one."""
        version = checked.version
        if before is not None and not before.state.erased_at and before.state.takes_more:

            def prepare(current: Aggregate) -> Prepared:
                brought = Attachments()
                self._bring(brought, checked, type.name, subject, len(current.state.versions) + 1)
                return Prepared(c.ReceiveVersion(version), brought)

            return await self._ask(before.id, prepare)
        keep = None if type.retention == FOREVER else parse_span(type.retention)
        command = c.CreateDocument(
            type=type.name, subject=subject, source=version.source, correlation=version.correlation, keep=keep,
            version=version,
        )  # fmt: skip
        brought = Attachments(texts=[(0, text_words(type.name, subject, ()))])
        self._bring(brought, checked, type.name, subject, 1)
        return await self._begin(command, brought, "", b"")

    def _rule(self, state: Document, do: str, is_verb: bool) -> c.DecisionRule:
        return self.rule_of(self.type(state.type), do, is_verb)

    def rule_of(self, type: DocumentType, do: str, is_verb: bool) -> c.DecisionRule:
        """Who may decide on documents of a type; a rejection where verbs may not and a verb asks."""
        found = type.verification
        if is_verb and not found.by_verb:
            fact = f"documents of type '{type.name}' are decided on by people alone"
            hint = "Ask the operation instead of the verb, or declare verify: {by_verb: true}."
            raise RejectedError(Rejection("forbidden", do, "document of type", type.name, fact, hint))
        return c.DecisionRule(found.groups, found.four_eyes, found.agents)

    # --- found and read ------------------------------------------------------------------------------------------

    async def get(self, id: str) -> DocumentView:
        """A document with its versions, without their content."""
        return self._view(await self._read(id))

    async def find(
        self, *, subject: str = "", type: str = "", status: str = "", correlation_id: str = "", text: str = "",
        limit: int = 50, after: str | None = None,
    ) -> Page[DocumentItem]:  # fmt: skip
        """Documents that fit every filter, newest first; `text` looks for words in their data."""
        if status and status not in STATUSES:
            hint = f"Statuses are {', '.join(STATUSES)}."
            raise RejectedError(Rejection("invalid", "find documents in", "status", status[:80], "there is none", hint))
        type = self.type(type).name if type else ""
        words = parse_search(text) if text else None
        tenant = self._origin.tenant
        scope = (tenant, "documents", subject, type, status, correlation_id, text)
        before = place_of(scope, after, int) if after else 0
        found = await self._store.documents.find(
            tenant, subject=subject, type=type, status=status, correlation=correlation_id, words=words, before=before,
            most=limit,
        )  # fmt: skip
        following = cursor_of(scope, found[-1].number) if len(found) == limit else None
        return Page([self._item(each.id, item_view(each.id, each.row)) for each in found], following)

    def _item(self, id: Id, item: DocumentItem) -> DocumentItem:
        """A document in a list; a damaged one says so."""
        is_damaged = self._store.set_aside.find(id) is not None
        return msgspec.structs.replace(item, status=QUARANTINED) if is_damaged else item

    async def content(self, id: str, version: int | None = None, *, what: str = "data") -> ContentView:
        """The data and the extracted fields of a version. The journal keeps who read them before they are given."""
        aggregate, found = await self._reading(id, version, what)
        details, data, extracted, note = await self._store.values(
            aggregate.id, (found.details, found.data, found.extracted, found.note)
        )
        confidence = found.confidence if found.extracted is not None else None
        named = details or {"name": "", "source_ref": ""}
        return ContentView(
            id_text(aggregate.id), found.number, named["name"], named["source_ref"], data, extracted, confidence,
            note_text(note),
        )  # fmt: skip

    async def download(
        self, id: str, version: int | None = None, *, what: str = "blob"
    ) -> tuple[ContentView, BlobView, AsyncIterator[bytes]]:
        """The blob of a version: its name, its description and its bytes, each part checked before it is given."""
        aggregate, found = await self._reading(id, version, what)
        blob = self._blob_of(aggregate, found)
        details, parts = await self._store.values(aggregate.id, (found.details, blob.parts))
        if parts is None:
            raise RejectedError(Rejection("wrong_state", "read", "document", id, "its data was erased"))
        digests = [parse_digest(each) for each in parts]
        content = self._runtime.blobs.read(self._origin.tenant, blob.hash, digests)
        named = ContentView(id_text(aggregate.id), found.number, details["name"] if details else "")
        return named, BlobView(digest_text(blob.hash), blob.size, blob.media_type), content

    async def purpose(self, id: str, verb: str) -> str:
        """What a verb reads content for: the scan of a type may before anybody else."""
        type = self._runtime.catalogue.documents.get((await self._read(id)).state.type)
        return "scan" if type is not None and type.scan == verb else "reference"

    async def check_link(self, id: str, version: int) -> None:
        """Refuse a link that would open nothing; making one is an event."""
        aggregate, found = await self._reading(id, version, "link")
        self._blob_of(aggregate, found)

    def _blob_of(self, aggregate: Aggregate, version: Version) -> Any:
        if version.blob is None:
            fact, hint = f"version {version.number} has no file", "Its data is in its content."
            raise RejectedError(Rejection("not_found", "download", "document", id_text(aggregate.id), fact, hint))
        return version.blob

    async def _reading(self, id: str, version: int | None, what: str) -> tuple[Aggregate, Version]:
        """The version that is read, once the journal tells who reads it."""
        aggregate = await self._read(id)
        state: Document = aggregate.state
        current = state.current
        number = version if version is not None else current.number if current is not None else 0
        answer = await self._kernel.ask(KIND, aggregate.id, self._origin, Prepared(c.RecordRead(number, what)))
        assert answer.aggregate is not None
        return answer.aggregate, answer.aggregate.state.versions[number - 1]

    async def events(self, id: str, *, after: int = 0) -> AsyncIterator[EventView]:
        """The journal of a document, oldest first."""
        aggregate = await self._read(id)
        async for row in self._store.history(aggregate, max(0, min(after, aggregate.version))):
            for event in event_views(row.sequence, self._machine.records.decode(row.body)):
                yield event

    # --- erased and collected ------------------------------------------------------------------------------------

    async def erase(self, id: str, reason: str) -> DocumentView:
        """Erase the data of a document and its blobs; its history stays."""
        aggregate = await self._read(id)
        await self._runtime.document_duties.erase(aggregate.id, self._origin.tenant, self._origin.principal, reason)
        return await self.get(id)

    async def collect(self, *, dry: bool = False) -> CollectedView:
        """Remove blobs that no document refers to; with `dry` count them only."""
        return await self._runtime.document_duties.collect(self._origin.tenant, dry=dry)

    # --- inside --------------------------------------------------------------------------------------------------

    async def _checked(self, type: DocumentType, submission: Submission) -> Checked:
        return await self._runtime.document_duties.submissions.check(
            type, self._origin.tenant, submission, self._runtime.sources.now()
        )  # fmt: skip

    @staticmethod
    def _bring(brought: Attachments, checked: Checked, type: str, subject: str, number: int) -> None:
        brought.payloads = [*brought.payloads, *checked.payloads]
        brought.texts = [*brought.texts, (number, text_words(type, subject, checked.texts))]

    def _message(self, key: str, id: Id, answer: str) -> InboxRow:
        now = self._runtime.sources.now()
        return InboxRow(self._origin.tenant, PREFIX + key, KIND, "", now, APPLIED, answer, id, None)

    async def _ask(self, id: Id, prepare: Any) -> DocumentView:
        answer: Answer = await self._kernel.ask(KIND, id, self._origin, prepare)
        if answer.conflict is not None and answer.conflict.what != "inbox":
            raise InvariantBroken("change", "document", id_text(id), f"its commit met {answer.conflict.what}")
        if answer.conflict is not None and answer.conflict.holder != id:
            fact, hint = "its key was used for another document", "Use another key."
            raise RejectedError(Rejection("already_exists", "change", "document", id_text(id), fact, hint))
        return self._view(answer.aggregate)

    async def _read(self, id: str) -> Aggregate:
        found = parse_id(id, "document")
        try:
            aggregate = await self._kernel.read(found, self._origin)
        except RejectedError as error:
            raise _none(id) from error
        if aggregate.kind != KIND:
            raise _none(id)
        return aggregate

    def _view(self, aggregate: Aggregate | None) -> DocumentView:
        assert aggregate is not None
        reasons = dict(self._runtime.catalogue.reasons)
        return document_view(aggregate.id, aggregate.tenant, aggregate.version, aggregate.state, reasons)


def _brought(note: Any) -> Attachments | None:
    return Attachments(payloads=[(note.hash, note.data)]) if note is not None else None


def _request(*asked: Any) -> bytes:
    """What was asked for under a key: the same request is the same document."""
    return sha256(canonical(msgspec.to_builtins(asked))).digest()


def _none(id: str) -> RejectedError:
    hint = "See `perdure documents list`."
    return RejectedError(Rejection("not_found", "find", "document", id[:80], "there is no such document", hint))
