"""Worker processes of the clock suite, as the tests hold them."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.conftest import ROOT

HANG_SECONDS = 60
"""After so long a process that does not answer is taken for one that hangs."""


class Worker:
    """One process; what it logs is read when it has ended."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.log = ""

    async def ask(self, *words: object) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{' '.join(map(str, words))}\n".encode())
        await self._process.stdin.drain()
        return await self.answer()

    async def answer(self) -> Any:
        assert self._process.stdout is not None
        async with asyncio.timeout(HANG_SECONDS):
            line = await self._process.stdout.readline()
        assert line, (await self._process.communicate())[1].decode()
        return json.loads(line)

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(HANG_SECONDS):
            _, errors = await self._process.communicate()
        self.log = errors.decode()


@asynccontextmanager
async def worker(url: str) -> AsyncIterator[Worker]:
    """A worker on a store, from when it is ready until it has given its lease back."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.clocks.worker", url, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=1 << 20,
        cwd=ROOT,
    )  # fmt: skip
    made = Worker(process)
    try:
        assert await made.answer() == "ready"
        yield made
        await made.end()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
