"""The verbs of documents that the platform brings along: they look like any other, and the names of arguments are those
people know from tables of documents.

A verb is run again under its idempotency key after a crash: each changes a document once, however often it runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from perdure.app.documents.caller_reach import CallerReach
from perdure.app.documents.documents import Documents
from perdure.app.documents.request_delivery import VERB, with_delivery_verb
from perdure.app.documents.requests import SOLICIT, DocumentRequests
from perdure.app.documents.submissions import Submission
from perdure.app.documents.views import DocumentView
from perdure.app.documents.waivers import Waivers
from perdure.errors import BusinessError, RejectedError, SchemaViolationError
from perdure.journal import Origin
from perdure.lifecycles.machine.state import correlation_id
from perdure.lifecycles.recovery import PARENT as LIFECYCLE
from perdure.runbooks.machine.state import Runbook
from perdure.sources import parse_id
from perdure.verbs import Call, Catalogue, HandlerRegistry
from perdure.verbs.loader import load_text

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

CHECK_FIELDS = "document.check-fields"
DEFINITIONS = """
- name: document.create
  description: Create a document, with a first version where content is given
  sentences: {step: ["Create a {document-type} about {subject-entity-id}"]}
  args:
    - {name: document-type, type: string, required: true}
    - {name: subject-entity-id, type: string}
    - {name: content-type, type: string}
    - {name: structured-data, type: json}
    - {name: blob-ref, type: string}
    - {name: file-name, type: string}
    - {name: parent-document-id, type: string}
    - {name: source, type: string}
    - {name: source-ref, type: string}
    - {name: correlation-id, type: string}
    - {name: valid-from, type: date}
    - {name: valid-to, type: date}
  execution: {kind: sync, effects: external}
- name: document.receive
  description: Add a version to a document
  args:
    - {name: document-id, type: string, required: true}
    - {name: content-type, type: string}
    - {name: structured-data, type: json}
    - {name: blob-ref, type: string}
    - {name: file-name, type: string}
    - {name: source, type: string}
    - {name: source-ref, type: string}
    - {name: correlation-id, type: string}
    - {name: valid-from, type: date}
    - {name: valid-to, type: date}
  execution: {kind: sync, effects: external}
- name: document.solicit
  description: Ask for a document by a channel, and wait until it came or was verified
  sentences: {step: ["Ask {subject-entity-id} for a {document-type}"]}
  metadata: {creates_pending_task: true}
  args:
    - {name: subject-entity-id, type: string, required: true}
    - {name: document-type, type: string, required: true}
    - {name: channel, type: string}
    - {name: to, type: string}
    - {name: message, type: string}
    - {name: language, type: string}
    - {name: until, type: string, valid_values: [received, verified]}
    - {name: max-attempts, type: integer}
    - {name: callback-url, type: string}
    - {name: correlation-id, type: string}
  execution: {kind: durable, policy: {timeout: P90D}}
- name: document.verify
  description: Take the newest version of a document, or the one named, as evidence
  consequence: requires_confirmation
  args:
    - {name: document-id, type: string, required: true}
    - {name: version, type: integer}
    - {name: verified-by, type: string}
    - {name: note, type: string}
  execution: {kind: sync, effects: external}
- name: document.reject
  description: Refuse the newest version of a document, or the one named, for a coded reason
  consequence: requires_confirmation
  args:
    - {name: document-id, type: string, required: true}
    - {name: reason, type: string, required: true}
    - {name: version, type: integer}
    - {name: note, type: string}
  execution: {kind: sync, effects: external}
- name: document.supersede
  description: Let another document take the place of one
  consequence: requires_confirmation
  args:
    - {name: document-id, type: string, required: true}
    - {name: by, type: string, required: true}
    - {name: note, type: string}
  execution: {kind: sync, effects: external}
- name: document.waive
  description: Do without a document, for a reason
  consequence: requires_confirmation
  args:
    - {name: subject-entity-id, type: string, required: true}
    - {name: document-type, type: string, required: true}
    - {name: reason, type: string, required: true}
    - {name: valid-to, type: date}
    - {name: correlation-id, type: string}
  execution: {kind: sync, effects: external}
- name: document.find
  description: Find documents by subject, type, status and words
  consequence: benign
  args:
    - {name: subject-entity-id, type: string}
    - {name: document-type, type: string}
    - {name: status, type: string}
    - {name: text, type: string}
  execution: {kind: sync, effects: none}
- name: document.check-fields
  description: Check the fields that were read out of a document
  args:
    - {name: document-id, type: string, required: true}
    - {name: version, type: integer, required: true}
    - {name: fields, type: json}
    - {name: confidence, type: number}
  output_schema: {required: [fields], properties: {fields: {type: object}}}
  execution: {kind: durable, task: {title: "Check the fields of document {document-id}"}}
"""
Handler = Callable[[Call], Awaitable[dict[str, Any]]]


def with_document_verbs(catalogue: Catalogue) -> Catalogue:
    """The catalogue with the verbs of documents, where it declares types; verbs of the project stay as they are."""
    if not catalogue.documents:
        return catalogue
    own = load_text(DEFINITIONS, DOCUMENT_FILE).every_version()
    return with_delivery_verb(catalogue.with_verbs(verb.definition for verb in own))


DOCUMENT_FILE = "<documents>"
"""The place of the definitions, which is how our own are told from those of a project."""


class DocumentVerbs:
    """The handlers, on behalf of whoever called."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def bind(self, registry: HandlerRegistry) -> None:
        """Bind handlers to those verbs that are ours."""
        for name, handler in self._handlers().items():
            verb = self._runtime.catalogue.find(name)
            if verb is not None and verb.definition.file == DOCUMENT_FILE:
                registry.bind(name, _told(handler))
        if self._runtime.catalogue.find(VERB) is not None:
            registry.bind(VERB, self._runtime.deliveries)

    def _handlers(self) -> dict[str, Handler]:
        return {
            "document.create": self.create, "document.receive": self.receive, "document.verify": self.verify,
            "document.reject": self.reject, "document.supersede": self.supersede, "document.find": self.find,
            SOLICIT: self.solicit, "document.waive": self.waive,
        }  # fmt: skip

    async def _documents(self, call: Call) -> Documents:
        """On behalf of who called, with all who stand behind the call: who made their key, or drafted the work."""
        asker = Origin(call.tenant, call.principal)
        state = (await self._runtime.kernel.read(parse_id(call.call_id), asker)).state
        others = (state.principal, *state.behind)
        behind = tuple(each for each in dict.fromkeys(others) if each != call.principal)
        return Documents(self._runtime, replace(asker, behind=behind))

    async def create(self, call: Call) -> dict[str, Any]:
        args = call.args
        await self._check_answer(call)
        given = _submission(args) if args.get("structured_data") is not None or args.get("blob_ref") else None
        made = await (await self._documents(call)).create(
            args["document_type"], args.get("subject_entity_id", ""), parent=args.get("parent_document_id", ""),
            source=args.get("source", "workflow"), correlation_id=args.get("correlation_id", ""), submission=given,
            key=call.idempotency_key,
        )  # fmt: skip
        return _result(made)

    async def _check_answer(self, call: Call) -> None:
        await CallerReach(self._runtime).check_answer(call, call.args.get("correlation_id", ""))

    async def receive(self, call: Call) -> dict[str, Any]:
        await self._check_answer(call)
        documents = await self._documents(call)
        given = _submission(call.args)
        return _result(await documents.receive(call.args["document_id"], given, key=call.idempotency_key))

    async def solicit(self, call: Call) -> dict[str, Any]:
        """Send the first request; the call waits after that. A correlation id comes from a lifecycle alone."""
        runtime, given = self._runtime, call.args.get("correlation_id", "")
        state: Runbook = (await runtime.kernel.read(parse_id(call.call_id), Origin(call.tenant, call.principal))).state
        if given and state.parent != f"{LIFECYCLE}:{given}":
            # Whoever can ask could otherwise have a token for the request of somebody else sent to themselves.
            raise BusinessError("request.foreign", f"'{given[:200]}' is the request of somebody else.")
        step = call.step_id.rpartition(":")[2]
        desk = DocumentRequests(runtime, Origin(call.tenant, call.principal))
        request = await desk.find(given or correlation_id(call.call_id, SOLICIT, step, 1))
        await runtime.deliveries.begin(request, call.step_id, call.args, call.tenant)
        return {}

    async def verify(self, call: Call) -> dict[str, Any]:
        args, documents = call.args, await self._documents(call)
        if args.get("verified_by", call.principal) != call.principal:
            fact = f"'{args['verified_by']}' is not who asks: '{call.principal}' is"
            raise BusinessError("invalid", f"Expected to verify document '{args['document_id']}', but {fact}.")
        version = await self._version(documents, args)
        return _result(await documents.verify(args["document_id"], version, args.get("note", ""), is_verb=True))

    async def reject(self, call: Call) -> dict[str, Any]:
        args, documents = call.args, await self._documents(call)
        version = await self._version(documents, args)
        return _result(
            await documents.reject(args["document_id"], version, args["reason"], args.get("note", ""), is_verb=True)
        )

    async def supersede(self, call: Call) -> dict[str, Any]:
        args = call.args
        held = await (await self._documents(call)).supersede(
            args["document_id"], args["by"], args.get("note", ""), is_verb=True
        )
        return _result(held)

    async def waive(self, call: Call) -> dict[str, Any]:
        await self._check_answer(call)
        args, documents = call.args, await self._documents(call)
        waived = await Waivers(self._runtime, documents.origin).waive(
            args["document_type"], args["subject_entity_id"], args["reason"], valid_to=args.get("valid_to", ""),
            correlation_id=args.get("correlation_id", ""), is_verb=True,
        )  # fmt: skip
        return _result(waived)

    async def find(self, call: Call) -> dict[str, Any]:
        args = call.args
        page = await Documents(self._runtime, Origin(call.tenant, call.principal)).find(
            subject=args.get("subject_entity_id", ""), type=args.get("document_type", ""),
            status=args.get("status", ""), text=args.get("text", ""),
        )  # fmt: skip
        return {"documents": [msgspec.to_builtins(each) for each in page.items], "has_more": page.next is not None}

    @staticmethod
    async def _version(documents: Documents, args: dict[str, Any]) -> int:
        """The version named, else the newest there is."""
        named: int | None = args.get("version")
        return named if named is not None else len((await documents.get(args["document_id"])).versions)


def _told(handler: Handler) -> Handler:
    """What is refused is the outcome of a verb, under its code."""

    async def handle(call: Call) -> dict[str, Any]:
        try:
            return await handler(call)
        except RejectedError as error:
            raise BusinessError(error.rejection.code, str(error)) from error
        except SchemaViolationError as error:
            raise BusinessError("invalid", str(error)) from error

    return handle


def _submission(args: dict[str, Any]) -> Submission:
    return Submission(
        data=args.get("structured_data"), blob=args.get("blob_ref", ""), media_type=args.get("content_type", ""),
        name=args.get("file_name", ""), source=args.get("source", "workflow"), source_ref=args.get("source_ref", ""),
        valid_from=args.get("valid_from", ""), valid_to=args.get("valid_to", ""),
        correlation_id=args.get("correlation_id", ""),
    )  # fmt: skip


def _result(view: DocumentView) -> dict[str, Any]:
    """What a verb gives back: ids and status, never content."""
    return {"document_id": view.id, "document": view.uri, "status": view.status, "version": len(view.versions)}
