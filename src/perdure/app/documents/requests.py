"""Requests for documents: a pending task of a lifecycle, or a call of `document.solicit` that waits.

| request | it is | and then |
|---|---|---|
| open | asked for; nothing, or not all, came | received, over |
| received | all that is expected came; people look at it | over |
| over | rejected, expired, cancelled, or not needed any more | nothing: a later request has another correlation id |

| what happens | what becomes of it |
|---|---|
| a crash before the version is committed | nothing happened; the client sends it again |
| a crash after it | the notice in the commit of the version lets a worker count the result |
| the same content again | it is the same version |
| other content for the same request | refused: something was handed in already |
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from perdure.app.documents.documents import Documents
from perdure.app.documents.submissions import Submission
from perdure.documents.machine.document_state import Document, Version
from perdure.errors import RejectedError, Rejection
from perdure.identifiers import Id, id_text, parse_id
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.machine.definition import Requirement
from perdure.lifecycles.machine.judgements import names_of
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.lifecycles.machine.names import Names, UnknownName, resolved
from perdure.lifecycles.machine.state import Instance, Task, correlation_id
from perdure.payload import parse, parse_digest
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import WAITING, Runbook
from perdure.sources import Micros
from perdure.verbs.document_types import DocumentType

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

SOLICIT = "document.solicit"
SOURCE = "request"
"""The source of versions that came for a request."""
RequestStatus = Literal["open", "received", "over"]


class DocumentRequest(msgspec.Struct, frozen=True):
    """A document that somebody was asked for. `askers` are who asked, with who stands behind them."""

    correlation_id: str
    holder: Id
    """The lifecycle instance or the runbook that waits."""
    is_task: bool
    """A pending task of a lifecycle, else a step."""
    step: int
    """The number of the step, or of the task."""
    status: RequestStatus
    type: str
    subject: str
    askers: tuple[str, ...]
    asked_at: Micros
    """When the task was asked for, or the runbook began."""
    attempt: int = 1
    due: Micros = 0
    expected: int = 1
    received: int = 0
    title: str = ""
    text: str = ""
    versions: tuple[tuple[Id, Version], ...] = ()
    """The versions that came for it, each with its document."""


class HandedIn(msgspec.Struct, frozen=True):
    """A version that was handed in for a request."""

    document: Id
    version: Version
    status: RequestStatus
    received: int


class DocumentRequests:
    """The requests of one tenant, on behalf of one principal."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._documents = Documents(runtime, origin)

    # --- looked at -----------------------------------------------------------------------------------------------

    async def find(self, correlation_id: str) -> DocumentRequest:
        """A request by its correlation id, as it stands now; another tenant's is not found."""
        aggregate = await self.holder(correlation_id)
        if aggregate.kind == LifecycleMachine.kind:
            found = await self._of_task(aggregate, correlation_id)
        else:
            found = await self._of_step(aggregate, correlation_id)
        return found if found.status == "over" else await self._with_versions(found)

    async def holder(self, correlation_id: str) -> Aggregate:
        """The lifecycle instance or the runbook that a correlation id belongs to."""
        try:
            aggregate = await self._runtime.kernel.read(parse_id(correlation_id.partition(":")[0]), self._origin)
        except RejectedError:
            raise no_request(correlation_id) from None
        if aggregate.kind not in (LifecycleMachine.kind, RunbookMachine.kind):
            raise no_request(correlation_id)
        return aggregate

    async def _of_task(self, aggregate: Aggregate, correlation_id: str) -> DocumentRequest:
        state: Instance = aggregate.state
        task = state.task(correlation_id)
        if task is None or self._is_decided_inside(task.verb):
            raise no_request(correlation_id)
        status: RequestStatus = "open" if task.is_open else "received" if task.status == "completed" else "over"
        over = DocumentRequest(
            correlation_id, aggregate.id, True, task.number, "over" if state.is_over else status, "", state.subject,
            (task.by, *task.behind), task.created_at, task.attempt, task.expires_at, task.expected, task.received,
        )  # fmt: skip
        if over.status == "over" or task.visit != state.visit or state.is_erased:
            return msgspec.structs.replace(over, status="over")
        return await self._asked_by(aggregate, task, over)

    async def _asked_by(self, aggregate: Aggregate, task: Task, request: DocumentRequest) -> DocumentRequest:
        """The request with what its definition says of it: the arguments of the resolution, else the guard."""
        state: Instance = aggregate.state
        material = await self._runtime.lifecycles.material(aggregate)
        requirement = material.definition.requirement(state.state, task.key)
        names = names_of(id_text(aggregate.id), state.lifecycle, state.subject, material.context)
        try:
            args = self._arguments(requirement, names)
        except UnknownName:
            args = {}
        if not args.get("document_type"):
            raise no_request(request.correlation_id, "it asks for no document")
        title = requirement.description if requirement is not None else ""
        return _with_args(request, self._documents.type(str(args["document_type"])), args, title)

    def _arguments(self, requirement: Requirement | None, names: Names) -> dict[str, Any]:
        if requirement is None:
            return {}
        guard = requirement.guard
        kind = self._runtime.lifecycles.machine.table.find(guard.kind)
        params = resolved(kind.with_defaults(guard.params), names) if kind is not None else {}
        told = {"document_type": params.get("document_type"), "subject_entity_id": params.get("subject")}
        given = resolved(requirement.resolution.args, names) if requirement.resolution is not None else {}
        return {**{name: each for name, each in told.items() if isinstance(each, str)}, **given}

    def _is_decided_inside(self, name: str) -> bool:
        """Whether people or a process decide what comes of a verb: nobody brings that from outside."""
        verb = self._runtime.catalogue.find(name)
        how = verb.definition.execution if verb is not None else None
        return how is not None and (how.task is not None or how.process is not None)

    async def _of_step(self, aggregate: Aggregate, correlation_id: str) -> DocumentRequest:
        state: Runbook = aggregate.state
        _, verb, number, attempt = (*correlation_id.split(":"), "", "", "")[:4]
        step = int(number) if number.isdecimal() and len(number) < 6 else 0
        if verb != SOLICIT or not attempt.isdecimal() or not 0 < step <= len(state.steps):
            raise no_request(correlation_id)
        found = state.steps[step - 1]
        data = await self._runtime.store.payload(aggregate.id, found.input) if found.verb == SOLICIT else None
        args: dict[str, Any] = parse(data) if data else {}
        if not args or args.get("correlation_id") or attempt != str(int(attempt)):
            raise no_request(correlation_id)
        waits = found.status == "parked" and any(each.status == WAITING for each in found.tokens)
        waits = waits or found.status in ("pending", "ready", "running")
        status: RequestStatus = "open" if waits else "received" if found.status == "completed" else "over"
        due = next((each.due for each in found.tokens if each.status == WAITING), 0)
        request = DocumentRequest(
            correlation_id, aggregate.id, False, step, status, "", "", state.askers, state.started_at, int(attempt), due
        )  # fmt: skip
        request = _with_args(request, self._documents.type(args["document_type"]), args, "")
        return request if await self.attempt_of(request) == request.attempt else _over(request)

    async def attempt_of(self, request: DocumentRequest) -> int:
        """The attempt that a step is at: one more than what came for it and was rejected."""
        newest = await self.newest(request)
        if newest is None:
            return 1
        root = step_request_id(request, 0).removesuffix("0")
        state: Document = newest.state
        rejected = [each for each in state.versions if each.status == "rejected"]
        return 1 + sum(each.correlation.startswith(root) for each in rejected)

    async def newest(self, request: DocumentRequest) -> Aggregate | None:
        """The newest document of the subject and the type that are asked for."""
        found = await self._runtime.store.documents.find(
            self._origin.tenant, subject=request.subject, type=request.type, most=1
        )
        return await self._runtime.kernel.read(found[0].id, self._origin) if found else None

    async def _with_versions(self, request: DocumentRequest) -> DocumentRequest:
        found = await self._runtime.store.documents.find(
            self._origin.tenant, subject=request.subject, type=request.type, most=max(1, min(100, request.expected))
        )
        versions: list[tuple[Id, Version]] = []
        for each in found:
            state: Document = (await self._runtime.kernel.read(each.id, self._origin)).state
            versions += [
                (each.id, version) for version in state.versions if version.correlation == request.correlation_id
            ]
        count = max(request.received, len(versions))
        is_all = request.status == "received" or (bool(versions) and count >= request.expected)
        status: RequestStatus = "received" if is_all else request.status
        if status == "received" and versions and all(each.status == "rejected" for _, each in versions):
            status = "over"
        return msgspec.structs.replace(request, status=status, received=count, versions=tuple(versions))

    # --- answered ------------------------------------------------------------------------------------------------

    async def check_open(self, request: DocumentRequest) -> DocumentType:
        """The type of what is asked for; a rejection when nothing is, any more."""
        if request.status != "open":
            fact = "it was received already" if request.status == "received" else "it is over"
            raise RejectedError(Rejection("wrong_state", "answer", "request", request.correlation_id, fact))
        return self._documents.type(request.type)

    async def submit(self, request: DocumentRequest, given: Submission) -> HandedIn:
        """Hand in a version for a request. It counts once, and a worker counts it when this process ends before."""
        type = self._documents.type(request.type)
        given = msgspec.structs.replace(given, source=SOURCE, correlation_id=request.correlation_id)
        checked = await self._documents._checked(type, given)
        known = next((each for each in request.versions if _is_same(each[1], given, checked.version.data)), None)
        if known is None:
            await self.check_open(request)
            known = await self._received(request, given)
            if not _is_same(known[1], given, checked.version.data):
                raise _taken(request)
        document, version = known
        await self._runtime.request_answers.drain()
        after = await self.find(request.correlation_id)
        return HandedIn(document, version, after.status, after.received)

    async def _received(self, request: DocumentRequest, given: Submission) -> tuple[Id, Version]:
        """The version that holds what was handed in: of the document that was rejected, else of a new one."""
        key, newest = f"request:{request.correlation_id}/{request.received}", await self.newest(request)
        goes_on = newest is not None and request.expected == 1 and _takes_more(newest.state)
        if goes_on and newest is not None:
            view = await self._documents.receive(id_text(newest.id), given, key=key)
        else:
            try:
                view = await self._documents.create(
                    request.type, request.subject, source=SOURCE, correlation_id=request.correlation_id,
                    submission=given, key=key,
                )  # fmt: skip
            except RejectedError as error:
                raise _taken(request) if error.rejection.code == "already_exists" else error from error
        id = parse_id(view.id)
        state: Document = (await self._runtime.kernel.read(id, self._origin)).state
        return id, next(each for each in reversed(state.versions) if each.correlation == request.correlation_id)

    async def last_reason(self, request: DocumentRequest) -> str:
        """Why the last version was rejected, in words for the client; empty when none was."""
        newest = await self.newest(request)
        current = newest.state.current if newest is not None else None
        if current is None or current.status != "rejected":
            return ""
        reason = self._runtime.catalogue.reasons.get(current.reason)
        return reason.client if reason is not None else ""


def step_request_id(request: DocumentRequest, attempt: int) -> str:
    """The correlation id of one attempt of a step: as that of a pending task, the same however often it is computed."""
    return correlation_id(id_text(request.holder), SOLICIT, str(request.step), attempt)


def request_ids(holder: Id, step: int) -> Iterator[str]:
    """The correlation ids of all attempts of a step, the first one first; there is no end of them."""
    return (correlation_id(id_text(holder), SOLICIT, str(step), attempt) for attempt in count(1))


def no_request(correlation_id: str, fact: str = "there is no such request") -> RejectedError:
    return RejectedError(Rejection("not_found", "find", "request", correlation_id[:200], fact))


def _with_args(request: DocumentRequest, type: DocumentType, args: dict[str, Any], title: str) -> DocumentRequest:
    shown = title or type.name.replace("-", " ").replace("_", " ").capitalize()
    text = str(args.get("message") or type.description)
    subject = str(args.get("subject_entity_id") or request.subject)
    return msgspec.structs.replace(request, type=type.name, subject=subject, title=shown, text=text)


def _over(request: DocumentRequest) -> DocumentRequest:
    return msgspec.structs.replace(request, status="over")


def _takes_more(state: Document) -> bool:
    """Whether the next version is one of this document: nothing came so far, or what came was rejected."""
    return not state.erased_at and state.takes_more


def _is_same(version: Version, given: Submission, data: bytes | None) -> bool:
    blob = version.blob.hash if version.blob is not None else None
    return blob == (parse_digest(given.blob) if given.blob else None) and version.data == data


def _taken(request: DocumentRequest) -> RejectedError:
    fact = "something else was handed in for it already"
    return RejectedError(Rejection("wrong_state", "answer", "request", request.correlation_id, fact))
