"""A hundred instances under way while server and workers are killed: nothing is lost, nothing is doubled."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perdure.testing.temporal_server import TemporalServer
from tests.engines.temporal.conftest import Opened

pytestmark = pytest.mark.deep

COUNT = 100
WAY = [
    ["InstanceStarted", "Passed", "Entered", "JobMade"], ["JobStarted"], ["JobCompleted", "Left", "Entered", "Armed"],
    ["Occurred", "Left", "Entered", "JobMade"], ["JobStarted"], ["JobCompleted", "Left", "Passed", "InstanceEnded"],
]  # fmt: skip


@pytest.mark.timeout(600)
@pytest.mark.req("V13")
def test_a_hundred_instances_survive_kills_of_server_and_worker(
    server: TemporalServer, opened: Opened, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    ids = ours.ask("starts", process="short", count=COUNT)
    ours.kill()
    ours = opened()
    assert ours.ask("starts", process="short", count=COUNT) == ids, "asked again, each start is the same instance"
    server.kill()
    server.start()
    other = opened()
    ours.kill()
    again = opened()
    server.kill()
    again.kill()
    server.start()
    for id in ids:
        assert other.ask("reached", instance=id, element="completed") == "completed"
    ran = Counter((tmp_path / "runs.log").read_text().splitlines())
    assert set(ran) == {f"{id}/{element}/1" for id in ids for element in ("a", "b")}, "every job ran, under its key"
    for n, id in enumerate(ids):
        shown = other.ask("show", instance=id)
        recorded = [entries for entries in shown["entries"] if entries != ["JobStarted"]]
        assert recorded == [entries for entries in WAY if entries != ["JobStarted"]], "results are recorded once"
        assert (shown["data"], shown["sequence"]) == ({"n": n, "one": 1, "two": 2}, sorted(shown["sequence"]))
    assert other.ask("audit") == []
