"""Runbooks and drafts on a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from perdure.app.calls.views import EventView
from perdure.app.facade import runbooks as facade
from perdure.app.facade.performer import Desk
from perdure.app.operations import drafts, runbooks
from perdure.app.operations.drafts import OpenDraft, ReplaceDraft, StartDraft
from perdure.app.operations.events import follow_runbook
from perdure.app.operations.request_fields import ById
from perdure.app.operations.runbooks import Composed, ExtendRunbook, ShowRunbook, StartRunbook
from perdure.app.runbooks.drafts import DraftView
from perdure.app.runbooks.plan_composition import Form
from perdure.app.runbooks.views import PlanView, RunbookView
from perdure.client.asynchronous.journals import journal_of
from perdure.client.asynchronous.transport import Transport
from perdure.errors import RejectedError
from perdure.runbooks.plan import Reevaluate

SETTLED = frozenset({"completed", "failed", "cancelled", "parked", "escalated"})
LONGEST_WAIT_SECONDS = 20.0


class RunbookDesk(facade.RunbookDesk):
    """Plans of several verbs. Reached as `client.runbooks`; a step is named by its name or its number.

    Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left alone.
    """

    _performer: Transport

    async def plan(
        self, program: str, *, variables: Mapping[str, Any] | None = None, form: Form = "auto",
        reevaluate: Reevaluate = "decisions",
    ) -> PlanView:  # fmt: skip
        """What a program would do, without doing any of it: steps in sentences, waves, writes, locks and tier."""
        request = Composed(program, None, dict(variables or {}), form, reevaluate)
        return await self._performer.ask(runbooks.plan_runbook, request)

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
        reevaluate: Reevaluate = "decisions",
    ) -> RunbookView:
        """Run a program. Returns when its start is durable; with `wait`, when it has ended or come to rest.

        What is grave needs a `confirmation`, the hash of the plan that a person has seen; the gravest a `phrase` too.
        With `reevaluate="always"` its last decision is asked again, with its arguments, whenever a wait has ended.
        """
        left = LONGEST_WAIT_SECONDS if timeout_seconds is None else min(LONGEST_WAIT_SECONDS, timeout_seconds)
        request = StartRunbook(
            program, None, dict(variables or {}), form, reevaluate, case, confirmation, phrase, wait, left, sealed
        )  # fmt: skip
        view = await self._performer.ask(runbooks.start_runbook, request, key=idempotency_key)
        if not wait or view.state in SETTLED:
            return view
        return await self.rest(view.id, None if timeout_seconds is None else timeout_seconds - left)

    async def has(self, id: str) -> bool:
        """Whether an id is that of a plan or a draft, rather than of one call."""
        try:
            await self.show(id)
        except RejectedError as error:
            if error.rejection.code != "not_found" or "single call" not in error.fact:
                raise
            return False
        return True

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
        """Add steps behind those there are. An edge is a pair: a step that has not begun, and one it now waits for."""
        request = ExtendRunbook(
            program, None, dict(variables or {}), form, id=id, edges=list(edges), confirm=confirm, phrase=phrase
        )  # fmt: skip
        return await self._performer.ask(runbooks.extend_runbook, request, seen=seen)

    def events(self, id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[EventView]:
        """Its journal, oldest first; with `follow`, what is still to come as well until it ends."""
        return journal_of(self._performer, follow_runbook, runbooks.show_runbook, ShowRunbook(id), after, follow)


class DraftDesk(Desk):
    """Runbooks that somebody still writes, as programs or as calls. Reached as `client.drafts`."""

    async def open(
        self, program: str = "", *, calls: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None, case: str = "",
    ) -> DraftView:  # fmt: skip
        """Begin to write; the id stays when it is started."""
        return await self._performer.ask(drafts.open_draft, OpenDraft(**_written(program, calls, variables), case=case))

    async def get(self, id: str) -> DraftView:
        """A draft as it reads now, what it would do, and what is still wrong with it."""
        return await self._performer.ask(drafts.read_draft, ById(id))

    async def revise(
        self, id: str, program: str = "", *, calls: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None, change: str = "", seen: int | None = None,
    ) -> DraftView:  # fmt: skip
        """It reads so from now on; `change` says how, in words."""
        request = ReplaceDraft(**_written(program, calls, variables), change=change, id=id)
        return await self._performer.ask(drafts.replace_draft, request, seen=seen)

    async def undo(self, id: str, *, seen: int | None = None) -> DraftView:
        """Back to how it read before."""
        return await self._performer.ask(drafts.undo_draft, ById(id), seen=seen)

    async def redo(self, id: str, *, seen: int | None = None) -> DraftView:
        """Forward to what was undone."""
        return await self._performer.ask(drafts.redo_draft, ById(id), seen=seen)

    async def start(
        self, id: str, *, confirm: str = "", phrase: str = "", wait: bool = False, seen: int | None = None
    ) -> RunbookView:
        """Run it as it reads now; its id and its history stay."""
        return await self._performer.ask(drafts.start_draft, StartDraft(id, confirm, phrase, wait), seen=seen)


def _written(
    program: str, calls: Sequence[Mapping[str, Any]] | None, variables: Mapping[str, Any] | None
) -> dict[str, Any]:
    what: dict[str, Any] = {"program": program} if calls is None else {"calls": [dict(call) for call in calls]}
    return {**what, "variables": dict(variables or {})}
