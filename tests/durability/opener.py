"""A process that opens a store when told to, makes one call and says what became of it."""

from __future__ import annotations

import asyncio
import sys

from perdure.store.driver_selection import open_driver
from tests.durability.platform import opened


async def open_and_call(url: str) -> str:
    async with opened(open_driver(url)) as perdure:
        return (await perdure.call("t.external")).state


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    print(asyncio.run(open_and_call(sys.argv[1])), flush=True)
