# Written from asynchronous/access.py by `python -m tests.client.generate`.
"""Keys, verbs and packs on a server."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal

from perdure.app.access import KeyView, NewKey
from perdure.app.packs import PackRow
from perdure.app.paging import Page
from perdure.client.blocking.transport import Transport, place
from perdure.client.views import VerbRow, Verbs, VerbView

Kind = Literal["person", "service", "agent"]
Role = Literal["viewer", "operator", "reviewer", "author", "admin"]
EVERY_VERB = ("*",)


class AccessDesk:
    """The keys of a tenant. Reached as `client.access`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create_key(
        self,
        name: str,
        *,
        principal: str,
        kind: Kind = "service",
        roles: Iterable[Role],
        groups: Iterable[str] = (),
        verbs: Iterable[str] = EVERY_VERB,
        operations: Iterable[str] = (),
        expires_at: datetime | int | None = None,
    ) -> NewKey:
        """Make a key that may do nothing its maker may not.

        Its text is told now and never again: where the answer is lost, asking again finds the name taken.
        """
        body = {
            "name": name, "principal": principal, "kind": kind, "roles": list(roles), "groups": list(groups),
            "verbs": list(verbs), "operations": list(operations), "expires_at": _moment(expires_at),
        }  # fmt: skip
        return self._transport.post(NewKey, "/keys", body)

    def keys(self) -> builtins.list[KeyView]:
        """Every key that is remembered, oldest first."""
        return (self._transport.get(Page[KeyView], "/keys")).items

    def revoke_key(self, id: str, reason: str = "") -> KeyView:
        """From now on it opens nothing. Revoked twice is revoked once."""
        return self._transport.post(KeyView, place("keys", id, "revoke"), {"reason": reason})


class VerbDesk:
    """What can be asked. Reached as `client.verbs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, q: str = "") -> builtins.list[VerbRow]:
        """Every verb, or those whose name or description has the words."""
        return (self._transport.get(Verbs, "/verbs", q=q)).items

    def get(self, name: str, version: int | None = None) -> VerbView:
        """One verb, in its newest version unless another is named."""
        return self._transport.get(VerbView, place("verbs", name), version=version)


class PackDesk:
    """The packs of the server's project. Reached as `client.packs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> builtins.list[PackRow]:
        """Every pack, each on one line."""
        return (self._transport.get(Page[PackRow], "/packs")).items

    def get(self, id: str) -> dict[str, Any]:
        """Everything a pack says."""
        return self._transport.get(dict[str, Any], place("packs", id))


def _moment(expires_at: datetime | int | None) -> str | None:
    if isinstance(expires_at, int):
        return datetime.fromtimestamp(expires_at / 1_000_000, UTC).isoformat()
    return expires_at.isoformat() if expires_at is not None else None
