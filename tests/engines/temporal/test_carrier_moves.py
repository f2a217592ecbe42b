"""A waiting instance changes its engine and comes back: on a real server, with kills between the steps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from perdure.testing.temporal_server import TemporalServer
from tests.conftest import unavailable
from tests.engines.temporal.conftest import Opened
from tests.house.tree import ROOT

pytestmark = pytest.mark.deep

DONE = {"given": 1, "one": 1, "ok": True, "two": 2}


def moves(shown: dict[str, list[list[str]]]) -> int:
    return sum(entries.count("CarrierChanged") for entries in shown["entries"])


def begun_embedded(opened: Opened) -> str:
    """An instance of the embedded engine that waits for its message."""
    ours = opened("embedded")
    ours.ask("deploy")
    id = str(ours.ask("start", process="journey", key="k", given=1))
    assert ours.ask("reached", instance=id, element="await") == "active"
    ours.end()
    return id


@pytest.mark.req("V13")
@pytest.mark.timeout(300)
def test_an_instance_goes_to_temporal_and_comes_back(opened: Opened, tmp_path: Path) -> None:
    id = begun_embedded(opened)
    ours = opened()
    plan = ours.ask("move", instance=id, to="temporal", dry_run=True, shadow=True)
    assert (plan["carrier"], plan["to"], plan["shadow"], plan["is_dry"]) == ("embedded", "temporal", "equal", True)
    assert plan["waits"] == ["message:paid"]
    assert moves(ours.ask("show", instance=id)) == 0, "a dry run moves nothing"
    moved = ours.ask("move", instance=id, to="temporal", shadow=True, reason="it grows")
    assert moved["certificate"].startswith("sha256:") and not moved["is_dry"]
    again = ours.ask("move", instance=id, to="temporal")
    assert "the engine 'temporal' carries it already" in again["text"]
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=id, element="review")
    back = ours.ask("move", instance=id, to="embedded", shadow=True)
    assert (back["carrier"], back["shadow"]) == ("temporal", "equal")
    ours.end()

    ours = opened("embedded")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], moves(shown), shown["sequence"]) == (DONE, 2, list(range(1, len(shown["sequence"]) + 1)))
    assert ours.ask("audit") == []
    assert sorted((tmp_path / "runs.log").read_text().splitlines()) == [f"{id}/first/1", f"{id}/last/1"]


@pytest.mark.req("V13")
@pytest.mark.timeout(300)
def test_a_move_while_the_server_is_away_is_finished_by_another_process(
    server: TemporalServer, opened: Opened, tmp_path: Path
) -> None:
    """Stopped after the record and before the workflow: nobody else may carry it, and nothing is lost."""
    id = begun_embedded(opened)
    ours = opened()
    server.kill()
    assert ours.ask("move", instance=id, to="temporal")["is_dry"] is False
    waits = ours.ask("publish", id="m1")
    assert waits["error"] == "engine.unavailable"
    ours.kill()
    embedded = opened("embedded")
    refused = embedded.ask("suspend", instance=id)
    assert "the engine 'temporal' carries it" in refused["text"], "the record is the fence"
    embedded.end()
    server.start()
    ours = opened()
    assert ours.ask("reached", instance=id, element="review") == "active", "the message was kept, and counts once"
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], moves(shown)) == (DONE, 1)
    assert ours.ask("audit") == []


@pytest.mark.timeout(300)
def test_two_processes_agree_who_carries_a_moved_instance(opened: Opened, tmp_path: Path) -> None:
    """Each remembers carriers; the one that did not move it finds out at its next command, in both directions."""
    id = begun_embedded(opened)
    first, second = opened(), opened()
    assert second.ask("suspend", instance=id) == "suspended"
    first.ask("move", instance=id, to="temporal")
    assert second.ask("resume", instance=id) == "active"
    first.ask("move", instance=id, to="embedded")
    assert second.ask("suspend", instance=id) == "suspended"
    assert second.ask("resume", instance=id) == "active"
    assert second.ask("publish", id="m1") == "correlated"
    first.ask("reached", instance=id, element="review")
    assert first.ask("complete", instance=id, ok=True) == "completed"
    shown = first.ask("show", instance=id)
    assert (shown["data"], moves(shown)) == (DONE, 2)
    assert Counter((tmp_path / "runs.log").read_text().splitlines()) == {f"{id}/first/1": 1, f"{id}/last/1": 1}
    assert first.ask("audit") == []


@pytest.mark.req("V13")
@pytest.mark.timeout(400)
def test_a_move_stopped_at_any_commit_leaves_one_engine_and_loses_nothing(store_url: str, tmp_path: Path) -> None:
    output = tmp_path / "crashes.json"
    store = [store_url] if store_url.startswith("postgres") else []
    command = [sys.executable, "-m", "tests.engines.temporal.move_crashes", str(output), *store]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "ServiceUnavailable" in done.stderr:
        unavailable(done.stderr.strip().splitlines()[-1])
    assert output.exists(), done.stderr[-3000:]
    found = json.loads(output.read_text())
    for to in ("temporal", "embedded"):
        assert [each["stopped"] for each in found if each["to"] == to][-1] is False, "every commit was stopped at"
    assert sum(each["stopped"] for each in found) >= 6
    for each in found:
        assert (each["message"], each["done"], each["data"]) == ("correlated", "completed", DONE), each
        assert (each["runs"], each["audit"]) == (["first/1", "last/1"], []), each
