"""Decisions are told which one they are and what could be tried instead; a named handler spawns a durable verb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from perdure import BusinessError, Call, Decide, Transient
from perdure.errors import DefinitionError
from perdure.testing import Sandbox
from perdure.verbs import load_text

VERBS = """
- name: research_voting_share_registry
  input_schema: {required: [entities], properties: {entities: {type: array}, depth: {type: integer, default: 3}}}
  execution: {kind: sync, effects: none, alternatives: [search_registers, ask_notary]}
- name: search_registers
  description: Search the registers by hand
  input_schema: {required: [entities], properties: {entities: {type: array}}}
  execution: {kind: sync, effects: none}
- name: ask_notary
  description: Ask a notary
  execution: {kind: durable}
- name: choose
  input_schema: {properties: {step: {type: string}, error: {type: string}}}
  execution: {kind: sync, effects: none, decision: true}
- name: evaluate
  execution: {kind: sync, effects: none, decision: true}
- name: wait_for_papers
  execution: {kind: durable}
"""
PROGRAM = """
LET shares = EXEC research_voting_share_registry(entities: ["A", "B"]) ON FAILURE decide choose
LET first = EXEC evaluate() REEVALUATE always
LET papers = EXEC wait_for_papers() AFTER first
"""


@pytest.mark.both_stores
@pytest.mark.req("X28")
async def test_a_decision_is_told_which_point_it_is_and_what_could_be_tried_instead(store_url: str) -> None:
    told: list[Any] = []

    async def fails(call: Call) -> dict[str, Any]:
        raise BusinessError("registry.closed", "the registry is closed")

    async def choose(call: Call) -> Decide:
        told.append(call.context)
        others = call.context.alternatives if call.context is not None else []
        return Decide(add=[{"verb": each.verb, "name": each.verb, "args": each.args} for each in others])

    handlers = {
        "research_voting_share_registry": fails, "search_registers": lambda call: {"found": call.args["entities"]},
        "choose": choose, "evaluate": choose,
    }  # fmt: skip
    async with Sandbox.open(store_url, definitions=load_text(VERBS), handlers=handlers) as sandbox:
        run = await sandbox.runbooks.start(PROGRAM)
        await sandbox.run_until_idle()
        await sandbox.complete(f"{run.id}:3", {})
        await sandbox.run_until_idle()
        await sandbox.complete((await sandbox.runbooks.show(run.id)).step("ask_notary").waiting_for.key, {})  # type: ignore[union-attr]
        await sandbox.run_until_idle()
        assert {tuple(msgspec.to_builtins(each.decision_point).values()) for each in told} == {
            ("failure", "shares/decision", "choose", "shares"),
            ("step", "first", "evaluate", ""),
            ("resume", "papers/resumed", "evaluate", "papers"),
            ("resume", "ask_notary/resumed", "evaluate", "ask_notary"),
        }
        (failed,) = [each for each in told if each.decision_point.kind == "failure"]
        assert [(each.verb, each.description, each.args) for each in failed.alternatives] == [
            ("search_registers", "Search the registers by hand", {"entities": ["A", "B"]}),
            ("ask_notary", "Ask a notary", {}),
        ]
        assert failed.completed_step.error == "the registry is closed"
        assert {tuple(each.alternatives) for each in told if each is not failed} == {()}
        view = await sandbox.runbooks.show(run.id)
        assert (view.state, view.step("search_registers").result) == ("completed", {"found": ["A", "B"]})


@pytest.mark.parametrize(
    ("named", "fault"), [("nobody", "the verb 'nobody' does not exist"), ("choose", "no alternative to itself")]
)
def test_an_alternative_is_another_verb_that_there_is(named: str, fault: str) -> None:
    with pytest.raises(DefinitionError, match=fault):
        load_text(f"- {{name: choose, execution: {{kind: sync, alternatives: [{named}]}}}}")


SPAWNED = """
- name: request_client_documents
  domain: kyc
  execution:
    kind: durable
    handler: "queue::send"
    params: {queue: documents, correlation_field: case_id}
    correlation: {field: case_id}
    retry: {max_attempts: 2, base_delay: PT1M, backoff: fixed, jitter: 0}
    policy: {timeout: P14D}
  input_schema: {required: [case_id], properties: {case_id: {type: string}}}
- name: await_registry
  domain: kyc
  execution: {kind: durable, handler: "queue::send", params: {queue: registry}}
"""


@pytest.mark.both_stores
@pytest.mark.req("X28")
async def test_a_durable_verb_is_spawned_by_the_handler_its_definition_names(store_url: str) -> None:
    sent: list[tuple[str, str, str]] = []

    async def send(call: Call) -> None:
        if call.args.get("case_id") == "c-2":
            raise Transient("the broker is away")
        sent.append((call.params["queue"], call.correlation_key, call.idempotency_key))

    async with Sandbox.open(store_url, definitions=load_text(SPAWNED), handlers={"queue::send": send}) as sandbox:
        one = await sandbox.call("kyc.request_client_documents", {"case_id": "c-1"})
        two = await sandbox.call("kyc.await_registry")
        assert {one.state, two.state} == {"parked"}
        assert sent == [("documents", "c-1", f"{one.id}:1"), ("registry", f"{two.id}:1", f"{two.id}:1")]
        for _, key, _ in sent:
            assert (await sandbox.complete(key, {"done": True})).answer == "applied"
        assert (await sandbox.status(one.id)).result == {"done": True}
        away = await sandbox.call("kyc.request_client_documents", {"case_id": "c-2"})
        await sandbox.advance("PT2M")
        failed = await sandbox.status(away.id)
        assert (failed.state, failed.attempt and failed.attempt.attempt) == ("failed", 2)
        assert failed.error is not None and "the broker is away" in failed.error.message
        assert len(sent) == 2


@pytest.mark.req("X28")
async def test_another_environment_spawns_the_same_verb_in_another_way(tmp_path: Path) -> None:
    settings = {"kyc.*": "table::insert"}
    rows: list[str] = []

    async def insert(call: Call) -> None:
        rows.append(call.correlation_key)

    handlers = {"table::insert": insert, "queue::send": insert}
    file = tmp_path / "verbs.yaml"
    file.write_text(SPAWNED, encoding="utf-8")
    async with Sandbox.open(definitions=file, environment=settings, handlers=handlers) as sandbox:
        call = await sandbox.call("kyc.request_client_documents", {"case_id": "c-1"})
        assert (call.state, rows) == ("parked", ["c-1"])
