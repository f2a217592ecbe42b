"""A waiting instance changes its engine to Camunda and back: on a real broker, with kills between the steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.camunda.conftest import Cluster
from tests.engines.temporal.conftest import OurProcess

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300)]
Opened = Callable[..., OurProcess]
DONE = {"given": 1, "one": 1, "ok": True, "two": 2}


def moves(shown: dict[str, list[list[str]]]) -> int:
    return sum(entries.count("CarrierChanged") for entries in shown["entries"])


def begun_embedded(opened: Opened, process: str = "journey", element: str = "await") -> str:
    """An instance of the embedded engine that waits."""
    ours = opened("embedded")
    ours.ask("deploy")
    id = str(ours.ask("start", process=process, key=process, given=1))
    assert ours.ask("reached", instance=id, element=element) == "active"
    ours.end()
    return id


@pytest.mark.req("V13")
def test_an_instance_goes_to_camunda_and_comes_back(opened: Opened, cluster: Cluster, tmp_path: Path) -> None:
    id = begun_embedded(opened)
    ours = opened()
    plan = ours.ask("move", instance=id, to="camunda", dry_run=True, shadow=True)
    assert (plan["carrier"], plan["to"], plan["shadow"], plan["is_dry"]) == ("embedded", "camunda", "equal", True)
    assert plan["waits"] == ["message:paid"]
    assert (moves(ours.ask("show", instance=id)), ours.ask("key", instance=id)) == (0, ""), "a dry run moves nothing"
    moved = ours.ask("move", instance=id, to="camunda", shadow=True, reason="it grows")
    assert moved["certificate"].startswith("sha256:") and not moved["is_dry"]
    assert cluster.is_open(ours.ask("key", instance=id))
    again = ours.ask("move", instance=id, to="camunda")
    assert "the engine 'camunda' carries it already" in again["text"]
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=id, element="review")
    back = ours.ask("move", instance=id, to="embedded", shadow=True)
    assert (back["carrier"], back["shadow"]) == ("camunda", "equal")
    assert not cluster.is_open(ours.ask("key", instance=id)), "nothing of it is left in Camunda"
    third = ours.ask("move", instance=id, to="camunda")
    assert "Camunda carried it before" in third["text"]
    ours.end()

    ours = opened("embedded")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], moves(shown), shown["sequence"]) == (DONE, 2, list(range(1, len(shown["sequence"]) + 1)))
    assert ours.ask("audit") == []
    assert sorted((tmp_path / "runs.log").read_text().splitlines()) == [f"{id}/first/1", f"{id}/last/1"]


@pytest.mark.req("V13")
def test_what_was_moved_to_camunda_ends_there(opened: Opened, cluster: Cluster, tmp_path: Path) -> None:
    """Its jobs and its task come from there, and the process that moved it was killed."""
    id = begun_embedded(opened)
    ours = opened()
    ours.ask("move", instance=id, to="camunda")
    ours.kill()
    ours = opened()
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=id, element="review")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], moves(shown)) == (DONE, 1)
    assert not cluster.is_open(ours.ask("key", instance=id))
    assert ours.ask("audit") == []
    assert sorted((tmp_path / "runs.log").read_text().splitlines()) == [f"{id}/first/1", f"{id}/last/1"]


@pytest.mark.req("V13")
def test_an_instance_that_began_in_camunda_is_taken_away(opened: Opened, cluster: Cluster, tmp_path: Path) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k", given=1)
    ours.ask("reached", instance=id, element="await")
    key = ours.ask("key", instance=id)
    assert ours.ask("move", instance=id, to="embedded")["carrier"] == "camunda"
    assert not cluster.is_open(key)
    assert ours.ask("show", instance=id)["state"] == "active", "its end in Camunda does not end it here"
    assert ours.ask("go", id="g1") == "correlated"
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert ours.ask("show", instance=id)["data"] == {"given": 1, "one": 1, "two": 2}
    assert (tmp_path / "runs.log").read_text().splitlines() == [f"{id}/one/1", f"{id}/two/1"]
    assert ours.ask("audit") == []


@pytest.mark.req("V13")
def test_a_move_away_goes_before_a_job_that_is_taken_meanwhile(
    opened: Opened, cluster: Cluster, tmp_path: Path
) -> None:
    """Camunda has let the instance go and its answer is lost: a worker that takes its job then takes it here."""
    ours = opened()
    ours.ask("deploy")
    ours.ask("deaf")
    id = ours.ask("start", process="waits", key="k", given=1)
    ours.ask("lose_answers", path="/cancellation")
    told = ours.ask("move", instance=id, to="embedded")
    assert (told["error"], cluster.is_open(ours.ask("key", instance=id))) == ("engine.unavailable", False)
    assert "its answer was lost" in str(ours.ask("take", instance=id)), "nobody takes its job before the move is over"
    ours.ask("find_answers")
    assert ours.ask("reached", instance=id, element="await") == "active"
    shown = ours.ask("show", instance=id)
    assert (shown["state"], moves(shown)) == ("active", 1), "moved, and not cancelled"
    assert ours.ask("go", id="g1") == "correlated"
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert (tmp_path / "runs.log").read_text().splitlines() == [f"{id}/one/1", f"{id}/two/1"]
    assert ours.ask("audit") == []


@pytest.mark.req("V13")
def test_what_camunda_cannot_take_along_is_refused_by_name(opened: Opened) -> None:
    timed = begun_embedded(opened, "timed", "await")
    booked = begun_embedded(opened, "undone", "ask")
    ours = opened()
    refused = ours.ask("move", instance=timed, to="camunda", dry_run=True)
    assert "the timer 'late' runs until" in refused["text"]
    refused = ours.ask("move", instance=booked, to="camunda")
    assert "something was done that may have to be undone: book" in refused["text"]
    assert moves(ours.ask("show", instance=booked)) == 0


@pytest.mark.req("V13")
@pytest.mark.parametrize("path", ["/process-instances", "/deployments"])
def test_an_instance_that_camunda_does_not_begin_stays_here(opened: Opened, path: str) -> None:
    id = begun_embedded(opened)
    ours = opened()
    ours.ask("refuse", path=path)
    refused = ours.ask("move", instance=id, to="camunda")
    assert "Camunda does not begin it there: " in refused["text"]
    assert "INVALID_ARGUMENT: it cannot begin there" in refused["text"]
    assert moves(ours.ask("show", instance=id)) == 2, "there and back"
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=id, element="review")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    assert (ours.ask("show", instance=id)["data"], ours.ask("audit")) == (DONE, [])


@pytest.mark.req("V13")
def test_a_move_while_the_broker_is_away_is_finished_by_another_process(opened: Opened, cluster: Cluster) -> None:
    """Stopped after the record and before the process instance: nobody else may carry it, and nothing is lost."""
    id = begun_embedded(opened)
    ours = opened()
    cluster.broker.kill()
    try:
        assert ours.ask("move", instance=id, to="camunda")["is_dry"] is False
        ours.kill()
        embedded = opened("embedded")
        refused = embedded.ask("suspend", instance=id)
        assert "the engine 'camunda' carries it" in refused["text"], "the record is the fence"
        embedded.end()
    finally:
        cluster.broker.start()
    ours = opened()
    while ours.ask("publish", id="m1") not in ("correlated", "duplicate"):
        ours.ask("audit")  # refused while the broker comes back; a duplicate was taken although its answer was lost
    ours.ask("reached", instance=id, element="review")
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], moves(shown)) == (DONE, 1)
    assert ours.ask("audit") == []
