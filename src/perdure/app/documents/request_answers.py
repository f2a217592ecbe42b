"""Answers to requests for documents: a version that came for a request ends the wait of whoever asked.

| a version | a pending task of a lifecycle | a step that waits until it came | a step that waits until verified |
|---|---|---|---|
| came | its result, counted once | the step ends with it | the step waits on |
| was verified | nothing: the guard sees it | nothing | the step ends with it |
| was rejected | nothing: the guard sees it, and asks again | nothing | it is asked again, or the step fails |
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perdure.access.principal_names import PLATFORM
from perdure.app.documents.requests import SOLICIT, DocumentRequest, DocumentRequests, step_request_id
from perdure.app.documents.submissions import WAIVER
from perdure.documents.machine.document_machine import ANSWERED
from perdure.documents.machine.document_state import Document, Version
from perdure.errors import PerdureError, RejectedError
from perdure.identifiers import Id, id_text
from perdure.journal import Notice, Origin
from perdure.journal.notice_routes import StepRoute, read_route
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import PENDING, Attachments, Unit
from perdure.lifecycles.machine.definition import DEFAULT_ATTEMPTS
from perdure.lifecycles.task_results import TaskResult
from perdure.payload import parse
from perdure.runbooks.executor.completion_inbox import Completion
from perdure.runbooks.machine.state import Runbook, step_id

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime


class RequestAnswers:
    """Acts on versions that came for a request, once each."""

    def __init__(self, runtime: Runtime, *, is_driven: bool) -> None:
        self._runtime = runtime
        self._is_driven = is_driven
        self._tasks: set[asyncio.Task[None]] = set()
        runtime.upkeep.receive((ANSWERED,), self.deliver)
        runtime.kernel.notice(self.on_notices)

    def on_notices(self, aggregate: Aggregate, notices: Sequence[Notice]) -> None:
        """Act at once on what this process has committed; what it does not come to is found in the inbox."""
        mine = [each for each in notices if each.kind == ANSWERED]
        if mine and not self._is_driven:
            task = asyncio.get_running_loop().create_task(self._act(aggregate, mine))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _act(self, aggregate: Aggregate, notices: Sequence[Notice]) -> None:
        for notice in notices:
            try:
                await self.deliver(aggregate.tenant, notice.message_id, notice.kind, aggregate.id)
            except PerdureError:
                continue  # it is still pending, and a worker meets it

    async def drain(self) -> None:
        """Until everything that this process began has ended."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def deliver(self, tenant: str, message_id: str, kind: str, document: Id) -> bool:
        """A version came for a request, or was decided on: tell who waits for it."""
        message = await self._runtime.store.message(tenant, message_id)
        if message is None or message.status != PENDING:
            return False
        route = read_route(kind, message_id, message.body)
        assert isinstance(route, StepRoute)
        state: Document = (await self._runtime.kernel.read(document, Origin(tenant, PLATFORM))).state
        version = state.versions[route.step - 1]
        origin = Origin(tenant, version.by, behind=version.behind)
        try:
            request = await DocumentRequests(self._runtime, origin).find(version.correlation)
        except RejectedError:
            request = None  # somebody else's correlation id
        if request is not None and (request.type, request.subject) == (state.type, state.subject):
            await self._answer(request, document, version, origin, message_id)
        await self._settle(tenant, message_id)
        return True

    async def _answer(
        self, request: DocumentRequest, document: Id, version: Version, origin: Origin, message_id: str
    ) -> None:
        letters = id_text(document)
        cargo = {"cargo_type": "document", "cargo_ref": f"document://{origin.tenant}/{letters}"}
        came = version.status == "verified" or (version.status == "pending" and version.source != WAIVER)
        if request.is_task:
            if came:
                result = TaskResult(
                    request.correlation_id, "completed", cargo["cargo_type"], cargo["cargo_ref"],
                    idempotency_key=f"{letters}/{version.number}",
                )  # fmt: skip
                await self._runtime.lifecycles.receive(result, origin, settles=message_id)
            return
        args = await self._arguments(request, origin)
        is_enough = version.status == "verified" or (came and args.get("until") == "received")
        key = step_id(id_text(request.holder), request.step)
        if is_enough:
            told = {"document_id": letters, "version": version.number, "status": version.status, **cargo}
            await self._end(Completion(key, result=told, verb=SOLICIT), origin, request)
        elif version.status == "rejected" and args.get("until") != "received":
            await self._rejected(request, version, args, key, origin)

    async def _rejected(
        self, request: DocumentRequest, version: Version, args: dict[str, Any], key: str, origin: Origin
    ) -> None:
        """Ask again, under the next attempt; else the step fails with the reason."""
        reason = self._runtime.catalogue.reasons.get(version.reason)
        most, attempt = int(args.get("max_attempts") or DEFAULT_ATTEMPTS), request.attempt
        if reason is not None and reason.retryable and attempt < most:
            again = step_request_id(request, attempt + 1)
            found = await DocumentRequests(self._runtime, origin).find(again)
            await self._runtime.deliveries.begin(found, key, args, origin.tenant)
            return
        words = f" ({reason.operator})" if reason is not None else ""
        text = f"The {request.type} was rejected for {version.reason}{words} after {attempt} of {most} requests."
        failed = Completion(key, "failed", error=text, code=f"document.rejected.{version.reason}", verb=SOLICIT)
        await self._end(failed, origin, request)

    async def _end(self, completion: Completion, origin: Origin, request: DocumentRequest) -> None:
        await self._runtime.intake.complete(completion, origin, f"request:{request.correlation_id}:{completion.status}")

    async def _arguments(self, request: DocumentRequest, origin: Origin) -> dict[str, Any]:
        state: Runbook = (await self._runtime.kernel.read(request.holder, origin)).state
        data = await self._runtime.store.payload(request.holder, state.steps[request.step - 1].input)
        return parse(data) if data else {}

    async def _settle(self, tenant: str, message_id: str) -> None:
        unit = Unit(tenant, None, attachments=[Attachments(settles=(tenant, message_id))])
        await self._runtime.store.commit(unit)
