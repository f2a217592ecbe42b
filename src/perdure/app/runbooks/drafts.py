"""Drafts as surfaces show them: what is written, what it would do, and what is still wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.app.perdure import Perdure
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


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with a draft; `step` is the number of the call, 0 where none is meant."""

    step: int
    code: str
    message: str
    hint: str = ""


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

    def verbs(self) -> list[str]:
        """What its entries name, as they name it."""
        entries = self.document.get("entries", ()) if isinstance(self.document, dict) else ()
        found = [entry.get(name) for entry in entries for name in ("verb", "alternative")]
        return [verb for verb in dict.fromkeys(found) if verb]


async def show_draft(perdure: Perdure, id: str) -> DraftView:
    """A draft as it reads now."""
    aggregate = await _read(perdure, id)
    kept = aggregate.state.draft
    document = await perdure.runbooks.draft(id)
    draft = msgspec.convert(document, Draft)
    plan, problems = _planned(perdure, draft)
    return DraftView(
        id, aggregate.state.status, kept.case, document, write_draft(draft),
        perdure.runbooks.plan(plan) if plan is not None else None, problems, kept.current, len(kept.revisions),
        aggregate.version, aggregate.state.principal, iso(aggregate.state.started_at),
    )  # fmt: skip


async def draft_plan(perdure: Perdure, id: str) -> Plan:
    """The plan of a draft; ProgramError with everything that is wrong with it."""
    return compile_draft(msgspec.convert(await perdure.runbooks.draft(id), Draft), perdure.catalogue)


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


def _planned(perdure: Perdure, draft: Draft) -> tuple[Plan | None, list[Fault]]:
    if not draft.active():
        return None, []
    try:
        return compile_draft(draft, perdure.catalogue), []
    except ProgramError as error:
        return None, [Fault(each.line, each.code, each.reason, each.hint) for each in error.problems]
