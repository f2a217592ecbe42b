"""The keys of one tenant, as they are stored: who each stands for, how far it reaches, until when."""

from __future__ import annotations

import msgspec

from perdure.access.principal import EVERY_VERB, Kind, Principal, Role

STATE_VERSION = 1


class Compact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Stored by place, not by name."""


class Grant(Compact, frozen=True):
    """What a key stands for. `expires_at` is in microseconds; 0: it does not expire."""

    name: str
    principal: str
    kind: Kind
    roles: tuple[Role, ...]
    groups: tuple[str, ...] = ()
    verbs: tuple[str, ...] = EVERY_VERB
    operations: tuple[str, ...] = ()
    expires_at: int = 0


class Key(Compact, frozen=True):
    """A key: of its text only the SHA-256 is kept."""

    id: str
    digest: bytes
    grant: Grant
    created_at: int
    created_by: str
    revoked_at: int = 0
    revoked_by: str = ""
    reason: str = ""

    def is_good(self, now: int) -> bool:
        """Whether it opens anything at a moment."""
        return not self.revoked_at and not 0 < self.grant.expires_at <= now

    def principal(self, tenant: str) -> Principal:
        """Whom it stands for."""
        given = self.grant
        return Principal(
            tenant, given.principal, given.kind, frozenset(given.roles), given.groups, given.verbs, given.operations,
            via=f"key:{self.id}",
        )  # fmt: skip


class AccessState(Compact, frozen=True):
    """The aggregate: one for each tenant."""

    form: int = STATE_VERSION
    keys: tuple[Key, ...] = ()

    @property
    def version(self) -> int:
        return self.form

    def key(self, id: str) -> Key | None:
        return next((each for each in self.keys if each.id == id), None)
