"""Grant checks: the bounds of a key's texts, and the rule that nobody grants more than they hold."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from perdure.access.api_key_state import Grant
from perdure.access.principal import KINDS, ROLES, Principal
from perdure.access.principal_names import confusable_fault, normalised, reserved_fault
from perdure.access.roles import OPERATIONS, may
from perdure.errors import RejectedError, Rejection
from perdure.human_tasks import AGENT
from perdure.moments import iso
from perdure.verbs.verb_patterns import is_pattern

MAX_WORD = 200
MAX_GROUPS = 50
MAX_VERBS = 100
MAX_REASON = 1000


class Fault(NamedTuple):
    """What is wrong with what is to be granted."""

    fact: str
    hint: str = ""


def grant_fault(grant: Grant, now: int) -> Fault | None:
    """Why such a key cannot be; None when it can."""
    return (
        text_fault("name", grant.name)
        or text_fault("principal", grant.principal)
        or name_fault(grant.principal, grant.kind)
        or _roles_fault(grant.roles)
        or _words_fault("groups", grant.groups, MAX_GROUPS)
        or _words_fault("verbs", grant.verbs, MAX_VERBS)
        or _verbs_fault(grant.verbs)
        or _operations_fault(grant)
        or _expiry_fault(grant.expires_at, now)
    )


def text_fault(what: str, text: str, *, may_be_empty: bool = False) -> Fault | None:
    most = MAX_REASON if what == "reason" else MAX_WORD
    if not text.strip() and not (may_be_empty and not text):
        return Fault(f"its {what} is empty")
    if len(text) > most:
        return Fault(f"its {what} has {len(text):,} letters and may have {most:,}")
    if not text.isprintable():
        return Fault(f"its {what} has letters that cannot be shown")
    return None


def name_fault(name: str, kind: str) -> Fault | None:
    """Whether somebody of that kind may be called so: rules about people and agents go by the name."""
    if kind not in KINDS:
        return Fault(f"'{kind[:40]}' is no kind of principal", f"One of {', '.join(KINDS)}.")
    if fact := reserved_fault(name) or confusable_fault(name):
        return Fault(fact, "Choose another name.")
    if name != normalised(name):
        return Fault(f"'{name}' is not spelled as names are kept", f"Write '{normalised(name)}'.")
    if (kind == "agent") != name.startswith(AGENT):
        fact = f"'{name}' is the name of an agent" if kind != "agent" else f"'{name}' does not begin with '{AGENT}'"
        return Fault(fact, f"Names of agents, and only theirs, begin with '{AGENT}'.")
    return None


def _roles_fault(roles: tuple[str, ...]) -> Fault | None:
    hint = f"Roles are {', '.join(ROLES)}."
    if not roles:
        return Fault("it has no role", hint)
    unknown = next((role for role in roles if role not in ROLES), None)
    return Fault(f"'{unknown[:40]}' is no role", hint) if unknown is not None else None


def _words_fault(what: str, words: tuple[str, ...], most: int) -> Fault | None:
    if len(words) > most:
        return Fault(f"it has {len(words):,} {what} and may have {most}")
    return next((fault for word in words if (fault := text_fault(f"list of {what}", word))), None)


def _verbs_fault(verbs: tuple[str, ...]) -> Fault | None:
    if not verbs:
        return Fault("it reaches no verb", "Without --verbs it reaches all of them.")
    wrong = next((verb for verb in verbs if not is_pattern(verb)), None)
    return Fault(f"'{wrong}' names no verbs", "Write kyc.open-case, kyc.* or *.") if wrong is not None else None


def _operations_fault(grant: Grant) -> Fault | None:
    for operation in grant.operations:
        if (roles := OPERATIONS.get(operation)) is None:
            close = get_close_matches(operation[:60], OPERATIONS, n=1)
            return Fault(f"'{operation[:60]}' is no operation", f"Did you mean '{close[0]}'?" if close else "")
        if roles.isdisjoint(grant.roles):
            return Fault(f"its roles may not do '{operation}'", f"It takes {' or '.join(sorted(roles))}.")
    return None


def _expiry_fault(expires_at: int, now: int) -> Fault | None:
    if expires_at < 0 or 0 < expires_at <= now:
        return Fault("it would have expired already")
    return None


def check_grant(giver: Principal, grant: Grant) -> None:
    """Nobody makes a key that may do more than they may, nor one that says it is a person unless they are one."""
    if fact := _excess(giver, grant):
        hint = "Ask somebody who may do it themselves."
        raise RejectedError(Rejection("forbidden", "make", "key", grant.name[:80], fact, hint))


def _excess(giver: Principal, grant: Grant) -> str:
    if grant.kind == "person" and giver.kind != "person":
        return f"'{giver.name}' is no person and it would speak as one"
    asked = Principal(giver.tenant, grant.principal, grant.kind, frozenset(grant.roles), operations=grant.operations)
    if extra := sorted(set(may(asked)) - set(may(giver))):
        return f"'{giver.name}' may not do '{extra[0]}' and it could"
    if wider := next((verb for verb in grant.verbs if not _covers(giver.verbs, verb)), ""):
        return f"'{giver.name}' does not reach the verbs '{wider}' and it would"
    if not giver.is_at_machine and (group := next((each for each in grant.groups if each not in giver.groups), "")):
        return f"'{giver.name}' does not belong to the group '{group}' and it would"
    if giver.expires_at and not 0 < grant.expires_at <= giver.expires_at:
        return f"the key of '{giver.name}' ends at {iso(giver.expires_at)} and it would last longer"
    return ""


def _covers(patterns: Iterable[str], pattern: str) -> bool:
    return any(
        each == pattern or (each.endswith("*") and pattern.removesuffix("*").startswith(each[:-1])) for each in patterns
    )
