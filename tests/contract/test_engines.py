"""The eight models inside Temporal and on Camunda 8: the same data, keys and ends as on our own engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.testing.camunda_broker import CamundaBroker
from perdure.testing.server_process import free_ports
from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import TemporalServer, real_server
from tests.conftest import unavailable
from tests.contract.stories import STORIES, play

pytestmark = [pytest.mark.deep, pytest.mark.timeout(600)]


@pytest.fixture
def temporal() -> Iterator[TemporalServer]:
    try:
        made = real_server()
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture
def camunda() -> Iterator[str]:
    """The engine of a broker that tells us of its timers."""
    tail = f"127.0.0.1:{free_ports(1)[0]}"
    try:
        broker = CamundaBroker(f"http://{tail}")
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        broker.start()
        yield f"{broker.url}?tail={tail}&lock=20&poll=2"
    finally:
        broker.remove()


@pytest.mark.req("B8")
@pytest.mark.req("B11")
async def test_the_eight_models_end_alike_inside_temporal(temporal: TemporalServer, tmp_path: Path) -> None:
    ours = await play(f"sqlite:///{tmp_path / 'a.db'}", "embedded", tmp_path, *STORIES)
    theirs = await play(f"sqlite:///{tmp_path / 'b.db'}", temporal.url, tmp_path, *STORIES)
    assert theirs == ours


@pytest.mark.req("B8")
@pytest.mark.req("B11")
async def test_the_eight_models_end_alike_on_camunda(camunda: str, tmp_path: Path) -> None:
    ours = await play(f"sqlite:///{tmp_path / 'a.db'}", "embedded", tmp_path, *STORIES)
    theirs = await play(f"sqlite:///{tmp_path / 'b.db'}", camunda, tmp_path, *STORIES)
    assert theirs == ours
