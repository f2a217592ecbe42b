"""Real brokers, once for each session."""

from __future__ import annotations

from tests.blobs.fixtures import s3_service
from tests.buses.brokers import kafka_url, nats_url, redis_url

__all__ = ["kafka_url", "nats_url", "redis_url", "s3_service"]
