"""The retry policy of a job: the task's, else the sub-verb's, else that of the durable verb its process carries."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from perdure import Call, Transient
from tests.engines.embedded.carried_world import carried, settled

VERBS = """
- {{name: p.plain, execution: {{kind: sync}}}}
- {{name: p.own, execution: {{kind: sync, retry: {{max_attempts: 2}}}}}}
- {{name: p.once, execution: {{kind: sync, retry: {{max_attempts: 1}}}}}}
- {{name: p.patient, execution: {{kind: sync, retry: {{base_delay: PT9S}}}}}}
- name: p.carried
  execution:
    kind: durable
    process: carried
    sub_verbs: [p.plain, p.own, p.once, p.patient]
    {policy}
"""
MODEL = """
== carried
start s
service a {type}
end e
s > a > e
"""
POLICIES = {
    "policy: {max_retries: 4, backoff: fixed, base_delay: PT2S, max_delay: PT2S}": 5,
    "retry: {max_attempts: 3, backoff: fixed, base_delay: PT2S, max_delay: PT2S}": 3,
    "policy: {timeout: P14D}": 1,
}


class Down:
    """A service that never answers."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()

    async def __call__(self, call: Call) -> dict[str, Any]:
        self.runs[call.verb] += 1
        raise Transient("the registry does not answer")


async def tried(url: str, policy: str, type: str) -> tuple[int, dict[str, Any]]:
    """How often a job of that type runs under that policy of its durable verb, and how it is bound."""
    down = Down()
    handlers = dict.fromkeys(("p.plain", "p.own", "p.once", "p.patient"), down)
    async with carried(url, VERBS.format(policy=policy), MODEL.format(type=type), handlers) as sandbox:
        call = await settled(sandbox, "p.carried")
        assert call.waiting_for.kind == "incident"
        shown = await sandbox.processes.get("carried")
        verb, _, _ = type.partition(" ")
        return down.runs[verb], shown.bindings[verb]


@pytest.mark.both_stores
@pytest.mark.req("V3", "V16")
@pytest.mark.parametrize("policy", POLICIES)
async def test_the_policy_of_a_durable_verb_governs_the_jobs_of_its_process(store_url: str, policy: str) -> None:
    runs, bound = await tried(store_url, policy, "p.plain")
    assert runs == POLICIES[policy]
    assert bound["policy"]["max_attempts"] == POLICIES[policy], "what is pinned is what is shown"
    assert (bound["policy"]["backoff"] == "fixed") is (runs > 1)


@pytest.mark.req("V3", "V16")
@pytest.mark.parametrize(
    ("type", "runs"), [("p.own", 2), ("p.once", 1), ("p.plain retries=4", 4), ("p.own retries=3", 3)]
)
async def test_a_task_or_a_sub_verb_that_says_how_often_it_is_tried_is_heard_first(
    sqlite_url: str, type: str, runs: int
) -> None:
    told, _ = await tried(sqlite_url, "policy: {max_attempts: 7}", type)
    assert told == runs


@pytest.mark.req("V3")
@pytest.mark.parametrize(("type", "runs", "base"), [("p.own", 2, 1.0), ("p.patient", 1, 9.0)])
async def test_a_sub_verb_that_writes_part_of_a_policy_keeps_it_whole(
    sqlite_url: str, type: str, runs: int, base: float
) -> None:
    policy = "policy: {max_attempts: 7, backoff: fixed, base_delay: PT5S, jitter: 0}"
    told, bound = await tried(sqlite_url, policy, type)
    kept = bound["policy"]
    assert (told, kept["max_attempts"], kept["base_delay_seconds"]) == (runs, runs, base)
    assert (kept["backoff"], kept["jitter"]) == ("exponential", 0.1), "what it leaves out has its default"


@pytest.mark.req("V25")
async def test_the_policy_a_running_process_was_deployed_with_stays_its_own(sqlite_url: str) -> None:
    down, handlers = Down(), {}
    handlers.update(dict.fromkeys(("p.plain", "p.own", "p.once", "p.patient"), down))
    model = MODEL.format(type="p.plain")
    first = VERBS.format(policy="policy: {max_attempts: 3, base_delay: PT1M, backoff: fixed}")
    async with carried(sqlite_url, first, model, handlers) as sandbox:
        call = await sandbox.call("p.carried", {})
        await sandbox.run_until_idle()
    later = VERBS.format(policy="policy: {max_attempts: 6, base_delay: PT1M, backoff: fixed}")
    async with carried(sqlite_url, later, model, handlers) as sandbox:
        await sandbox.advance("PT1H")
        assert (await sandbox.status(call.id)).waiting_for.kind == "incident"
        assert down.runs["p.plain"] == 3
        shown = {each: await sandbox.processes.get("carried", each) for each in (1, 2)}
        assert [shown[each].bindings["p.plain"]["max_attempts"] for each in (1, 2)] == [3, 6]
