"""The engine of Camunda 8.8 in memory as tests use it: gRPC, and a time that a test moves."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest

from perdure.testing.camunda_memory_engine import CamundaMemoryEngine
from perdure.testing.service_availability import ServiceUnavailable
from tests.conftest import unavailable
from tests.testing.test_camunda_broker import MODEL

pytestmark = pytest.mark.deep


@pytest.fixture
def engine() -> Iterator[CamundaMemoryEngine]:
    try:
        made = CamundaMemoryEngine()
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        made.start()
        yield made
    finally:
        made.remove()


def field(number: int, content: bytes) -> bytes:
    """One field of a message in the form of Protocol Buffers."""
    length, size = len(content), b""
    while length > 127:
        size, length = size + bytes([length % 128 + 128]), length // 128
    return bytes([number * 8 + 2]) + size + bytes([length]) + content


def ask(engine: CamundaMemoryEngine, method: str, request: bytes) -> None:
    with grpc.insecure_channel(engine.grpc) as channel:
        channel.unary_unary(f"/gateway_protocol.Gateway/{method}")(request, timeout=30)


def has_happened(engine: CamundaMemoryEngine, element: str, intent: str) -> bool:
    return any(
        each["intent"] == intent and each["value"].get("elementId") == element and each["recordType"] == "EVENT"
        for each in engine.records()
    )


def test_a_timer_fires_when_a_test_moves_the_time(engine: CamundaMemoryEngine) -> None:
    model = MODEL.replace('sourceRef="start" targetRef="pack"', 'sourceRef="start" targetRef="rest"')
    ask(engine, "DeployResource", field(1, field(1, b"order.bpmn") + field(2, model.encode())))
    ask(engine, "CreateProcessInstance", field(2, b"order") + bytes([3 * 8, 1]))
    engine.wait_until_idle()
    assert has_happened(engine, "rest", "ELEMENT_ACTIVATED")
    engine.advance("P8D")
    assert not has_happened(engine, "send", "ELEMENT_ACTIVATED")
    engine.advance("P1D")
    assert has_happened(engine, "send", "ELEMENT_ACTIVATED")
