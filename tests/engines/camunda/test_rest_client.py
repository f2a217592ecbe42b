"""The REST client against a server that is busy, lost, or in another state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from perdure.engines.camunda.address import read_address
from perdure.engines.camunda.rest_client import Gone, Refused, RestClient, WrongState
from perdure.engines.camunda.server_check import check_cluster
from perdure.engines.camunda.wire import Request
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.sources import Micros, SystemSources

ASK = Request("POST", "/jobs/1/completion", {"variables": {}})


class Impatient(SystemSources):
    """Pauses are noted, and pass at once."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[Micros] = []

    def monotonic(self) -> Micros:
        return sum(self.pauses)

    async def sleep(self, duration: Micros) -> None:
        self.pauses.append(duration)


class Answers:
    """A server on loopback that gives one answer after the other, the last one for ever."""

    def __init__(self, *answers: tuple[int, object]) -> None:
        self.left = list(answers)
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                self.asked.append(lines[0])
                length = next((int(line[16:]) for line in lines if line.lower().startswith("content-length:")), 0)
                await reader.readexactly(length)
                status, told = self.left.pop(0) if len(self.left) > 1 else self.left[0]
                body = json.dumps(told).encode()
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def answering(*answers: tuple[int, object]) -> AsyncIterator[tuple[RestClient, Answers, Impatient]]:
    served, sources = Answers(*answers), Impatient()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = RestClient(read_address(f"camunda://127.0.0.1:{port}"), sources)
    try:
        yield client, served, sources
    finally:
        await client.close()
        server.close()


def problem(title: str, detail: str = "") -> dict[str, str]:
    return {"title": title, "detail": detail}


@pytest.mark.req("V27")
@pytest.mark.parametrize(
    "busy", [(503, problem("RESOURCE_EXHAUSTED")), (429, {}), (500, problem("RESOURCE_EXHAUSTED"))]
)
async def test_a_busy_cluster_is_asked_again_with_growing_pauses(busy: tuple[int, object]) -> None:
    async with answering(busy, busy, busy, (200, {"done": True})) as (client, served, sources):
        assert await client.send(ASK) == {"done": True}
    assert served.asked == ["POST /v2/jobs/1/completion HTTP/1.1"] * 4
    assert [pause > 0 for pause in sources.pauses] == [True] * 3
    assert sources.pauses[-1] > sources.pauses[0] / 2


@pytest.mark.req("V27")
async def test_who_has_asked_long_enough_is_told_that_the_engine_is_unavailable() -> None:
    async with answering((503, problem("RESOURCE_EXHAUSTED", "no room"))) as (client, served, sources):
        with pytest.raises(EngineUnavailableError) as told:
            await client.send(ASK, deadline_seconds=5)
    assert "no room" in str(told.value)
    assert len(served.asked) > 3
    assert sum(sources.pauses) <= 5_000_000
    assert client.last_failure


@pytest.mark.req("V27")
async def test_a_lost_race_and_a_wrong_state_are_no_failures_to_try_again() -> None:
    for status, expected in ((404, Gone), (409, WrongState), (400, Refused)):
        async with answering((status, problem("NAMED", "in these words"))) as (client, served, _):
            with pytest.raises(expected, match="NAMED in these words"):
                await client.send(ASK)
        assert len(served.asked) == 1


async def test_a_404_after_an_attempt_without_an_answer_says_that_it_was_sent_before() -> None:
    async with answering((503, {}), (404, problem("NOT_FOUND"))) as (client, _, _):
        with pytest.raises(Gone) as gone:
            await client.send(ASK)
    assert gone.value.is_repeated


async def test_credentials_that_are_refused_are_a_setting() -> None:
    async with answering((401, problem("Unauthorized"))) as (client, _, _):
        with pytest.raises(EngineSettingError, match="it refuses us"):
            await client.send(ASK)


async def test_nobody_at_the_address_is_unavailable() -> None:
    client = RestClient(read_address("camunda://127.0.0.1:1"), Impatient())
    with pytest.raises(EngineUnavailableError):
        await client.send(ASK, deadline_seconds=1)
    await client.close()


TOPOLOGY = {
    "gatewayVersion": "8.5.8",
    "partitionsCount": 1,
    "brokers": [{"partitions": [{"partitionId": 1, "role": "leader", "health": "healthy"}]}],
}


async def test_a_cluster_is_checked_before_anything_is_asked_of_it() -> None:
    async with answering((200, TOPOLOGY)) as (client, _, _):
        with pytest.raises(EngineSettingError, match=r"it is Camunda 8\.5\.8, and 8\.6 is the oldest"):
            await check_cluster(client)
    async with answering((200, {**TOPOLOGY, "gatewayVersion": "8.7.1"})) as (client, _, _):
        assert await check_cluster(client) == "8.7.1"
    async with answering((200, {**TOPOLOGY, "gatewayVersion": "8.6.0", "brokers": []})) as (client, _, _):
        with pytest.raises(EngineUnavailableError, match="not every partition"):
            await check_cluster(client)
    async with answering((404, {})) as (client, _, _):
        with pytest.raises(EngineSettingError, match="has no `/v2/topology`"):
            await check_cluster(client)
