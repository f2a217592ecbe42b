"""Answers that decide: what they would add to a plan is held to the same rules as extending it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perdure.access.principal import EVERY_VERB, Principal
from perdure.access.roles import check
from perdure.app.confirming import CONFIRMED_FROM
from perdure.app.perdure import Perdure
from perdure.contracts import tier_rank
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.deciding import decision_in

HINT = "Leave it out, or ask a person to answer."


def check_added(perdure: Perdure, principal: Principal, verbs: Iterable[str], result: Any) -> None:
    """Nothing when the answer adds no steps, or only such as who answers may add without a person's agreement.

    `verbs` are those that may get the answer; without any it may still come to be a decision's.
    """
    found = [perdure.catalogue.find(each) for each in verbs]
    if found and not any(verb is not None and verb.execution.decision for verb in found):
        return
    _, decision = decision_in(result)
    if not decision.add or (principal.is_person and EVERY_VERB[0] in principal.verbs):
        return
    if not isinstance(decision.add, list):
        raise _refused("a program", "it cannot be looked through before it counts", "Give the steps as calls.")
    for call in decision.add:
        for name in ("verb", "alternative"):
            _check_verb(perdure, principal, str(call.get(name) or "") if isinstance(call, dict) else "")


def _check_verb(perdure: Perdure, principal: Principal, name: str) -> None:
    if not name:
        return
    verb = perdure.catalogue.get(name)  # by its whole name: a short one would be looked up only later
    check(principal, "runbook.extend", verb=verb.name)
    if tier_rank(verb.definition.consequence) >= CONFIRMED_FROM and not principal.is_person:
        raise _refused(verb.name, f"it is {verb.definition.consequence} and only a person adds that", HINT)


def _refused(what: str, fact: str, hint: str) -> RejectedError:
    return RejectedError(Rejection("blocked", "add", "step", what, fact, hint))
