"""Real brokers, once for each session."""

from __future__ import annotations

import pytest

from tests.buses.brokers import kafka_url, nats_url, redis_url

__all__ = ["broker_url", "kafka_url", "nats_url", "redis_url"]


@pytest.fixture(params=["redis", "nats", pytest.param("kafka", marks=pytest.mark.deep)])
def broker_url(request: pytest.FixtureRequest) -> str:
    """The url of each kind of broker."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
