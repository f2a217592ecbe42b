"""`AsyncClient`: the operations of the platform, asked of a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal, Self

import msgspec

from perdure.app.calls.views import CallView, EventView, ReceiptView
from perdure.app.facade.calls import MAX_LISTED, CallDesk
from perdure.app.facade.deployments import DeploymentDesk
from perdure.app.facade.lists import Listing
from perdure.app.facade.messages import MessageDesk
from perdure.app.facade.performer import pages
from perdure.app.facade.workflows import WorkflowDesk
from perdure.app.lists.list_rows import DeadLetterItem, ParkedItem
from perdure.app.operations import calls, dead_letters, incidents, verbs, waits
from perdure.app.operations.audits import Export, export_runbook
from perdure.app.operations.calls import ShowCall
from perdure.app.operations.events import FollowOutcomes, follow_call, follow_call_outcomes
from perdure.app.operations.incidents import Retried, RetryIncidents
from perdure.app.operations.request_fields import ById, Paged
from perdure.app.operations.verbs import CallVerb
from perdure.app.operations.waits import KeyOfWait, SendCompletion, WaitToken
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.runbooks.timeline import Timeline
from perdure.app.session_views import SessionView
from perdure.client.asynchronous.api_keys import AccessDesk
from perdure.client.asynchronous.catalogue import PackDesk, VerbDesk
from perdure.client.asynchronous.documents import ClientDocuments
from perdure.client.asynchronous.journals import Feed, journal_of, outcomes
from perdure.client.asynchronous.lifecycles import LifecycleDesk
from perdure.client.asynchronous.processes import InstanceDesk, Processes
from perdure.client.asynchronous.runbooks import SETTLED, DraftDesk, RunbookDesk
from perdure.client.asynchronous.tasks import TaskDesk
from perdure.client.asynchronous.transport import Transport
from perdure.errors import RejectedError, Rejection
from perdure.verb_contract import FailureClass

CompletionStatus = Literal["completed", "failed", "expired"]
LONGEST_WAIT_SECONDS = 20.0
TIMEOUT_SECONDS = 60.0
PATIENCE_SECONDS = 30.0


class AsyncClient(CallDesk, MessageDesk):
    """A server, asked by whom the key stands for. Every operation is safe to repeat, and is repeated where that helps.

    `timeout_seconds` is how long an answer may take, `patience_seconds` how long a server may be away before what is
    asked of it fails. Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left
    alone.
    """

    def __init__(
        self, url: str, key: str = "", *, timeout_seconds: float = TIMEOUT_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:  # fmt: skip
        self._performer: Transport = Transport(url, key, timeout_seconds, patience_seconds)
        self.url = self._performer.url
        self.runbooks = RunbookDesk(self._performer)
        self.drafts = DraftDesk(self._performer)
        self.processes = Processes(self._performer)
        self.deployments = DeploymentDesk(self._performer)
        self.instances = InstanceDesk(self._performer)
        self.tasks = TaskDesk(self._performer)
        self.workflows = WorkflowDesk(self._performer)
        self.lifecycles = LifecycleDesk(self._performer)
        self.listing = Listing(self._performer)
        self.documents = ClientDocuments(self._performer)
        self.feed = Feed(self._performer)
        self.access = AccessDesk(self._performer)
        self.verbs = VerbDesk(self._performer)
        self.packs = PackDesk(self._performer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give the connections back."""
        await self._performer.close()

    async def session(self) -> SessionView:
        """Whom the key stands for, and what they may do."""
        return await self._performer.get(SessionView, "/session")

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
        view = await self._performer.ask(verbs.call_verb, request, key=idempotency_key)
        if view.is_ended or (view.state in SETTLED and not await self._blocks(view, wait)):
            return view
        until = "end" if await self._blocks(view, wait) else "rest"
        more = None if timeout_seconds is None else timeout_seconds - left
        return await self._performer.wait(calls.show_call, ShowCall(view.id), until, more)

    async def _blocks(self, view: CallView, wait: bool | None) -> bool:
        if wait is not None:
            return wait
        found = await self.verbs.get(view.verb, view.version)
        return bool(found.execution.get("wait") == "block")

    def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """The call's journal, oldest first; with `follow`, what is still to come as well until it ends."""
        return journal_of(self._performer, follow_call, calls.show_call, ShowCall(id), after, follow)

    def outcome_events(
        self, id: str, *, after: str = "", step: int = 0, follow: bool = False
    ) -> AsyncIterator[OutcomeEvent]:
        """What became of a call, or of the steps of a runbook, in the words of the table of outcome events.

        Oldest first, after a cursor, of one step or of all; with `follow`, what is still to come as well until it ends.
        """
        asked = FollowOutcomes(id, step, after)
        return outcomes(self._performer, follow_call_outcomes, calls.show_call, ShowCall(id), asked, follow)

    async def timeline(self, id: str) -> Timeline:
        """When each step of a call or a runbook ran, waited and ended."""
        return await self._performer.ask(calls.show_call_timeline, ById(id))

    async def export(self, id: str, *, format: Literal["json", "html"] = "json") -> bytes:
        """Everything that happened in a call or a runbook, to be checked by anybody without a store."""
        return await self._performer.ask(export_runbook, Export(id, format))

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
        return await self._performer.ask(waits.send_completion, request)

    async def letter(self, message_id: str) -> DeadLetterItem:
        """A dead letter with all it brings."""
        listing = dead_letters.list_letters
        async for item in pages(self._performer, DeadLetterItem, listing, Paged(), 10 * MAX_LISTED):
            if item.message_id == message_id:
                return item
        raise RejectedError(Rejection("not_found", "find", "dead letter", message_id, "there is no such one"))

    async def wait_token(self, key: str) -> WaitToken:
        """A token for the outsider who was asked: it ends the wait under this key and nothing else."""
        return await self._performer.ask(waits.make_wait_token, KeyOfWait(key))

    # --- lists ---------------------------------------------------------------------------------------------------

    async def parked(self, *, after: int = 0, limit: int = 100) -> list[dict[str, Any]]:
        """What waits, oldest first; `number` counts from the first. Longer lists go on by `listing.parked`."""
        if after:
            fact, hint = "a server's lists go on by cursors", "Use `client.listing.parked(after=…)`."
            raise RejectedError(Rejection("invalid", "list", "waits after", str(after), fact, hint))
        found: list[dict[str, Any]] = []
        async for item in pages(self._performer, ParkedItem, waits.list_parked, Paged(), limit):
            told = msgspec.to_builtins(await self.status(item.id))
            waiting = msgspec.to_builtins(item.waiting_for)
            found.append({**told, "number": len(found) + 1, "verb": item.verb, "waiting_for": waiting})
        return found

    async def retry_many(self, ids: Iterable[str]) -> list[Retried]:
        """Try many incidents again: each is authorised and answered by itself."""
        return (await self._performer.ask(incidents.retry_incidents, RetryIncidents(list(ids)))).items
