"""The policy catalogue: strict to read, and pinned by values alone."""

from __future__ import annotations

import msgspec
import pytest

from perdure.bpmn.contract.policies import Policy, PolicyLock, Retry, read_lock
from perdure.errors import DefinitionError
from perdure.processes.policy_file import parse_policies

RIGHT = """\
version: 1
policies:
  default:
    schedule_to_close: PT10M
    start_to_close: 60
    retry: {maximum_attempts: 3, initial_interval: 1, maximum_interval: 30.5, backoff_coefficient: 2.0}
  once:
    schedule_to_close: 5
    start_to_close: 5
    retry:
      maximum_attempts: 1
      initial_interval: 1
      maximum_interval: 1
      backoff_coefficient: 1
      non_retryable_error_types: [InvalidOrder]
"""


@pytest.mark.req("B4")
def test_a_catalogue_is_read_with_numbers_and_durations() -> None:
    catalogue = parse_policies(RIGHT)
    assert catalogue.names() == ("default", "once")
    assert catalogue.get("default") == Policy(
        name="default", schedule_to_close_seconds=600, start_to_close_seconds=60,
        retry=Retry(
            maximum_attempts=3, initial_interval_seconds=1, maximum_interval_seconds=30.5, backoff_coefficient=2
        ),
    )  # fmt: skip
    assert catalogue.get("once").retry.non_retryable_error_types == ("InvalidOrder",)


@pytest.mark.req("B4")
@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("version: 1", "version: 2", 1, "policies.version"),
        ("version: 1", "version: true", 1, "policies.version"),
        ("version: 1\n", "", 1, "policies.missing"),
        ("  once:", "  default:", 7, "yaml.duplicate_key"),
        ("  once:", "  ' once':", 8, "policy.name"),
        ("PT10M", "PT", 4, "policy.duration"),
        ("PT10M", "0", 4, "policy.wrong_value"),
        ("PT10M", "true", 4, "policy.wrong_value"),
        ("PT10M", "-5", 4, "policy.wrong_value"),
        ("PT10M", "P1M", 4, "policy.duration"),
        ("start_to_close: 60", "start_to_close: 601", 5, "policy.wrong_value"),
        ("start_to_close: 60", "start_to_clos: 60", 5, "policy.unknown_key"),
        ("maximum_attempts: 3", "maximum_attempts: 0", 6, "policy_retry.wrong_value"),
        ("maximum_attempts: 3", "maximum_attempts: 1.5", 6, "policy_retry.wrong_value"),
        ("maximum_attempts: 3, ", "", 6, "policy_retry.missing"),
        ("maximum_interval: 30.5", "maximum_interval: 0.5", 6, "policy_retry.wrong_value"),
        ("backoff_coefficient: 2.0", "backoff_coefficient: 0.9", 6, "policy_retry.wrong_value"),
        ("[InvalidOrder]", "[1]", 15, "policy_retry.wrong_type"),
        ("policies:", "policy:", 2, "policies.unknown_key"),
    ],
)
def test_whatever_is_wrong_is_told_with_its_line_field_and_fix(old: str, new: str, line: int, code: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse_policies(RIGHT.replace(old, new, 1), "bpmn/policies.yaml")
    problems = {(each.code, each.line): each for each in refused.value.problems}
    assert (code, line) in problems
    assert all(each.hint and each.file == "bpmn/policies.yaml" for each in problems.values())


def test_a_lock_holds_values_alone_and_reads_back() -> None:
    catalogue = parse_policies(RIGHT)
    lock = PolicyLock({"ship": "default", "bill": "once"}, catalogue.policies)
    assert read_lock(lock.text()).text() == lock.text()
    assert lock.text() == PolicyLock({"bill": "once", "ship": "default"}, catalogue.policies[::-1]).text()
    assert '"schedule_to_close": 600,' in lock.text()


@pytest.mark.parametrize("text", ["", "{}", '{"version": 2, "tasks": {}, "policies": {}}', '{"version": 1, "odd": 1}'])
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_lock(text)
