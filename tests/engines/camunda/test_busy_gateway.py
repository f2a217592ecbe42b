"""A gateway that is busy, and one that has lost an instance, as somebody sees it who asks over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from perdure import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.surfaces.http.application import make_app
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, service

VERBS = """
verbs:
- {name: t.one, execution: {kind: sync}}
- {name: t.carried, execution: {kind: durable, process: carried, sub_verbs: [t.one]}}
"""
PARTITION = {"partitionId": 1, "role": "leader", "health": "healthy"}
TOPOLOGY = {"gatewayVersion": "8.6.0", "partitionsCount": 1, "brokers": [{"nodeId": 0, "partitions": [PARTITION]}]}
DEPLOYED = {"processDefinitionId": "carried", "processDefinitionVersion": 1, "processDefinitionKey": "2251799813685249"}
KEY = "2251799813685300"
BUSY = {"title": "RESOURCE_EXHAUSTED", "status": 503, "detail": "Expected to handle the request, but it is overloaded"}
SECRET = b"a secret of at least thirty-two bytes"


class Gateway:
    """Camunda's REST interface as far as a start and a cancellation go; busy as often as it is told."""

    def __init__(self) -> None:
        self.busy, self.asked = 3, list[str]()
        self.happened = asyncio.Event()
        self.serving: set[asyncio.Task[None]] = set()

    def answer(self, place: str) -> tuple[int, dict[str, Any]]:
        match place.removeprefix("/v2/").split("/"):
            case ["topology"]:
                return 200, TOPOLOGY
            case ["deployments"]:
                return 200, {"deployments": [{"processDefinition": DEPLOYED}]}
            case ["jobs", "activation"]:
                return 200, {"jobs": []}
            case ["process-instances"] if self.busy:
                self.busy -= 1
                return 503, BUSY
            case ["process-instances"]:
                return 200, {**DEPLOYED, "processInstanceKey": KEY}
        return 404, {"title": "NOT_FOUND", "status": 404, "detail": f"there is no {place}"}

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._served(reader, writer))
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = dict(line.lower().split(": ", 1) for line in head.strip().split("\r\n")[1:])
            await reader.readexactly(int(lines.get("content-length", "0")))
            place = head.split(" ")[1]
            status, told = self.answer(place)
            self.asked.append(f"{place.removeprefix('/v2')} {status}")
            self.happened.set()
            if place.endswith("activation"):
                await asyncio.Event().wait()  # there is never a job
            body = json.dumps(told).encode()
            first = f"HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json\r\n"
            writer.write(f"{first}content-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def until(self, holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                self.happened.clear()
                await self.happened.wait()


@asynccontextmanager
async def carried(url: str) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    gateway = Gateway()
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", 0)
    engine = f"camunda://127.0.0.1:{server.sockets[0].getsockname()[1]}?poll=1"
    opening = Perdure.open(url, definitions=load_text(VERBS), handlers={"t.one": lambda call: {}}, engine=engine)
    try:
        async with opening as perdure:
            await perdure.processes.deploy(line("carried", service("only", "t.one")), profile="open")
            made = await perdure.access.create_key("ada", principal="ada", kind="person", roles=["operator", "admin"])
            transport = httpx.ASGITransport(make_app(perdure, ServerConfig(authentication=("keys",)), SECRET))
            headers = {"Authorization": f"Bearer {made.text}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
                yield gateway, client
    finally:
        server.close()
        for each in gateway.serving:
            each.cancel()
        await asyncio.gather(*gateway.serving, return_exceptions=True)


@pytest.mark.req("V27")
@pytest.mark.both_stores
async def test_a_busy_gateway_costs_no_step_and_makes_no_second_instance(store_url: str) -> None:
    async with carried(store_url) as (gateway, client):
        begun = await client.post("/api/verbs/t.carried/calls", json={})
        assert begun.status_code == 201, begun.text
        await gateway.until(lambda: "/process-instances 200" in gateway.asked)
        starts = [each for each in gateway.asked if each.startswith("/process-instances ")]
        assert starts == ["/process-instances 503"] * 3 + ["/process-instances 200"]
        path = f"/api/calls/{begun.json()['id']}"
        call = (await client.get(path)).json()
        assert (call["state"], call["waiting_for"]["kind"]) == ("parked", "process")
        (engine,) = [each for each in (await client.get("/api/engines")).json() if each["url"].startswith("camunda")]
        assert (engine["reachable"], engine["version"], engine["waiting_steps"]) == (True, "8.6.0", 0)
        # Camunda has lost it meanwhile: that is no error of whoever cancels it.
        cancelled = await client.post(f"{path}/cancel", json={"reason": "no longer wanted"})
        assert cancelled.status_code == 200, cancelled.text
        await gateway.until(lambda: f"/process-instances/{KEY}/cancellation 404" in gateway.asked)
        assert (await client.get(path)).json()["state"] == "cancelled"
        assert (await client.get("/api/incidents")).json()["items"] == []
