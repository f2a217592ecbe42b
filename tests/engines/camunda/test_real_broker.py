"""Instances carried by a real Camunda 8 broker: jobs, messages, people, timers, incidents, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from perdure.testing.server_process import free_ports
from tests.engines.camunda.conftest import Cluster
from tests.engines.temporal.conftest import OurProcess

pytestmark = [pytest.mark.deep, pytest.mark.timeout(240)]
Opened = Callable[..., OurProcess]
WAY = [
    ["InstanceStarted", "Passed", "Entered", "JobMade"], ["JobStarted"], ["JobCompleted", "Left", "Entered", "Armed"],
    ["Occurred", "Left", "Entered", "Armed"], ["Occurred", "Left", "Entered", "TaskOpened"],
    ["HeadChanged", "TaskCompleted", "Left", "Entered", "JobMade"], ["JobStarted"],
    ["JobCompleted", "Left", "Passed", "InstanceEnded"],
]  # fmt: skip


@pytest.mark.req("V13", "V15", "V19")
def test_an_instance_is_carried_from_its_start_to_its_end(opened: Opened, cluster: Cluster, tmp_path: Path) -> None:
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
    assert (tmp_path / "runs.log").read_text().splitlines() == [f"{id}/first/1", f"{id}/last/1"]
    assert not cluster.is_open(ours.ask("key", instance=id)), "it has ended in Camunda as well"
    assert ours.ask("audit") == []


@pytest.mark.req("V14", "V27")
def test_a_job_that_comes_twice_runs_once(opened: Opened, tmp_path: Path) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k")
    ours.ask("reached", instance=id, element="await")
    before = ours.ask("show", instance=id)
    assert ours.ask("deliveries", instance=id) >= 1
    assert ours.ask("show", instance=id) == before
    assert ours.ask("go", id="g1") == "correlated"
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    ours.ask("deliveries", instance=id)
    assert (tmp_path / "runs.log").read_text().splitlines() == [f"{id}/one/1", f"{id}/two/1"]


@pytest.mark.req("V19")
def test_a_message_that_comes_early_is_kept_and_counts_once(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    assert ours.ask("go", id="early", ttl=600) == "buffered"
    id = ours.ask("start", process="waits", key="k")
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert ours.ask("go", id="early", ttl=600) == "duplicate"
    assert ours.ask("go", id="late") == "no_subscription"


@pytest.mark.req("V14")
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


@pytest.mark.req("V33")
def test_parallel_branches_keep_both_their_changes(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    ids = ours.ask("starts", process="branches", count=10)
    for n, id in enumerate(ids):
        assert ours.ask("reached", instance=id, element="completed") == "completed"
        assert ours.ask("show", instance=id)["data"] == {"n": n, "one": 1, "two": 2}


@pytest.mark.req("V27")
def test_attempts_follow_the_policy_and_end_in_an_incident_that_is_retried_from_here(
    opened: Opened, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="shaky", key="k")
    ((token, code, text),) = ours.ask("incidents", instance=id)
    assert (code, "the other side is away" in text) == ("job.retries_exhausted", True)
    assert (tmp_path / "shaky.log").read_text().split() == ["1", "2"]
    (tmp_path / "mended").touch()
    ours.ask("retry", instance=id, token=token)
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert ours.ask("show", instance=id)["data"] == {"shaky": 3, "two": 2}


@pytest.mark.req("V34")
def test_an_incident_that_is_resolved_in_camunda_goes_on_here(opened: Opened, cluster: Cluster, tmp_path: Path) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="shaky", key="k")
    ((token, _, _),) = ours.ask("incidents", instance=id)
    job, incident = ours.ask("keys", instance=id, token=token)
    (tmp_path / "mended").touch()
    cluster.request("PATCH", f"jobs/{job}", {"changeset": {"retries": 1}})
    cluster.request("POST", f"incidents/{incident}/resolution", {})
    assert ours.ask("reached", instance=id, element="completed") == "completed"


def test_a_business_error_takes_its_event(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="caught", key="k")
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert ours.ask("show", instance=id)["data"] == {"two": 2}


@pytest.mark.parametrize("how", ["altered", "foreign", "stale"])
@pytest.mark.req("V33")
def test_a_payload_that_camunda_changed_is_refused_and_becomes_an_incident(
    opened: Opened, cluster: Cluster, how: str, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k", given=1)
    ours.ask("reached", instance=id, element="await")
    key = ours.ask("key", instance=id)
    first, head = ours.ask("payloads", instance=id)
    wrong = {
        "altered": {"domain_payload": head[0].replace('"given":1', '"given":2'), "domain_payload_hash": head[1]},
        "foreign": {"domain_payload": "{}", "domain_payload_hash": SHA_OF_EMPTY_OBJECT},
        "stale": {"domain_payload": first[0], "domain_payload_hash": first[1]},
    }[how]
    cluster.set_variables(key, **wrong)
    assert ours.ask("go", id="g1") == "correlated"
    ((token, code, text),) = ours.ask("incidents", instance=id)
    said = {"altered": "was altered", "foreign": "never had", "stale": "from before its token"}[how]
    assert (code, said in text) == ("payload.refused", True)
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1, "nothing ran with it"
    cluster.set_variables(key, domain_payload=head[0], domain_payload_hash=head[1])
    ours.ask("retry", instance=id, token=token)
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert ours.ask("show", instance=id)["data"] == {"given": 1, "one": 1, "two": 2}


SHA_OF_EMPTY_OBJECT = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.req("V23")
def test_an_instance_is_cancelled_on_both_sides_from_either(opened: Opened, cluster: Cluster) -> None:
    ours = opened()
    ours.ask("deploy")
    mine, theirs = [ours.ask("start", process="waits", key=key) for key in ("mine", "theirs")]
    for id in (mine, theirs):
        ours.ask("reached", instance=id, element="await")
    assert ours.ask("cancel", instance=mine) == "cancelled"
    assert not cluster.is_open(ours.ask("key", instance=mine))
    cluster.request("POST", f"process-instances/{ours.ask('key', instance=theirs)}/cancellation", {})
    assert ours.ask("reached", instance=theirs, element="cancelled") == "cancelled"


@pytest.mark.req("V20")
def test_a_task_is_claimed_here_and_completed_in_tasklist(opened: Opened, cluster: Cluster) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="asks", key="k", given=1)
    ours.ask("reached", instance=id, element="review")
    task = ours.ask("task_key", instance=id)
    assert ours.ask("claim", instance=id, who="rita") == "rita"
    taken = {"assignee": "sam", "allowOverride": False}
    assert cluster.status("POST", f"user-tasks/{task}/assignment", taken) == 409, "Camunda knows that it is taken"
    cluster.request("POST", f"user-tasks/{task}/completion", {"variables": {"sneaked": 1}})
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    shown = ours.ask("show", instance=id)
    assert shown["data"] == {"given": 1, "two": 2}, "data comes through the runtime, never through the engine"


@pytest.mark.req("V27")
def test_a_twin_of_a_start_is_refused_and_cancelled(opened: Opened, cluster: Cluster, tmp_path: Path) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k")
    ours.ask("reached", instance=id, element="await")
    first, _ = ours.ask("payloads", instance=id)
    body = {
        "processDefinitionId": "waits", "processDefinitionVersion": -1,
        "variables": {"domain_payload": first[0], "domain_payload_hash": first[1]},
    }  # fmt: skip
    twin = str(cluster.request("POST", "process-instances", body)["processInstanceKey"])
    while cluster.is_open(twin):
        ours.ask("show", instance=id)
    assert cluster.is_open(ours.ask("key", instance=id))
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1


def test_a_call_begun_while_camunda_is_away_is_carried_once_when_it_is_back(
    cluster: Cluster, opened: Opened, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    cluster.broker.kill()
    try:
        call = ours.ask("call", given=1)
        assert ours.ask("called", id=call) == "parked"
        assert ours.ask("publish", id="m1") == "no_subscription"
    finally:
        cluster.broker.start()
    while ours.ask("called", id=call) != "completed":
        ours.ask("audit")
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1


@pytest.mark.req("V25")
def test_a_waiting_instance_migrates_when_asked(opened: Opened, cluster: Cluster) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k")
    ours.ask("reached", instance=id, element="await")
    assert ours.ask("deploy_longer") == 2
    assert ours.ask("migrate", instance=id) == 2
    assert ours.ask("go", id="g1") == "correlated"
    assert ours.ask("reached", instance=id, element="completed") == "completed"
    assert [entry for each in ours.ask("show", instance=id)["entries"] for entry in each].count("JobCompleted") == 3


def test_what_camunda_lacks_is_refused_with_the_capability(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k")
    ours.ask("reached", instance=id, element="await")
    refused = ours.ask("suspend", instance=id)
    assert (refused["error"], "its engine cannot suspend" in refused["text"]) == ("command.rejected", True)


def test_a_server_that_is_away_keeps_nobody_from_opening(opened: Opened) -> None:
    ours = opened(f"camunda://127.0.0.1:{free_ports(1)[0]}")
    assert ours.first == "ready"
    assert ours.ask("start", process="journey")["error"] == "command.rejected"


def test_an_address_that_is_no_camunda_is_refused_with_a_sentence(opened: Opened, cluster: Cluster) -> None:
    refused = opened(f"{cluster.broker.url}?release=8.9").first
    assert refused["error"] == "engine.setting"
    assert "it is Camunda 8.6.0, and the url says release 8.9" in refused["text"]


def test_another_engine_does_not_decide_what_camunda_carries(opened: Opened) -> None:
    ours = opened()
    ours.ask("deploy")
    id = ours.ask("start", process="waits", key="k")
    ours.ask("reached", instance=id, element="await")
    ours.end()
    embedded = opened("embedded")
    refused = embedded.ask("cancel", instance=id)
    assert (refused["error"], "the engine 'camunda' carries it" in refused["text"]) == ("command.rejected", True)
    assert embedded.ask("show", instance=id)["state"] == "active"
