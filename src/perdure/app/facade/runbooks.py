"""Runbooks over the table of operations: found, watched and steered."""

from __future__ import annotations

import builtins

from perdure.app.facade.performer import Desk, pages
from perdure.app.operations import runbooks
from perdure.app.operations.request_fields import ById
from perdure.app.operations.runbooks import (
    AnswerGate,
    CancelCase,
    CancelRunbook,
    CompensateRunbook,
    ListRunbooks,
    RetryStep,
    ShowDiff,
    ShowProgress,
    ShowRunbook,
    SkipStep,
    StepReason,
)
from perdure.app.runbooks.views import PlanDiff, RunbookView


class RunbookDesk(Desk):
    """Plans of several verbs; a step is named by its name or its number.

    Acts take `seen`, the `sequence` of the view that was looked at: what has changed since is left alone.
    """

    async def rest(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Once it has gone as far as it goes by itself, or the time is up; it goes on without us."""
        return await self._performer.wait(runbooks.show_runbook, ShowRunbook(id), "rest", timeout_seconds)

    async def show(self, id: str, *, at: int | None = None) -> RunbookView:
        """A runbook as it is, or as it was after that many records of its journal."""
        return await self._performer.ask(runbooks.show_runbook, ShowRunbook(id, at))

    async def list(
        self, *, case: str = "", state: str = "", limit: int = 100, after: str = ""
    ) -> builtins.list[RunbookView]:
        """Runbooks, newest first, of a case or of all; `after` is the id of the last one seen. Steps are left out."""
        request, listing = ListRunbooks(state, case, whole=True), runbooks.list_runbooks
        found = pages(self._performer, RunbookView, listing, request, limit, after or None)
        return [view async for view in found]

    async def wait(self, id: str, timeout_seconds: float | None = None) -> RunbookView:
        """Until it has ended, or the time is up."""
        return await self._performer.wait(runbooks.show_runbook, ShowRunbook(id), "end", timeout_seconds)

    async def progress(self, id: str, *, detailed: bool = False) -> str:
        """How far it has come: a line, or a line for each step."""
        return (await self._performer.ask(runbooks.show_progress, ShowProgress(id, detailed))).text

    async def diff(self, id: str, *, at: int, to: int | None = None) -> PlanDiff:
        """What became of its plan between two records, the later one now unless it is named."""
        return await self._performer.ask(runbooks.show_diff, ShowDiff(id, at, to))

    async def seal(self, id: str, *, seen: int | None = None) -> RunbookView:
        """No more steps will come."""
        return await self._performer.ask(runbooks.seal_runbook, ById(id), seen=seen)

    async def retry(
        self, id: str, step: str | int, reason: str = "", *, seen: int | None = None, confirm: str = "",
        phrase: str = "",
    ) -> RunbookView:  # fmt: skip
        """Begin a failed step anew, or try again what an incident stopped.

        For whoever comes through a server, a step of a grave verb needs `confirm`, as a call of its verb does.
        """
        request = RetryStep(id, str(step), reason, confirm, phrase)
        return await self._performer.ask(runbooks.retry_step, request, seen=seen)

    async def skip(self, id: str, step: str | int, reason: str, *, seen: int | None = None) -> RunbookView:
        """Go on without a step; what needs its result is skipped as well."""
        return await self._performer.ask(runbooks.skip_step, SkipStep(id, str(step), reason), seen=seen)

    async def cancel(
        self, id: str, reason: str = "", *, step: str | int = "", compensate: bool = False, seen: int | None = None
    ) -> RunbookView:
        """Stop a runbook, or one step of it. Nothing is taken back unless `compensate` says so."""
        if step:
            return await self._performer.ask(runbooks.cancel_step, StepReason(id, str(step), reason), seen=seen)
        return await self._performer.ask(runbooks.cancel_runbook, CancelRunbook(id, reason, compensate), seen=seen)

    async def compensate(self, id: str, reason: str = "", *, seen: int | None = None) -> RunbookView:
        """Take back what an ended runbook did, the last first."""
        return await self._performer.ask(runbooks.compensate_runbook, CompensateRunbook(id, reason), seen=seen)

    async def cancel_case(self, case: str, reason: str = "") -> builtins.list[RunbookView]:
        """Stop every runbook of a case, with whatever its steps wait for."""
        return (await self._performer.ask(runbooks.cancel_case, CancelCase(case, reason))).items

    async def answer(
        self, id: str, step: str | int, agree: bool, *, reason: str = "", seen: int | None = None
    ) -> RunbookView:  # fmt: skip
        """Agree, or refuse, that a step with a gate runs, as a member of its group."""
        request = AnswerGate(id, str(step), agree, reason)
        return await self._performer.ask(runbooks.answer_gate, request, seen=seen)
