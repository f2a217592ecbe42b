"""What does not run before a person agreed: the one place of this surface where that is decided."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from perdure.access.principal import Principal
from perdure.contracts import CONSEQUENCE_TIERS, ConsequenceTier, tier_rank
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.draft import Draft
from perdure.runbooks.drafting import compile_draft, entries_of
from perdure.runbooks.plan import Plan, StepPlan
from perdure.surfaces.mcp.desk import Desk
from perdure.surfaces.mcp.fitting import short
from perdure.verbs import Catalogue

GRAVE: ConsequenceTier = "requires_confirmation"
MOST_SENTENCES = 30


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


class UnconfirmedError(Exception):
    """A plan that waits for a person; what it takes is `confirmation`."""

    def __init__(self, confirmation: Confirmation) -> None:
        super().__init__(confirmation.plan_hash)
        self.confirmation = confirmation


def is_grave(tier: ConsequenceTier) -> bool:
    """Whether a person has to agree first."""
    return tier_rank(tier) >= tier_rank(GRAVE)


def gravest(steps: Sequence[StepPlan], catalogue: Catalogue) -> tuple[ConsequenceTier, str]:
    """The gravest tier that any step may come to, and why."""
    tier, reason = CONSEQUENCE_TIERS[0], "nothing in it has consequences"
    for step in steps:
        for name in (step.verb, step.alternative):
            verb = catalogue.find(name) if name else None
            if verb is not None and tier_rank(verb.definition.consequence) > tier_rank(tier):
                tier, reason = verb.definition.consequence, f"{step.name} calls {verb.name}"
    return tier, reason


def require_confirmed(
    principal: Principal, plan: Plan, steps: Sequence[StepPlan], catalogue: Catalogue, agreed: Agreed
) -> None:
    """Nothing when the steps may run now; UnconfirmedError when a person has to agree to the plan first."""
    tier, reason = gravest(steps, catalogue)
    if not is_grave(tier):
        return
    phrase = _phrase(steps) if tier == "requires_authorisation" else ""
    if principal.is_person and agreed.confirm:
        _require_same(plan, agreed, phrase)
        return
    raise UnconfirmedError(Confirmation(plan.content_hash, tier, reason, sentences_of(steps), phrase=phrase))


def _require_same(plan: Plan, agreed: Agreed, phrase: str) -> None:
    if agreed.confirm != plan.content_hash:
        fact, hint = "the plan is not the one that was confirmed", "Look at the plan again and confirm it."
        raise RejectedError(Rejection("blocked", "start", "runbook", plan.content_hash, fact, hint))
    if agreed.phrase != phrase:
        hint = f"Have the person type '{phrase}'."
        raise RejectedError(
            Rejection("blocked", "start", "runbook", plan.content_hash, "the phrase is not the one it takes", hint)
        )


async def kept(desk: Desk, found: Confirmation, plan: Plan, case: str) -> Confirmation:
    """The same, with the plan kept as a draft for a person to start, where the asker may write drafts."""
    if not desk.may("runbook.draft"):
        return found
    draft = Draft(entries=entries_of(plan))
    id = await desk.perdure.runbooks.open_draft(draft, case=case)
    # What a person will be shown and start is the plan of the draft, which remembers where each value came from.
    return msgspec.structs.replace(
        found, draft=id, plan_hash=compile_draft(draft, desk.perdure.catalogue).content_hash
    )  # fmt: skip


def sentences_of(steps: Sequence[StepPlan]) -> list[str]:
    """What would happen, in words."""
    told = [short(step.sentence or step.verb or step.name) for step in steps[:MOST_SENTENCES]]
    more = len(steps) - len(told)
    return [*told, f"… and {more} more steps"] if more > 0 else told


def _phrase(steps: Sequence[StepPlan]) -> str:
    return f"authorise {len(steps)} step{'' if len(steps) == 1 else 's'}"
