"""The extension policy: people decide upon proposals of agents; an answer extends a plan by the same rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.executor.plan_decisions import decision_in
from perdure.verb_contract import is_grave
from perdure.verbs import Catalogue

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure

HINT = "Leave it out, or ask a person to answer."


async def check_answer(
    perdure: Perdure, principal: Principal, key: str, verb: str, result: Any, wait: str = ""
) -> None:
    """Nothing when they may end the waits under a key so; else a rejection, and the waits go on."""
    if not principal.is_person and await perdure.waits.is_proposed(key, wait):
        raise for_people(key)
    if adds(result):
        await check_added(perdure, principal, await perdure.data_verbs.answered_under(key, verb), result)


def for_people(key: str) -> RejectedError:
    """What an agent proposes is for people to decide, whatever an agent calls itself."""
    fact, hint = "an agent proposed it and only a person decides upon that", "Ask a person to answer it."
    return RejectedError(Rejection("forbidden", "answer", "task", key[:200], fact, hint))


def adds(result: Any) -> bool:
    """Whether a result would add steps, were it that of a decision: nearly none does, and then nobody looks further."""
    return isinstance(result, dict) and bool(result.get("add"))


async def check_added(perdure: Perdure, principal: Principal, verbs: Iterable[str], result: Any) -> None:
    """Nothing when the answer adds no steps, or only such as the asker may add without a person's agreement.

    `verbs` are those that may get the answer; without any it may still come to be a decision's.
    """
    names = list(verbs)
    if names and not any(_decides(perdure.catalogue, each) for each in names):
        return
    _, decision = decision_in(result)
    if not decision.add or (principal.is_person and principal.reaches_every_verb):
        return
    if not isinstance(decision.add, list):
        raise _refused("a program", "it cannot be looked through before it counts", "Give the steps as calls.")
    for call in decision.add:
        for name in ("verb", "alternative"):
            await _check_verb(perdure, principal, str(call.get(name) or "") if isinstance(call, dict) else "")


def _decides(catalogue: Catalogue, name: str) -> bool:
    """In any version: what waits may be older than the newest."""
    found = [catalogue.find(name, version) for version in catalogue.versions(name)]
    return any(verb is not None and verb.execution.decision for verb in found)


async def _check_verb(perdure: Perdure, principal: Principal, name: str) -> None:
    if not name:
        return
    verb = perdure.catalogue.get(name)  # by its whole name: a short one would be looked up only later
    check(principal, "runbook.extend", verb=verb.name)
    if principal.is_person:
        return
    found = await perdure.processes.consequence_of_verb(verb)
    if is_grave(found.tier):
        reached = f" by '{found.due_to}'" if found.due_to not in ("", verb.name) else ""
        raise _refused(verb.name, f"it is {found.tier}{reached} and only a person adds that", HINT)


def _refused(what: str, fact: str, hint: str) -> RejectedError:
    return RejectedError(Rejection("blocked", "add", "step", what, fact, hint))
