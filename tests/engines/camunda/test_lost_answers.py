"""The broker carried a request out and its answer was lost: nothing is done twice, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.camunda.conftest import Cluster
from tests.engines.temporal.conftest import OurProcess

pytestmark = [pytest.mark.deep, pytest.mark.timeout(240)]
Opened = Callable[..., OurProcess]
STARTS, ENDS = "/process-instances", "/cancellation"


def waiting(ours: OurProcess) -> str:
    ours.ask("deploy")
    id = str(ours.ask("start", process="waits", key="k"))
    ours.ask("reached", instance=id, element="await")
    return id


def ends(shown: dict[str, list[list[str]]]) -> int:
    return sum(entries.count("InstanceEnded") for entries in shown["entries"])


@pytest.mark.req("V35")
def test_a_cancellation_whose_answers_were_lost_is_told_and_then_finished(opened: Opened, cluster: Cluster) -> None:
    ours = opened()
    id = waiting(ours)
    ours.ask("lose_answers", path=ENDS)
    told = ours.ask("cancel", instance=id)
    assert (told["error"], "its answer was lost" in told["text"]) == ("engine.unavailable", True)
    assert not cluster.is_open(ours.ask("key", instance=id)), "it was carried out"
    ours.ask("find_answers")
    assert ours.ask("reached", instance=id, element="cancelled") == "cancelled"
    shown = ours.ask("show", instance=id)
    assert (shown["state"], ends(shown), ours.ask("audit")) == ("cancelled", 1, [])


@pytest.mark.req("V35")
def test_a_cancellation_is_finished_by_another_process(opened: Opened, cluster: Cluster) -> None:
    ours = opened()
    id = waiting(ours)
    key = ours.ask("key", instance=id)
    ours.ask("lose_answers", path=ENDS)
    ours.send("cancel", instance=id)
    while cluster.is_open(key):
        pass
    ours.kill()
    ours = opened()
    assert ours.ask("reached", instance=id, element="cancelled") == "cancelled"
    assert (ends(ours.ask("show", instance=id)), ours.ask("audit")) == (1, [])


@pytest.mark.req("V14", "V27")
def test_an_outcome_that_camunda_has_counts_before_the_job_is_taken_over(opened: Opened, tmp_path: Path) -> None:
    """A process died with an outcome on the way: whoever takes its jobs over does not begin that one again."""
    ours = opened()
    ours.ask("deploy")
    ours.ask("lose_answers", path="/completion")
    id = ours.ask("start", process="waits", key="k")
    log = tmp_path / "runs.log"
    while not log.exists() or not ours.ask("carried_out"):
        ours.ask("show", instance=id)
    ours.kill()
    ours = opened()
    assert ours.ask("reached", instance=id, element="await") == "active"
    assert ours.ask("go", id="g1") == "correlated"
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert log.read_text().splitlines() == [f"{id}/one/1", f"{id}/two/1"]
    assert ours.ask("audit") == []


@pytest.mark.req("V35")
def test_a_step_is_dispatched_once_though_no_answer_to_its_start_comes(
    opened: Opened, cluster: Cluster, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    ours.ask("lose_answers", path=STARTS)
    call = ours.ask("call", given=1)
    while ours.ask("called", id=call) != "completed":
        ours.ask("audit")
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1, "its first job told which one it is"
    for key in ours.ask("lost"):
        while cluster.is_open(key):
            ours.ask("audit")
    assert ours.ask("audit") == []


@pytest.mark.req("V35")
def test_what_began_unheard_is_cancelled_when_its_call_was_cancelled(
    opened: Opened, cluster: Cluster, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    ours.ask("deaf")
    ours.ask("lose_answers", path=STARTS)
    call = ours.ask("call", given=1)
    while not ours.ask("lost"):
        assert ours.ask("called", id=call) != "completed"
    assert ours.ask("give_up", call=call) == "cancelled"
    began = ours.ask("lost")
    ours.kill()
    ours = opened()
    for key in began:
        while cluster.is_open(key):
            ours.ask("audit")
    assert ours.ask("called", id=call) == "cancelled"
    assert not (tmp_path / "runs.log").exists(), "no job of it runs"
    assert ours.ask("audit") == []
