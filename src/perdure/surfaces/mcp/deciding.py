"""Answers that decide: what they would add to a plan is held to the same rules as extending it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perdure.errors import RejectedError, Rejection
from perdure.runbooks.deciding import decision_in
from perdure.surfaces.mcp.confirming import is_grave
from perdure.surfaces.mcp.desk import Desk

HINT = "Leave it out, or ask a person to answer."


def check_added(desk: Desk, verbs: Iterable[str], result: Any) -> None:
    """Nothing when the answer adds no steps, or only such as the asker may add without a person's agreement.

    `verbs` are those that may get the answer; without any it may still come to be a decision's.
    """
    found = [desk.perdure.catalogue.find(each) for each in verbs]
    if found and not any(verb is not None and verb.execution.decision for verb in found):
        return
    _, decision = decision_in(result)
    if not decision.add or (desk.principal.is_person and "*" in desk.principal.verbs):
        return
    if isinstance(decision.add, str):
        raise _refused("a program", "it cannot be looked through before it counts", "Give the steps as calls.")
    for call in decision.add:
        for name in ("verb", "alternative"):
            _check_verb(desk, str(call.get(name) or "") if isinstance(call, dict) else "")


def _check_verb(desk: Desk, name: str) -> None:
    if not name:
        return
    verb = desk.perdure.catalogue.get(name)  # by its whole name: a short one would be looked up only later
    desk.check("runbook.extend", verb.name)
    if is_grave(verb.definition.consequence) and not desk.principal.is_person:
        raise _refused(verb.name, f"it is {verb.definition.consequence} and only a person adds that", HINT)


def _refused(what: str, fact: str, hint: str) -> RejectedError:
    return RejectedError(Rejection("blocked", "add", "step", what, fact, hint))
