"""Flags that sync verbs set: promised, checked, and without effect when the verb is called by itself."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import Call, Result
from perdure.app.calls.views import CallView
from perdure.testing import Sandbox
from perdure.verbs import load_text

PROMISING = "- {name: a.b, contract: {writes_flags: [orch_x]}, execution: {kind: sync, effects: none}}"
SILENT = "- {name: a.b, execution: {kind: sync, effects: none}}"


async def called(definition: str, flags: dict[str, Any]) -> CallView:
    def handler(call: Call) -> Result:
        return Result({"done": True}, flags=flags)

    async with Sandbox.open(definitions=load_text(definition), handlers={"a.b": handler}) as sandbox:
        return await sandbox.call("a.b", {})


@pytest.mark.parametrize("definition", [PROMISING, SILENT], ids=["promising", "silent"])
async def test_a_sub_verb_called_by_itself_completes_and_shows_its_flags(definition: str) -> None:
    call = await called(definition, {"orch_x": True})
    assert (call.state, call.result, call.flags) == ("completed", {"done": True}, {"orch_x": True})


@pytest.mark.req("V16")
async def test_a_flag_that_was_not_promised_is_an_incident() -> None:
    call = await called(PROMISING, {"orch_y": True})
    assert call.waiting_for is not None
    assert (call.state, call.waiting_for.code) == ("parked", "payload.schema")
    assert "does not promise" in call.waiting_for.text


@pytest.mark.req("V16")
@pytest.mark.parametrize(
    "flags", [{"approved": True}, {"orch_x": [1]}, {"orch_x": 2**60}], ids=["name", "list", "size"]
)
async def test_what_cannot_be_a_flag_is_an_incident(flags: dict[str, Any]) -> None:
    call = await called(SILENT, flags)
    assert call.waiting_for is not None and call.waiting_for.kind == "incident"
