"""The retry of a step or call: confirmed by a person where its verb is grave, as the first call of it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from perdure.app.runbooks.confirmation import NOTHING, check_confirmed, raised, use_confirmation
from perdure.app.runbooks.views import PlannedStepView, PlanView
from perdure.kernel.kernel import Aggregate
from perdure.payload import data_hash
from perdure.runbooks.language.dry_run import tier_reason
from perdure.runbooks.machine.state import Step
from perdure.sources import id_text
from perdure.verb_contract import CONSEQUENCE_TIERS

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context

GRAVEST = CONSEQUENCE_TIERS[-1]


async def confirm_retry(context: Context, aggregate: Aggregate, number: int, confirm: str, phrase: str) -> None:
    """Refuse to try a grave step again until a person has confirmed that very retry; the owner confirms nothing."""
    step: Step = aggregate.state.steps[number - 1]
    if context.is_owner or not step.verb:
        return
    plan = await _plan_of_retry(context, aggregate, number, step)
    await check_confirmed(plan, context.principal, confirm, phrase, else_hint="A person can retry it.")
    await use_confirmation(context.perdure, context.principal, plan, confirm, context.idempotency_key)


async def _plan_of_retry(context: Context, aggregate: Aggregate, number: int, step: Step) -> PlanView:
    """The retry as a plan of one step, bound to the attempt that it follows; an unknown verb is as grave as any."""
    name = step.links.name if step.links is not None else "call"
    what = ["retry", id_text(aggregate.id), number, step.verb, step.version, step.input.hex(), len(step.tokens)]
    planned = PlannedStepView(name, number, step.verb, f"Retry {name}: {step.verb}")
    view = replace(NOTHING, plan_hash=data_hash(what), steps=[planned])
    verb = context.runtime.conductor.texts.find(step.verb, step.version, step.definition)
    if verb is None:
        return raised(view, GRAVEST, f"{name} calls {step.verb}, which is not loaded here")
    found = await context.perdure.processes.consequence_of_verb(verb)
    return raised(view, found.tier, tier_reason(name, verb.name, found))
