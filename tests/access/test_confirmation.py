"""What is grave starts only when a person confirms that very plan; no agent confirms for itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from perdure import Perdure
from perdure.access.principal import Kind, Principal
from perdure.app.runbooks.confirmation import check_confirmed, plan_of_call
from perdure.app.runbooks.views import PlanView
from perdure.errors import ConfirmationRequiredError
from perdure.surfaces.http.problem_details import refusal_of
from perdure.verbs import load_text

pytestmark = pytest.mark.req("P3")
VERBS = """
- name: desk.look
  consequence: benign
  execution: {kind: durable}
- name: desk.note
  consequence: reviewable
  execution: {kind: durable}
- name: desk.pay
  consequence: requires_confirmation
  input_schema: {properties: {amount: {type: integer}}}
  sentences: {step: "Pay {amount}"}
  execution: {kind: durable}
- name: desk.wipe
  consequence: requires_authorisation
  execution: {kind: durable}
"""


def somebody(kind: Kind = "person") -> Principal:
    return Principal("default", "agent:bot" if kind == "agent" else "ana", kind, frozenset({"admin"}))


async def plans() -> dict[str, PlanView]:
    async with Perdure.open("sqlite://", definitions=load_text(VERBS), role="reader") as perdure:
        verbs = ("desk.look", "desk.note", "desk.pay", "desk.wipe")
        return {verb: await plan_of_call(perdure, verb) for verb in verbs} | {
            "7": await plan_of_call(perdure, "desk.pay", {"amount": 7}),
            "8": await plan_of_call(perdure, "desk.pay", {"amount": 8}),
            "program": perdure.runbooks.plan("(desk.look :as @a)\n(desk.wipe)"),
        }  # fmt: skip


async def refusal(plan: PlanView, principal: Principal, confirm: str = "", phrase: str = "", **words: Any) -> Any:
    with pytest.raises(ConfirmationRequiredError) as caught:
        await check_confirmed(plan, principal, confirm, phrase, **words)
    assert caught.value.rejection.code == "blocked"
    return caught.value


@pytest.mark.parametrize("kind", ["person", "service", "agent"])
async def test_what_is_not_grave_starts_unconfirmed(kind: Kind) -> None:
    found = await plans()
    for verb in ("desk.look", "desk.note"):
        await check_confirmed(found[verb], somebody(kind), "", "")
        await check_confirmed(found[verb], somebody(kind), found[verb].plan_hash, "")


async def test_a_person_confirms_by_the_hash_of_the_plan() -> None:
    plan = (await plans())["7"]
    error = await refusal(plan, somebody())
    assert error.data == {
        "plan_hash": plan.plan_hash, "tier": "requires_confirmation", "phrase": "", "sentences": ["Pay 7"], "draft": "",
        "reason": "call calls desk.pay",
    }  # fmt: skip
    assert plan.plan_hash in error.hint
    await check_confirmed(plan, somebody(), plan.plan_hash, "")


async def test_a_confirmation_of_another_plan_counts_for_nothing() -> None:
    found = await plans()
    assert found["7"].plan_hash != found["8"].plan_hash
    for confirm in (found["8"].plan_hash, "yes", found["7"].plan_hash.upper(), found["7"].plan_hash[:-1]):
        assert "another plan was confirmed" in (await refusal(found["7"], somebody(), confirm)).fact
    assert "another plan" in (await refusal(found["desk.look"], somebody(), found["7"].plan_hash)).fact


@pytest.mark.parametrize("kind", ["service", "agent"])
async def test_no_agent_and_no_service_confirms_itself(kind: Kind) -> None:
    found = await plans()
    for plan in (found["desk.pay"], found["desk.wipe"]):
        error = await refusal(plan, somebody(kind), plan.plan_hash, plan.phrase)
        assert "a person has to confirm it" in error.fact
    told = await refusal(found["desk.pay"], somebody(kind), draft="01draft")
    assert told.data["draft"] == "01draft"
    assert "01draft" in told.hint


async def test_the_gravest_takes_the_phrase_that_the_plan_names() -> None:
    found = await plans()
    plan = found["program"]
    assert (plan.tier, plan.phrase, found["desk.wipe"].phrase) == (
        "requires_authorisation", "authorise 2 steps", "authorise 1 step",
    )  # fmt: skip
    for phrase in ("", "authorise", "authorise 1 step", "Authorise 2 steps"):
        error = await refusal(plan, somebody(), plan.plan_hash, phrase)
        assert error.data["phrase"] == "authorise 2 steps"
    await check_confirmed(plan, somebody(), plan.plan_hash, "authorise 2 steps")


async def test_a_tier_that_a_rule_raised_counts() -> None:
    plan = msgspec.structs.replace(
        (await plans())["desk.look"], tier="requires_confirmation", tier_reason="a rule says so"
    )
    assert "because a rule says so" in (await refusal(plan, somebody())).fact


async def test_it_is_told_as_a_problem_with_all_that_a_page_needs() -> None:
    plan = (await plans())["7"]
    told = refusal_of(await refusal(plan, somebody("service")))
    assert (told.problem.status, told.problem.code) == (423, "confirmation.required")
    assert told.more["plan_hash"] == plan.plan_hash
    assert told.more["sentences"] == ["Pay 7"]
