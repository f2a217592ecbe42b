"""Brokers that tests share: one server of each kind for a session, and a fresh place in it for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from perdure.testing.broker_service import BrokerService, KafkaMock, NatsService, RedisService
from perdure.testing.service_availability import ServiceUnavailable
from tests.conftest import unavailable

_numbers = count(1)


def _running(service: BrokerService | KafkaMock) -> Iterator[str]:
    try:
        url = service.start()
    except ServiceUnavailable as error:
        unavailable(str(error))
    yield url
    service.stop()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    yield from _running(RedisService())


@pytest.fixture(scope="session")
def nats_url() -> Iterator[str]:
    yield from _running(NatsService())


@pytest.fixture(scope="session")
def kafka_url() -> Iterator[str]:
    yield from _running(KafkaMock())


def fresh_source() -> str:
    """A stream, topic or subject that no other test has."""
    return f"results-{next(_numbers)}"
