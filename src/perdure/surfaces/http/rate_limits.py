"""How much anybody may ask: buckets that fill with time, one for each who asks, and never too many of them."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import ip_network
from typing import Any

from perdure.sources import SECOND, Micros, Sources
from perdure.surfaces.http.problem_details import RefusedRequest

MOST_BUCKETS = 10_000
FAILURES_PER_SECOND = 0.5
FAILURES_BURST = 20.0
PREFIX_BITS = 64
"""The part of an IPv6 address that one who asks has all addresses of."""


def anonymous(client: tuple[Any, ...] | None) -> str:
    """The name of the bucket of who shows no credential: an address, or all of a network that one has."""
    address = str(client[0]) if client else ""
    if ":" not in address:
        return address
    try:
        return str(ip_network((address.partition("%")[0], PREFIX_BITS), strict=False))
    except ValueError:
        return address


class Buckets:
    """Each holds at most `burst` and gains `per_second`; who was not seen for longest is forgotten first."""

    def __init__(self, sources: Sources, per_second: float, burst: float, most: int = MOST_BUCKETS) -> None:
        self._sources = sources
        self._per_second = per_second
        self._burst = burst
        self._most = most
        self._levels: OrderedDict[str, tuple[float, Micros]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._levels)

    def take(self, name: str) -> float:
        """Take one out; 0 when there was one, else in how many seconds there will be."""
        now = self._sources.monotonic()
        level, at = self._levels.get(name, (self._burst, now))
        level = min(self._burst, level + max(0, now - at) / SECOND * self._per_second)
        is_enough = level >= 1
        self._levels[name] = (level - 1 if is_enough else level, now)
        self._levels.move_to_end(name)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return 0.0 if is_enough else (1 - level) / self._per_second

    def check(self, name: str) -> None:
        """Take one out, or refuse."""
        if seconds := self.take(name):
            headers = {"Retry-After": str(max(1, round(seconds + 0.5)))}
            detail = "More is asked than this server answers to one who asks."
            raise RefusedRequest(429, "request.too_many", detail, "Wait and ask again.", headers=headers)
