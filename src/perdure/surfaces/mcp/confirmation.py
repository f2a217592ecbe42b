"""Confirmation over MCP: a tool asks a person first, and keeps the plan it asked about."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from perdure.access.principal import own_key
from perdure.app.runbooks.confirmation import check_confirmed, has_to_be_confirmed
from perdure.app.runbooks.drafts import compiled_draft
from perdure.app.runbooks.plan_composition import shown
from perdure.app.runbooks.views import RunbookView
from perdure.errors import ConfirmationRequiredError
from perdure.runbooks.drafts.compilation import entries_of
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan, StepPlan
from perdure.surfaces.mcp.answer_truncation import short
from perdure.surfaces.mcp.tool import ToolSession


class Confirmation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nothing was started: a person has to agree to exactly this plan, which is kept as a draft they can start."""

    plan_hash: str
    tier: str
    reason: str
    sentences: list[str]
    draft: str = ""
    """Where the plan is kept; a person starts it there. Empty when it is an extension."""
    phrase: str = ""
    """What the person has to type for it."""


class Agreed(msgspec.Struct, frozen=True):
    """What the asker says was agreed to."""

    confirm: str = ""
    phrase: str = ""


async def asked_first(desk: ToolSession, plan: Plan, steps: Sequence[StepPlan], agreed: Agreed) -> Confirmation | None:
    """None when the steps of the plan may run now; else what a person has to agree to before.

    What a person agreed to that is not this plan is a rejection.
    """
    added = await shown(desk.perdure, msgspec.structs.replace(plan, steps=tuple(steps)))
    if not has_to_be_confirmed(added):
        return None
    view = await shown(desk.perdure, plan)
    try:
        await check_confirmed(view, desk.principal, agreed.confirm, agreed.phrase)
    except ConfirmationRequiredError as error:
        if desk.principal.is_person and agreed.confirm:
            raise
        told = [short(each) for each in error.data["sentences"]]
        return Confirmation(plan.content_hash, view.tier, view.tier_reason, told, phrase=error.data["phrase"])
    return None


async def kept(
    desk: ToolSession, found: Confirmation, plan: Plan, case: str, idempotency_key: str
) -> Confirmation | RunbookView:
    """The same, with the plan kept as a draft for a person to start, where an agent asked who may write drafts.

    Under one key there is one draft; once it was started, its runbook is the answer.
    """
    if desk.principal.is_person or not desk.may("runbook.draft"):
        return found
    draft, key = Draft(entries=entries_of(plan)), own_key(desk.principal, idempotency_key)
    id = await desk.perdure.runbooks.open_draft(draft, case=case, idempotency_key=key)
    if key and (known := await desk.perdure.runbooks.show(id)).state != "draft":
        return known
    # What a person will be shown and start is the plan of the draft, which remembers where each value came from.
    made = await compiled_draft(desk.perdure, draft)
    return msgspec.structs.replace(found, draft=id, plan_hash=made.content_hash)
