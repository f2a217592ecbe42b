"""Drafts as surfaces show them: what is written, what it would do, and what is still wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from perdure.app.runbooks.confirmation import weigh
from perdure.app.runbooks.plan_composition import SMALL_STEPS
from perdure.app.runbooks.views import PlanView
from perdure.errors import ProgramError, RejectedError, Rejection
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import canonical, digest
from perdure.runbooks.drafts.compilation import compile_draft, write_draft
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.executor.call_executor import KIND
from perdure.runbooks.machine import commands as c
from perdure.runbooks.plan import Plan
from perdure.sources import iso, parse_id
from perdure.typed_reading import convert

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure

T = TypeVar("T")


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a draft; `step` is the number of the call, 0 where none is meant."""

    step: int
    code: str
    message: str
    hint: str = ""


ERASED = Fault(0, "draft.erased", "The data of the draft was erased.", "Begin a new draft.")


class DraftView(msgspec.Struct, frozen=True):
    """A draft. `document` is all of it, `program` its calls as text, `plan` what it would do when nothing is wrong."""

    id: str
    state: str
    case: str
    document: Any
    program: str
    plan: PlanView | None
    problems: list[Fault]
    revision: int
    revisions: int
    sequence: int
    principal: str = ""
    started_at: str | None = None


async def show_draft(perdure: Perdure, id: str) -> DraftView:
    """A draft as it reads now."""
    aggregate = await _read(perdure, id)
    kept = aggregate.state.draft
    document = await perdure.runbooks.draft(id)
    if document is None and aggregate.state.erased_at:
        return DraftView(
            id, aggregate.state.status, kept.case, None, "", None, [ERASED], kept.current, len(kept.revisions),
            aggregate.version, aggregate.state.principal, iso(aggregate.state.started_at),
        )  # fmt: skip
    draft = convert(document, Draft)
    text, planned, problems = await _computed(perdure, draft, lambda: _planned(perdure, draft))
    plan = await weigh(perdure, *planned) if planned is not None else None
    return DraftView(
        id, aggregate.state.status, kept.case, document, text, plan, problems, kept.current, len(kept.revisions),
        aggregate.version, aggregate.state.principal, iso(aggregate.state.started_at),
    )  # fmt: skip


async def draft_plan(perdure: Perdure, id: str) -> Plan:
    """The plan of a draft; ProgramError with everything that is wrong with it."""
    draft = convert(await perdure.runbooks.draft(id), Draft)
    return await compiled_draft(perdure, draft)


async def compiled_draft(perdure: Perdure, draft: Draft) -> Plan:
    """The plan of a draft, compiled beside the event loop unless it is small."""
    return await _computed(perdure, draft, lambda: compile_draft(draft, perdure.catalogue))


async def revise_draft(perdure: Perdure, id: str, draft: Draft, change: str, seen: int | None) -> DraftView:
    """It reads so from now on; with `seen`, only when it still is as it was then."""
    data = canonical(msgspec.to_builtins(draft))
    hash = digest(data)
    command = c.ReviseDraft(hash, change)
    brought = Attachments(payloads=[(hash, data)])

    def prepare(aggregate: Aggregate) -> Prepared | Rejection:
        if seen is not None and aggregate.version != seen:
            hint = "Read it again and decide anew."
            return Rejection("wrong_state", "revise", "draft", id, "somebody else has changed it meanwhile", hint)
        return Prepared(command, brought)

    await perdure.runtime.kernel.ask(KIND, parse_id(id), perdure._origin, prepare)
    return await show_draft(perdure, id)


async def _read(perdure: Perdure, id: str) -> Aggregate:
    aggregate = await perdure.runtime.kernel.read(parse_id(id, "draft"), perdure._origin)
    if getattr(aggregate.state, "draft", None) is None:
        raise RejectedError(Rejection("not_found", "find", "draft", id, "there is no such draft"))
    return aggregate


async def _computed(perdure: Perdure, draft: Draft, work: Callable[[], T]) -> T:
    is_small = len(draft.entries) <= SMALL_STEPS
    return await perdure.runtime.computations.run(perdure._origin.tenant, work, is_small=is_small)


def _planned(perdure: Perdure, draft: Draft) -> tuple[str, tuple[Plan, PlanView] | None, list[Fault]]:
    """The calls of a draft as text, what they would do, and what is wrong with them."""
    text = write_draft(draft)
    if not draft.active():
        return text, None, []
    try:
        plan = compile_draft(draft, perdure.catalogue)
        return text, (plan, perdure.runbooks.plan(plan)), []
    except ProgramError as error:
        return text, None, [Fault(each.line, each.code, each.reason, each.hint) for each in error.problems]
