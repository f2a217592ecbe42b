"""Times of Temporal: a test server's stands still until it is moved, a real server's passes."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration
from google.protobuf.empty_pb2 import Empty
from temporalio.api.testservice.v1 import SleepRequest
from temporalio.client import Client

from perdure.sources import SECOND, Micros, SystemSources


class ServerTime:
    """The time of a test server: it stands still unless it is moved."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def now(self) -> Micros:
        time = (await self.client.test_service.get_current_time(Empty())).time
        return time.seconds * SECOND + time.nanos // 1000

    async def move_to(self, at: Micros) -> Micros:
        left = at - await self.now()
        if left > 0:
            seconds, micros = divmod(left, SECOND)
            duration = Duration(seconds=seconds, nanos=micros * 1000)
            await self.client.test_service.unlock_time_skipping_with_sleep(SleepRequest(duration=duration))
        return await self.now()


class PassingTime:
    """The time of a real server: nobody moves it."""

    def __init__(self) -> None:
        self._sources = SystemSources()

    async def now(self) -> Micros:
        return self._sources.now()

    async def move_to(self, at: Micros) -> Micros:
        await self._sources.sleep(max(0, at - self._sources.now()))
        return self._sources.now()
