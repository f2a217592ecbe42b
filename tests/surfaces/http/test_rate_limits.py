"""How much anybody may ask."""

from __future__ import annotations

import pytest

from perdure.sources import SECOND
from perdure.surfaces.http.rate_limits import Buckets
from perdure.testing.virtual_clock import VirtualSources
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P2")


class Clock(VirtualSources):
    """A clock that tests set."""

    at = 0

    def monotonic(self) -> int:
        return self.at


def test_a_bucket_empties_fills_with_time_and_never_overflows() -> None:
    clock = Clock()
    buckets = Buckets(clock, per_second=2, burst=3)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.take("b") == 0
    clock.at = SECOND // 2
    assert (buckets.take("a"), buckets.take("a")) == (0, 0.5)
    clock.at = 3600 * SECOND
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_clock_that_goes_back_neither_fills_nor_empties() -> None:
    clock = Clock()
    clock.at = 10 * SECOND
    buckets = Buckets(clock, per_second=1, burst=1)
    assert buckets.take("a") == 0
    clock.at = 0
    assert buckets.take("a") == 1


def test_those_not_seen_for_longest_are_forgotten_first() -> None:
    buckets = Buckets(Clock(), per_second=1, burst=1, most=2)
    for name in ("a", "b", "a", "c"):
        buckets.take(name)
    assert len(buckets) == 2
    assert buckets.take("a") > 0


async def test_each_key_has_its_own_rate() -> None:
    async with served(rate_per_second=0.001, rate_burst=3) as found:
        one, other = await found.key("viewer", name="one"), await found.key("viewer", name="other")
        async with found.client(one) as client, found.client(other) as second:
            statuses = [(await client.get("/api/verbs")).status_code for _ in range(4)]
            assert statuses == [200, 200, 200, 429]
            refused = await client.get("/api/verbs")
            assert refused.json()["code"] == "request.too_many" and int(refused.headers["retry-after"]) >= 1
            assert (await second.get("/api/verbs")).status_code == 200


async def test_bad_credentials_are_limited_by_address_and_good_ones_are_not() -> None:
    async with served() as found:
        good = await found.key("viewer")
        async with found.client("perdure_wrong") as client, found.client(good) as fine:
            statuses = [(await client.get("/api/verbs")).status_code for _ in range(25)]
            assert statuses[0] == 401 and statuses[-1] == 429
            assert (await client.post("/api/session", json={"key": "x"})).status_code == 429
            assert (await fine.get("/api/verbs")).status_code == 200
