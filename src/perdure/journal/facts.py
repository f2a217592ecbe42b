"""Facts: what guards ask for by key, the rows of those that wait for one, and the notice of a change.

| key | the fact |
|---|---|
| `document/<subject>/<type>` | the documents of one type about one subject |
| `record/<entity>/<key>` | a record of a declared entity |
| `lifecycle/<definition>/<subject>` | the newest lifecycle instance of a definition for a subject |
| `runbook/<id>` | a runbook |

A notice of a change is committed with the change. An instance that waits has a parked row for each key it asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perdure.journal.machine import Notice, ParkedRow
from perdure.journal.notice_routes import PREFIX, FactEvent, FactRoute

FACT = "fact"
"""The kind of the parked rows of those that wait for a fact."""
FACT_CHANGED = "fact_changed"
"""The kind of the notice of a change."""
EVENT = "event"
"""The first word of the key under which lifecycles wait for the events that begin them."""
MAX_KEY = 500
MAX_KEYS = 64
"""Facts that one notice names."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")


def fact_key(kind: str, *parts: str) -> str:
    """The key of a fact; each part is percent-encoded, so that none of them can hold a slash."""
    return "/".join((kind, *(_encoded(part) for part in parts)))


def fact_kind(key: str) -> str:
    return key.partition("/")[0]


def fact_parts(key: str) -> list[str]:
    """The parts of a key behind its kind, decoded."""
    return [_decoded(part) for part in key.split("/")[1:]]


def fact_rows(keys: Iterable[str]) -> tuple[ParkedRow, ...]:
    """The rows of an aggregate that waits for these facts."""
    return tuple(ParkedRow(0, at, fact_kind(key), key, 0, 0, FACT) for at, key in enumerate(keys, 1))


def fact_notice(letters: str, number: int, keys: Sequence[str], events: Sequence[FactEvent] = ()) -> Notice:
    """The notice of an aggregate that changes facts; `number` grows with each of its commits that changes any."""
    route = FactRoute(tuple(keys[:MAX_KEYS]), tuple(events[:MAX_KEYS]))
    return Notice(f"{PREFIX}{letters}/facts/{number}", FACT_CHANGED, route)


def _encoded(part: str) -> str:
    return "".join(each if each in _PLAIN else _hex(each) for each in part)


def _hex(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))


def _decoded(part: str) -> str:
    first, *others = part.split("%")
    data = bytearray(first.encode("utf-8", "surrogatepass"))
    for each in others:
        data += bytes.fromhex(each[:2]) + each[2:].encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "surrogatepass")
