"""Holds when a runbook is in the state."""

from __future__ import annotations

from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.guard_kind import HOLDS, Facts, GuardKind, Judgement, Parameter, Params, closed

STATES = ("completed", "failed", "cancelled")


def _facts(params: Params) -> tuple[str, ...]:
    return (fact_key("runbook", str(params["runbook"])),)


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    fact = facts.get(_facts(params)[0])
    if not fact:
        return closed(f"there is no runbook '{params['runbook']}'")
    if fact["state"] == params["state"]:
        return HOLDS
    return closed(f"runbook '{params['runbook']}' is {fact['state']}, not {params['state']}")


KIND = GuardKind(
    "runbook_state",
    __doc__,
    (
        Parameter("runbook", "text", "The id of the runbook", is_required=True),
        Parameter("state", "text", "The state it must be in", default="completed", choices=STATES),
    ),
    _facts,
    _judge,
    lambda params: "runbook",
    "RunbookState",
    example="{type: runbook_state, runbook: $onboarding_runbook}",
)
