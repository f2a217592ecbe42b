"""Pages of lists, and the cursors that lead from one to the next: opaque, checked, good for one tenant's list only."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.typed_reading import read_msgpack

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
CHECK_BYTES = 6
LONGEST = 1024
"""Letters of a cursor: more than any place in a list needs."""

T = TypeVar("T")
P = TypeVar("P")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some items of a list; `next` is the `after` of the page that follows, None where the list ends.

    A page may hold fewer items than were asked for, even none, while `next` says that there are more to look through.
    """

    items: list[T]
    next: str | None = None


def cursor_of(scope: tuple[str, ...], place: Any) -> str:
    """The text of a place in the list that `scope` names: tenant, list and filters."""
    body = msgspec.msgpack.encode(place)
    return urlsafe_b64encode(_check(scope, body) + body).decode().rstrip("=")


def place_of(scope: tuple[str, ...], cursor: str, shape: type[P]) -> P:
    """The place behind a cursor of the same list; anything else is refused."""
    try:
        if len(cursor) > LONGEST:
            raise ValueError
        data = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        check, body = data[:CHECK_BYTES], data[CHECK_BYTES:]
        if check != _check(scope, body):
            raise ValueError
        return read_msgpack(body, shape)
    except ValueError:
        hint = "Use the `next` of a page of the same list, or leave it out to begin anew."
        raise RejectedError(
            Rejection("invalid", "go on from", "cursor", cursor[:80], "it leads nowhere in this list", hint)
        ) from None


def checked_limit(limit: int, most: int = MAX_LIMIT) -> int:
    """How many items a page may hold; what is out of bounds is refused."""
    if not 1 <= limit <= most:
        raise RejectedError(Rejection("invalid", "list", "page", str(limit), f"a page holds 1 to {most} items"))
    return limit


def check_state(state: str, known: Sequence[str]) -> None:
    """Refuses to list what is in a state that nothing is ever in."""
    if state and state not in known:
        shown = state[:80].encode(errors="replace").decode()
        hint = f"One of {', '.join(known)}."
        raise RejectedError(Rejection("invalid", "list what is in", "state", shown, "there is no such state", hint))


def _check(scope: tuple[str, ...], body: bytes) -> bytes:
    # Lengths before texts: no two scopes write the same bytes, whatever their texts hold.
    named = b"".join(b"%d:%s" % (len(text), text) for each in scope for text in [each.encode("utf-8", "replace")])
    return blake2b(named + body, digest_size=CHECK_BYTES).digest()
