"""Scaffolded projects run unmodified on a real Temporal server: eight shapes, and what goes wrong around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.scaffold import verify
from tests.scaffold.conftest import EXAMPLES, FilledProject, Running, Runs
from tests.scaffold.model_changes import Changes


def replays(project: FilledProject, running: Running, id: str, tmp_path: Path) -> None:
    """The recorded history replays against the code."""
    histories = tmp_path / "histories"
    histories.mkdir(exist_ok=True)
    running.ask("record", id=id, file=str(histories / "run.json"))
    report = verify(project.folder, histories)
    assert (report.histories, report.findings) == (1, ())


def message(name: str, key: str, id: str, **payload: Any) -> dict[str, Any]:
    return {"message_name": name, "correlation_key": key, "message_id": id, "payload": payload}


@pytest.mark.deep
@pytest.mark.req("B5")
@pytest.mark.req("B7")
def test_a_linear_process_runs_to_its_end(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("linear", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"order": {"id": 7, "quantity": 2}, "customer": "Ann"})
    assert id == "ship-7"
    ended = running.ask("result", id=id)
    assert (ended["reservation"], ended["parcel"], ended["weight"]) == ({"id": "r-7"}, "r-7/north", 3)
    assert project.calls() == [
        "ship-7/reserve/reserve/1", "pack/7", "ship-7/tell_customer/tell_customer/1",
    ]  # fmt: skip
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B5")
def test_branches_run_at_once_and_meet(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("parallel", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"order": "o-1", "customer": "Ann"})
    assert running.ask("result", id=id)["confirmation"] == "1000/7/True"
    assert len(project.calls()) == 4
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B10")
def test_a_subprocess_runs_inside_the_process(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("subprocess", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"order": "o-2"})
    assert running.ask("result", id=id)["invoice"] == "o-2: box of book"
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B5")
@pytest.mark.req("B10")
def test_a_person_decides_and_refused_answers_change_nothing(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("gate", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"claim": {"id": "c-1"}})
    running.ask("until_event", id=id, kind="activity_task_completed")
    assert "no decision" in running.ask("answer", id=id, update="DecideClaim", decision="")
    assert "no such decision" in running.ask("answer", id=id, update="DecideClaim", decision="perhaps")
    assert running.ask("answer", id=id, update="DecideClaim", decision="approved", reason="fine") == ""
    ended = running.ask("result", id=id)
    assert (ended["payment"], ended["approval"]) == ("paid 120", {"decision": "approved", "reason": "fine"})
    assert running.ask("answer", id=id, update="DecideClaim", decision="declined") != ""
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B10")
def test_a_loop_repeats_until_its_condition_holds(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("loop", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"topic": "birds"})
    for round in (1, 2):
        running.ask("until_event", id=id, kind="activity_task_completed", count=round)
        decision = "bad" if round == 1 else "good"
        assert running.ask("answer", id=id, update="Update_review", decision=decision) == ""
    ended = running.ask("result", id=id)
    assert (ended["rounds"], ended["url"]) == (2, "/draft 2")
    assert project.calls()[:2] == ["article-birds/write/write/1", "article-birds/write/write/2"]
    replays(project, running, id, tmp_path)


@pytest.mark.req("B5")
@pytest.mark.req("B9")
@pytest.mark.req("B11")
def test_a_message_before_its_wait_is_held_and_counts_once(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("request-and-wait", tmp_path / "p")
    running = runs(project)
    early = message("RenderingCompleted", "job-f1", "m-1", frames=24, location="/f1")
    running.ask("start", state={"film": "other"})
    assert running.ask("accept", **early) is True
    assert running.ask("accept", **early) is False
    id = running.ask("start", state={"film": "f1"})
    assert running.ask("result", id=id)["url"] == "/f1?frames=24"
    replays(project, running, id, tmp_path)


@pytest.mark.req("B7")
def test_a_worker_killed_in_mid_wait_and_a_duplicate_delivery_lose_nothing(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("request-and-wait", tmp_path / "p", waiting_twice())
    running = runs(project)
    id = running.ask("start", state={"film": "f2"})
    running.ask("until_event", id=id, kind="upsert_workflow_search_attributes")
    running.kill_worker()
    arrived = message("RenderingCompleted", "job-f2", "m-2", frames=1, location="/f2")
    running.ask("signal", id=id, **arrived)
    running.ask("signal", id=id, **{**arrived, "payload": {"frames": 99, "location": "/wrong"}})
    running.start_worker()
    running.ask("until_event", id=id, kind="upsert_workflow_search_attributes", count=3)
    assert running.ask("state", id=id)["second"] is None
    running.ask("signal", id=id, **message("RenderingCompleted", "job-f2", "m-3", frames=2))
    ended = running.ask("result", id=id)
    assert (ended["url"], ended["second"]) == ("/f2?frames=1", 2)
    assert project.calls() == ["render/render-f2/f2", "render-f2/publish/publish/1"]
    replays(project, running, id, tmp_path)


def waiting_twice() -> str:
    """Two waits for one message with one key, one after the other."""
    second = """<bpmn:receiveTask id="again" name="Once more" messageRef="rendering_completed">
      <bpmn:documentation>The same again.</bpmn:documentation>
      <bpmn:extensionElements>
        <ameide:ioMapping><ameide:output source="result.frames" target="state.second" /></ameide:ioMapping>
      </bpmn:extensionElements>
    </bpmn:receiveTask>
    <bpmn:sequenceFlow id="again_to_publish" sourceRef="again" targetRef="publish" />
    <bpmn:sequenceFlow id="rendering_done_to_publish" sourceRef="rendering_done" targetRef="again\""""
    flow = '<bpmn:sequenceFlow id="rendering_done_to_publish" sourceRef="rendering_done" targetRef="publish"'
    return Changes("request-and-wait").replace(flow, second).text


@pytest.mark.deep
@pytest.mark.req("B4")
def test_failures_are_retried_as_the_policy_says(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("linear", tmp_path / "p")
    file = project.folder / "src" / project.package / "activities" / "customer_notify.py"
    file.write_text(file.read_text("utf-8").replace("return None", 'raise RuntimeError("not now")'), "utf-8")
    running = runs(project)
    id = running.ask("start", state={"order": {"id": 8, "quantity": 1}, "customer": "Ann"})
    assert "failed" in running.ask("result", id=id)
    assert project.calls().count("ship-8/tell_customer/tell_customer/1") == 2


@pytest.mark.deep
@pytest.mark.req("B10")
def test_a_boundary_timer_reminds_and_another_ends_the_wait(tmp_path: Path, runs: Runs) -> None:
    model = (EXAMPLES / "boundary-timer.bpmn").read_text("utf-8").replace(">P7D<", ">PT1S<").replace(">P14D<", ">PT4S<")
    project = FilledProject("boundary-timer", tmp_path / "p", model)
    running = runs(project)
    id = running.ask("start", state={"contract": "c1", "client": "Ann"})
    ended = running.ask("result", id=id)
    assert (ended["reminded"], ended["withdrawn"], ended["folder"]) == (True, True, None)
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B10")
def test_what_arrives_in_time_meets_no_boundary_timer(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("boundary-timer", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"contract": "c2", "client": "Ann"})
    running.ask("until_event", id=id, kind="timer_started", count=2)
    assert running.ask("accept", **message("ContractSigned", "env-c2", "m-3", signed_by="Bob")) is True
    ended = running.ask("result", id=id)
    assert (ended["folder"], ended["reminded"], ended["withdrawn"]) == ("signed by Bob", None, None)
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B7")
@pytest.mark.req("B10")
def test_the_delivery_process_runs_from_requirements_to_release(tmp_path: Path, runs: Runs) -> None:
    project = FilledProject("delivery", tmp_path / "p")
    running = runs(project)
    id = running.ask("start", state={"change": "ch-1"})
    steps = [
        ("requirements_request_start", "collect/1", "r"), ("specification_request_start", "specify/1", "s"),
        "Update_accept_specification",
        ("implementation_request_start", "implement/1", "i"), ("verification_request_start", "verify/1", "broken"),
        ("implementation_request_start", "implement/2", "i"), ("verification_request_start", "verify/2", "none"),
        ("acceptance_request_start", "prepare/1", "a"), "AcceptChange", "Update_approve_release",
        ("release_request_start", "roll_out/1", "out"), ("release_request_watch", "watch/1", "quiet"),
    ]  # fmt: skip
    done = 0
    for step in steps:
        if isinstance(step, tuple):
            done += 1
            running.ask("until_event", id=id, kind="activity_task_completed", count=done)
            key = f"{step[0]}-{step[1]}"
            running.ask("signal", id=id, **message("WorkCompleted", key, f"m-{key}", findings=step[2]))
        else:
            while running.ask("answer", id=id, update=step, decision="approved") != "":
                pass
    ended = running.ask("result", id=id)
    assert (ended["findings"], ended["acceptance"]["decision"]) == ("quiet", "approved")
    assert len(project.calls()) == 10
    replays(project, running, id, tmp_path)
