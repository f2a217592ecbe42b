"""Plays the case story in a process of its own, because an SDK may abort when Python ends.

python -m tests.engines.case.case_play STAGE STORE OUTPUT, where STAGE is a name of STAGES
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path

import msgspec

from perdure.testing.camunda_broker import CamundaBroker
from perdure.testing.server_process import free_ports
from perdure.testing.temporal_server import TemporalServer, real_server, virtual_server
from tests.engines.case.camunda_stage import CamundaStage
from tests.engines.case.case_stages import EmbeddedStage, TemporalStage, on
from tests.engines.case.case_story import play
from tests.house.tree import ROOT

KYC = ROOT / "examples" / "kyc"


class StillEmbeddedStage(EmbeddedStage):
    """The embedded engine where nobody moves the clock far, as with an engine whose time passes by itself."""

    moves_time = False


@asynccontextmanager
async def temporal(store: str, make: Callable[[], TemporalServer], moves_time: bool) -> AsyncIterator[EmbeddedStage]:
    server = make()
    try:
        server.start()
        yield TemporalStage(store, KYC, server, moves_time=moves_time)
    finally:
        server.remove()


@asynccontextmanager
async def camunda(store: str) -> AsyncIterator[EmbeddedStage]:
    tail = f"127.0.0.1:{free_ports(1)[0]}"
    broker = CamundaBroker(f"http://{tail}")
    try:
        broker.start()
        yield CamundaStage(store, KYC, broker, tail)
    finally:
        broker.remove()


STAGES: dict[str, Callable[[str], AbstractAsyncContextManager[EmbeddedStage]]] = {
    "embedded": lambda store: nullcontext(EmbeddedStage(store, KYC)),
    "camunda": camunda,
    "embedded-still": lambda store: nullcontext(StillEmbeddedStage(store, KYC)),
    "temporal": lambda store: temporal(store, virtual_server, True),
    "temporal-still": lambda store: temporal(store, real_server, False),
}


async def played(name: str, store: str) -> bytes:
    async with STAGES[name](store) as stage, on(stage):
        return msgspec.json.encode(await play(stage, stage.desk))


if __name__ == "__main__":
    sys.path.insert(0, str(KYC))
    logging.basicConfig(level=logging.ERROR)
    Path(sys.argv[3]).write_bytes(asyncio.run(played(sys.argv[1], sys.argv[2])))
    os._exit(0)
