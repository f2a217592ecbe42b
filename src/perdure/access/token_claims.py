"""Token claims: a verified token names a principal, an audience and a time. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from typing import Any

import msgspec

from perdure.access.grant_checks import name_fault, text_fault
from perdure.access.principal import KINDS, ROLES, Kind, Principal
from perdure.access.principal_names import normalised
from perdure.human_tasks import AGENT
from perdure.identifiers import key_fault

Claims = Mapping[str, Any]
MAX_GROUPS = 500
MAX_AUDIENCES = 100


class ClaimNames(msgspec.Struct, frozen=True):
    """Which claims say what; `a.b` is looked for inside `a` when there is no claim of that very name."""

    tenant: str = "tenant"
    roles: str = "roles"
    groups: str = "groups"
    name: str = "sub"
    kind: str = "kind"


class Expected(msgspec.Struct, frozen=True):
    """Whose token it must be, for whom, at what time (seconds); with a nonce, in answer to which request."""

    issuer: str
    audience: str
    now: float
    leeway: float = 60.0
    nonce: str | None = None


def claims_fault(claims: Claims, expected: Expected) -> str:
    """Why a token that is signed well is not for us now; empty when it is."""
    if claims.get("iss") != expected.issuer:
        return "another issuer made it"
    audiences = _texts(claims.get("aud"))
    if expected.audience not in audiences or len(audiences) > MAX_AUDIENCES:
        return "it is meant for somebody else"
    if expected.nonce is not None:
        if not compare_digest(str(claims.get("nonce", "")).encode(), expected.nonce.encode()):
            return "it answers another request"
        if claims.get("azp", expected.audience) != expected.audience or (len(audiences) > 1 and "azp" not in claims):
            return "it was made for another client"
    return _time_fault(claims, expected.now, expected.leeway)


def _time_fault(claims: Claims, now: float, leeway: float) -> str:
    times = {name: claims.get(name) for name in ("exp", "nbf", "iat")}
    for name, value in times.items():
        if value is None and name != "exp":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
            return f"its '{name}' is no time"
    until, not_before, made = times["exp"], times["nbf"], times["iat"]
    if until is None or until + leeway <= now:
        return "it has expired"
    if (not_before is not None and not_before - leeway > now) or (made is not None and made - leeway > now):
        return "it is not good yet"
    return ""


def principal_of(claims: Claims, names: ClaimNames, kind: Kind) -> Principal | str:
    """Who the claims say it is, of that `kind` unless they say otherwise; or why they are refused.

    Roles that are not known here are ignored: an identity provider has more to say than we need.
    """
    tenant, name = _named(claims, names.tenant), _named(claims, names.name)
    if not isinstance(tenant, str) or key_fault(tenant):
        return f"its claim '{names.tenant}' names no tenant"
    if not isinstance(name, str) or text_fault("name", name):
        return f"its claim '{names.name}' names nobody"
    name = normalised(name)
    told = _named(claims, names.kind)
    kind = next((each for each in KINDS if each == told), kind)
    if kind == "agent" and not name.startswith(AGENT):
        name = AGENT + name
    if fault := name_fault(name, kind):
        return fault.fact
    groups = [each for each in _texts(_named(claims, names.groups)) if not text_fault("group", each)]
    if len(groups) > MAX_GROUPS:
        return f"it lists {len(groups):,} groups and may list {MAX_GROUPS}"
    told_roles = set(_texts(_named(claims, names.roles)))
    roles = frozenset(role for role in ROLES if role in told_roles)
    return Principal(tenant, name, kind, roles, tuple(dict.fromkeys(groups)), via="oidc")


def _named(claims: Claims, name: str) -> Any:
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _texts(value: Any) -> list[str]:
    """A list of texts, or one text alone."""
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
