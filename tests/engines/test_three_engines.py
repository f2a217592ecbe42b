"""One project on the store, a real Temporal server and a real Camunda broker at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.testing.temporal_server import TemporalServer
from tests.engines.camunda.conftest import Cluster, cluster
from tests.engines.temporal.conftest import OurProcess, server

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300)]
__all__ = ["cluster", "server"]
"""Fixtures of the two rooms."""


@pytest.fixture
def ours(store_url: str, cluster: Cluster, server: TemporalServer, tmp_path: Path) -> Iterator[OurProcess]:
    settings = {
        "engines": {
            "scale": {"url": server.url},
            "partners": {"url": cluster.url, "ui": "https://operate.example.org"},
        },
        "processes": {"journey": "scale", "carried": "partners"},
    }
    made = OurProcess(store_url, json.dumps(settings), tmp_path)
    yield made
    made.end()


@pytest.mark.req("V13", "V35")
def test_each_engine_carries_its_own_and_one_that_is_away_holds_up_no_other(
    ours: OurProcess,
    server: TemporalServer,
    tmp_path: Path,
) -> None:
    ours.ask("deploy")
    id = ours.ask("start", process="journey", key="k", given=1)
    call = ours.ask("call", given=1, verb="t.stubborn")
    short = ours.ask("start", process="short")
    assert ours.ask("reached", instance=short, element="completed") == "completed"
    while ours.ask("status", id=call)["state"] == "parked":
        pass
    carrier = ours.ask("status", id=call)["carrier"]
    assert (carrier["engine"], carrier["state"]) == ("partners", "completed")
    assert carrier["engine_link"].startswith("https://operate.example.org/processes/2")
    assert [ours.ask("engine_of", instance=each)[0] for each in (id, short)] == ["scale", "embedded"]
    ours.ask("reached", instance=id, element="await")
    server.kill()
    assert ours.ask("publish", id="m1")["error"] == "engine.unavailable"
    another = ours.ask("call", given=2, verb="t.stubborn")
    while ours.ask("status", id=another)["state"] == "parked":
        pass
    assert ours.ask("called", id=another) == "completed"
    standing = {name: each["reachable"] for name, each in ours.ask("engines").items()}
    assert standing == {"embedded": True, "scale": False, "partners": True}
    server.start()
    ours.ask("reached", instance=id, element="review")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    assert ours.ask("show", instance=id)["data"] == {"given": 1, "one": 1, "ok": True, "two": 2}
    assert ours.ask("audit") == []
