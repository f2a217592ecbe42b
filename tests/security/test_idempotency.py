"""Keys for repeating: one principal's key means nothing to another, whichever way either of them comes in."""

from __future__ import annotations

import pytest

from tests.surfaces.mcp.loopback_server import served

pytestmark = pytest.mark.req("P3", "P5")
PROGRAM = '(desk.find :name "secret")'


async def test_a_key_for_repeating_means_nothing_to_another_agent(sqlite_url: str) -> None:
    async with served(sqlite_url) as server:
        ana, bo = await server.key("ana"), await server.key("bo")
        async with server.agent(ana) as agent:
            call = await agent("call_verb", verb="desk.find", args={"name": "secret"}, idempotency_key="k")
            run = await agent("run_runbook", program=PROGRAM, idempotency_key="r")
            again = await agent("run_runbook", program=PROGRAM, idempotency_key="r")
            assert again["id"] == run["id"]
        async with server.agent(bo) as agent:
            for key in ("k", "9:agent:ana:k"):
                other = await agent("call_verb", verb="desk.find", args={"name": "secret"}, idempotency_key=key)
                assert other["id"] != call["id"]
            for key in ("r", "9:agent:ana:r"):
                other = await agent("run_runbook", program=PROGRAM, idempotency_key=key)
                assert other["id"] != run["id"]
