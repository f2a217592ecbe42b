"""What Camunda's REST API and its exporter say, in both spellings, and pauses between attempts."""

from __future__ import annotations

import json

import pytest

from perdure.engines.camunda.backoff import LONGEST, pause_after
from perdure.engines.camunda.exported_records import Place, actions_of, facts_of, read_bulk
from perdure.engines.camunda.wire import definition_keys, gateway_version, is_healthy, partition_of, read_jobs


@pytest.mark.parametrize(
    "spelling",
    [
        {"key": 2251799813685257, "processInstanceKey": 2251799813685251, "elementInstanceKey": 2251799813685256},
        {
            "jobKey": "2251799813685257",
            "processInstanceKey": "2251799813685251",
            "elementInstanceKey": "2251799813685256",
        },
    ],
)
def test_a_job_is_read_from_numbers_and_from_text(spelling: dict[str, object]) -> None:
    told = {"type": "kyc.one", "elementId": "one", "retries": 3, "variables": {"domain_payload": "{}"}, **spelling}
    (job,) = read_jobs({"jobs": [told]})
    assert (job.key, job.instance, job.element_instance) == (
        "2251799813685257", "2251799813685251", "2251799813685256",
    )  # fmt: skip
    assert (job.payload, job.payload_hash, job.iteration) == ("{}", "", 0)


def test_the_key_of_a_definition_is_found_by_its_process() -> None:
    one = {"processDefinition": {"processDefinitionId": "order", "processDefinitionKey": 17}}
    other = {"process": {"bpmnProcessId": "refund", "processDefinitionKey": "18"}}
    assert definition_keys({"deployments": [one, other]}) == {"order": "17", "refund": "18"}


def test_a_key_says_which_partition_made_it() -> None:
    assert [partition_of(key) for key in ("2251799813685249", "4503599627370497", "")] == [1, 2, 0]


def test_a_cluster_is_healthy_when_every_partition_has_a_leader_that_works() -> None:
    led = {"partitionId": 1, "role": "leader", "health": "healthy"}
    follows = {"partitionId": 2, "role": "follower", "health": "healthy"}
    topology = {"gatewayVersion": "8.6.0", "partitionsCount": 2, "brokers": [{"partitions": [led, follows]}]}
    assert gateway_version(topology) == "8.6.0"
    assert not is_healthy(topology)
    assert is_healthy({**topology, "brokers": [{"partitions": [led, {**follows, "role": "leader"}]}]})


@pytest.mark.req("V27")
def test_pauses_grow_with_failures_up_to_a_bound_and_differ_by_chance() -> None:
    longest = [pause_after(failures, 1.0) for failures in range(1, 12)]
    assert longest == sorted(longest)
    assert (longest[0], longest[1], longest[-1]) == (100_000, 200_000, LONGEST)
    assert pause_after(5, 0.0) < pause_after(5, 0.5) < pause_after(5, 1.0)
    assert pause_after(10_000, 1.0) == LONGEST


def record(position: int, kind: str, intent: str, partition: int = 1, **value: object) -> dict[str, object]:
    return {
        "partitionId": partition, "position": position, "key": 900 + position, "timestamp": 1_700_000_000_000,
        "recordType": "EVENT", "valueType": kind, "intent": intent, "value": {"processInstanceKey": 7, **value},
    }  # fmt: skip


def bulk(*records: dict[str, object]) -> bytes:
    lines = [line for each in records for line in (b'{"index":{}}', json.dumps(each).encode())]
    return b"\n".join(lines) + b"\n"


def test_facts_come_in_the_order_of_the_log_whatever_order_records_come_in() -> None:
    fired = record(12, "TIMER", "TRIGGERED", targetElementId="overdue", elementInstanceKey=40)
    made = record(9, "USER_TASK", "CREATED", elementId="review", userTaskKey=55)
    whole = record(20, "PROCESS_INSTANCE", "ELEMENT_TERMINATED", bpmnElementType="PROCESS", parentProcessInstanceKey=-1)
    part = record(19, "PROCESS_INSTANCE", "ELEMENT_TERMINATED", bpmnElementType="USER_TASK")
    command = {**record(21, "TIMER", "TRIGGERED"), "recordType": "COMMAND"}
    facts = facts_of([whole, fired, made, part, command], Place())
    assert [(each.kind, each.position, each.element, each.key) for each in facts] == [
        ("task", 9, "review", "55"), ("timer", 12, "overdue", "912"), ("terminated", 20, "", "920"),
    ]  # fmt: skip
    assert {each.instance for each in facts} == {"7"}


def test_a_record_that_was_read_before_is_dropped_by_its_partition_and_position() -> None:
    place = Place()
    first, again = record(5, "TIMER", "TRIGGERED"), record(5, "TIMER", "TRIGGERED")
    assert len(facts_of([first, again], place)) == 1
    place.reach(1, 5)
    assert facts_of([again], place) == []
    assert [each.partition for each in facts_of([record(5, "TIMER", "TRIGGERED", partition=2)], place)] == [2]


def test_a_bulk_request_is_answered_for_each_of_its_records() -> None:
    body = bulk(record(1, "JOB", "CREATED"), record(2, "TIMER", "TRIGGERED"))
    assert actions_of(body) == 2
    assert [each["position"] for each in read_bulk(body)] == [1, 2]
    assert read_bulk(b'{"index":{}}\nnot json\n') == []


def test_an_incident_names_its_job_unless_it_is_of_none() -> None:
    with_job = record(1, "INCIDENT", "CREATED", elementId="a", jobKey=44, errorType="JOB_NO_RETRIES", errorMessage="x")
    without = record(2, "INCIDENT", "CREATED", elementId="g", jobKey=-1, errorType="CONDITION_ERROR")
    assert [(each.job, each.words, each.key) for each in facts_of([with_job, without], Place())] == [
        ("44", "JOB_NO_RETRIES x", "901"), ("", "CONDITION_ERROR", "902"),
    ]  # fmt: skip
