"""Checks before a plan starts or grows: the key reaches its verbs, and a person agreed to a grave plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from perdure.access.principal import Principal
from perdure.access.roles import check, refusal
from perdure.app.runbooks.confirmation import check_confirmed, has_to_be_confirmed, use_confirmation
from perdure.app.runbooks.plan_composition import Composition, Extension, shown
from perdure.app.runbooks.views import PlanView, RunbookView
from perdure.errors import ConfirmationRequiredError
from perdure.runbooks.plan import Plan

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context
    from perdure.app.perdure import Perdure


def check_verbs(principal: Principal, operation: str, plan: Plan) -> None:
    """Refuse a plan with a step whose verb the key does not reach."""
    for step in plan.steps:
        for verb in filter(None, (step.verb, step.alternative)):
            check(principal, operation, verb=verb)


async def check_agreed(
    context: Context, plan: PlanView, confirm: str, phrase: str, *, what: Composition | None = None, case: str = ""
) -> RunbookView | None:
    """Refuse a plan that a person has to agree to first, with everything the person needs to know.

    A plan that an agent or a service asked for is kept as a draft, so that a person can open and start it. Asked for
    again under the same idempotency key it is the same draft, and once that was started, its runbook: the answer.
    """
    perdure, principal = context.perdure, context.principal
    try:
        await check_confirmed(plan, principal, confirm, phrase)
    except ConfirmationRequiredError:
        if principal.is_person or what is None or refusal(principal, "runbook.draft") is not None:
            raise
        from perdure.app.runbooks.draft_composition import composed_draft  # noqa: PLC0415  only who drafts waits for it
        from perdure.app.runbooks.drafts import compiled_draft  # noqa: PLC0415  the same

        document, key = await composed_draft(perdure, what), context.idempotency_key
        draft = await perdure.runbooks.open_draft(document, case=case, idempotency_key=key)
        if key and (known := await perdure.runbooks.show(draft)).state != "draft":
            return known
        # A person will be shown, and start, the plan of the draft, which remembers where each value came from.
        hash = (await compiled_draft(perdure, document)).content_hash
        await check_confirmed(replace(plan, plan_hash=hash), principal, draft=draft)
    if what is not None:
        await use_confirmation(perdure, principal, plan, confirm, context.idempotency_key)
    return None


async def check_extension(context: Context, extension: Extension, confirm: str, phrase: str) -> None:
    """Refuse grave steps added without agreement to the whole plan; agreement given before is not asked again."""
    perdure = context.perdure
    if has_to_be_confirmed(await shown(perdure, extension.added)) or _has_unknown(perdure, extension.added):
        await check_agreed(context, await shown(perdure, extension.whole), confirm, phrase)


def _has_unknown(perdure: Perdure, plan: Plan) -> bool:
    """Whether a step may come to a verb that is not loaded: nobody can say how mild that is."""
    named = [each for step in plan.steps for each in ((step.verb, step.version or None), (step.alternative, None))]
    return any(perdure.catalogue.find(name, version) is None for name, version in named if name)
