"""`AsyncClient`: the operations of the platform, asked of a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal, Self, TypeVar

import msgspec

from perdure.app.calls.views import CallView, EventView, ReceiptView, quarantined_view
from perdure.app.incidents import StuckView
from perdure.app.instances.views import InstanceView
from perdure.app.lists.views import DeadLetterItem, ParkedItem, RunbookRow
from perdure.app.message_views import Sent
from perdure.app.operations import calls, dead_letters, incidents, messages, verbs, waits
from perdure.app.operations.audits import Export, export_runbook
from perdure.app.operations.calls import (
    AmendCall,
    ApproveAmendment,
    CallId,
    CancelCall,
    EraseCall,
    ListCalls,
    ResolveCall,
    ShowCall,
)
from perdure.app.operations.dead_letters import DiscardLetter, ListLetters, ReplayLetter
from perdure.app.operations.events import follow_call
from perdure.app.operations.incidents import ListIncidents, Retried, RetryIncidents
from perdure.app.operations.messages import Message, Published, Signal
from perdure.app.operations.operation import Operation
from perdure.app.operations.overview import ShowOverview, show_overview
from perdure.app.operations.verbs import CallVerb
from perdure.app.operations.waits import KeyOfWait, ListParked, SendCompletion, SendProgress, WaitToken
from perdure.app.overview.overview import Overview
from perdure.app.runbooks.timeline import Timeline
from perdure.app.session_views import SessionView
from perdure.client.asynchronous.access import AccessDesk, PackDesk, VerbDesk
from perdure.client.asynchronous.journals import follow_journal, journal, pages, wait_for
from perdure.client.asynchronous.lists import Feed, Listing
from perdure.client.asynchronous.processes import InstanceDesk, Processes
from perdure.client.asynchronous.runbooks import SETTLED, DraftDesk, RunbookDesk
from perdure.client.asynchronous.tasks import TaskDesk
from perdure.client.asynchronous.transport import Transport
from perdure.client.message_outcomes import dead_letter_of, outcome_of
from perdure.client.server_views import index_text
from perdure.contracts import FailureClass
from perdure.engine import MessageOutcome
from perdure.errors import CallFailedError, QuarantinedError, RejectedError, Rejection

C = TypeVar("C", CallId, ResolveCall)
CompletionStatus = Literal["completed", "failed", "expired"]
MAX_LISTED = 1000
LONGEST_WAIT_SECONDS = 20.0
TIMEOUT_SECONDS = 60.0
PATIENCE_SECONDS = 30.0


class AsyncClient:
    """A server, asked by whom the key stands for. Every operation is safe to repeat, and is repeated where that helps.

    `timeout_seconds` is how long an answer may take, `patience_seconds` how long a server may be away before what is
    asked of it fails. Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left
    alone.
    """

    def __init__(
        self, url: str, key: str = "", *, timeout_seconds: float = TIMEOUT_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:  # fmt: skip
        self._transport = Transport(url, key, timeout_seconds, patience_seconds)
        self.url = self._transport.url
        self.runbooks = RunbookDesk(self._transport)
        self.drafts = DraftDesk(self._transport)
        self.processes = Processes(self._transport)
        self.instances = InstanceDesk(self._transport)
        self.tasks = TaskDesk(self._transport)
        self.listing = Listing(self._transport)
        self.feed = Feed(self._transport)
        self.access = AccessDesk(self._transport)
        self.verbs = VerbDesk(self._transport)
        self.packs = PackDesk(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._transport.close()

    async def session(self) -> SessionView:
        """Whom the key stands for, and what they may do."""
        return await self._transport.get(SessionView, "/session")

    # --- calls ---------------------------------------------------------------------------------------------------

    async def call(
        self,
        verb: str,
        args: Mapping[str, Any] | None = None,
        *,
        version: int | None = None,
        idempotency_key: str = "",
        wait: bool | None = None,
        timeout_seconds: float | None = None,
        confirm: str = "",
        phrase: str = "",
    ) -> CallView:
        """Ask for a verb. Returns when it has completed, failed or parked, and all of it is durable.

        With `wait` it returns only when the call has ended; by default that is so for verbs declared `wait: block`.
        What is grave needs `confirm`, the hash of the plan that a person has seen; the gravest a `phrase` too.
        """
        left = LONGEST_WAIT_SECONDS if timeout_seconds is None else min(LONGEST_WAIT_SECONDS, timeout_seconds)
        request = CallVerb(verb, dict(args or {}), version, wait, left, confirm, phrase)
        view = await self._transport.ask(verbs.call_verb, request, key=idempotency_key)
        if view.is_ended or (view.state in SETTLED and not await self._blocks(view, wait)):
            return view
        until = "end" if await self._blocks(view, wait) else "rest"
        more = None if timeout_seconds is None else timeout_seconds - left
        return await wait_for(self._transport, calls.show_call, ShowCall(view.id), until, more)

    async def _blocks(self, view: CallView, wait: bool | None) -> bool:
        if wait is not None:
            return wait
        found = await self.verbs.get(view.verb, view.version)
        return bool(found.execution.get("wait") == "block")

    async def result(self, verb: str, args: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """Call, wait for the end, and give back the result alone; a failed call raises CallFailedError."""
        view = await self.call(verb, args, wait=True, **options)
        if view.state != "completed":
            error = view.error
            fact = f"{error.code}: {error.message}" if error is not None else f"it was {view.state}"
            raise CallFailedError("complete", "call", view.id, fact.rstrip("."), error=error)
        return view.result

    async def status(self, id: str) -> CallView:
        """A call as it is now."""
        return await self._transport.ask(calls.show_call, ShowCall(id))

    async def wait(self, id: str, timeout_seconds: float | None = None) -> CallView:
        """Until the call has ended, or the time is up; then as `status`."""
        return await wait_for(self._transport, calls.show_call, ShowCall(id), "end", timeout_seconds)

    async def cancel(self, id: str, reason: str = "", *, seen: int | None = None) -> CallView:
        """Stop a call. What it already did stays done; nothing is compensated."""
        return await self._transport.ask(calls.cancel_call, CancelCall(id, reason), seen=seen)

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The call's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        if follow:
            show, subject = calls.show_call, ShowCall(id)
            found = follow_journal(self._transport, follow_call, show, subject, after, lambda view: view.is_ended)
        else:
            found = journal(self._transport, follow_call, id, after)
        async for event in found:
            yield event

    async def timeline(self, id: str) -> Timeline:
        """When each step of a call or a runbook ran, waited and ended."""
        return await self._transport.ask(calls.show_call_timeline, CallId(id))

    async def export(self, id: str, *, format: Literal["json", "html"] = "json") -> bytes:
        """Everything that happened in a call or a runbook, to be checked by anybody without a store."""
        return await self._transport.ask(export_runbook, Export(id, format))

    # --- what arrives --------------------------------------------------------------------------------------------

    async def complete(
        self,
        key: str,
        result: Any = None,
        *,
        error: str | None = None,
        status: CompletionStatus | None = None,
        code: str = "completion.failed",
        failure_class: FailureClass = "permanent_business",
        message_id: str = "",
        verb: str = "",
    ) -> ReceiptView:
        """End the wait under a key. Delivered twice, it counts once; nobody waiting makes it a dead letter.

        The key of a human task completes the task.
        """
        request = SendCompletion(key, result, error, status, code, failure_class, message_id, verb)
        try:
            return await self._transport.ask(waits.send_completion, request)
        except RejectedError as refused:
            if (receipt := dead_letter_of(refused)) is None:
                raise
            return receipt

    async def publish(
        self,
        name: str,
        key: str = "",
        data: Mapping[str, Any] | None = None,
        *,
        message_id: str = "",
        ttl_seconds: float = 0,
        confirm: str = "",
        phrase: str = "",
    ) -> MessageOutcome:
        """Send a message to the instance that waits for it under a key, or to the processes that start by it.

        Under one message id it counts once. With a time to live it is kept until someone waits. What begins something
        grave needs `confirm`, the hash of the plan that a person has seen; the gravest a `phrase` too.
        """
        sent = await self.send(
            name, key, data, message_id=message_id, ttl_seconds=ttl_seconds, confirm=confirm, phrase=phrase
        )  # fmt: skip
        return sent.outcome

    async def send(
        self, name: str, key: str = "", data: Mapping[str, Any] | None = None, *, message_id: str = "",
        ttl_seconds: float = 0, is_for_now: bool = False, confirm: str = "", phrase: str = "",
    ) -> Sent:  # fmt: skip
        """As `publish`, or `correlate` when it is for now, with all there is to say about what became of it."""
        told = (name, key, dict(data or {}), message_id, confirm, phrase)
        if not is_for_now:
            return await self._transport.ask(messages.publish_message, Published(*told, ttl_seconds))
        try:
            return await self._transport.ask(messages.correlate_message, Message(*told))
        except RejectedError as refused:
            if (outcome := outcome_of(refused)) is None:
                raise
            return Sent(name, key, outcome, message_id, refused.fact)

    async def correlate(
        self, name: str, key: str = "", data: Mapping[str, Any] | None = None, *, message_id: str = "",
        confirm: str = "", phrase: str = "",
    ) -> MessageOutcome:  # fmt: skip
        """As `publish`, but for someone who waits now or for nobody."""
        sent = await self.send(
            name, key, data, message_id=message_id, is_for_now=True, confirm=confirm, phrase=phrase
        )  # fmt: skip
        return sent.outcome

    async def signal(
        self, name: str, data: Mapping[str, Any] | None = None, *, message_id: str = "", confirm: str = "",
        phrase: str = "",
    ) -> int | None:  # fmt: skip
        """Tell everyone who waits for a signal, and begin the processes that start by it; how many were reached,
        or None where the engine does not count them."""
        request = Signal(name, dict(data or {}), message_id, confirm, phrase)
        return (await self._transport.ask(messages.send_signal, request)).reached

    async def progress(self, key: str, text: str) -> ReceiptView:
        """Say how it goes: shown, never resumes anything."""
        return await self._transport.ask(waits.send_progress, SendProgress(key, text))

    async def dead_letters(self, limit: int = MAX_LISTED) -> list[dict[str, Any]]:
        """What arrived and could not be delivered."""
        found: list[dict[str, Any]] = []
        async for item in pages(self._transport, DeadLetterItem, dead_letters.list_letters, ListLetters(), limit):
            found.append(msgspec.structs.asdict(item))
        return found

    async def letter(self, message_id: str) -> DeadLetterItem:
        """A dead letter with all it brings."""
        listing = dead_letters.list_letters
        async for item in pages(self._transport, DeadLetterItem, listing, ListLetters(), 10 * MAX_LISTED):
            if item.message_id == message_id:
                return item
        raise RejectedError(Rejection("not_found", "find", "dead letter", message_id, "there is no such one"))

    async def replay(
        self, message_id: str, *, key: str = "", instance: str = "", confirm: str = "", phrase: str = ""
    ) -> ReceiptView:
        """Deliver a dead letter again, perhaps under a corrected key, or to one of several instances that want it."""
        request = ReplayLetter(message_id, key, instance, confirm, phrase)
        return await self._transport.ask(dead_letters.replay_letter, request)

    async def discard(self, message_id: str, reason: str) -> None:
        """Close a dead letter without acting on it."""
        await self._transport.ask(dead_letters.discard_letter, DiscardLetter(message_id, reason))

    async def wait_token(self, key: str) -> WaitToken:
        """A token for the outsider who was asked: it ends the wait under this key and nothing else."""
        return await self._transport.ask(waits.make_wait_token, KeyOfWait(key))

    # --- lists ---------------------------------------------------------------------------------------------------

    async def parked(self, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """What waits, oldest first; `number` counts from the first. Longer lists go on by `listing.parked`."""
        if after:
            fact, hint = "a server's lists go on by cursors", "Use `client.listing.parked(after=…)`."
            raise RejectedError(Rejection("invalid", "list", "waits after", str(after), fact, hint))
        found: list[dict[str, Any]] = []
        async for item in pages(self._transport, ParkedItem, waits.list_parked, ListParked(), limit):
            told = msgspec.to_builtins(await self._listed(item.id))
            waiting = msgspec.to_builtins(item.waiting_for)
            found.append({**told, "number": len(found) + 1, "verb": item.verb, "waiting_for": waiting})
        return found

    async def find(self, verb: str, /, limit: int = 100, **fields: Any) -> list[CallView]:
        """Calls by the values of the verb's declared `index`, newest first; several fields must all match."""
        where = [f"{name}:{index_text(value)}" for name, value in fields.items()]
        if not where:
            known = ", ".join((await self.verbs.get(verb)).index) or "none"
            fact, hint = "no field was given", f"Indexed: {known}."
            raise RejectedError(Rejection("invalid", "find calls of", "verb", verb, fact, hint))
        found: list[CallView] = []
        request = ListCalls(verb, where)
        async for row in pages(self._transport, RunbookRow, calls.list_calls, request, limit):
            found.append(await self._listed(row.id))
        return found

    async def incidents(self, limit: int = MAX_LISTED) -> list[CallView | InstanceView]:
        """Calls that need a person, and instances that carry no call and do."""
        ids: dict[str, None] = {}
        async for item in pages(self._transport, StuckView, incidents.list_incidents, ListIncidents(), limit):
            ids[item.concerns or item.id] = None
        found: list[CallView | InstanceView] = []
        for id in ids:
            found.append(await self._shown(id))
        return found

    async def retry_many(self, ids: Iterable[str]) -> list[Retried]:
        """Try many incidents again: each is authorised and answered by itself."""
        return (await self._transport.ask(incidents.retry_incidents, RetryIncidents(list(ids)))).items

    async def overview(self) -> Overview:
        """How things stand: what needs the principal, what is stuck, what runs, how much went through in a day."""
        return await self._transport.ask(show_overview, ShowOverview())

    # --- people --------------------------------------------------------------------------------------------------

    async def retry(self, id: str, *, seen: int | None = None) -> CallView | InstanceView:
        """Try again what an incident stopped, in the call itself or in the process that carries it."""
        return await self._mended(calls.retry_call, CallId(id), seen)

    async def resolve(
        self, id: str, result: Any = None, *, error: str | None = None, reason: str = "", seen: int | None = None
    ) -> CallView | InstanceView:
        """End by hand what an incident stopped, with a result or an error.

        For a call that a process carries, the stuck task ends with that result, or with an error of that code.
        """
        return await self._mended(calls.resolve_call, ResolveCall(id, result, error, reason), seen)

    async def amend(
        self, id: str, data: Any = None, *, reason: str = "", target: Literal["input", "result"] = "input",
        approve: int | None = None, seen: int | None = None,
    ) -> CallView:  # fmt: skip
        """Propose a correction of data with a reason, or approve one that someone else proposed."""
        if approve is not None:
            return await self._transport.ask(calls.approve_amendment, ApproveAmendment(id, approve), seen=seen)
        return await self._transport.ask(calls.amend_call, AmendCall(id, data, reason, target), seen=seen)

    async def erase(self, id: str, reason: str, *, seen: int | None = None) -> CallView:
        """Erase the data of an ended call by a journalled tombstone; its history stays and still verifies."""
        return await self._transport.ask(calls.erase_call, EraseCall(id, reason), seen=seen)

    # --- inside --------------------------------------------------------------------------------------------------

    async def _mended(
        self, operation: Operation[C, CallView | InstanceView], request: C, seen: int | None
    ) -> CallView | InstanceView:
        """Mend a call; an instance that carries none is mended as what it is."""
        try:
            return await self._transport.ask(operation, request, seen=seen)
        except RejectedError as refused:
            if refused.rejection.code != "not_found" or "instance" not in refused.fact:
                raise
        match request:
            case ResolveCall(id=id, result=result, error=error, reason=reason):
                return await self.instances.resolve(id, data=result, error=error or "", reason=reason, seen=seen)
            case _:
                return await self.instances.retry(request.id, seen=seen)

    async def _shown(self, id: str) -> CallView | InstanceView:
        try:
            return await self._listed(id)
        except RejectedError:
            return await self.instances.get(id)

    async def _listed(self, id: str) -> CallView:
        """A call in a list; one that is set aside says so and hides none of the others."""
        try:
            return await self.status(id)
        except QuarantinedError as error:
            return quarantined_view(id, "", error)
