"""Documents over the table of operations."""

from __future__ import annotations

from typing import Any

from perdure.app.calls.views import EventView
from perdure.app.documents.views import (
    CollectedView,
    ContentView,
    DocumentItem,
    DocumentTypeView,
    DocumentView,
    ReasonView,
)
from perdure.app.facade.performer import MOST, Desk, pages
from perdure.app.operations import documents as operations
from perdure.app.operations import requests
from perdure.app.operations.request_fields import ById, Nothing
from perdure.app.operations.requests import RequestReceipt, RequestToken, RequestView


class DocumentDesk(Desk):
    """Documents: handed in, decided on, found and read."""

    async def types(self) -> list[DocumentTypeView]:
        """Every declared type of documents."""
        return (await self._performer.ask(operations.list_document_types, Nothing())).items

    async def reasons(self) -> list[ReasonView]:
        """The catalogue of rejection reasons."""
        return (await self._performer.ask(operations.list_rejection_reasons, Nothing())).items

    async def create(
        self, type: str, subject: str = "", *, data: dict[str, Any] | None = None, blob: str = "", media_type: str = "",
        name: str = "", source: str = "upload", source_ref: str = "", valid_from: str = "", valid_to: str = "",
        correlation_id: str = "", parent: str = "", idempotency_key: str = "",
    ) -> DocumentView:  # fmt: skip
        """Create a document, with a first version where data or an uploaded blob is given."""
        request = operations.CreateDocument(
            type=type, subject=subject, parent=parent, data=data, blob=blob, media_type=media_type, name=name,
            source=source, source_ref=source_ref, valid_from=valid_from, valid_to=valid_to,
            correlation_id=correlation_id,
        )  # fmt: skip
        return await self._performer.ask(operations.create_document, request, key=idempotency_key)

    async def receive(
        self, id: str, *, data: dict[str, Any] | None = None, blob: str = "", media_type: str = "", name: str = "",
        source: str = "upload", source_ref: str = "", valid_from: str = "", valid_to: str = "",
        correlation_id: str = "", idempotency_key: str = "",
    ) -> DocumentView:  # fmt: skip
        """Add a version: `data`, a `blob` that was uploaded, or both."""
        request = operations.ReceiveVersion(
            id=id, data=data, blob=blob, media_type=media_type, name=name, source=source, source_ref=source_ref,
            valid_from=valid_from, valid_to=valid_to, correlation_id=correlation_id,
        )  # fmt: skip
        return await self._performer.ask(operations.receive_version, request, key=idempotency_key)

    async def get(self, id: str) -> DocumentView:
        """A document with its versions, without their content."""
        return await self._performer.ask(operations.show_document, ById(id))

    async def content(self, id: str, version: int) -> ContentView:
        """The data and extracted fields of a version; the journal keeps who read them."""
        return await self._performer.ask(operations.read_content, operations.ReadVersion(id, version))

    async def verify(self, id: str, version: int, note: str = "") -> DocumentView:
        """Take a version as evidence."""
        return await self._performer.ask(operations.verify_document, operations.VerifyVersion(id, version, note))

    async def reject(self, id: str, version: int, reason: str, note: str = "") -> DocumentView:
        """Refuse a version for a coded reason."""
        request = operations.RejectVersion(id, version, reason, note)
        return await self._performer.ask(operations.reject_document, request)

    async def supersede(self, id: str, by: str, note: str = "") -> DocumentView:
        """Let another document take the place of this one."""
        return await self._performer.ask(operations.supersede_document, operations.SupersedeDocument(id, by, note))

    async def waive(
        self, type: str, subject: str, reason: str, *, valid_to: str = "", correlation_id: str = ""
    ) -> DocumentView:
        """Do without a document, for a reason; where its type asks for four eyes, until a second person agrees."""
        request = operations.WaiveDocument(type, subject, reason, valid_to, correlation_id)
        return await self._performer.ask(operations.waive_document, request)

    async def find(
        self, *, subject: str = "", type: str = "", status: Any = "", correlation_id: str = "", text: str = "",
        limit: int = 50,
    ) -> list[DocumentItem]:  # fmt: skip
        """Documents that fit every filter, newest first."""
        request = operations.ListDocuments(
            subject=subject, type=type, status=status, correlation_id=correlation_id, text=text
        )
        found = pages(self._performer, DocumentItem, operations.list_documents, request, limit)
        return [each async for each in found]

    async def events(self, id: str, *, after: int = 0) -> list[EventView]:
        """The journal of a document, oldest first."""
        found: list[EventView] = []
        while True:
            request = operations.ListEvents(id, after, MOST)
            page = await self._performer.ask(operations.list_document_events, request)
            found += page.items
            if page.next is None:
                return found
            after = int(page.next)

    async def erase(self, id: str, reason: str) -> DocumentView:
        """Erase the data and the blobs of a document."""
        return await self._performer.ask(operations.erase_document, operations.EraseDocument(id, reason))

    async def collect(self, *, dry: bool = False) -> CollectedView:
        """Remove blobs that no document refers to."""
        return await self._performer.ask(operations.collect_blobs, operations.CollectBlobs(dry))

    async def request(self, correlation_id: str) -> RequestView:
        """What somebody is asked for under a correlation id, and what came."""
        return await self._performer.ask(requests.show_request, requests.NameRequest(correlation_id))

    async def request_token(
        self, correlation_id: str, *, expires_seconds: int = requests.TOKEN_SECONDS
    ) -> RequestToken:
        """A token for the client who was asked; a server signs it."""
        asked = requests.MakeToken(correlation_id, expires_seconds)
        return await self._performer.ask(requests.make_request_token, asked)

    async def submit_data(self, correlation_id: str, data: dict[str, Any]) -> RequestReceipt:
        """Hand in structured data for a request."""
        return await self._performer.ask(requests.submit_data, requests.SubmitData(data, correlation_id))
