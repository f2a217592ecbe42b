"""Redaction: a principal sees that calls and runbooks of other verbs exist and their state, never their data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from perdure.access.principal import EVERY_VERB, Principal
from perdure.app.calls.views import CallView, ErrorView, WaitingFor
from perdure.app.instances.views import InstanceView
from perdure.app.lists.list_rows import ParkedItem, RunbookRow
from perdure.app.runbooks.views import RunbookView, StepView, brief
from perdure.verbs.verb_patterns import reaches

T = TypeVar("T", bound=InstanceView | CallView | RunbookView)
Patterns = tuple[str, ...]


def may_read(verbs: Patterns, names: Iterable[str]) -> bool:
    """Whether the patterns reach every verb that is named; what names none is for everybody."""
    return verbs == EVERY_VERB or all(not name or reaches(verbs, name) for name in names)


def redact(principal: Principal, view: T) -> T:
    """A view as the principal sees it."""
    told: Any = view
    if isinstance(told, RunbookView):
        told = told if may_read(principal.verbs, (step.verb for step in told.steps)) else _runbook(principal, told)
    elif not may_read(principal.verbs, [told.verb]):
        told = _call(told) if isinstance(told, CallView) else replace(told, data=None, flags={})
    return cast("T", told)


def hidden_row(row: RunbookRow) -> RunbookRow:
    """A row without words that tell of arguments."""
    return replace(row, title=row.verb or "Runbook", progress="", waiting=[])


def hidden_wait(item: ParkedItem) -> ParkedItem:
    return replace(item, key="", title=item.verb, waiting_for=_wait(item.waiting_for))


def _call(view: CallView) -> CallView:
    return replace(
        view, args=None, result=None, sentence="", progress="", flags={}, amendments=[], carrier=None, proposal=None,
        error=_error(view.error), waiting_for=_wait(view.waiting_for),
        attempt=replace(view.attempt, error=_error(view.attempt.error)) if view.attempt is not None else None,
    )  # fmt: skip


def _runbook(principal: Principal, view: RunbookView) -> RunbookView:
    steps = [step if may_read(principal.verbs, [step.verb]) else _step(step) for step in view.steps]
    return replace(view, steps=steps, progress=brief(steps))


def _step(step: StepView) -> StepView:
    return replace(
        step, args=None, result=None, sentence="", progress="", flags={}, provenance={}, carrier=None, proposal=None,
        error=_error(step.error), waiting_for=_wait(step.waiting_for),
        attempt=replace(step.attempt, error=_error(step.attempt.error)) if step.attempt is not None else None,
    )  # fmt: skip


def _error(error: ErrorView | None) -> ErrorView | None:
    """Codes are the verb's own; what it says may quote data."""
    return replace(error, message="") if error is not None else None


def _wait(wait: WaitingFor | None) -> WaitingFor | None:
    return replace(wait, key="", text="") if wait is not None else None
