"""Calling verbs: results, failures, retries, incidents, idempotency, tenants."""

from __future__ import annotations

import pytest

from perdure.errors import (
    CallFailedError,
    PayloadTooLargeError,
    RejectedError,
    SchemaViolationError,
)
from perdure.testing.sandbox import Sandbox
from tests.runbooks.sample_verbs import Handlers, catalogue


def opened(url: str, handlers: Handlers | None = None, **options: object):
    bound = (handlers or Handlers()).bound()
    return Sandbox.open(url, definitions=catalogue(), handlers=bound, **options)


@pytest.mark.req("V1")
@pytest.mark.req("X2")
async def test_a_sync_verb_completes_with_its_checked_result_and_defaults(store_url: str) -> None:
    handlers = Handlers()
    async with opened(store_url, handlers) as sandbox:
        view = await sandbox.call("kyc.score", {"entity": "Allianz"})
        assert (view.state, view.result, view.args) == ("completed", {"score": 20}, {"entity": "Allianz", "depth": 2})
        assert view.outcome is not None and view.outcome[0] == {"score": 20}
        assert await sandbox.status(view.id) == view
        assert handlers.calls[0].idempotency_key == f"{view.id}:1"


@pytest.mark.req("V15")
async def test_an_external_verb_commits_its_intent_before_the_handler_runs(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.notify")
        names = [event.entry async for event in sandbox.events(view.id)]
        assert names == ["CallStarted", "AttemptStarted", "StepCompleted"]
        sequences = [event.sequence async for event in sandbox.events(view.id)]
        assert sequences == [1, 1, 2]


@pytest.mark.req("X14")
async def test_transient_failures_are_retried_with_growing_delays_under_one_key(store_url: str) -> None:
    handlers = Handlers()
    async with opened(store_url, handlers) as sandbox:
        view = await sandbox.call("kyc.flaky")
        assert (view.state, view.waiting_for and view.waiting_for.kind) == ("executing", "retry")
        await sandbox.advance("PT9S")
        assert len(handlers.calls) == 1
        await sandbox.advance("PT1S")
        assert len(handlers.calls) == 2
        await sandbox.advance("PT19S")
        assert len(handlers.calls) == 2
        await sandbox.advance("PT1S")
        done = await sandbox.status(view.id)
        assert (done.state, done.result) == ("completed", {"attempt": 3})
        assert len({call.idempotency_key for call in handlers.calls}) == 1


@pytest.mark.req("V16")
async def test_a_verb_whose_attempts_are_used_up_fails_with_class_code_and_words(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.hopeless")
        await sandbox.advance("PT1M")
        failed = await sandbox.status(view.id)
        assert failed.state == "failed" and failed.error is not None
        assert (failed.error.failure_class, failed.error.code) == ("transient_external", "handler.unreachable")
        assert "ConnectionError: refused" in failed.error.message
        names = [event.entry async for event in sandbox.events(view.id)]
        assert names.count("AttemptFailed") == 2


@pytest.mark.req("V16")
async def test_a_business_error_fails_the_call_with_its_code(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.refuse")
        assert view.state == "failed" and view.error is not None
        assert (view.error.failure_class, view.error.code) == ("permanent_business", "SANCTIONED")
        with pytest.raises(CallFailedError, match="SANCTIONED"):
            await sandbox.result("kyc.refuse")


@pytest.mark.req("V16")
async def test_a_broken_contract_is_an_incident_that_can_be_retried(store_url: str) -> None:
    handlers = Handlers()
    async with opened(store_url, handlers) as sandbox:
        view = await sandbox.call("kyc.break")
        assert view.state == "parked" and view.waiting_for is not None
        assert (view.waiting_for.kind, view.waiting_for.code) == ("incident", "payload.schema")
        assert "$.ok" in view.waiting_for.text and "incidents retry" in view.waiting_for.text
        assert [each.id for each in await sandbox.incidents()] == [view.id]
        handlers.is_mended = True
        done = await sandbox.retry(view.id)
        assert (done.state, done.result) == ("completed", {"ok": True})
        assert await sandbox.incidents() == []


async def test_an_incident_can_be_resolved_by_hand_with_a_checked_result_or_an_error(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        first, second = await sandbox.call("kyc.break"), await sandbox.call("kyc.break")
        with pytest.raises(SchemaViolationError):
            await sandbox.resolve(first.id, {"ok": "no"})
        assert (await sandbox.resolve(first.id, {"ok": True}, reason="looked")).result == {"ok": True}
        failed = await sandbox.resolve(second.id, error="given up")
        assert failed.error is not None and (failed.state, failed.error.message) == ("failed", "given up")
        with pytest.raises(RejectedError, match="no open incident"):
            await sandbox.resolve(first.id, {"ok": True})


@pytest.mark.req("V9")
async def test_data_over_the_budget_is_refused_naming_the_largest_fields(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        with pytest.raises(PayloadTooLargeError, match=r"largest arguments: text \(402 bytes\).*reference"):
            await sandbox.call("kyc.big", {"text": "x" * 400, "note": "small"})


async def test_the_same_idempotency_key_is_the_same_call_and_another_request_is_refused(store_url: str) -> None:
    handlers = Handlers()
    async with opened(store_url, handlers) as sandbox:
        first = await sandbox.call("kyc.score", {"entity": "A"}, idempotency_key="k")
        again = await sandbox.call("kyc.score", {"entity": "A"}, idempotency_key="k")
        assert again == first and len(handlers.calls) == 1
        with pytest.raises(RejectedError, match="used for something else") as caught:
            await sandbox.call("kyc.score", {"entity": "B"}, idempotency_key="k")
        assert caught.value.rejection.code == "already_exists"


@pytest.mark.req("V31")
async def test_another_tenants_call_is_not_found_by_any_operation(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        other = sandbox.acting(tenant="other")
        for attempt in (
            other.status(view.id), other.cancel(view.id), other.retry(view.id), other.resolve(view.id, error="x"),
            other.amend(view.id, {"entity": "B"}, reason="x"), other.erase(view.id, "x"),
        ):  # fmt: skip
            with pytest.raises(RejectedError) as caught:
                await attempt
            assert caught.value.rejection.code == "not_found"
        receipt = await other.complete(f"{view.id}:1", {"case_id": "c"})
        assert receipt.answer == "dead_letter"
        assert (await sandbox.status(view.id)).state == "parked"
        assert await other.parked() == [] and await other.find("kyc.documents", entity="A") == []


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({}, "entity"),
        ({"entity": 5}, "$.entity"),
        ({"entity": "A", "dept": 1}, "depth"),
        ({"entity": "A", "depth": "two"}, "$.depth"),
    ],
)
async def test_wrong_arguments_are_refused_with_their_path_and_nothing_is_written(args, text, sqlite_url) -> None:
    async with opened(sqlite_url) as sandbox:
        with pytest.raises(SchemaViolationError) as caught:
            await sandbox.call("kyc.score", args)
        assert text in str(caught.value)
        assert await sandbox.runtime.driver.fetch("count_aggregates") == [(0,)]


async def test_an_unknown_verb_names_the_nearest_one(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        with pytest.raises(RejectedError, match=r"kyc\.score"):
            await sandbox.call("kyc.scor")


async def test_a_verb_without_handler_here_is_blocked_before_anything_is_written(sqlite_url: str) -> None:
    async with Sandbox.open(sqlite_url, definitions=catalogue()) as sandbox:
        with pytest.raises(RejectedError, match="no handler is bound"):
            await sandbox.call("kyc.notify")


@pytest.mark.req("X1")
async def test_an_environment_override_changes_the_outcome_and_no_caller(store_url: str) -> None:
    environment = {"kyc.documents": {"handler": "mock::instant_complete", "result": {"case_id": "c1"}},
                   "kyc.notify": "mock::park"}  # fmt: skip
    async with Sandbox.open(store_url, definitions=[], environment=None, handlers={}) as empty:
        assert len(empty.catalogue) == 0
    from perdure.verbs import load_text  # noqa: PLC0415
    from tests.runbooks.sample_verbs import DEFINITIONS  # noqa: PLC0415

    overridden = load_text(DEFINITIONS, overrides=environment)
    async with Sandbox.open(store_url, definitions=overridden, handlers=Handlers().bound()) as sandbox:
        done = await sandbox.call("kyc.documents", {"entity": "A"})
        assert (done.state, done.result) == ("completed", {"case_id": "c1"})
        assert (await sandbox.call("kyc.notify")).state == "parked"


SHAPES = """
definitions:
  Person: {type: object, required: [mail], properties: {mail: {type: email}, born: {type: date}}}
verbs:
  - name: kyc.enrol
    input_schema:
      required: [case_id]
      properties:
        case_id: {type: uuid}
        lei: {type: string, pattern: "^[A-Z0-9]{20}$"}
        kind: {type: string, enum: [new, periodic], default: new}
        people: {type: array, items: {$ref: "#/definitions/Person"}}
    output_schema: {properties: {owner: {$ref: "#/definitions/Person"}}}
    execution: {kind: sync, effects: none}
"""


@pytest.mark.req("V4")
@pytest.mark.req("X4")
async def test_every_value_that_breaks_the_schema_of_a_verb_is_told_by_its_path_going_in_and_coming_out(
    store_url: str,
) -> None:
    async def enrol(call: object) -> dict[str, object]:
        return {"owner": {"mail": "nobody"}}

    given = {"case_id": "7", "lei": "x", "kind": "odd", "people": [{"mail": "a@b.org"}, {"mail": "b", "born": "soon"}]}
    async with Sandbox.open(store_url, definitions=catalogue(SHAPES), handlers={"kyc.enrol": enrol}) as sandbox:
        with pytest.raises(SchemaViolationError) as refused:
            await sandbox.call("kyc.enrol", given)
        paths = {str(each["path"]) for each in refused.value.data["violations"]}
        assert paths == {"$.case_id", "$.lei", "$.kind", "$.people[1].mail", "$.people[1].born"}
        view = await sandbox.call("kyc.enrol", {"case_id": "4b8f0d60-6f0e-4b5e-9a35-0c1b7a1f0001"})
        assert view.args["kind"] == "new"
        (incident,) = await sandbox.incidents()
        assert "$.owner.mail" in str(incident)
