"""What an agent does with processes of the contract profile: it reads the contract, and brings what waits wait for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from perdure.access.principal import Principal
from perdure.surfaces.mcp.server import Protocol
from perdure.testing.sandbox import Sandbox
from tests.contract.contract_world import begun, carrying, settled
from tests.surfaces.mcp.protocol_agent import Agent, Refused
from tests.surfaces.mcp.tool_office import principal

ENVELOPE: dict[str, Any] = {
    "message_name": "RenderingCompleted", "correlation_key": "j-1", "message_id": "m-1",
    "payload": {"frames": 24, "location": "here"},
}  # fmt: skip


@asynccontextmanager
async def film(store_url: str, who: Principal | None = None) -> AsyncIterator[tuple[Sandbox, Agent]]:
    results = {"render.request.start": {"job": "j-1"}, "film.publish": {"url": "u"}}
    async with carrying(store_url, results, "request-and-wait.bpmn", "linear.bpmn") as sandbox:
        asking = who or principal()
        async with Client(Protocol(sandbox, lambda context: asking).server()) as client:
            yield sandbox, Agent(client)


@pytest.mark.req("B8")
@pytest.mark.req("P5")
async def test_an_agent_reads_the_contract_of_a_process(sqlite_url: str) -> None:
    async with film(sqlite_url) as (_, agent):
        told = await agent("process_contract", process="render_film")
        assert (told["version"], told["profile"], told["definition_id"]) == (1, "contract", "example/render_film/1")
        assert [(each["type"], each["policy"]) for each in told["work"]] == [
            ("render.request.start", "default"), ("film.publish", "default"),
        ]  # fmt: skip
        assert [(each["message"], each["correlation_key"]) for each in told["waits"]] == [
            ("RenderingCompleted", "${state.job.id}")
        ]
        assert await agent("process_contract", process="render_film", version=1) == told
        with pytest.raises(Refused) as refused:
            await agent("process_contract", process="render_film", version=7)
        assert "has no version 7" in str(refused.value)


@pytest.mark.req("B9")
@pytest.mark.req("P5")
async def test_an_envelope_of_an_agent_ends_the_wait_of_its_key_once(sqlite_url: str) -> None:
    async with film(sqlite_url) as (sandbox, agent):
        waiting = await begun(sandbox, "render_film", film="f")
        assert (await agent("receive_envelope", **{**ENVELOPE, "message_id": "m-0", "correlation_key": "j-2"}))[
            "outcome"
        ] == "buffered"
        told = [(await agent("receive_envelope", **ENVELOPE))["outcome"] for _ in range(2)]
        assert told == ["correlated", "duplicate"]
        done = await settled(sandbox, waiting.id)
        assert (done.state, done.data["frames"]) == ("completed", 24)
        for wrong in ({"message_id": " "}, {"tenant_id": "another"}):
            with pytest.raises(Refused):
                await agent("receive_envelope", **{**ENVELOPE, **wrong})


@pytest.mark.req("P5")
async def test_a_contract_is_shown_to_keys_that_reach_its_verbs(sqlite_url: str) -> None:
    async with film(sqlite_url, principal(verbs=("stock.*", "customer.*"))) as (_, agent):
        assert (await agent("process_contract", process="ship_order"))["workflow_type"] == "ShipOrder"
        with pytest.raises(Refused):
            await agent("process_contract", process="render_film")
        with pytest.raises(Refused):
            await agent("receive_envelope", **ENVELOPE)
