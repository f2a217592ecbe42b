"""Roles: one table grants operations to roles, and every surface asks it."""

from __future__ import annotations

from typing import Final

from perdure.access.principal import EVERY_VERB, ROLES, Principal, Role
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.verbs.verb_patterns import reaches

_EVERYONE = frozenset[Role](ROLES)


def _roles(*roles: Role) -> frozenset[Role]:
    """Those named, and admin, who may do everything."""
    return frozenset[Role]({*roles, "admin"})


def _table(*groups: tuple[frozenset[Role], str]) -> dict[str, frozenset[Role]]:
    return {operation: roles for roles, operations in groups for operation in operations.split()}


OPERATIONS: Final[dict[str, frozenset[Role]]] = _table(
    (_EVERYONE, """
        agent.list audit.export budget.read call.list call.read dead-letter.list draft.read engine.list event.read
        incident.list
        instance.list instance.read lifecycle.list lifecycle.read overview.read pack.list pack.read parked.list
        process.list process.read request.read runbook.list runbook.read session.read task.list task.read verb.list
        verb.read document.list document.read
    """),
    (_roles("author", "operator"), "runbook.draft runbook.extend runbook.plan runbook.start verb.call"),
    (_roles("operator"), """
        agent.close budget.tighten call.amend call.cancel call.resolve call.retry case.cancel completion.send
        dead-letter.discard
        dead-letter.replay incident.retry incident.traceback instance.cancel instance.migrate instance.modify
        instance.move instance.resolve instance.resume instance.retry instance.start instance.suspend lifecycle.act
        lifecycle.cancel lifecycle.dismiss lifecycle.look lifecycle.migrate lifecycle.resolve lifecycle.retry
        lifecycle.start message.correlate message.publish metrics.read parked.token progress.send request.submit
        request.token
        runbook.cancel runbook.compensate runbook.retry runbook.seal runbook.skip signal.send task-result.send
        task.reassign
    """),
    (_roles("operator", "reviewer"), "document.content"),
    (_roles("operator", "author"), "document.create document.receive document.upload"),
    (_roles("reviewer"), "document.verify document.reject document.supersede document.waive"),
    (_roles("reviewer"), "budget.loosen call.approve runbook.answer"),
    (_roles("reviewer", "operator"), """
        lifecycle.transit task.accept task.claim task.complete task.delegate task.unclaim
    """),
    (_roles("author"), """
        deployment.check lifecycle.deploy lifecycle.retire process.check process.deploy process.deprecate process.retire
    """),
    (_roles(), """
        call.erase document.collect document.erase instance.erase key.create key.list key.revoke lifecycle.erase
    """),
)  # fmt: skip
"""Every operation, by the roles that may do it."""


def check(principal: Principal, operation: str, *, verb: str = "") -> None:
    """Nothing when they may; else a rejection that names the operation, who may do it, and what to do about it."""
    if (refused := refusal(principal, operation, verb)) is not None:
        raise RejectedError(refused)


def may(principal: Principal) -> list[str]:
    """The operations they may do, sorted; of some of them only for verbs that their key reaches."""
    return sorted(operation for operation in OPERATIONS if refusal(principal, operation) is None)


def refusal(principal: Principal, operation: str, verb: str = "") -> Rejection | None:
    """Why they may not; None when they may."""
    roles = OPERATIONS.get(operation)
    if roles is None:
        raise InvariantBroken("check", "operation", operation, "no table says which roles may do it")
    if principal.roles.isdisjoint(roles):
        held = _listed(principal.roles, "and") or "no role"
        fact = f"'{principal.name}' is {held} and it takes {_listed(roles, 'or')}"
        return _forbidden(operation, fact, "Ask an administrator for a role that may.")
    if principal.operations and operation not in principal.operations:
        fact = f"the key of '{principal.name}' is for {', '.join(principal.operations)} alone"
        return _forbidden(operation, fact, "Use a key that is made for it.")
    if verb and not reaches(principal.verbs, verb):
        missing = f"not on '{verb}'" if verb != EVERY_VERB[0] else "and this takes a key that reaches every verb"
        fact = f"'{principal.name}' may only act on verbs {', '.join(principal.verbs) or 'of no name'}, {missing}"
        return _forbidden(operation, fact, "Use a key that reaches this verb.")
    return None


def _forbidden(operation: str, fact: str, hint: str) -> Rejection:
    return Rejection("forbidden", "do", "operation", operation, fact, hint)


def _listed(roles: frozenset[Role], word: str) -> str:
    *first, last = [str(role) for role in ROLES if role in roles] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last
