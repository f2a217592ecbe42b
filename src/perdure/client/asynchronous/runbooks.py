"""Runbooks and drafts on a server."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from perdure.app.calls.views import EventView
from perdure.app.operations import drafts, runbooks
from perdure.app.operations.drafts import DraftId, OpenDraft, ReplaceDraft, StartDraft
from perdure.app.operations.events import follow_runbook
from perdure.app.operations.runbooks import (
    AnswerGate,
    CancelCase,
    CancelRunbook,
    CompensateRunbook,
    Composed,
    ExtendRunbook,
    ListRunbooks,
    RunbookId,
    ShowDiff,
    ShowProgress,
    ShowRunbook,
    SkipStep,
    StartRunbook,
    StepReason,
)
from perdure.app.runbooks.composition import Form
from perdure.app.runbooks.drafts import DraftView
from perdure.app.runbooks.views import PlanDiff, PlanView, RunbookView
from perdure.client.asynchronous.journals import follow_journal, journal, pages, wait_for
from perdure.client.asynchronous.transport import Transport
from perdure.errors import RejectedError

SETTLED = frozenset({"completed", "failed", "cancelled", "parked", "escalated"})
LONGEST_WAIT_SECONDS = 20.0
MANY = 10_000


class RunbookDesk:
    """Plans of several verbs. Reached as `client.runbooks`; a step is named by its name or its number.

    Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left alone.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def plan(
        self, program: str, *, variables: Mapping[str, Any] | None = None, form: Form = "auto"
    ) -> PlanView:  # fmt: skip
        """What a program would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
        request = Composed(program, None, dict(variables or {}), form)
        return await self._transport.ask(runbooks.plan_runbook, request)

    async def start(
        self,
        program: str,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        case: str = "",
        idempotency_key: str = "",
        confirmation: str = "",
        wait: bool = False,
        sealed: bool = True,
        timeout_seconds: float | None = None,
        phrase: str = "",
    ) -> RunbookView:
        """Run a program. Returns when its start is durable; with `wait`, when it has ended or come to rest.

        What is grave needs a `confirmation`, the hash of the plan that a person has seen; the gravest a `phrase` too.
        """
        left = LONGEST_WAIT_SECONDS if timeout_seconds is None else min(LONGEST_WAIT_SECONDS, timeout_seconds)
        request = StartRunbook(
            program, None, dict(variables or {}), form, case, confirmation, phrase, wait, left, sealed
        )  # fmt: skip
        view = await self._transport.ask(runbooks.start_runbook, request, key=idempotency_key)
        if not wait or view.state in SETTLED:
            return view
        return await self.rest(view.id, None if timeout_seconds is None else timeout_seconds - left)

    async def rest(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Once it has gone as far as it goes by itself, or the time is up; it goes on without us."""
        return await wait_for(self._transport, runbooks.show_runbook, ShowRunbook(id), "rest", timeout_seconds)

    async def has(self, id: str) -> bool:
        """Whether an id is that of a plan or a draft, rather than of one call."""
        try:
            await self.show(id)
        except RejectedError as error:
            if error.rejection.code != "not_found" or "single call" not in error.fact:
                raise
            return False
        return True

    async def show(self, id: str, *, at: int | None = None) -> RunbookView:
        """A runbook as it is, or as it was after that many records of its journal."""
        return await self._transport.ask(runbooks.show_runbook, ShowRunbook(id, at))

    async def list(
        self, *, case: str = "", state: str = "", limit: int = 100, after: str = ""
    ) -> builtins.list[RunbookView]:
        """Runbooks, newest first, of a case or of all; `after` is the id of the last one seen. Steps are left out."""
        found: builtins.list[RunbookView] = []
        request, listing = ListRunbooks(state, case, whole=True), runbooks.list_runbooks
        async for view in pages(self._transport, RunbookView, listing, request, limit, after or None):
            found.append(view)
        return found

    async def wait(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Until it has ended, or the time is up."""
        return await wait_for(self._transport, runbooks.show_runbook, ShowRunbook(id), "end", timeout_seconds)

    async def progress(self, id: str, *, detailed: bool = False) -> str:
        """How far it has come: a line, or a line for each step."""
        return (await self._transport.ask(runbooks.show_progress, ShowProgress(id, detailed))).text

    async def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """Its journal, oldest first; with `follow`, what is still to come as well until it ends."""
        if follow:
            show, subject = runbooks.show_runbook, ShowRunbook(id)
            found = follow_journal(self._transport, follow_runbook, show, subject, after, lambda view: view.is_ended)
        else:
            found = journal(self._transport, follow_runbook, id, after)
        async for event in found:
            yield event

    async def diff(self, id: str, *, at: int, to: int | None = None) -> PlanDiff:
        """What became of its plan between two records, the later one now unless it is named."""
        return await self._transport.ask(runbooks.show_diff, ShowDiff(id, at, to))

    async def extend(
        self,
        id: str,
        program: str,
        *,
        variables: Mapping[str, Any] | None = None,
        form: Form = "auto",
        edges: Sequence[tuple[str, str]] = (),
        confirm: str = "",
        phrase: str = "",
        seen: int | None = None,
    ) -> RunbookView:
        """Add steps behind those there are. `edges` let a step that has not begun come after another."""
        request = ExtendRunbook(
            program, None, dict(variables or {}), form, id=id, edges=list(edges), confirm=confirm, phrase=phrase
        )  # fmt: skip
        return await self._transport.ask(runbooks.extend_runbook, request, seen=seen)

    async def seal(self, id: str, *, seen: int | None = None) -> RunbookView:
        """No more steps will come."""
        return await self._transport.ask(runbooks.seal_runbook, RunbookId(id), seen=seen)

    async def retry(self, id: str, step: str | int, reason: str = "", *, seen: int | None = None) -> RunbookView:
        """Begin a failed step anew, or try again what an incident stopped."""
        return await self._transport.ask(runbooks.retry_step, StepReason(id, str(step), reason), seen=seen)

    async def skip(self, id: str, step: str | int, reason: str, *, seen: int | None = None) -> RunbookView:
        """Go on without a step; what needs its result is skipped as well."""
        return await self._transport.ask(runbooks.skip_step, SkipStep(id, str(step), reason), seen=seen)

    async def cancel(
        self, id: str, reason: str = "", *, step: str | int = "", compensate: bool = False, seen: int | None = None
    ) -> RunbookView:
        """Stop a runbook, or one step of it. Nothing is taken back unless `compensate` says so."""
        if step:
            return await self._transport.ask(runbooks.cancel_step, StepReason(id, str(step), reason), seen=seen)
        return await self._transport.ask(runbooks.cancel_runbook, CancelRunbook(id, reason, compensate), seen=seen)

    async def compensate(self, id: str, reason: str = "", *, seen: int | None = None) -> RunbookView:
        """Take back what an ended runbook did, the last first."""
        return await self._transport.ask(runbooks.compensate_runbook, CompensateRunbook(id, reason), seen=seen)

    async def cancel_case(self, case: str, reason: str = "") -> builtins.list[RunbookView]:
        """Stop every runbook of a case, with whatever its steps wait for."""
        return (await self._transport.ask(runbooks.cancel_case, CancelCase(case, reason))).items

    async def answer(
        self, id: str, step: str | int, agree: bool, *, reason: str = "", seen: int | None = None
    ) -> RunbookView:  # fmt: skip
        """Agree, or refuse, that a step with a gate runs, as a member of its group."""
        request = AnswerGate(id, str(step), agree, reason)
        return await self._transport.ask(runbooks.answer_gate, request, seen=seen)


class DraftDesk:
    """Runbooks that somebody still writes, as programs or as calls. Reached as `client.drafts`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def open(
        self, program: str = "", *, calls: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None, case: str = "",
    ) -> DraftView:  # fmt: skip
        """Begin to write; the id stays when it is started."""
        return await self._transport.ask(drafts.open_draft, OpenDraft(**_written(program, calls, variables), case=case))

    async def get(self, id: str) -> DraftView:
        """A draft as it reads now, what it would do, and what is still wrong with it."""
        return await self._transport.ask(drafts.read_draft, DraftId(id))

    async def revise(
        self, id: str, program: str = "", *, calls: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None, change: str = "", seen: int | None = None,
    ) -> DraftView:  # fmt: skip
        """It reads so from now on; `change` says how, in words."""
        request = ReplaceDraft(**_written(program, calls, variables), change=change, id=id)
        return await self._transport.ask(drafts.replace_draft, request, seen=seen)

    async def undo(self, id: str, *, seen: int | None = None) -> DraftView:
        """Back to how it read before."""
        return await self._transport.ask(drafts.undo_draft, DraftId(id), seen=seen)

    async def redo(self, id: str, *, seen: int | None = None) -> DraftView:
        """Forward to what was undone."""
        return await self._transport.ask(drafts.redo_draft, DraftId(id), seen=seen)

    async def start(
        self, id: str, *, confirm: str = "", phrase: str = "", wait: bool = False, seen: int | None = None
    ) -> RunbookView:
        """Run it as it reads now; its id and its history stay."""
        return await self._transport.ask(drafts.start_draft, StartDraft(id, confirm, phrase, wait), seen=seen)


def _written(
    program: str, calls: Sequence[Mapping[str, Any]] | None, variables: Mapping[str, Any] | None
) -> dict[str, Any]:
    what: dict[str, Any] = {"program": program} if calls is None else {"calls": [dict(call) for call in calls]}
    return {**what, "variables": dict(variables or {})}
