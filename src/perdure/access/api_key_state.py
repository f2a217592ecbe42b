"""The API keys of one tenant as stored: the principal, the reach and the end of each."""

from __future__ import annotations

import msgspec

from perdure.access.principal import EVERY_VERB, Kind, Principal, Role

STATE_VERSION = 2


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
    makers: tuple[str, ...] = ()
    """Who made it through a server, with who made their key; nobody, where it was made at the machine."""

    def is_good(self, now: int) -> bool:
        """Whether it opens anything at a moment."""
        return not self.revoked_at and not 0 < self.grant.expires_at <= now

    def principal(self, tenant: str) -> Principal:
        """Whom it stands for."""
        given = self.grant
        return Principal(
            tenant, given.principal, given.kind, frozenset(given.roles), given.groups, given.verbs, given.operations,
            via=f"key:{self.id}", behind=self.makers, expires_at=given.expires_at,
        )  # fmt: skip


class EndedSession(Compact, frozen=True):
    """A session that somebody ended before its time."""

    id: str
    signed_in_at: int
    expires_at: int


class AccessState(Compact, frozen=True):
    """The aggregate: one for each tenant."""

    form: int = STATE_VERSION
    keys: tuple[Key, ...] = ()
    ended: tuple[EndedSession, ...] = ()
    """Sessions that were ended and would not have expired yet."""
    ended_before: int = 0
    """Sessions that began by then have ended, too: there were more than are remembered one by one."""

    @property
    def version(self) -> int:
        return self.form

    def key(self, id: str) -> Key | None:
        return next((each for each in self.keys if each.id == id), None)
