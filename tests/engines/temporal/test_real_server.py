"""Instances carried by a real Temporal server, through kills of either side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perdure.testing.temporal_server import TemporalServer, free_port
from tests.engines.temporal.conftest import Opened
from tests.house.tree import ROOT

pytestmark = pytest.mark.deep

WAY = [
    ["InstanceStarted", "Passed", "Entered", "JobMade"], ["JobStarted"], ["JobCompleted", "Left", "Entered", "Armed"],
    ["Occurred", "Left", "Entered", "Armed"], ["Occurred", "Left", "Entered", "TaskOpened"],
    ["HeadChanged", "TaskCompleted", "Left", "Entered", "JobMade"], ["JobStarted"],
    ["JobCompleted", "Left", "Passed", "InstanceEnded"],
]  # fmt: skip


@pytest.mark.req("V13")
def test_an_instance_is_carried_from_its_start_to_its_end(opened: Opened, tmp_path: Path) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="journey", key="k", given=1)
    assert ours.ask("start", process="journey", key="k", given=1) == id, "one key, one instance"
    assert ours.ask("reached", instance=id, element="await") == "active"
    assert [ours.ask("publish", id="m1") for _ in range(2)] == ["correlated", "duplicate"]
    ours.ask("reached", instance=id, element="review")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert shown["data"] == {"given": 1, "one": 1, "ok": True, "two": 2}
    assert (shown["entries"], shown["sequence"]) == (WAY, list(range(1, 9)))
    assert ours.ask("audit") == []
    assert (tmp_path / "runs.log").read_text().splitlines() == [f"{id}/first/1", f"{id}/last/1"]


@pytest.mark.req("V13")
def test_an_instance_survives_kills_of_the_server_and_of_our_process(
    server: TemporalServer, opened: Opened, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="journey", key="k", given=1)
    ours.ask("reached", instance=id, element="await")
    server.kill()
    refused = ours.ask("publish", id="m1")
    assert refused["error"] == "engine.unavailable"
    ours.kill()
    server.start()
    ours = opened()
    assert ours.ask("publish", id="m1") in ("correlated", "duplicate"), "the dispatch was kept, and counts once"
    ours.ask("reached", instance=id, element="review")
    ours.kill()
    server.kill()
    server.start()
    ours = opened()
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], shown["entries"]) == ({"given": 1, "one": 1, "ok": True, "two": 2}, WAY)
    assert ours.ask("audit") == []


@pytest.mark.req("V13")
def test_a_job_whose_worker_was_killed_runs_again_under_its_key(opened: Opened, tmp_path: Path) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="slow", key="k")
    log = tmp_path / "runs.log"
    while not log.exists():
        ours.ask("show", instance=id)
    ours.kill()
    (tmp_path / "go").touch()
    ours = opened()
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert log.read_text().splitlines() == [f"{id}/work/1"] * 2
    assert ours.ask("show", instance=id)["data"] == {"slow": f"{id}/work/1"}


@pytest.mark.req("V13")
def test_an_activity_whose_worker_was_killed_is_missed_by_its_silence(server: TemporalServer, opened: Opened) -> None:
    """Not when its whole time is over: the instance goes on within the heartbeat timeout."""
    ours = opened()
    ours.ask("deploy")
    ours.ask("hold")
    id = ours.ask("start", process="carried", key="k")
    assert ours.ask("held") is True
    ours.kill()
    other = opened()
    assert other.ask("reached", instance=id, element="completed") == "completed"
    begun = events(server, id, "activityTaskStartedEventAttributes")
    failures = [each["lastFailure"]["timeoutFailureInfo"] for each in begun if "lastFailure" in each]
    assert [each["timeoutType"] for each in failures] == ["TIMEOUT_TYPE_HEARTBEAT"]


def events(server: TemporalServer, instance: str, kind: str) -> list[Any]:
    """What the server's history of an instance says of one kind of event, in order."""
    program = Path(sys.executable).with_name("temporal")
    command = [program, "workflow", "show", "-w", f"perdure-{instance}", "--address", server.target, "-o", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [each[kind] for each in json.loads(done.stdout)["events"] if kind in each]


@pytest.mark.req("V33")
def test_parallel_branches_keep_both_their_changes(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    ids = ours.ask("starts", process="branches", count=10)
    for n, id in enumerate(ids):
        assert ours.ask("reached", instance=id, element="completed") == "completed"
        assert ours.ask("show", instance=id)["data"] == {"n": n, "one": 1, "two": 2}


def test_a_call_begun_while_the_server_is_away_is_carried_once_when_it_is_back(
    server: TemporalServer, opened: Opened, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    server.kill()
    call = ours.ask("call", given=1)
    assert ours.ask("called", id=call) == "parked"
    server.start()
    while ours.ask("called", id=call) != "completed":
        ours.ask("audit")
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1


def test_a_dispatch_of_a_process_that_lives_is_left_to_it(opened: Opened) -> None:
    """Two that send one dispatch would drop it under each other where the instance has moved on."""
    first = opened()
    first.ask("deploy")
    id = first.ask("start", process="journey", key="k")
    first.ask("reached", instance=id, element="await")
    second = opened()
    worker = first.ask("lease")
    first.pause()
    name = second.ask("stage", instance=id, worker=worker)
    assert second.ask("resend", name=name) is False
    assert second.ask("show", instance=id)["state"] == "active"
    first.kill()
    assert second.ask("reached", instance=id, element="suspended") == "suspended"


def test_a_namespace_that_is_not_there_is_refused_with_a_sentence(server: TemporalServer, opened: Opened) -> None:
    refused = opened(f"temporal://{server.target}/nowhere").first
    assert refused["error"] == "engine.setting"
    assert "has no namespace 'nowhere'" in refused["text"]
    assert "temporal operator namespace create nowhere" in refused["text"]


def test_a_server_that_is_away_keeps_nobody_from_opening(opened: Opened) -> None:
    ours = opened(f"temporal://127.0.0.1:{free_port()}/default")
    assert ours.first == "ready"
    ours.ask("deploy")
    assert ours.ask("start", process="journey")["error"] == "engine.unavailable"


def test_another_engine_does_not_decide_what_temporal_carries(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="journey", key="k")
    ours.ask("reached", instance=id, element="await")
    ours.end()
    embedded = opened("embedded")
    refused = embedded.ask("suspend", instance=id)
    assert (refused["error"], "the engine 'temporal' carries it" in refused["text"]) == ("command.rejected", True)
    assert embedded.ask("show", instance=id)["state"] == "active"
