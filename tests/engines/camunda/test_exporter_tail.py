"""The receiver of Camunda's records: it answers like Elasticsearch, after it has kept what came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from perdure.engines.camunda.exporter_tail import ExporterTail
from perdure.errors import StoreUnavailableError
from perdure.sources import SystemSources
from perdure.testing.server_process import free_ports

BULK = b'{"index":{"_id":"1-1"}}\n{"position":1}\n{"index":{"_id":"1-2"}}\n{"position":2}\n'


@asynccontextmanager
async def listening(is_away: bool = False) -> AsyncIterator[tuple[httpx.AsyncClient, list[bytes], ExporterTail]]:
    kept: list[bytes] = []

    async def keep(body: bytes) -> None:
        if is_away:
            raise StoreUnavailableError("commit to", "store", "p.db", "it is away")
        kept.append(body)

    place = f"127.0.0.1:{free_ports(1)[0]}"
    tail = ExporterTail(place, keep, SystemSources())
    await tail.open()
    async with httpx.AsyncClient(base_url=f"http://{place}", trust_env=False) as client:
        yield client, kept, tail
    await tail.close()


async def test_a_bulk_request_in_chunks_is_read_whole_before_it_is_answered() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(BULK), 7):
            yield BULK[at : at + 7]
            await asyncio.sleep(0)

    async with listening() as (client, kept, tail):
        answer = await client.post("/_bulk", content=chunks())
        assert kept == [BULK]
        assert tail.heard_at
    told = answer.json()
    assert (told["errors"], len(told["items"])) == (False, 2)
    assert answer.headers["X-Elastic-Product"] == "Elasticsearch"


async def test_what_could_not_be_kept_is_not_acknowledged() -> None:
    async with listening(is_away=True) as (client, kept, tail):
        answer = await client.post("/_bulk", content=BULK)
        assert (answer.status_code, kept, tail.heard_at) == (503, [], 0)


async def test_templates_are_acknowledged_and_a_version_is_said() -> None:
    async with listening() as (client, _, _):
        made = await client.put("/_index_template/zeebe", content=json.dumps({"a": 1}))
        assert made.json() == {"acknowledged": True}
        assert (await client.get("/")).json()["version"]["number"]


async def test_a_second_process_takes_the_address_over_when_the_first_ends() -> None:
    async with listening() as (client, _, first):
        kept: list[bytes] = []

        async def keep(body: bytes) -> None:
            kept.append(body)

        second = ExporterTail(str(client.base_url).removeprefix("http://").rstrip("/"), keep, Soon())
        await second.open()
        assert (first.is_listening, second.is_listening) == (True, False)
        await first.close()
        while not second.is_listening:
            await asyncio.sleep(0)
        await client.post("/_bulk", content=BULK)
        assert kept == [BULK]
        await second.close()


class Soon(SystemSources):
    async def sleep(self, duration: int) -> None:
        await asyncio.sleep(0)
