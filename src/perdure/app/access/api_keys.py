"""Keys: made, listed, revoked, and recognised when they are shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from perdure.access.api_key_state import EndedSession, Grant, Key
from perdure.access.api_key_text import key_digest, key_text
from perdure.access.grant_checks import check_grant
from perdure.access.machine import AccessMachine, CreateKey, EndSession, RevokeKey, access_id, no_such_key
from perdure.access.principal import EVERY_VERB, Kind, Principal, Role
from perdure.access.principal_names import normalised
from perdure.access.signed_tokens import Session
from perdure.app.calls.views import EventView, event_views
from perdure.app.runtime import Runtime
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.sources import Micros, fresh_secret, id_text, iso, parse_id

KIND = AccessMachine.kind
T = TypeVar("T", bound=str)
KeyState = Literal["good", "expired", "revoked"]


class KeyView(msgspec.Struct, frozen=True):
    """A key as it is listed: everything but its text, which nobody can show again."""

    id: str
    name: str
    principal: str
    kind: Kind
    roles: list[Role]
    state: KeyState
    groups: list[str] = []
    verbs: list[str] = []
    operations: list[str] = []
    created_at: str | None = None
    created_by: str = ""
    expires_at: str | None = None
    revoked_at: str | None = None
    revoked_by: str = ""
    reason: str = ""


class NewKey(msgspec.Struct, frozen=True):
    """A key just made. `text` is shown here and never again."""

    id: str
    text: str
    view: KeyView

    def __repr__(self) -> str:
        return f"NewKey(id={self.id!r}, text=…)"


class KeyOperations:
    """The keys of one tenant; and, for servers, whose key a text is."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._id = access_id(origin.tenant)

    async def create_key(
        self,
        name: str,
        *,
        principal: str,
        kind: Kind = "service",
        roles: Iterable[Role],
        groups: Iterable[str] = (),
        verbs: Iterable[str] = EVERY_VERB,
        operations: Iterable[str] = (),
        expires_at: datetime | Micros | None = None,
        by: Principal | None = None,
    ) -> NewKey:
        """Make a key. Where `by` says who asks, it may do nothing that they may not.

        Its text is told now and never again. Names are used once among the keys that are good.
        """
        grant = Grant(
            name, normalised(principal), kind, _each_once(roles), _each_once(map(normalised, groups)),
            _each_once(verbs), _each_once(operations), _micros(expires_at),
        )  # fmt: skip
        if by is not None:
            check_grant(by, grant)
        id = id_text(self._runtime.sources.new_id())
        text = key_text(self._origin.tenant, id, fresh_secret())
        makers = (by.name, *by.behind) if by is not None and not by.is_at_machine else ()
        aggregate = await self._commit(CreateKey(id=id, digest=key_digest(text), grant=grant, makers=makers))
        return NewKey(id, text, self._view(aggregate, id))

    async def keys(self) -> list[KeyView]:
        """Every key that is remembered, oldest first."""
        aggregate = await self._read()
        now = self._runtime.sources.now()
        return [key_view(each, now) for each in aggregate.state.keys] if aggregate is not None else []

    async def revoke_key(self, id: str, reason: str = "") -> KeyView:
        """From now on it opens nothing; elsewhere within a second. Revoked twice is revoked once."""
        key = id_text(parse_id(id, "key"))
        if await self._read() is None:
            raise RejectedError(no_such_key("revoke", id))
        prepared = Prepared(RevokeKey(id=key, reason=reason))
        answer = await self._runtime.kernel.ask(KIND, self._id, self._origin, prepared)
        assert answer.aggregate is not None
        return self._view(answer.aggregate, key)

    async def events(self, *, after: int = 0) -> AsyncIterator[EventView]:
        """What was done about keys, oldest first."""
        aggregate = await self._read()
        if aggregate is None:
            return
        codec, after = self._runtime.machines[KIND].records, max(0, min(after, aggregate.version))
        async for row in self._runtime.store.history(aggregate, after):
            for event in event_views(row.sequence, codec.decode(row.body)):
                yield event

    # --- for servers ---------------------------------------------------------------------------------------------

    async def authenticate_key(self, text: str) -> Principal | None:
        """Whose key it is, of whatever tenant; None when it opens nothing.

        Cheap when it was shown lately. What another process revoked opens nothing after a second at most.
        """
        return await self._runtime.keys.authenticate(text)

    async def principal_of_key(self, tenant: str, id: str) -> Principal | None:
        """Whom a key stands for that was shown before, as when a session began; None when it opens nothing now."""
        return await self._runtime.keys.find(tenant, id)

    async def end_session(self, session: Session) -> None:
        """Let a session end before its time: its cookie opens nothing any more, at other servers within a second."""
        await self._commit(EndSession(session=EndedSession(session.id, session.signed_in_at, session.expires_at)))

    async def has_keys(self) -> bool:
        """Whether any key opens something here: then who shows none is nobody."""
        return await self._runtime.keys.has_keys(self._origin.tenant)

    async def is_ended(self, session: Session) -> bool:
        return await self._runtime.keys.has_ended(session)

    # --- inside --------------------------------------------------------------------------------------------------

    async def _commit(self, command: CreateKey | EndSession) -> Aggregate:
        kernel, prepared = self._runtime.kernel, Prepared(command)
        for _ in range(2):
            if await self._read() is not None:
                answer = await kernel.ask(KIND, self._id, self._origin, prepared)
            else:
                answer = await kernel.start(KIND, self._id, self._origin, prepared)
            if answer.conflict is None:  # else somebody made the tenant's first key at the same moment
                assert answer.aggregate is not None
                return answer.aggregate
        raise InvariantBroken(
            "change", "keys", self._origin.tenant, "the tenant's keys are neither there nor not there"
        )

    async def _read(self) -> Aggregate | None:
        try:
            return await self._runtime.kernel.read(self._id, self._origin)
        except RejectedError:
            return None

    def _view(self, aggregate: Aggregate, id: str) -> KeyView:
        found = aggregate.state.key(id)
        assert found is not None
        return key_view(found, self._runtime.sources.now())


def key_view(key: Key, now: Micros) -> KeyView:
    given = key.grant
    state: KeyState = "revoked" if key.revoked_at else "good" if key.is_good(now) else "expired"
    return KeyView(
        key.id, given.name, given.principal, given.kind, list(given.roles), state, list(given.groups),
        list(given.verbs), list(given.operations), iso(key.created_at), key.created_by, iso(given.expires_at or None),
        iso(key.revoked_at or None), key.revoked_by, key.reason,
    )  # fmt: skip


def _each_once(words: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(words))


def _micros(moment: datetime | Micros | None) -> Micros:
    if moment is None:
        return 0
    if isinstance(moment, int):
        return max(1, moment)
    if moment.tzinfo is None:
        fact, hint = "its time of expiry names no time zone", "Give one, such as UTC."
        raise RejectedError(Rejection("invalid", "make", "key", "expiry", fact, hint))
    return max(1, round(moment.timestamp() * 1_000_000))
