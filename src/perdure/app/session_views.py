"""Sessions as every surface shows them: who is signed in, and what they may do."""

from __future__ import annotations

import msgspec

from perdure.access.principal import Kind


class SessionView(msgspec.Struct, frozen=True):
    """Who is signed in and what they may do. Whatever changes something sends `csrf` as X-CSRF-Token."""

    principal: str
    tenant: str
    kind: Kind
    roles: list[str]
    groups: list[str]
    csrf: str
    authentication: str
    may: list[str]
    verbs: list[str]
