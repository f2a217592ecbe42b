"""The GLEIF client against a service on a socket: what it reads, what it tries again, what it gives up."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from casework.gleif.client import ATTEMPTS, Gleif
from casework.gleif.limits import TokenBucket
from casework.gleif.records import is_lei
from casework.gleif.transports import ACCEPT, HttpTransport

from perdure import BusinessError, Transient
from tests.examples.gleif.service import HANG_UP, Service, serving

HOLDING, CAPITAL, LUXEMBOURG = "DEMO00NORDLYSHOLD050", "DEMO00NORDLYSCAP0045", "DEMO00NORDLYSLUX0062"
OLDEST, OLD = "DEMO00POLARLYS000017", "DEMO00NORDLYSKAP0076"
UNKNOWN = "DEMO00LOU00000000062"
BUSY = (503, dict[str, str](), b"busy")


class Client:
    """The client under test, the service it talks to, and how long it would have slept."""

    def __init__(self, service: Service, transport: HttpTransport, page_size: int = 100) -> None:
        self.service, self.slept = service, list[float]()
        self.gleif = Gleif(transport, sleep=self._sleep, page_size=page_size)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as service:
        yield service


@asynccontextmanager
async def talking_to(service: Service, **settings: Any) -> AsyncIterator[Client]:
    async with HttpTransport(service.address) as transport:
        yield Client(service, transport, **settings)


@pytest.mark.req("X24")
async def test_a_record_is_read_with_what_it_says_of_itself(service: Service) -> None:
    async with talking_to(service) as client:
        record = await client.gleif.record(CAPITAL)
        entity = record.attributes.entity
        assert (record.name, entity.status, entity.jurisdiction, entity.category) == (
            "Nordlys Capital AS", "ACTIVE", "NO", "GENERAL",
        )  # fmt: skip
        assert record.attributes.registration.status == "ISSUED" and record.is_active and not record.successor
        assert record.has("direct-parent") and not record.has("direct-parent", "reporting-exception")
        assert service.accepts == {ACCEPT}


@pytest.mark.req("X24")
async def test_parents_children_and_funds_are_read(service: Service) -> None:
    async with talking_to(service) as client:
        direct, ultimate = await client.gleif.parent(LUXEMBOURG), await client.gleif.parent(LUXEMBOURG, "ultimate")
        assert direct is not None and ultimate is not None
        assert (direct.id, ultimate.id) == (CAPITAL, HOLDING)
        assert [child.name for child in await client.gleif.children(CAPITAL)] == [
            "Nordlys Luxembourg S.A.", "Nordlys Advisors Limited",
        ]  # fmt: skip
        assert [fund.name for fund in await client.gleif.managed_funds(CAPITAL)] == ["Nordlys Capital Fund LP"]


@pytest.mark.req("X24")
@pytest.mark.parametrize(
    ("lei", "reason"),
    [
        (HOLDING, "NATURAL_PERSONS"),
        ("DEMO00AURORASHIP0093", "NO_KNOWN_PERSON"),
        ("DEMO00FJORDTRUST0013", "NON_CONSOLIDATING"),
    ],
)
async def test_an_entity_without_a_parent_says_why(service: Service, lei: str, reason: str) -> None:
    async with talking_to(service) as client:
        assert await client.gleif.parent(lei) is None
        for level in ("direct", "ultimate"):
            exception = await client.gleif.exception(lei, level)
            assert exception is not None and exception.attributes.reason == reason


async def test_an_entity_with_a_parent_has_no_exception(service: Service) -> None:
    async with talking_to(service) as client:
        assert await client.gleif.exception(CAPITAL) is None


@pytest.mark.req("X24")
async def test_what_an_inactive_entity_became_is_followed_to_the_end(service: Service) -> None:
    async with talking_to(service) as client:
        assert [record.id for record in await client.gleif.successor(OLDEST)] == [OLDEST, OLD, CAPITAL]
        assert [record.id for record in await client.gleif.successor(CAPITAL)] == [CAPITAL]


async def test_a_search_finds_all_entities_with_these_words(service: Service) -> None:
    async with talking_to(service) as client:
        found = await client.gleif.search("nordlys CAPITAL")
        assert [record.name for record in found] == ["Nordlys Capital AS", "Nordlys Capital Fund LP"]
        assert "filter%5Bentity.legalName%5D=nordlys" in service.asked[0]


async def test_all_pages_are_read(service: Service) -> None:
    async with talking_to(service, page_size=4) as client:
        names = [record.name for record in await client.gleif.search("nordlys")]
    assert len(names) == len(set(names)) == 9
    assert len(service.asked) == 3


async def test_an_unknown_lei_is_a_business_error(service: Service) -> None:
    async with talking_to(service) as client:
        with pytest.raises(BusinessError) as refused:
            await client.gleif.record(UNKNOWN)
        assert refused.value.code == "LEI_NOT_FOUND" and not client.slept


@pytest.mark.parametrize("lei", ["", "demo", "DEMO00NORDLYSCAP0046", "../../etc/passwd", "DEMO00NORDLYSCAP004%"])
async def test_what_is_no_lei_is_never_asked_for(service: Service, lei: str) -> None:
    async with talking_to(service) as client:
        with pytest.raises(BusinessError) as refused:
            await client.gleif.record(lei)
        assert refused.value.code == "LEI_INVALID" and not service.asked


@pytest.mark.req("X24")
@pytest.mark.parametrize("fault", [BUSY, (429, {}, b""), (500, {}, b"{}"), HANG_UP], ids=["503", "429", "500", "reset"])
async def test_a_fault_that_passes_is_tried_again_with_growing_pauses(service: Service, fault: tuple) -> None:
    async with talking_to(service) as client:
        service.faults.extend([fault, fault])
        assert (await client.gleif.record(CAPITAL)).id == CAPITAL
        assert client.slept == [0.5, 1.0]


async def test_the_service_may_say_how_long_to_wait(service: Service) -> None:
    async with talking_to(service) as client:
        service.faults.extend([(429, {"Retry-After": "7"}, b""), (429, {"Retry-After": "9999"}, b"")])
        await client.gleif.record(CAPITAL)
        assert client.slept == [7.0, 30.0]


@pytest.mark.req("X24")
async def test_an_outage_that_lasts_is_transient(service: Service) -> None:
    async with talking_to(service) as client:
        service.faults.extend([BUSY] * ATTEMPTS)
        with pytest.raises(Transient) as failed:
            await client.gleif.record(CAPITAL)
        assert "HTTP 503" in str(failed.value) and failed.value.after == 4.0
        assert len(service.asked) == ATTEMPTS


async def test_nobody_listening_is_transient() -> None:
    with serving() as gone:
        address = gone.address
    async with HttpTransport(address) as transport:
        with pytest.raises(Transient):
            await Client(gone, transport).gleif.record(CAPITAL)


async def test_a_slow_answer_is_given_up(service: Service) -> None:
    async with HttpTransport(service.address, timeout_seconds=0.000001) as transport:
        client = Client(service, transport)
        with pytest.raises(Transient, match="Timeout"):
            await client.gleif.record(CAPITAL)
    assert client.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("body", [b"<html>", b'{"data": {"id": 1}}', b"\xff"])
async def test_an_answer_that_cannot_be_read_is_transient(service: Service, body: bytes) -> None:
    async with talking_to(service) as client:
        service.faults.append((200, {}, body))
        with pytest.raises(Transient, match="cannot be read"):
            await client.gleif.record(CAPITAL)


async def test_a_refusal_is_not_tried_again(service: Service) -> None:
    async with talking_to(service) as client:
        service.faults.append((403, {}, b"{}"))
        with pytest.raises(BusinessError) as refused:
            await client.gleif.record(CAPITAL)
        assert refused.value.code == "GLEIF_REFUSED" and not client.slept


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


async def test_no_more_than_sixty_requests_are_made_in_a_minute() -> None:
    clock = Clock()
    bucket = TokenBucket(60, 10, clock.now, clock.sleep)
    times = []
    for _ in range(200):
        await bucket.take()
        times.append(clock.seconds)
    assert times[9] == 0 and times[10] == 1.0
    assert max(sum(start <= each < start + 60 for each in times) for start in times) <= 60 + 10
    assert times[-1] == 190.0


async def test_a_bucket_that_rested_is_full_and_not_fuller() -> None:
    clock = Clock()
    bucket = TokenBucket(60, 3, clock.now, clock.sleep)
    clock.seconds = 1000
    for _ in range(4):
        await bucket.take()
    assert clock.slept == [1.0]


async def test_every_attempt_takes_its_turn(service: Service) -> None:
    clock = Clock()
    service.faults.extend([BUSY])
    async with HttpTransport(service.address) as transport:
        gleif = Gleif(transport, TokenBucket(60, 1, clock.now, clock.sleep), sleep=clock.sleep)
        await gleif.record(CAPITAL)
        await gleif.record(HOLDING)
    # The pause between attempts fills half a token; what is missing is waited for.
    assert clock.slept == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("lei", [HOLDING, "5493001KJTIIGC8Y1R12", "HWUPKR0MPOU8FGXBT394"])
def test_check_digits_are_checked(lei: str) -> None:
    swapped = lei[1] + lei[0] + lei[2:]
    assert is_lei(lei) and not is_lei(swapped) and not is_lei(lei.lower())
