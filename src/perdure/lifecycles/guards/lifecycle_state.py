"""Holds when the newest instance of another lifecycle is in one of the states."""

from __future__ import annotations

from perdure.journal.facts import fact_key
from perdure.lifecycles.guards.guard_kind import HOLDS, Facts, GuardKind, Judgement, Parameter, Params, closed


def _facts(params: Params) -> tuple[str, ...]:
    return (fact_key("lifecycle", params["lifecycle"], str(params["subject"])),)


def _judge(params: Params, facts: Facts, now: int) -> Judgement:
    fact = facts.get(_facts(params)[0])
    name = params["lifecycle"]
    if not fact:
        return closed(f"no lifecycle '{name}' of '{params['subject']}' was started")
    wanted = params["in"]
    if fact["status"] != "cancelled" and fact["state"] in wanted:
        return HOLDS
    stands = "was cancelled" if fact["status"] == "cancelled" else f"is in state {fact['state']}"
    return closed(f"lifecycle '{name}' of '{params['subject']}' {stands}, not {' or '.join(wanted)}")


KIND = GuardKind(
    "lifecycle_state",
    __doc__,
    (
        Parameter("lifecycle", "text", "The name of the other lifecycle", is_required=True),
        Parameter("in", "texts", "The states of which it must be in one", is_required=True),
        Parameter("subject", "text", "Its subject", default="$subject"),
    ),
    _facts,
    _judge,
    lambda params: str(params.get("lifecycle", "lifecycle")),
    "LifecycleState",
    aliases=("entity_state",),
    example="{type: lifecycle_state, lifecycle: ubo_determination, in: [APPROVED]}",
)
