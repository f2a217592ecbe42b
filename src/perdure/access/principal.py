"""A principal: who asks, for which tenant, with which roles, and how far a key of theirs reaches."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from perdure.human_tasks import ADMINISTRATORS

Role = Literal["viewer", "operator", "reviewer", "author", "admin"]
Kind = Literal["person", "service", "agent"]

ROLES: tuple[Role, ...] = get_args(Role)
KINDS: tuple[Kind, ...] = get_args(Kind)
EVERY_VERB = ("*",)


class Principal(msgspec.Struct, frozen=True):
    """Somebody who was recognised. What they may do is the lesser of their roles and of what narrows them."""

    tenant: str
    name: str
    kind: Kind
    roles: frozenset[Role]
    groups: tuple[str, ...] = ()
    verbs: tuple[str, ...] = EVERY_VERB
    """Patterns of the verbs they may call, complete and answer: `kyc.open-case`, `kyc.*`, `*`."""
    operations: tuple[str, ...] = ()
    """When there are any: these operations alone, and of them those the roles allow."""
    via: str = "local"
    """How they were recognised: local, key:ID, oidc, session or wait."""
    behind: tuple[str, ...] = ()
    """Who made the key, through a server, or the token of a wait: where four eyes are needed they count as one."""
    expires_at: int = 0
    """The moment, in microseconds, after which their key opens nothing; 0: it does not expire."""

    @property
    def key(self) -> str:
        """The id of the key they act by; empty where they were recognised otherwise."""
        kind, _, id = self.via.partition(":")
        return id if kind == "key" else ""

    @property
    def reaches_every_verb(self) -> bool:
        """Whether nothing narrows the verbs: then nobody asks which verbs a thing's data come from."""
        return EVERY_VERB[0] in self.verbs

    @property
    def is_person(self) -> bool:
        return self.kind == "person"

    @property
    def is_at_machine(self) -> bool:
        """Whether they need no credential: whoever can read the store can do everything anyway."""
        return self.via == "local" and self.kind == "person"


def own_key(principal: Principal, key: str) -> str:
    """An idempotency key as operations are handed it: one that two principals chose alike is not the same."""
    return f"{len(principal.name)}:{principal.name}:{key}" if key else ""


def local(tenant: str = "default", name: str = "local") -> Principal:
    """Whoever sits at the machine when nothing asks who they are: everything is theirs."""
    return Principal(tenant, name, "person", frozenset({"admin"}), groups=(ADMINISTRATORS,))
