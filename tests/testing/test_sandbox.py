"""A sandbox: real durable verbs on virtual time, on either store."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import Call, Transient
from perdure.testing import Sandbox

VERBS = """
- name: kyc.request-document
  description: Ask for a document
  input_schema: {required: [case], properties: {case: {type: string}}}
  output_schema: {required: [accepted], properties: {accepted: {type: boolean}}}
  execution: {kind: durable, correlation: {key: "{case}/passport"}, policy: {timeout: P14D}}
- name: kyc.screen
  description: Screen a name
  execution: {kind: sync, retry: {max_attempts: 3, base_delay: PT1M, max_delay: PT1H, jitter: 0}}
"""


@pytest.fixture
def verbs(tmp_path: Path) -> Path:
    path = tmp_path / "verbs.yaml"
    path.write_text(VERBS)
    return path


def screen(call: Call) -> dict[str, int]:
    if call.attempt < 3:
        raise Transient("down")
    return {"hits": 0}


@pytest.mark.req("X23")
@pytest.mark.both_stores
async def test_fourteen_days_pass_when_the_test_says_so_and_not_before(store_url: str, verbs: Path) -> None:
    async with Sandbox.open(store_url, definitions=verbs, handlers={"kyc.screen": screen}) as sandbox:
        call = await sandbox.call("kyc.request-document", {"case": "C-7"})
        await sandbox.advance("P13D")
        assert (await sandbox.status(call.id)).state == "parked"
        await sandbox.advance("P1D")
        ended = await sandbox.status(call.id)
        assert ended.error is not None
        assert (ended.state, ended.error.code) == ("failed", "timed_out")


@pytest.mark.req("X23")
async def test_retries_come_at_their_own_times_while_the_clock_moves(store_url: str, verbs: Path) -> None:
    async with Sandbox.open(store_url, definitions=verbs, handlers={"kyc.screen": screen}) as sandbox:
        call = await sandbox.call("kyc.screen")
        await sandbox.advance("PT2M59S")
        assert (await sandbox.status(call.id)).state == "executing"
        await sandbox.advance("PT1S")
        assert (await sandbox.status(call.id)).result == {"hits": 0}


@pytest.mark.req("X23", "X1")
async def test_mocks_complete_at_once_or_park_and_callers_see_no_difference(store_url: str, verbs: Path) -> None:
    environment = {
        "kyc.request-document": {"handler": "mock::instant_complete", "result": {"accepted": True}},
        "kyc.screen": "mock::park",
    }
    async with Sandbox.open(store_url, definitions=verbs, environment=environment) as sandbox:
        assert (await sandbox.call("kyc.request-document", {"case": "C-7"})).result == {"accepted": True}
        waits = await sandbox.call("kyc.screen")
        assert waits.waiting_for is not None
        await sandbox.complete(waits.waiting_for.key, {"hits": 1})
        assert (await sandbox.status(waits.id)).result == {"hits": 1}
